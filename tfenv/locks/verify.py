"""Is the catalogue what its policy says? Offline: it reads the files and compares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from tfenv.locks.catalogue import POLICY_FILE, Unreadable, load_catalogue, place_of
from tfenv.locks.evidence import EVIDENCE_FILE, read_evidence
from tfenv.locks.model import Lock
from tfenv.locks.policy import Cell, load_policy
from tfenv.result import Finding, Remedy, Severity

#: Bytes: the whole folder ships inside tfenv's wheel.
MAX_TOTAL = 3_000_000
#: Files of the catalogue beside the locks.
_OTHERS = frozenset({POLICY_FILE, EVIDENCE_FILE, ".gitattributes"})
_REFRESH = "tfenv locks refresh"


def verify_catalogue(directory: Path) -> tuple[Finding, ...]:
    """Everything wrong with the catalogue in ``directory``; nothing if it is sound.

    Raises:
        UsageError: its policy or its evidence cannot be read, so there is nothing to compare with.
    """
    catalogue = load_catalogue(directory)
    cells = {_id(cell): cell for cell in load_policy(directory / POLICY_FILE).cells}
    locks = {lock.id: lock for lock in catalogue.locks}
    return (
        *_damaged(catalogue.unreadable),
        *_missing(cells, {*locks, *(item.id for item in catalogue.unreadable)}),
        *_strangers(directory, cells),
        *(
            finding
            for lock in catalogue.locks
            if lock.id in cells
            for finding in _check(lock, cells[lock.id])
        ),
        *_stale_evidence(directory, locks.values()),
        *_too_large(directory),
    )


def _id(cell: Cell) -> str:
    return place_of(cell.target.name, cell.stack.tensorflow, cell.python)


def _damaged(unreadable: Iterable[Unreadable]) -> Iterator[Finding]:
    for item in unreadable:
        yield _finding("lock-unreadable", f"{item.id} cannot be read.", item.reason, f"--only {item.id}")


def _missing(wanted: Iterable[str], found: set[str]) -> Iterator[Finding]:
    for lock_id in wanted:
        if lock_id not in found:
            yield _finding("lock-missing", f"{lock_id} has no lockfile.", "", f"--only {lock_id}")


def _strangers(directory: Path, wanted: Iterable[str]) -> Iterator[Finding]:
    known = {f"{lock_id}.txt" for lock_id in wanted} | _OTHERS
    for path in sorted(directory.rglob("*")):
        name = path.relative_to(directory).as_posix()
        if path.is_file() and name not in known:
            yield _finding("lock-extra", f"{name} is in the catalogue, and the policy knows nothing of it.")


def _check(lock: Lock, cell: Cell) -> Iterator[Finding]:
    for what, found, wanted in _compared(lock, cell):
        if found != wanted:
            cause = f"its {what} is {found!r}, and the policy says {wanted!r}"
            yield _differs(lock, cause)
    pins = {pin.name: pin.version for pin in lock.pins}
    for text in (*cell.roots, *cell.constraints):
        requirement = Requirement(text)
        version = pins.get(requirement.name)
        if version is None and text in cell.roots:
            yield _differs(lock, f"the policy asks for {text}, which is not in it")
        elif version is not None and not requirement.specifier.contains(version, prereleases=True):
            yield _differs(lock, f"the policy says {text}, and it has {version}")
    for pin in lock.pins:
        if not _accepts(pin.accepts, pin.version):
            yield _differs(lock, f"it accepts {pin.name} {pin.accepts}, and pins {pin.version}")


def _compared(lock: Lock, cell: Cell) -> Iterator[tuple[str, object, object]]:
    yield "TensorFlow", lock.tensorflow, cell.stack.tensorflow
    yield "day", lock.as_of, cell.stack.as_of
    yield "CPU features", lock.floors.cpu_features, cell.target.cpu_features
    yield "mark of an explicit wish", lock.on_wish, cell.stack.on_wish
    yield "known faults", lock.faults, cell.stack.fault
    yield "holder", {pin.name: pin.accepts for pin in lock.pins}[lock.holder], f"=={cell.stack.tensorflow}"
    if lock.target.endswith("-cuda") and cell.stack.cuda is not None:
        built = cell.stack.cuda
        yield "driver", lock.floors.driver, built.driver
        yield "CUDA", lock.cuda and lock.cuda.cuda, built.cuda
        yield "architectures", lock.cuda and lock.cuda.architectures, built.architectures
        span = lock.cuda and (lock.cuda.min_compute_capability, lock.cuda.max_compute_capability)
        yield "compute capability", span, (built.min_compute_capability, built.max_compute_capability)
    else:
        yield "CUDA", lock.cuda, None


@lru_cache(maxsize=4096)
def _accepts(specifiers: str, version: str) -> bool:
    try:
        return SpecifierSet(specifiers).contains(version, prereleases=True)
    except InvalidSpecifier:
        return False


def _stale_evidence(directory: Path, locks: Iterable[Lock]) -> Iterator[Finding]:
    digests = {lock.id: lock.digest for lock in locks}
    for lock_id, entry in read_evidence(directory / EVIDENCE_FILE).items():
        if digests.get(lock_id) != entry.digest:
            yield Finding(
                id="evidence-stale",
                severity="warn",
                title=f"What was proven of {lock_id} on {entry.date} no longer counts.",
                cause="The lockfile has changed since.",
                remedy=Remedy(text="Prove the locks anew.", commands=("nox -s prove_locks",)),
            )


def _too_large(directory: Path) -> Iterator[Finding]:
    total = sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())
    if total >= MAX_TOTAL:
        yield _finding("catalogue-too-large", f"It has {total} bytes, and {MAX_TOTAL} are the most.")


def _differs(lock: Lock, cause: str) -> Finding:
    return _finding(
        "lock-differs-from-policy",
        f"{lock.id} is not what the policy says.",
        f"{cause}.",
        f"--only {lock.id}",
    )


def _finding(name: str, title: str, cause: str = "", selection: str = "") -> Finding:
    severity: Severity = "fail"
    return Finding(
        id=name,
        severity=severity,
        title=title,
        cause=cause,
        remedy=Remedy(text="Compile the catalogue anew.", commands=(f"{_REFRESH} {selection}".strip(),)),
    )
