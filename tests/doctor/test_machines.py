"""Every recorded machine: as it is, and after a bootstrap."""

from __future__ import annotations

import pytest

from doctor.crafted import LOCKS, MACHINES, context, found, machine, one, state_of, with_lock
from tfenv.doctor.diagnose import diagnose
from tfenv.install.markers import marker_environment
from tfenv.install.plan import make_plan

BARE = [("TFW001", "info")]  # no TensorFlow yet, and nothing else to say
EXPECTED = {
    "alpine-musl-py312": [*BARE, ("SYS003", "fail")],
    "colab-2026.07-gpu-py312": [],
    "colab-2026.08-cpu": [],
    "colab-2026.08-gpu-py313": [],
    "debian-system-pep668-py311": [("PY004", "info"), *BARE],
    "docker-no-gpu-py311": [*BARE, ("RES003", "info")],
    # Its TensorFlow is the patch before the one of the lock.
    "kaggle-2xT4-py312": [("PKG017", "info")],
    "linux-aarch64-py312": BARE,
    "linux-cpu-noavx-py311": [*BARE, ("CPU001", "fail")],
    "linux-cpu-py311": BARE,
    "linux-gtx1080-pascal-driver550-py311": BARE,
    "linux-rtx4090-driver470-py311": [*BARE, ("CUD002", "fail")],
    "linux-rtx4090-driver550-py311": BARE,
    "linux-rtx5090-cc120-driver575-py312": [*BARE, ("CUD007", "fail")],
    "mac-intel-py311": BARE,
    "mac-m2-py311": BARE,
    "mac-m2-py313": [*BARE, ("MAC018", "warn")],
    "mac-m2-rosetta": [("MAC002", "fail"), *BARE],
    "windows-py311": BARE,
    "wsl2-rtx3060-py311": BARE,
}
#: What a bootstrap without wishes leaves to say: nothing above "info".
AFTER_BOOTSTRAP = {
    "debian-system-pep668-py311": [("PY004", "info")],
    "docker-no-gpu-py311": [("RES003", "info")],
}
SUPPORTED = [name for name in EXPECTED if context(machine(name)).lock is not None]


def test_every_recorded_machine_is_expected() -> None:
    assert sorted(EXPECTED) == sorted(path.stem for path in MACHINES.glob("*.json"))


@pytest.mark.parametrize("name", EXPECTED)
def test_as_it_is(name: str) -> None:
    assert found(machine(name)) == EXPECTED[name]


@pytest.mark.parametrize("name", SUPPORTED)
def test_after_a_bootstrap(name: str) -> None:
    facts = machine(name)
    lock = context(facts).lock
    assert lock is not None
    before = facts.packages.distributions.value or ()
    plan = make_plan(lock, before, mode="adopt", markers=marker_environment(facts))
    changed = {step.name for step in plan.steps if step.action in ("install", "change")}
    after = with_lock(facts, lock, *(pin.name for pin in lock.pins if pin.name not in changed))
    assert found(after) == AFTER_BOOTSTRAP.get(name, [])


@pytest.mark.parametrize(
    "lock", [lock for lock in LOCKS if lock.target == "linux-x86_64-cpu"], ids=lambda lock: lock.id
)
def test_a_plain_cpu_machine_has_nothing_to_complain_about(lock) -> None:
    from doctor.crafted import change

    facts = change(machine("linux-cpu-py311"), "python", version=f"{lock.python}.1")
    assert found(with_lock(facts, lock), state=state_of(lock)) == []


@pytest.mark.parametrize("name", ["colab-2026.07-gpu-py312", "colab-2026.08-gpu-py313", "kaggle-2xT4-py312"])
def test_stock_notebooks_are_no_reason_to_worry(name: str) -> None:
    severities = {severity for _, severity in found(machine(name))}
    assert severities <= {"info"}


def test_the_mac_with_python_3_13_is_told_why_and_both_ways_out() -> None:
    (finding,) = one(machine("mac-m2-py313"), "MAC018")
    assert finding.title == "The GPU of this Mac cannot be used with Python 3.13"
    assert finding.cause == "tensorflow-metal has no wheels for it, only for Python 3.9, 3.10, 3.11, 3.12."
    assert [item.value for item in finding.evidence] == [
        "3.13.5",
        "Apple M2",
        "tensorflow-metal has no wheels for Python 3.13",
    ]
    assert finding.remedy.commands == (
        "uv venv --python 3.12 .venv",
        "tfenv bootstrap --venv .venv",
        "tfenv bootstrap --target macos-arm64-cpu --python ~/ml/.venv/bin/python",
    )


def test_what_a_bootstrap_would_refuse_is_told_in_the_same_words() -> None:
    prepared = context(machine("linux-rtx5090-cc120-driver575-py312"))
    (finding,) = diagnose(prepared, only=("TFW001",)).findings
    assert prepared.refusal is not None
    assert finding.remedy.text == f"{prepared.refusal.message} {prepared.refusal.hint}"
