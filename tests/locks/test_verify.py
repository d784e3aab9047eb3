"""The shipped catalogue is what its policy says, and the check that says so can fail."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.index import Index, cpu_stack
from support.policies import POLICY

from tfenv.events import Silent
from tfenv.locks.catalogue import load_catalogue, read_lock
from tfenv.locks.evidence import Proven, add_evidence
from tfenv.locks.lockfile import render_lock
from tfenv.locks.model import Floors, KnownFault, Lock, Pin
from tfenv.locks.refresh import refresh
from tfenv.locks.verify import MAX_TOTAL, verify_catalogue

SHIPPED = Path(__file__).parents[2] / "lockfiles"
ID = "linux-x86_64-cpu/tf2.20-py311"
SMALL = (
    POLICY.replace('"linux-x86_64-cpu", "linux-x86_64-cuda"]', '"linux-x86_64-cpu"]')
    .replace('["3.11", "3.12"]', '["3.11"]')
    .replace(POLICY[POLICY.index("    [stack.cuda]") : POLICY.index("[[none]]")], "")
)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "policy.toml").write_text(SMALL, encoding="utf-8")
    index = Index(cpu_stack())
    refresh(tmp_path, index, index, listener=Silent())
    return tmp_path


def found(directory: Path) -> list[tuple[str, str]]:
    return [(finding.id, finding.cause) for finding in verify_catalogue(directory)]


def test_the_shipped_catalogue_is_sound() -> None:
    assert [f"{f.title} {f.cause}" for f in verify_catalogue(SHIPPED) if f.id != "evidence-stale"] == []
    assert len(load_catalogue(SHIPPED).locks) == 158


def test_no_shipped_lock_names_a_host_or_a_url() -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in SHIPPED.rglob("*.txt")}
    assert [name for name, text in texts.items() if "://" in text or "www." in text] == []


def test_the_shipped_metal_locks_avoid_the_fused_operation_or_are_marked() -> None:
    metal = [lock for lock in load_catalogue(SHIPPED).locks if lock.target == "macos-arm64-metal"]
    versions = {
        (lock.minor, lock.on_wish, bool(lock.faults), *(pin.version for pin in lock.pins if pin.name in
            ("keras", "tensorflow-metal")), lock.holder)
        for lock in metal
    }  # fmt: skip
    assert versions == {
        ("2.15", True, True, "2.15.0", "1.1.0", "tensorflow-macos"),
        ("2.18", False, False, "3.6.0", "1.2.0", "tensorflow"),
        ("2.19", False, False, "3.6.0", "1.2.0", "tensorflow"),
    }


def test_the_shipped_locks_know_the_distribution_that_holds_tensorflow() -> None:
    holders = {(lock.target, lock.minor): lock.holder for lock in load_catalogue(SHIPPED).locks}
    others = {place: holder for place, holder in holders.items() if holder != "tensorflow"}
    assert others == {
        **{("linux-x86_64-cpu", f"2.{minor}"): "tensorflow-cpu" for minor in range(15, 22)},
        ("linux-aarch64-cpu", "2.15"): "tensorflow-cpu-aws",
        ("macos-arm64-metal", "2.15"): "tensorflow-macos",
        **{("windows-x86_64-cpu", f"2.{minor}"): "tensorflow-intel" for minor in (15, 16, 17)},
    }


def test_a_fresh_catalogue_is_sound(directory: Path) -> None:
    assert found(directory) == []


def test_a_missing_lock_is_found(directory: Path) -> None:
    (directory / f"{ID}.txt").unlink()
    finding = verify_catalogue(directory)[0]
    assert (finding.id, finding.severity, finding.title) == (
        "lock-missing",
        "fail",
        f"{ID} has no lockfile.",
    )
    assert finding.remedy.commands == (f"tfenv locks refresh --only {ID}",)


def test_a_damaged_lock_is_found_once(directory: Path) -> None:
    (directory / f"{ID}.txt").write_bytes(b"--pre\n")
    assert found(directory) == [("lock-unreadable", f"{ID}.txt, line 1: it is not a tfenv lock of format 1.")]


def test_a_file_that_the_policy_does_not_know_is_found(directory: Path) -> None:
    (directory / "linux-x86_64-cpu" / "notes.md").write_text("hm")
    assert [finding.title for finding in verify_catalogue(directory)] == [
        "linux-x86_64-cpu/notes.md is in the catalogue, and the policy knows nothing of it."
    ]


def with_pin(lock: Lock, name: str, **changes: str) -> Lock:
    return replace(
        lock, pins=tuple(replace(pin, **changes) if pin.name == name else pin for pin in lock.pins)
    )


def without_pin(lock: Lock, name: str) -> Lock:
    return replace(lock, pins=tuple(pin for pin in lock.pins if pin.name != name))


def moved(lock: Lock) -> Lock:
    """The same lock with a ``tensorflow`` that calls itself the holder."""
    pin = Pin(name="tensorflow", version="2.20.0", hashes=("e" * 64,), accepts=">=2")
    return replace(lock, holder="tensorflow", pins=(*lock.pins, pin))


FAULT = KnownFault(text="t", source="s")


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        pytest.param(lambda lock: replace(lock, as_of="2025-01-01"), "its day is '2025-01-01'", id="day"),
        pytest.param(lambda lock: replace(lock, tensorflow="2.20.1"), "its TensorFlow is '2", id="patch"),
        pytest.param(lambda lock: replace(lock, on_wish=True), "its mark of an explicit wish", id="wish"),
        pytest.param(lambda lock: replace(lock, faults=(FAULT,)), "its known faults is (", id="faults"),
        pytest.param(
            lambda lock: replace(lock, floors=Floors(glibc="2.17")), "its CPU features is ()", id="cpu"
        ),
        pytest.param(moved, "its holder is '>=2', and the policy says '==2.20.0'", id="holder"),
        pytest.param(
            lambda lock: with_pin(lock, "keras", version="3.11.0"),
            "the policy says keras==3.10.0, and it has 3.11.0.", id="pin",
        ),
        pytest.param(
            lambda lock: with_pin(lock, "setuptools", version="82.0.0", accepts=""),
            "the policy says setuptools<82, and it has 82.0.0.", id="limit",
        ),
        pytest.param(
            lambda lock: without_pin(lock, "extra-tool"),
            "the policy asks for extra-tool~=1.0, which is not in it.", id="required",
        ),
        pytest.param(
            lambda lock: with_pin(lock, "numpy", accepts="<2"),
            "it accepts numpy <2, and pins 2.2.6.", id="accepts",
        ),
    ],
)  # fmt: skip
def test_a_lock_that_is_not_what_the_policy_says_is_found(
    directory: Path, change: object, cause: str
) -> None:
    assert callable(change)
    (directory / f"{ID}.txt").write_text(render_lock(change(read_lock(directory, ID))), encoding="utf-8")
    causes = [text for name, text in found(directory) if name == "lock-differs-from-policy"]
    assert any(text.startswith(cause) for text in causes)


def test_evidence_of_an_older_file_is_a_warning(directory: Path) -> None:
    entry = Proven(lock=ID, digest="a" * 64, date="2026-11-30", machine="m", device="cpu", ran="r", proof="p")
    add_evidence(directory / "evidence.toml", [entry])
    finding = verify_catalogue(directory)[0]
    assert (finding.id, finding.severity) == ("evidence-stale", "warn")
    add_evidence(directory / "evidence.toml", [replace(entry, digest=read_lock(directory, ID).digest)])
    assert found(directory) == []


def test_a_catalogue_that_outgrew_its_size_is_found(directory: Path) -> None:
    with (directory / "policy.toml").open("a", encoding="utf-8") as file:
        file.write("#" * MAX_TOTAL)
    assert "catalogue-too-large" in [name for name, _ in found(directory)]
