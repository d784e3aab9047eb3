"""The machine as the readers see it: files, environment variables, commands and a few system calls.

:class:`LocalMachine` is this one. Tests hand the readers a folder tree and recorded answers instead, so every
platform's reader runs everywhere.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, Optional, Protocol

from tfenv.records import record


@record
class Ran:
    """How a command ended."""

    outcome: Literal["exited", "missing", "refused", "hung"]
    exit_code: int = 0  # negative: ended by that signal; meaningful when "exited"
    stdout: str = ""
    stderr: str = ""
    problem: str = ""  # the system's words when it could not be started


@record
class Storage:
    """A filesystem, in bytes."""

    total: int
    free: int  # to this user


@record
class Uname:
    """Kernel release and hardware name, as the kernel gives them."""

    release: str
    machine: str


class Machine(Protocol):
    """What the readers need. Paths are the machine's own; ``path`` says where to really look."""

    @property
    def platform(self) -> str:
        """As ``sys.platform``: "linux", "darwin", "win32"."""

    @property
    def environ(self) -> Mapping[str, str]:
        """The environment variables."""

    @property
    def pid(self) -> int:
        """The process that reads."""

    @property
    def python(self) -> Optional[str]:
        """An interpreter for children of tfenv itself; ``None`` where this process does not know its own."""

    def path(self, absolute: str) -> Path:
        """Where the file ``absolute`` of the machine can be opened."""

    def which(self, command: str) -> Optional[str]:
        """The full path of ``command`` on PATH."""

    def run(
        self,
        command: Sequence[str],
        *,
        limit: float,
        cwd: Optional[Path] = None,
        environ: Optional[Mapping[str, str]] = None,
    ) -> Ran:
        """Run ``command`` for at most ``limit`` seconds; never raises for what the command does."""

    def uname(self) -> Uname:
        """Kernel release and hardware name."""

    def usable_cpus(self) -> int:
        """How many CPUs this process may use."""

    def storage(self, path: Path) -> Storage:
        """The filesystem that holds ``path``. Raises OSError."""

    def sysctl(self, name: str) -> bytes:
        """The raw value of a macOS sysctl. Raises OSError where it does not exist."""

    def windows_memory(self) -> int:
        """Physical memory in bytes (Windows). Raises OSError."""

    def windows_cpu_has(self, feature: int) -> bool:
        """Windows' IsProcessorFeaturePresent. Raises OSError elsewhere."""


class LocalMachine:
    """This machine; with ``root``, its file tree is looked up below that folder."""

    def __init__(self, *, root: Optional[Path] = None, environ: Optional[Mapping[str, str]] = None) -> None:
        """``environ``: the variables to show instead of this process's own."""
        self._root = root
        self._environ = environ

    @property
    def platform(self) -> str:
        """``sys.platform``."""
        return sys.platform

    @property
    def environ(self) -> Mapping[str, str]:
        """``os.environ``, as it is now."""
        return os.environ if self._environ is None else self._environ

    @property
    def pid(self) -> int:
        """This process."""
        return os.getpid()

    @property
    def python(self) -> Optional[str]:
        """``sys.executable``."""
        return sys.executable or None

    def path(self, absolute: str) -> Path:
        """``absolute``, below the root if there is one."""
        return Path(absolute) if self._root is None else self._root / absolute.lstrip("/")

    def which(self, command: str) -> Optional[str]:
        """The full path of ``command`` on the PATH of ``environ``."""
        import shutil  # lazily: it loads the compression modules

        return shutil.which(command, path=self.environ.get("PATH", os.defpath))

    def run(
        self,
        command: Sequence[str],
        *,
        limit: float,
        cwd: Optional[Path] = None,
        environ: Optional[Mapping[str, str]] = None,
    ) -> Ran:
        """Run ``command`` in a process group of its own, which is killed after ``limit`` seconds."""
        from tfenv.facts.children import run_limited

        return run_limited(command, limit=limit, cwd=cwd, environ=environ or self.environ)

    def uname(self) -> Uname:
        """From ``os.uname``; on Windows from the version call and the environment."""
        if sys.platform == "win32":
            version = sys.getwindowsversion()
            return Uname(
                release=f"{version.major}.{version.minor}.{version.build}",
                # The second one is what a 32-bit process on 64-bit Windows sees of the machine.
                machine=self.environ.get("PROCESSOR_ARCHITEW6432")
                or self.environ.get("PROCESSOR_ARCHITECTURE", ""),
            )
        uname = os.uname()
        return Uname(release=uname.release, machine=uname.machine)

    def usable_cpus(self) -> int:
        """From the CPU affinity where there is one."""
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1

    def storage(self, path: Path) -> Storage:
        """From ``statvfs`` or its Windows counterpart."""
        import shutil

        usage = shutil.disk_usage(path)
        return Storage(total=usage.total, free=usage.free)

    def sysctl(self, name: str) -> bytes:
        """From ``sysctlbyname`` of the C library."""
        if sys.platform == "darwin":
            import ctypes

            libc = ctypes.CDLL(None, use_errno=True)
            size = ctypes.c_size_t(0)
            key = name.encode()
            if libc.sysctlbyname(key, None, ctypes.byref(size), None, ctypes.c_size_t(0)) != 0:
                raise OSError(ctypes.get_errno(), f"no sysctl {name}")
            buffer = ctypes.create_string_buffer(size.value)
            if libc.sysctlbyname(key, buffer, ctypes.byref(size), None, ctypes.c_size_t(0)) != 0:
                raise OSError(ctypes.get_errno(), f"sysctl {name} cannot be read")
            return buffer.raw[: size.value]
        raise OSError("sysctl by name exists on macOS only")

    def windows_memory(self) -> int:
        """From GlobalMemoryStatusEx."""
        if sys.platform == "win32":
            import ctypes

            # MEMORYSTATUSEX: two 32-bit words (length, load), then seven of 64 bits; the first is the total.
            status = (ctypes.c_uint64 * 8)()
            status[0] = ctypes.sizeof(status)
            if ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)):
                return int(status[1])
        raise OSError("GlobalMemoryStatusEx gives no answer")

    def windows_cpu_has(self, feature: int) -> bool:
        """From IsProcessorFeaturePresent."""
        if sys.platform == "win32":
            import ctypes

            return bool(ctypes.windll.kernel32.IsProcessorFeaturePresent(feature))
        raise OSError("IsProcessorFeaturePresent exists on Windows only")


#: This machine, without changes.
LOCAL = LocalMachine()


def read_text(machine: Machine, absolute: str, *, most: int = 4_000_000) -> str:
    """The text of the machine's file ``absolute``, at most ``most`` bytes of it. Raises OSError."""
    with machine.path(absolute).open("rb") as stream:
        return stream.read(most).decode("utf-8", "replace")


def exists(path: Path) -> bool:
    """Whether ``path`` can be seen; a folder above it that may not be searched hides it."""
    try:
        return path.exists()
    except OSError:
        return False


def why(error: OSError) -> str:
    """The reason of ``error`` without the path it may carry."""
    return error.strerror or str(error)
