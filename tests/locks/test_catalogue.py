"""The catalogue is read quickly, strictly, and one bad file does not spoil it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.policies import POLICY

from tfenv.errors import UsageError
from tfenv.locks.catalogue import Unreadable, load_catalogue, lock_digest, place_of, read_lock
from tfenv.locks.evidence import Proven, add_evidence
from tfenv.locks.lockfile import LockfileError, digest_of, render_lock
from tfenv.locks.model import Floors, Lock, NoStack, Pin


def make_lock(python: str) -> Lock:
    lock = Lock(
        id=place_of("linux-x86_64-cpu", "2.20.0", python),
        target="linux-x86_64-cpu",
        python=python,
        tensorflow="2.20.0",
        holder="tensorflow-cpu",
        as_of="2025-10-15",
        floors=Floors(glibc="2.17"),
        digest="",
        pins=(Pin(name="tensorflow-cpu", version="2.20.0", hashes=("b" * 64,), accepts="==2.20.0", size=7),),
    )
    return replace(lock, digest=digest_of(render_lock(lock).encode()))


ONE, OTHER = make_lock("3.11"), make_lock("3.9")


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "policy.toml").write_text(POLICY, encoding="utf-8")
    for lock in (ONE, OTHER):
        path = tmp_path / f"{lock.id}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(render_lock(lock).encode())
    return tmp_path


def test_all_locks_are_read_in_order_of_their_ids(directory: Path) -> None:
    catalogue = load_catalogue(directory)
    assert (catalogue.locks, catalogue.unreadable) == ((ONE, OTHER), ())


@pytest.mark.parametrize(
    ("targets", "expected"),
    [
        pytest.param(["linux-x86_64-cpu", "linux-x86_64-cuda"], (ONE, OTHER), id="of-these"),
        pytest.param(["linux-x86_64-cuda"], (), id="of-another"),
    ],
)
def test_only_the_locks_of_some_targets_can_be_read(
    directory: Path, targets: list[str], expected: tuple[Lock, ...]
) -> None:
    assert load_catalogue(directory, targets).locks == expected


def test_evidence_for_the_very_file_makes_a_lock_proven(directory: Path) -> None:
    entry = Proven(
        lock=ONE.id, digest=ONE.digest, date="2026-11-30", machine="m", device="cpu", ran="r", proof="p"
    )
    add_evidence(directory / "evidence.toml", [entry, replace(entry, lock=OTHER.id)])
    assert load_catalogue(directory).locks == (replace(ONE, evidence="proven"), OTHER)
    assert read_lock(directory, ONE.id) == replace(ONE, evidence="proven")


def test_what_there_is_no_lock_for_comes_from_the_policy(directory: Path) -> None:
    assert load_catalogue(directory).none[0] == NoStack(
        target="macos-arm64-metal", tensorflow="2.20", python="", reason="it does not load", source="s"
    )


def test_a_damaged_lock_is_named_and_the_others_still_serve(directory: Path) -> None:
    (directory / f"{ONE.id}.txt").write_bytes(b"--index-url https://x.org\n")
    catalogue = load_catalogue(directory)
    assert catalogue.locks == (OTHER,)
    assert catalogue.unreadable == (
        Unreadable(id=ONE.id, reason=f"{ONE.id}.txt, line 1: it is not a tfenv lock of format 1."),
    )


def test_a_lock_in_the_place_of_another_is_refused(directory: Path) -> None:
    (directory / f"{ONE.id}.txt").write_bytes(render_lock(OTHER).encode())
    assert [item.id for item in load_catalogue(directory).unreadable] == [ONE.id]
    with pytest.raises(LockfileError, match="which is not its place"):
        read_lock(directory, ONE.id)


def test_a_lock_that_names_its_place_but_is_for_another_python_is_refused(directory: Path) -> None:
    (directory / f"{ONE.id}.txt").write_bytes(render_lock(replace(OTHER, id=ONE.id)).encode())
    with pytest.raises(LockfileError, match=r"for linux-x86_64-cpu, Python 3\.9 and TensorFlow 2\.20\.0"):
        read_lock(directory, ONE.id)


def test_one_lock_and_its_digest_are_read_alone(directory: Path) -> None:
    (directory / f"{OTHER.id}.txt").write_bytes(b"damaged")
    assert read_lock(directory, ONE.id) == ONE
    assert lock_digest(directory, ONE.id) == ONE.digest


@pytest.mark.parametrize(
    "lock_id",
    [
        pytest.param("linux-x86_64-cpu/tf2.14-py311", id="unknown"),
        pytest.param("../../etc/passwd", id="traversal"),
        pytest.param("", id="empty"),
    ],
)
def test_a_lock_that_is_not_there_is_a_wrong_usage(directory: Path, lock_id: str) -> None:
    for read in (read_lock, lock_digest):
        with pytest.raises(UsageError) as caught:
            read(directory, lock_id)
        assert (caught.value.code, caught.value.message) == (
            "no-such-lock",
            f"The catalogue has no lock {lock_id!r}.",
        )


def test_a_folder_that_is_not_there_is_a_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        load_catalogue(tmp_path / "absent")
    assert caught.value.code == "no-catalogue"
