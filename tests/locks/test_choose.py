"""The choice over the real catalogue, for every recorded machine: what is taken, or why nothing is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Optional

import pytest

from tfenv.errors import NoLockError, UsageError
from tfenv.facts.model import Facts, GpuFacts, known
from tfenv.facts.pythons import FoundPython
from tfenv.facts.recorded import load_facts
from tfenv.install.markers import marker_environment
from tfenv.install.plan import make_plan
from tfenv.locks.catalogue import Catalogue, load_catalogue
from tfenv.locks.choose import choose_lock
from tfenv.locks.fit import Reason, fit, narrowed
from tfenv.locks.model import Lock
from tfenv.targets.choose import choose_target

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load_catalogue(ROOT / "lockfiles")


def machine(name: str) -> Facts:
    return load_facts(ROOT / "tests" / "machines" / f"{name}.json")


def choose(
    catalogue: Catalogue,
    facts: Facts,
    wish: Optional[str] = None,
    target: Optional[str] = None,
    hosts: Sequence[FoundPython] = (),
) -> Lock:
    chosen = choose_target(facts, target)
    return choose_lock(catalogue, target=chosen, facts=facts, wish=wish, hosts=lambda: hosts)


@pytest.mark.parametrize(
    ("name", "wish", "lock"),
    [
        pytest.param("linux-cpu-py311", None, "linux-x86_64-cpu/tf2.21-py311", id="cpu"),
        pytest.param("linux-cpu-py311", "2.18", "linux-x86_64-cpu/tf2.18-py311", id="a-minor"),
        pytest.param("linux-cpu-py311", "2.15.1", "linux-x86_64-cpu/tf2.15-py311", id="an-exact-version"),
        pytest.param("mac-m2-py311", None, "macos-arm64-metal/tf2.19-py311", id="mac-m2"),
        pytest.param("mac-m2-py311", "2.15", "macos-arm64-metal/tf2.15-py311", id="metal-2.15-on-wish"),
        pytest.param("mac-intel-py311", None, "macos-x86_64-cpu/tf2.16-py311", id="intel-mac-ends-at-2.16"),
        pytest.param("linux-rtx4090-driver550-py311", None, "linux-x86_64-cuda/tf2.19-py311", id="rtx4090"),
        pytest.param("wsl2-rtx3060-py311", None, "linux-x86_64-cuda/tf2.19-py311", id="wsl2"),
        pytest.param("linux-aarch64-py312", None, "linux-aarch64-cpu/tf2.21-py312", id="aarch64"),
        pytest.param("windows-py311", None, "windows-x86_64-cpu/tf2.21-py311", id="windows"),
        pytest.param("colab-2026.07-gpu-py312", None, "linux-x86_64-cuda/tf2.20-py312", id="colab-gpu"),
        pytest.param("colab-2026.08-cpu", None, "linux-x86_64-cpu/tf2.20-py313", id="colab-cpu"),
        pytest.param("kaggle-2xT4-py312", None, "linux-x86_64-cuda/tf2.19-py312", id="kaggle"),
    ],
)
def test_what_is_chosen(catalogue: Catalogue, name: str, wish: Optional[str], lock: str) -> None:
    assert choose(catalogue, machine(name), wish).id == lock


def test_a_pascal_card_gets_a_cudnn_that_still_serves_it(catalogue: Catalogue) -> None:
    lock = choose(catalogue, machine("linux-gtx1080-pascal-driver550-py311"))
    assert (lock.id, lock.cuda.cudnn if lock.cuda else "") == ("linux-x86_64-cuda/tf2.19-py311", "9.3.0.75")


@pytest.mark.parametrize(
    ("name", "wish", "words", "way_out"),
    [
        pytest.param(
            "mac-m2-py313",
            None,
            "tensorflow-metal has no wheel for Python 3.13",
            "tfenv bootstrap --target macos-arm64-cpu",
            id="mac-py313",
        ),
        pytest.param(
            "mac-m2-py311",
            "2.17",
            "There is no lock of TensorFlow 2.17 for macos-arm64-metal: Apple built no plugin for it",
            "tfenv bootstrap --target macos-arm64-cpu --tf 2.17",
            id="metal-2.17",
        ),
        pytest.param(
            "mac-m2-py311",
            "2.20",
            "does not load with it",
            "--target macos-arm64-cpu --tf 2.20",
            id="metal-2.20",
        ),
        pytest.param(
            "linux-rtx4090-driver470-py311",
            None,
            "needs an NVIDIA driver >= 525.60.13, and this machine has 470.",
            "Update the NVIDIA driver to 525.60.13 or newer",
            id="driver-470",
        ),
        pytest.param(
            "linux-rtx5090-cc120-driver575-py312",
            None,
            "No TensorFlow wheel up to 2.21.0 works on this GPU: NVIDIA GeForce RTX 5090 has compute",
            "tfenv bootstrap --target linux-x86_64-cpu",
            id="blackwell",
        ),
        pytest.param(
            "linux-cpu-noavx-py311", None, "need the CPU features avx", "Use another machine", id="no-avx"
        ),
        pytest.param(
            "colab-2026.07-gpu-py312", "2.15", "Python 3.12", "tfenv bootstrap --tf 2.16", id="colab-2.15"
        ),
        pytest.param(
            "linux-cpu-py311",
            "2.15.0",
            "which holds 2.15.1",
            "tfenv bootstrap --tf 2.15",
            id="a-patch",
        ),
        pytest.param(
            "linux-cpu-py311", "2.99", "is not in the catalogue", "tfenv bootstrap --tf 2.21", id="unknown"
        ),
    ],
)
def test_why_nothing_is_chosen(
    catalogue: Catalogue, name: str, wish: Optional[str], words: str, way_out: str
) -> None:
    with pytest.raises(NoLockError) as caught:
        choose(catalogue, machine(name), wish)
    assert words in caught.value.message
    assert way_out in caught.value.hint
    assert "\n" not in caught.value.message


def test_an_interpreter_that_could_host_the_wish_is_named(catalogue: Catalogue) -> None:
    hosts = (
        FoundPython(path="/opt/python3.10", version="3.10.13", implementation="cpython", found_by="PATH"),
        FoundPython(path="/opt/python3.11", version="3.11.7", implementation="cpython", found_by="PATH"),
        FoundPython(path="/opt/python3.13", version="3.13.0", implementation="cpython", found_by="PATH"),
    )
    with pytest.raises(NoLockError) as caught:
        choose(catalogue, machine("linux-aarch64-py312"), "2.15", hosts=hosts)
    assert "tfenv bootstrap --tf 2.15 --venv .venv --python /opt/python3.11" in caught.value.hint


@pytest.mark.parametrize("wish", ["", "2", "2.x", "2.18.1.1", "latest", "2.18 --index-url x", "٢.١٨"])
def test_what_is_no_version_is_refused(catalogue: Catalogue, wish: str) -> None:
    with pytest.raises(UsageError) as caught:
        choose(catalogue, machine("linux-cpu-py311"), wish)
    assert caught.value.code == "bad-version"


def test_better_evidence_beats_a_newer_tensorflow(catalogue: Catalogue) -> None:
    facts = machine("linux-cpu-py311")
    target = choose_target(facts)

    class Given:
        locks = tuple(
            replace(lock, evidence="proven" if lock.minor == "2.18" else "resolved")
            for lock in catalogue.locks
        )
        none = ()

    assert choose_lock(Given(), target=target, facts=facts).minor == "2.18"


def test_an_unknown_about_the_machine_is_no_reason(catalogue: Catalogue) -> None:
    facts = machine("linux-cpu-py311")
    blind = replace(
        facts, cpu=replace(facts.cpu, features=replace(facts.cpu.features, value=None, state="unknown"))
    )
    assert choose(catalogue, blind).id == "linux-x86_64-cpu/tf2.21-py311"


@pytest.mark.parametrize(
    ("libc", "reason"),
    [
        pytest.param("2.17", "its wheels need glibc 2.27, and this system has 2.17", id="too-old"),
        pytest.param("2.36", None, id="new-enough"),
    ],
)
def test_the_glibc_floor(catalogue: Catalogue, libc: str, reason: Optional[str]) -> None:
    facts = machine("linux-cpu-py311")
    old = replace(facts, system=replace(facts.system, libc_version=known(libc, "test")))
    (lock,) = (lock for lock in catalogue.locks if lock.id == "linux-x86_64-cpu/tf2.21-py311")
    expected = () if reason is None else (Reason(kind="glibc", text=reason),)
    assert fit(lock, choose_target(old), old).reasons == expected


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("colab-2026.07-gpu-py312", id="2026.07-gpu"),
        pytest.param("colab-2026.08-gpu-py313", id="2026.08-gpu"),
        pytest.param("colab-2026.08-cpu", id="2026.08-cpu"),
    ],
)
def test_colab_keeps_its_tensorflow_and_changes_nothing(catalogue: Catalogue, name: str) -> None:
    facts = machine(name)
    lock = choose(catalogue, facts)
    installed = facts.packages.distributions.value or ()
    plan = make_plan(lock, installed, mode="adopt", markers=marker_environment(facts))
    assert [step for step in plan.steps if step.action != "keep"] == []


def test_an_old_card_does_not_adopt_a_cudnn_that_dropped_it(catalogue: Catalogue) -> None:
    facts = machine("colab-2026.07-gpu-py312")  # cuDNN 9.19
    lock = choose(catalogue, facts)
    p100 = GpuFacts(index=0, name="P100", compute_capability="6.0")
    old = replace(facts, nvidia=replace(facts.nvidia, gpus=known((p100,), "test")))
    plan = make_plan(
        narrowed(lock, old),
        old.packages.distributions.value or (),
        mode="adopt",
        markers=marker_environment(old),
    )
    assert [(step.name, step.locked) for step in plan.steps if step.action != "keep"] == [
        ("nvidia-cudnn-cu12", "9.3.0.75")
    ]
    assert narrowed(lock, facts) == lock
