"""The policy to the catalogue: compile every lock, write what changed, say what that is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import Literal, Optional, Union

from tfenv.errors import TfenvError, UsageError
from tfenv.events import Listener
from tfenv.files import write_atomically
from tfenv.locks.catalogue import POLICY_FILE, lock_ids, place_of
from tfenv.locks.compile import Resolver, compile_lock
from tfenv.locks.lockfile import LockfileError, parse_lock, render_lock
from tfenv.locks.model import Lock
from tfenv.locks.policy import Cell, load_policy
from tfenv.locks.wheelfile import WheelReader
from tfenv.records import record
from tfenv.versions import minor_of

#: Reads of wheels at a time, and resolutions at a time: both wait for the network most of the time.
_READS = 8
_RESOLUTIONS = 6


@record
class Change:
    """What became of one lock."""

    id: str
    kind: Literal["added", "changed", "removed", "failed"]
    details: tuple[str, ...] = ()  # "numpy 2.1.2 -> 2.1.3", or why it failed


@record
class RefreshReport:
    """What a refresh did to the catalogue."""

    changes: tuple[Change, ...]  # sorted by id
    unchanged: int


def refresh(
    directory: Path,
    resolver: Resolver,
    reader: WheelReader,
    *,
    only: Sequence[str] = (),
    listener: Listener,
) -> RefreshReport:
    """Compile the locks of the policy in ``directory`` and write each that changed, in one step per file.

    ``only`` selects: each item is a lock's id, a target, a TF minor ("2.19") or a Python ("py311"); items
    of one kind widen, of different kinds narrow. Without it, lockfiles that the policy does not know are
    removed.
    What fails is reported, and does not keep the others from being written.

    Raises:
        UsageError: the policy is wrong, or ``only`` selects nothing.
    """
    cells = select_cells(load_policy(directory / POLICY_FILE).cells, only)
    listener.step(f"compiling {len(cells)} locks")
    changes: list[Change] = []
    with ThreadPoolExecutor(_RESOLUTIONS) as pool, ThreadPoolExecutor(_READS) as reads:
        jobs = [(cell, pool.submit(_compile, cell, resolver, reader, reads)) for cell in cells]
        for number, (cell, job) in enumerate(jobs, start=1):
            outcome = job.result()
            if isinstance(outcome, TfenvError):
                changes.append(Change(id=_id(cell), kind="failed", details=(outcome.message,)))
            else:
                change = _write(directory, outcome)
                changes += [change] if change else []
            listener.progress("locks", number, len(cells))
    unchanged = len(cells) - len(changes)
    if not only:
        changes += _remove_others(directory, {_id(cell) for cell in cells})
    return RefreshReport(changes=tuple(sorted(changes, key=lambda item: item.id)), unchanged=unchanged)


def select_cells(cells: Sequence[Cell], only: Sequence[str]) -> tuple[Cell, ...]:
    """Those of ``cells`` that ``only`` selects (see :func:`refresh`).

    Raises:
        UsageError: an item selects nothing, or all together do not.
    """
    kinds: dict[str, set[str]] = {}
    for item in only:
        kind = next((name for name in _KEYS if any(item == _KEYS[name](cell) for cell in cells)), None)
        if kind is None:
            raise _nothing(item)
        kinds.setdefault(kind, set()).add(item)
    chosen = tuple(cell for cell in cells if all(_KEYS[kind](cell) in items for kind, items in kinds.items()))
    if not chosen:
        raise _nothing(" ".join(only))
    return chosen


def _id(cell: Cell) -> str:
    return place_of(cell.target.name, cell.stack.tensorflow, cell.python)


_KEYS: Mapping[str, Callable[[Cell], str]] = {
    "id": _id,
    "target": lambda cell: cell.target.name,
    "tensorflow": lambda cell: minor_of(cell.stack.tensorflow),
    "python": lambda cell: f"py{cell.python.replace('.', '')}",
}


def _compile(cell: Cell, resolver: Resolver, reader: WheelReader, reads: Executor) -> Union[Lock, TfenvError]:
    try:
        return compile_lock(cell, resolver, reader, reads)
    except TfenvError as error:
        return error


def _write(directory: Path, lock: Lock) -> Optional[Change]:
    path = directory / f"{lock.id}.txt"
    data = render_lock(lock).encode("utf-8")
    old = path.read_bytes() if path.is_file() else None
    if old == data:
        return None
    parse_lock(data, path.name)  # what cannot be read back must not be written
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, data)
    except OSError as error:
        raise _not_written(path, error) from error
    if old is None:
        return Change(id=lock.id, kind="added")
    return Change(id=lock.id, kind="changed", details=_differences(old, lock))


def _differences(old: bytes, new: Lock) -> tuple[str, ...]:
    try:
        before = {pin.name: pin.version for pin in parse_lock(old, new.id).pins}
    except LockfileError:
        return ("the old file was damaged",)
    after = {pin.name: pin.version for pin in new.pins}
    found = [
        f"{name} {before.get(name, '(absent)')} -> {after.get(name, '(absent)')}"
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
    ]
    return tuple(found) or ("only hashes, bounds or the header",)


def _remove_others(directory: Path, wanted: set[str]) -> list[Change]:
    removed = []
    for lock_id in lock_ids(directory):
        if lock_id not in wanted:
            try:
                (directory / f"{lock_id}.txt").unlink()
            except OSError as error:
                raise _not_written(directory / f"{lock_id}.txt", error) from error
            removed.append(Change(id=lock_id, kind="removed"))
    return removed


def _nothing(item: str) -> UsageError:
    return UsageError(
        "selects-nothing",
        f"{item!r} selects no lock of the policy.",
        hint="Give a lock's id, a target, a TF minor such as 2.19 or a Python such as py311: "
        "tfenv locks list --all",
    )


def _not_written(path: Path, error: OSError) -> UsageError:
    return UsageError(
        "lock-not-written",
        f"The lockfile {path} cannot be written: {error.strerror}.",
        hint="Run the command in a checkout of tfenv that you may write to.",
    )
