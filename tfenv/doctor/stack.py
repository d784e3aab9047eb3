"""The TensorFlow stack among the installed distributions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Optional

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from tfenv.facts.model import Distribution
from tfenv.locks.choose import HOLDERS
from tfenv.locks.model import Lock
from tfenv.records import record
from tfenv.versions import minor_of, version_key

#: Distributions that bring an import folder ``tensorflow``: those that locks use, then the others.
TENSORFLOWS = (
    *HOLDERS,
    "tf-nightly",
    "tf-nightly-cpu",
    "tensorflow-rocm",
    "intel-tensorflow",
    "tensorflow-gpu",
)
#: What people install beside TensorFlow and cannot use without it.
COMPANIONS = (
    "tf-keras", "tensorflow-text", "tensorflow-metal", "tensorflow-hub", "tensorflow-probability",
    "tensorflow-addons", "tensorflow-datasets",
)  # fmt: skip


@record
class Stack:
    """The installed distributions by name, and which of them are TensorFlow's closure."""

    installed: Mapping[str, Distribution]  # the first on the import path, as Python takes it
    tensorflow: Optional[Distribution]
    closure: frozenset[str]  # canonical names, of installed and of missing ones

    @property
    def minor(self) -> str:
        """The TF minor, "2.18"; "" without TensorFlow."""
        version = self.tensorflow.version if self.tensorflow else ""
        return minor_of(version)

    def version(self, name: str) -> Optional[str]:
        """The installed version of ``name``; None: not installed, or not told by the list."""
        found = self.installed.get(name)
        return found.version or None if found else None


def read_stack(
    distributions: Sequence[Distribution], locks: Iterable[Lock], markers: Mapping[str, str]
) -> Stack:
    """The stack in ``distributions``; where these do not tell their requirements, the locks' names do."""
    installed: dict[str, Distribution] = {}
    for distribution in distributions:
        installed.setdefault(distribution.name, distribution)
    tensorflow = next((installed[name] for name in TENSORFLOWS if name in installed), None)
    closure = {pin.name for lock in locks for pin in lock.pins}
    closure |= {name for name in (*TENSORFLOWS, *COMPANIONS) if name in installed}
    closure |= {name for name in installed if name.startswith("nvidia-")} if tensorflow else set()
    queue = [name for name in closure if name in installed] if tensorflow else []
    while queue:
        for requirement in needed_by(installed[queue.pop()], markers):
            name = canonicalize_name(requirement.name)
            if name not in closure:
                closure.add(name)
                if name in installed:
                    queue.append(name)
    return Stack(installed=installed, tensorflow=tensorflow, closure=frozenset(closure))


def needed_by(
    distribution: Distribution, markers: Mapping[str, str], extras: Iterable[str] = ("",)
) -> list[Requirement]:
    """The requirements of ``distribution`` that apply here, with those of its ``extras``."""
    found = []
    for line in distribution.requires or ():
        if "extra ==" in line and " or " not in line and not any(extras):
            continue  # most lines of most packages, and parsing is what costs
        requirement = _parsed(line)
        marker = requirement.marker if requirement is not None else None
        if requirement is None or (
            marker is not None and not any(marker.evaluate({**markers, "extra": extra}) for extra in extras)
        ):
            continue
        found.append(requirement)
    return found


@lru_cache(maxsize=4096)
def _parsed(line: str) -> Optional[Requirement]:
    """None: metadata older than the rules, which installers pass over as well."""
    try:
        return Requirement(line)
    except InvalidRequirement:
        return None


def within(version: Optional[str], specifier: str) -> Optional[bool]:
    """Whether ``version`` is in ``specifier``; None where there is no version to compare."""
    try:
        return SpecifierSet(specifier).contains(Version(version or ""), prereleases=True)
    except InvalidVersion:
        return None


def lower_bound(specifier: str) -> Optional[Version]:
    """The lowest version that ``specifier`` ("==9.3.0.75", ">=9.3,<10") accepts."""
    bounds = [
        Version(item.version) for item in SpecifierSet(specifier) if item.operator in ("==", ">=", "~=")
    ]
    return max(bounds, default=None)


def is_below(version: Optional[str], floor: str) -> bool:
    """Whether ``version`` is known to be lower than ``floor``."""
    return bool(version and floor) and version_key(version or "") < version_key(floor)
