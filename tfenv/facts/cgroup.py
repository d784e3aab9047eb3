"""The limits that control groups set on this process, version 1 and 2."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from tfenv.facts.machine import Machine, read_text, why
from tfenv.facts.model import Fact, known, unknown
from tfenv.records import record

_MEMBERSHIP = "/proc/self/cgroup"
_ROOT = "/sys/fs/cgroup"
#: Version 1 says "no limit" with the largest multiple of a page, 9223372036854771712.
_UNLIMITED = 2**62


@record
class _Group:
    """A group this process is in: where its controller is mounted, and its path below."""

    mount: str
    path: str


def memory_limit(machine: Machine) -> Fact[int]:
    """The least memory limit in bytes of this process' groups and all above them; ``None``: no limit."""
    groups = _groups(machine, "memory")
    if groups.value is None:
        return unknown(groups.source, groups.reason)
    limits = [
        int(text)
        for folder in _folders(groups.value)
        for name in ("memory.max", "memory.limit_in_bytes")
        if (text := _content(machine, f"{folder}/{name}")).isdecimal()
    ]
    limit = min((value for value in limits if value < _UNLIMITED), default=None)
    return known(limit, f"memory limits in {_ROOT}")


def cpu_limit(machine: Machine) -> Fact[float]:
    """The least CPU quota, in CPUs, of this process' groups and all above them; ``None``: no limit."""
    groups = _groups(machine, "cpu")
    if groups.value is None:
        return unknown(groups.source, groups.reason)
    quotas = [quota for folder in _folders(groups.value) if (quota := _quota(machine, folder)) is not None]
    return known(min(quotas, default=None), f"CPU quotas in {_ROOT}")


def _quota(machine: Machine, folder: str) -> float | None:
    words = _content(machine, f"{folder}/cpu.max").split()
    if len(words) != 2:
        words = [_content(machine, f"{folder}/cpu.cfs_{name}_us") for name in ("quota", "period")]
    quota, period = words
    # "max" or -1: no quota.
    if not (quota.isdecimal() and period.isdecimal() and int(period) > 0):
        return None
    return int(quota) / int(period)


def _groups(machine: Machine, controller: str) -> Fact[tuple[_Group, ...]]:
    """The groups that can limit ``controller``: its own of version 1, and the unified one of version 2."""
    try:
        text = read_text(machine, _MEMBERSHIP)
    except OSError as error:
        return unknown(_MEMBERSHIP, why(error))
    found = []
    for line in text.splitlines():
        number, controllers, path = [*line.split(":", 2), "", ""][:3]
        if number == "0" and not controllers:
            # Beside version 1 ("hybrid"), version 2 has a folder of its own.
            found += [_Group(mount=_ROOT, path=path), _Group(mount=f"{_ROOT}/unified", path=path)]
        elif controller in controllers.split(","):
            found += [_Group(mount=f"{_ROOT}/{name}", path=path) for name in {controller, controllers}]
    return known(tuple(found), _MEMBERSHIP)


def _folders(groups: tuple[_Group, ...]) -> Iterator[str]:
    """Each group and all above it up to the mount. Inside a container the path may be the host's, of which
    only the mount itself exists: what is not there limits nothing."""
    for group in groups:
        # In a namespace of its own a group outside is shown as "/../name".
        path = PurePosixPath("" if ".." in group.path else group.path.lstrip("/"))
        for step in (path, *path.parents):
            yield f"{group.mount}/{step}" if str(step) != "." else group.mount


def _content(machine: Machine, absolute: str) -> str:
    try:
        return read_text(machine, absolute).strip()
    except OSError:
        return ""
