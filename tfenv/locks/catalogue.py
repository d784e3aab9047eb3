"""The catalogue: every lockfile of a folder, what was proven of it, and what there is no lock for."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from tfenv.errors import UsageError
from tfenv.locks.evidence import EVIDENCE_FILE, grade_of, read_evidence
from tfenv.locks.lockfile import MAX_SIZE, LockfileError, digest_of, is_lock_id, parse_lock
from tfenv.locks.model import Lock, NoStack
from tfenv.records import record
from tfenv.versions import minor_of

POLICY_FILE = "policy.toml"


@record
class Unreadable:
    """A file of the catalogue that is no lock, and why; the rest of the catalogue still serves."""

    id: str
    reason: str


class Catalogue:
    """The locks of ``directory``."""

    def __init__(self, directory: Path, locks: tuple[Lock, ...], unreadable: tuple[Unreadable, ...]) -> None:
        """Use :func:`load_catalogue`."""
        self.directory = directory
        self.locks = locks
        self.unreadable = unreadable

    @cached_property
    def none(self) -> tuple[NoStack, ...]:
        """What policy says there is no lock for. Read when first asked for: only refusals need it.

        Raises:
            UsageError: the policy cannot be read.
        """
        from tfenv.locks.policy import load_policy

        return load_policy(self.directory / POLICY_FILE).none


def load_catalogue(directory: Path, targets: Collection[str] = ()) -> Catalogue:
    """The locks under ``directory`` for ``targets`` (all if empty), by id, with the evidence that counts.

    Raises:
        UsageError: there is no such folder, or its evidence cannot be read.
    """
    evidence = read_evidence(directory / EVIDENCE_FILE)
    locks: list[Lock] = []
    unreadable: list[Unreadable] = []
    for lock_id in lock_ids(directory):
        if targets and lock_id.split("/")[0] not in targets:
            continue
        try:
            lock = parse_lock(_read(directory, lock_id), f"{lock_id}.txt")
            _check_place(lock, lock_id)
        except (LockfileError, OSError) as error:
            unreadable.append(Unreadable(id=lock_id, reason=str(error)))
            continue
        locks.append(replace(lock, evidence=grade_of(lock, evidence)))
    return Catalogue(directory, tuple(locks), tuple(unreadable))


def read_lock(directory: Path, lock_id: str) -> Lock:
    """The one lock ``lock_id``, reading no other.

    Raises:
        UsageError: the catalogue has no such lock.
        LockfileError: its file is damaged.
    """
    lock = parse_lock(_read(directory, lock_id), f"{lock_id}.txt")
    _check_place(lock, lock_id)
    return replace(lock, evidence=grade_of(lock, read_evidence(directory / EVIDENCE_FILE)))


def lock_digest(directory: Path, lock_id: str) -> str:
    """The sha256 of the file of ``lock_id``, hex, without parsing it.

    Raises:
        UsageError: the catalogue has no such lock.
    """
    return digest_of(_read(directory, lock_id))


def lock_ids(directory: Path) -> tuple[str, ...]:
    """The ids of all lockfiles under ``directory``, sorted.

    Raises:
        UsageError: there is no such folder.
    """
    found = []
    try:
        with os.scandir(directory) as folders:
            targets = sorted(entry.name for entry in folders if entry.is_dir())
        for target in targets:
            with os.scandir(directory / target) as files:
                found += [f"{target}/{entry.name[:-4]}" for entry in files if entry.name.endswith(".txt")]
    except OSError as error:
        raise UsageError(
            "no-catalogue",
            f"The lockfiles in {directory} cannot be read: {error.strerror}.",
            hint="Reinstall tfenv, or let TFENV_LOCKFILES name the lockfiles folder of a checkout.",
        ) from error
    return tuple(sorted(found))


def place_of(target: str, tensorflow: str, python: str) -> str:
    """The id of the lock of these three: ``linux-x86_64-cpu/tf2.19-py311``."""
    minor = minor_of(tensorflow)
    return f"{target}/tf{minor}-py{python.replace('.', '')}"


def _read(directory: Path, lock_id: str) -> bytes:
    if not is_lock_id(lock_id):
        raise _no_such_lock(lock_id)
    try:
        with (directory / f"{lock_id}.txt").open("rb") as file:
            return file.read(MAX_SIZE + 1)
    except FileNotFoundError:
        raise _no_such_lock(lock_id) from None


def _no_such_lock(lock_id: str) -> UsageError:
    return UsageError(
        "no-such-lock",
        f"The catalogue has no lock {lock_id!r}.",
        hint="See which there are: tfenv locks list --all",
    )


def _check_place(lock: Lock, lock_id: str) -> None:
    """A lock that lies about what it is for could be chosen for the wrong machine."""
    if lock.id != lock_id or place_of(lock.target, lock.tensorflow, lock.python) != lock_id:
        raise LockfileError(
            "bad-lock",
            f"{lock_id}.txt, line 3: it says that it is {lock.id}, for {lock.target}, Python {lock.python} "
            f"and TensorFlow {lock.tensorflow}, which is not its place.",
            hint="Do not install from this file. Get it anew: reinstall tfenv, or run tfenv locks refresh.",
        )
