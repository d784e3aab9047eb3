"""A shelf of tiny wheels with a catalogue of its own, so that commands run for real without any network.

The "TensorFlow" on it is a module of one line: what is tested with it is the command line, the plan and the
installers. The proof has its own tests, with the real one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from support.wheels import make_lock, make_wheel
from tfenv.codec import JSON
from tfenv.locks.lockfile import render_lock
from tfenv.locks.model import Lock
from tfenv.records import record

PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"
REAL_POLICY = Path(__file__).parents[2] / "lockfiles" / "policy.toml"


@record
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Mapping[str, JSON]:
        """The JSON document on stdout."""
        parsed: Mapping[str, JSON] = json.loads(self.out)
        return parsed


class Shelf:
    """Wheels, a catalogue of locks over them, and a folder for environments."""

    def __init__(self, folder: Path) -> None:
        """Everything lies in ``folder``."""
        self.folder = folder
        self.wheels = folder / "wheels"
        self.catalogue = folder / "lockfiles"
        self.home = folder / "home"
        for made in (self.wheels, self.catalogue, self.home):
            made.mkdir()
        (self.catalogue / "policy.toml").write_text(REAL_POLICY.read_text(encoding="utf-8"))

    def add_lock(self, tensorflow: str, python: str = PYTHON, target: str = "linux-x86_64-cpu") -> Lock:
        """A lock of a tiny TensorFlow and one dependency of the same version."""
        files = {"tensorflow/__init__.py": f"__version__ = {tensorflow!r}\n"}
        holder = make_wheel(self.wheels, "tensorflow-cpu", tensorflow, files, ["companion"])
        companion = make_wheel(self.wheels, "companion", tensorflow)
        minor = ".".join(tensorflow.split(".")[:2])
        lock = make_lock(
            replace(companion, accepts=f">={tensorflow}"),
            replace(holder, accepts=f"=={tensorflow}"),
            lock_id=f"{target}/tf{minor}-py{python.replace('.', '')}",
            tensorflow=tensorflow,
            python=python,
        )
        path = self.catalogue / f"{lock.id}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text(render_lock(lock), encoding="utf-8")
        return lock

    def environ(self, **extra: str) -> dict[str, str]:
        """No index, no network, no user files; nothing of the caller's Python settings."""
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "LC_ALL")}
        return {
            **kept,
            "HOME": str(self.home),
            "TFENV_LOCKFILES": str(self.catalogue),
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.wheels),
            "UV_NO_INDEX": "1",
            "UV_OFFLINE": "1",
            "UV_FIND_LINKS": str(self.wheels),
            "UV_CACHE_DIR": str(self.folder / "uv-cache"),
            **extra,
        }

    def tfenv(self, *arguments: str, cwd: Path | None = None, **extra: str) -> Ran:
        """Run ``tfenv`` as a user would."""
        done = subprocess.run(
            [sys.executable, "-m", "tfenv", *arguments],
            env=self.environ(**extra),
            cwd=cwd or self.home,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        return Ran(code=done.returncode, out=done.stdout, err=done.stderr)
