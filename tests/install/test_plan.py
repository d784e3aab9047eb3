"""The plan: what stays, comes, changes and goes, and what would break."""

from __future__ import annotations

from typing import Optional

import pytest
from support.wheels import make_lock

from tfenv.errors import NoLockError
from tfenv.facts.model import Distribution
from tfenv.install.plan import Break, Plan, Step, make_plan
from tfenv.locks.model import Pin

MARKERS = {"python_version": "3.11", "sys_platform": "linux", "platform_machine": "x86_64"}


def pin(name: str, version: str, accepts: str = "", size: int = 0) -> Pin:
    return Pin(name=name, version=version, hashes=("0" * 64,), accepts=accepts, size=size)


def dist(name: str, version: str, *requires: str, known: bool = True) -> Distribution:
    return Distribution(
        name=name, version=version, location="/site", requires=tuple(requires) if known else None
    )


LOCK = make_lock(
    pin("numpy", "2.1.3", ">=1.26.0,<2.2.0", 16),
    pin("protobuf", "5.29.1", ">=3.20.3,<6.0.0", 4),
    pin("tensorflow-cpu", "2.19.1", "==2.19.1", 250),
    tensorflow="2.19.1",
)


def test_an_empty_environment_gets_everything() -> None:
    assert make_plan(LOCK, [], mode="sync", markers=MARKERS) == Plan(
        lock=LOCK.id,
        mode="sync",
        steps=(
            Step(name="numpy", action="install", locked="2.1.3", size=16),
            Step(name="protobuf", action="install", locked="5.29.1", size=4),
            Step(name="tensorflow-cpu", action="install", locked="2.19.1", size=250),
        ),
        download=270,
    )


def test_sync_makes_the_environment_the_lock() -> None:
    installed = [
        dist("numpy", "2.0.2"),
        dist("pip", "24.0"),
        dist("protobuf", "5.29.1"),
        dist("matplotlib", "3.9.0", "numpy>=1.23"),
        dist("tensorflow-cpu", "2.19.1"),
    ]
    plan = make_plan(LOCK, installed, mode="sync", markers=MARKERS)
    assert plan.steps == (
        Step(name="numpy", action="change", installed="2.0.2", locked="2.1.3", size=16),
        Step(name="protobuf", action="keep", installed="5.29.1", locked="5.29.1"),
        Step(name="tensorflow-cpu", action="keep", installed="2.19.1", locked="2.19.1"),
        Step(name="matplotlib", action="remove", installed="3.9.0", reason="not in the lock"),
    )


def test_adopt_keeps_what_satisfies_the_stack_and_everything_else() -> None:
    installed = [
        dist("numpy", "2.0.2"),
        dist("protobuf", "5.29.5"),
        dist("tensorflow-cpu", "2.19.1"),
        dist("matplotlib", "3.9.0"),
    ]
    plan = make_plan(LOCK, installed, mode="adopt", markers=MARKERS)
    assert plan.names("keep") == ("numpy", "protobuf", "tensorflow-cpu")
    assert not plan.pending
    assert plan.steps[0].reason == "2.0.2 satisfies what the stack demands (>=1.26.0,<2.2.0)"


def test_adopt_changes_only_what_does_not_satisfy() -> None:
    installed = [dist("numpy", "2.3.0"), dist("protobuf", "5.29.5"), dist("tensorflow-cpu", "2.19.1")]
    plan = make_plan(LOCK, installed, mode="adopt", markers=MARKERS)
    assert plan.names("change") == ("numpy",)
    assert plan.download == 16


def test_tensorflow_itself_stands_in_for_its_cpu_build() -> None:
    installed = [dist("numpy", "2.1.3"), dist("protobuf", "5.29.1"), dist("tensorflow", "2.19.1")]
    plan = make_plan(LOCK, installed, mode="adopt", markers=MARKERS)
    assert plan.steps[2] == Step(
        name="tensorflow-cpu",
        action="keep",
        locked="2.19.1",
        reason="tensorflow 2.19.1 holds the same TensorFlow",
    )
    assert not plan.pending


def test_another_tensorflow_in_the_same_folder_goes() -> None:
    installed = [dist("tensorflow", "2.20.0"), dist("tf-keras", "2.20.1", "tensorflow<2.21,>=2.20")]
    plan = make_plan(LOCK, installed, mode="adopt", markers=MARKERS)
    assert plan.steps[-1] == Step(
        name="tensorflow",
        action="remove",
        installed="2.20.0",
        reason="it owns the same import folder as tensorflow-cpu",
    )
    assert plan.breaks == (Break(name="tf-keras", requirement="tensorflow<2.21,>=2.20", becomes=""),)


def test_a_break_is_told_before_it_happens() -> None:
    installed = [
        dist("numpy", "2.3.0"),
        dist("opencv", "5.0", "numpy>=2.2"),
        dist("other", "1.0", "numpy>=1; python_version < '3'", "numpy>=1"),
        dist("already-broken", "1.0", "numpy<1"),
    ]
    plan = make_plan(LOCK, installed, mode="adopt", markers=MARKERS)
    assert plan.breaks == (Break(name="opencv", requirement="numpy>=2.2", becomes="2.1.3"),)


@pytest.mark.parametrize(
    ("installed", "root"),
    [
        pytest.param(
            [
                dist("ipykernel", "6.17.1", "numpy", "tornado"),
                dist("numpy", "2.3.0"),
                dist("tornado", "6.5"),
            ],
            "ipykernel",
            id="a-requirement-of-the-kernel",
        ),
        pytest.param(
            [
                dist("google-colab", "1.0.0", "pandas==2.2.3"),
                dist("pandas", "2.2.3", "numpy>=1.26"),
                dist("numpy", "2.3.0"),
            ],
            "google-colab",
            id="two-steps-away",
        ),
    ],
)
def test_what_the_kernel_needs_is_never_changed(installed: list[Distribution], root: str) -> None:
    with pytest.raises(NoLockError) as caught:
        make_plan(LOCK, installed, mode="adopt", markers=MARKERS)
    assert caught.value.message == (
        f"TensorFlow 2.19.1 needs numpy 2.1.3, but {root} depends on the numpy 2.3.0 that is installed here."
    )


def test_the_kernel_in_an_environment_of_tfenvs_own_is_not_removed() -> None:
    installed = [dist("ipykernel", "7.0", "tornado"), dist("tornado", "6.5"), dist("scipy", "1.0")]
    plan = make_plan(LOCK, installed, mode="sync", markers=MARKERS)
    assert plan.names("remove") == ("scipy",)


@pytest.mark.parametrize(
    ("version", "action"),
    [
        pytest.param("2.1.0rc1", "keep", id="a-prerelease-inside"),
        pytest.param("weird", "change", id="no-version-at-all"),
        pytest.param(None, "install", id="not-there"),
    ],
)
def test_odd_versions(version: Optional[str], action: str) -> None:
    installed = [] if version is None else [dist("numpy", version)]
    assert make_plan(LOCK, installed, mode="adopt", markers=MARKERS).steps[0].action == action


def test_the_first_copy_on_the_import_path_counts() -> None:
    installed = [
        Distribution(name="numpy", version="2.1.3", location="/first"),
        Distribution(name="numpy", version="1.0", location="/second"),
    ]
    assert make_plan(LOCK, installed, mode="adopt", markers=MARKERS).steps[0].action == "keep"
