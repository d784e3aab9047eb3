"""Installed against locked: what to keep, install, change and remove, before anything is touched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Optional

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from tfenv.errors import NoLockError
from tfenv.facts.model import Distribution
from tfenv.install.protected import parse_requirement, protected_names
from tfenv.locks.choose import HOLDERS
from tfenv.locks.model import Lock, Pin
from tfenv.records import record

#: ``sync``: the environment becomes exactly the lock (only in one that tfenv created).
#: ``adopt``: what already satisfies the lock stays, and nothing else is removed.
Mode = Literal["sync", "adopt"]
Action = Literal["keep", "install", "change", "remove"]


@record
class Step:
    """What happens to one distribution."""

    name: str
    action: Action
    installed: Optional[str] = None
    locked: Optional[str] = None
    reason: str = ""
    size: int = 0  # bytes to download at most


@record
class Break:
    """An installed distribution whose own requirement the plan would break."""

    name: str
    requirement: str  # "tensorflow<2.21,>=2.20"
    becomes: str  # the version it would meet; "" = removed


@record
class Plan:
    """Every step, in the lock's order, removals last."""

    lock: str
    mode: Mode
    steps: tuple[Step, ...]
    breaks: tuple[Break, ...] = ()
    download: int = 0  # bytes at most

    @property
    def pending(self) -> bool:
        """Whether anything would change."""
        return any(step.action != "keep" for step in self.steps)

    def names(self, *actions: Action) -> tuple[str, ...]:
        """The distributions to which one of ``actions`` happens."""
        return tuple(step.name for step in self.steps if step.action in actions)


def make_plan(
    lock: Lock, installed: Sequence[Distribution], *, mode: Mode, markers: Mapping[str, str]
) -> Plan:
    """The plan that turns ``installed`` into ``lock``.

    ``markers`` is the target interpreter's marker environment (``python_version`` and so on).

    Raises:
        NoLockError: in a shared environment the lock needs another version of something that the notebook
            kernel or an installer depends on.
    """
    # The first on the import path wins, as it does for Python.
    by_name: dict[str, Distribution] = {}
    for distribution in installed:
        by_name.setdefault(distribution.name, distribution)
    protected = protected_names(tuple(by_name.values()), markers)
    steps = [_step(pin, lock, by_name, mode) for pin in lock.pins]
    if mode == "adopt":
        _refuse_protected(steps, lock, protected)
    steps += _removals(lock, by_name, mode, protected)
    outcome = _versions_after(steps, by_name)
    return Plan(
        lock=lock.id,
        mode=mode,
        steps=tuple(steps),
        breaks=_breaks(by_name, outcome, markers),
        download=sum(step.size for step in steps),
    )


def _step(pin: Pin, lock: Lock, installed: Mapping[str, Distribution], mode: Mode) -> Step:
    found = installed.get(pin.name)
    if found is not None and found.version == pin.version:
        return Step(name=pin.name, action="keep", installed=found.version, locked=pin.version)
    if mode == "adopt":
        if found is not None and _accepted(found.version, pin.accepts):
            reason = f"{found.version} satisfies what the stack demands ({pin.accepts or 'any version'})"
            return Step(
                name=pin.name, action="keep", installed=found.version, locked=pin.version, reason=reason
            )
        stand_in = _stand_in(pin, lock, installed)
        if stand_in is not None:
            reason = f"{stand_in.name} {stand_in.version} holds the same TensorFlow"
            return Step(name=pin.name, action="keep", locked=pin.version, reason=reason)
    action: Action = "install" if found is None else "change"
    return Step(
        name=pin.name,
        action=action,
        installed=found.version if found else None,
        locked=pin.version,
        size=pin.size,
    )


def _stand_in(pin: Pin, lock: Lock, installed: Mapping[str, Distribution]) -> Optional[Distribution]:
    """``tensorflow`` itself can stand in for a smaller build (``tensorflow-cpu``) of the same version."""
    if pin.name != lock.holder:
        return None
    other = installed.get("tensorflow")
    return other if other is not None and other.version == pin.version else None


def _accepted(version: str, accepts: str) -> bool:
    try:
        return Version(version) in SpecifierSet(accepts, prereleases=True)
    except InvalidVersion:
        return False


def _refuse_protected(steps: Sequence[Step], lock: Lock, protected: Mapping[str, str]) -> None:
    for step in steps:
        if step.action == "change" and step.name in protected:
            raise NoLockError(
                "protected-package",
                f"TensorFlow {lock.tensorflow} needs {step.name} {step.locked}, but {protected[step.name]} "
                f"depends on the {step.name} {step.installed} that is installed here.",
                hint=f"Make a separate environment: tfenv bootstrap --tf {lock.minor} --venv .venv",
            )


def _removals(
    lock: Lock, installed: Mapping[str, Distribution], mode: Mode, protected: Mapping[str, str]
) -> list[Step]:
    locked = {pin.name for pin in lock.pins}
    stands_in = (
        mode == "adopt" and "tensorflow" in installed and installed["tensorflow"].version == lock.tensorflow
    )
    removals = []
    for name, distribution in sorted(installed.items()):
        if name in locked:
            continue
        if name in HOLDERS and not (stands_in and name == "tensorflow"):
            reason = f"it owns the same import folder as {lock.holder}"
        elif mode == "sync" and name not in protected:
            reason = "not in the lock"
        else:
            continue
        removals.append(Step(name=name, action="remove", installed=distribution.version, reason=reason))
    return removals


def _versions_after(steps: Sequence[Step], installed: Mapping[str, Distribution]) -> dict[str, str]:
    after = {name: distribution.version for name, distribution in installed.items()}
    for step in steps:
        if step.action == "remove":
            del after[step.name]
        elif step.action in ("install", "change") and step.locked is not None:
            after[step.name] = step.locked
    return after


def _breaks(
    installed: Mapping[str, Distribution], after: Mapping[str, str], markers: Mapping[str, str]
) -> tuple[Break, ...]:
    breaks = []
    for name, distribution in sorted(installed.items()):
        if name not in after or after[name] != distribution.version:
            continue  # removed or replaced itself: its old requirements no longer matter
        for line in distribution.requires or ():
            requirement = parse_requirement(line, markers)
            if requirement is None:
                continue
            needed = canonicalize_name(requirement.name)
            before = installed.get(needed)
            if before is None or after.get(needed) == before.version:
                continue
            becomes = after.get(needed, "")
            if becomes and _meets(becomes, requirement):
                continue
            if _meets(before.version, requirement):
                breaks.append(
                    Break(name=name, requirement=f"{needed}{requirement.specifier}", becomes=becomes)
                )
    return tuple(breaks)


def _meets(version: str, requirement: Requirement) -> bool:
    try:
        return requirement.specifier.contains(Version(version), prereleases=True)
    except InvalidVersion:
        return False
