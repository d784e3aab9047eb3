"""A machine made of a folder tree and recorded answers, for readers of any platform on any machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Optional

from tfenv.facts.interpreter import InterpreterProbe
from tfenv.facts.machine import Ran, Storage, Uname

GB = 1024**3


class FakeMachine:
    """Implements ``tfenv.facts.machine.Machine``; what was not given is not there."""

    def __init__(
        self,
        root: Path,
        *,
        platform: str = "linux",
        files: Optional[Mapping[str, str]] = None,
        environ: Optional[Mapping[str, str]] = None,
        commands: Optional[Mapping[str, Ran]] = None,
        sysctls: Optional[Mapping[str, bytes | int]] = None,
        uname: tuple[str, str] = ("6.1.0", "x86_64"),
        storage: Optional[Storage] = None,
        windows_features: tuple[int, ...] = (),
        pid: int = 100,
        python: Optional[str] = "python",
    ) -> None:
        self.root = root
        self.platform = platform
        self.environ: Mapping[str, str] = environ or {}
        self.commands = commands or {}
        self.sysctls = sysctls or {}
        self.ran: list[tuple[str, ...]] = []
        self.run_environ: Mapping[str, str] = {}
        self._uname = Uname(release=uname[0], machine=uname[1])
        self._storage = storage
        self._windows_features = windows_features
        self.pid = pid
        self.python = python
        for absolute, text in (files or {}).items():
            path = self.path(absolute)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def path(self, absolute: str) -> Path:
        return self.root / absolute.lstrip("/")

    def which(self, command: str) -> Optional[str]:
        return f"/usr/bin/{command}" if command in self.commands else None

    def run(
        self,
        command: Sequence[str],
        *,
        limit: float,
        cwd: Optional[Path] = None,
        environ: Optional[Mapping[str, str]] = None,
    ) -> Ran:
        self.ran.append(tuple(command))
        self.run_environ = environ or {}
        name = Path(command[0]).name
        return self.commands.get(name, Ran(outcome="missing", problem="No such file or directory"))

    def uname(self) -> Uname:
        return self._uname

    def usable_cpus(self) -> int:
        return 4

    def storage(self, path: Path) -> Storage:
        if self._storage is None:
            raise OSError(13, "Permission denied")
        return self._storage

    def sysctl(self, name: str) -> bytes:
        if name not in self.sysctls:
            raise FileNotFoundError(2, "No such file or directory")
        value = self.sysctls[name]
        return value.to_bytes(8, "little") if isinstance(value, int) else value + b"\0"

    def windows_memory(self) -> int:
        return 32 * GB

    def windows_cpu_has(self, feature: int) -> bool:
        return feature in self._windows_features


def probe(**changed: object) -> InterpreterProbe:
    """A CPython 3.11 venv on Linux, with ``changed`` fields."""
    purelib = "/venv/lib/python3.11/site-packages"
    fields: dict[str, object] = {
        "executable": "/venv/bin/python",
        "version": "3.11.7",
        "implementation": "cpython",
        "bits": 64,
        "build_arch": "x86_64",
        "platform_tag": "linux-x86_64",
        "free_threaded": False,
        "debug_build": False,
        "writes_bytecode": True,
        "prefix": "/venv",
        "base_prefix": "/usr",
        "path": ("/usr/lib/python311.zip", "/usr/lib/python3.11", purelib),
        "user_site": None,
        "purelib": purelib,
        "platlib": purelib,
        "scripts": "/venv/bin",
        "stdlib": "/usr/lib/python3.11",
        "libc": "glibc",
        "libc_version": "2.36",
    }
    return InterpreterProbe(**{**fields, **changed})
