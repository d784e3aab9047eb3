"""Memory and storage."""

from __future__ import annotations

import os
from pathlib import Path

from tfenv.facts import apple, cgroup
from tfenv.facts.interpreter import InterpreterProbe
from tfenv.facts.machine import Machine, exists, read_text, why
from tfenv.facts.model import Fact, ResourceFacts, known, unknown

_NOT_LINUX = "not Linux"
_MEMINFO = "/proc/meminfo"
_SHM = "/dev/shm"  # noqa: S108  (asked for its size)


def resource_facts(probe: InterpreterProbe, machine: Machine) -> ResourceFacts:
    """The facts about memory and storage, in bytes; the disk is the one that holds the environment."""
    linux = machine.platform == "linux"
    return ResourceFacts(
        memory=memory(machine),
        cgroup_memory_limit=cgroup.memory_limit(machine) if linux else known(None, _NOT_LINUX),
        cgroup_cpu_limit=cgroup.cpu_limit(machine) if linux else known(None, _NOT_LINUX),
        env_disk_free=disk_free(probe.purelib, machine),
        env_writable=writable(probe.purelib, machine),
        shm_size=shm_size(machine) if linux else known(None, _NOT_LINUX),
    )


def memory(machine: Machine) -> Fact[int]:
    """Physical memory."""
    if machine.platform == "darwin":
        return apple.sysctl_number(machine, "hw.memsize")
    if machine.platform == "win32":
        try:
            return known(machine.windows_memory(), "GlobalMemoryStatusEx")
        except OSError as error:
            return unknown("GlobalMemoryStatusEx", why(error))
    try:
        lines = read_text(machine, _MEMINFO).splitlines()
    except OSError as error:
        return unknown(_MEMINFO, why(error))
    for line in lines:
        words = line.split()
        if words[:1] == ["MemTotal:"] and len(words) > 1 and words[1].isdecimal():
            return known(int(words[1]) * 1024, _MEMINFO)
    return unknown(_MEMINFO, "no MemTotal in it")


def disk_free(folder: str, machine: Machine) -> Fact[int]:
    """Free bytes where ``folder`` is or will be."""
    existing = _existing(machine.path(folder))
    source = f"filesystem of {folder}"
    try:
        return known(machine.storage(existing).free, source)
    except OSError as error:
        return unknown(source, why(error))


def writable(folder: str, machine: Machine) -> Fact[bool]:
    """Whether this user can write where ``folder`` is or will be; false on a read-only filesystem."""
    return known(os.access(_existing(machine.path(folder)), os.W_OK), f"access to {folder}")


def shm_size(machine: Machine) -> Fact[int]:
    """Size of shared memory; 64 MB is Docker's default, too little for several GPUs or workers."""
    folder = machine.path(_SHM)
    if not exists(folder):
        return known(None, _SHM)
    try:
        return known(machine.storage(folder).total, _SHM)
    except OSError as error:
        return unknown(_SHM, why(error))


def _existing(path: Path) -> Path:
    """``path`` or the nearest folder above it that exists."""
    return next((step for step in (path, *path.parents) if exists(step)), Path(path.anchor))
