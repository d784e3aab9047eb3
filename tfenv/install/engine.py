"""The installers: uv where found, else pip. Both always check hashes and never resolve."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, Optional, Protocol

from tfenv.errors import InstallError, UsageError
from tfenv.events import Listener
from tfenv.install.environ import installer_environment
from tfenv.install.runner import run_installer
from tfenv.locks.model import Pin

EngineName = Literal["auto", "uv", "pip"]


class Engine(Protocol):
    """Installs pins into an interpreter's environment."""

    name: str

    def install(self, python: Path, pins: Sequence[Pin], listener: Listener) -> None:
        """Install exactly ``pins``.

        Raises:
            InstallError: it failed; the environment may be half changed (see ``Transaction``).
        """


class Uv:
    """``uv pip install``."""

    name = "uv"

    def __init__(self, executable: str, environ: Mapping[str, str], *, on_terminal: bool) -> None:
        """``on_terminal`` lets uv draw its own progress bars."""
        self._executable = executable
        self._environ = environ
        self._on_terminal = on_terminal

    def install(self, python: Path, pins: Sequence[Pin], listener: Listener) -> None:
        """Install exactly ``pins``; see :class:`Engine`."""
        command = [
            self._executable, "pip", "install", "--python", str(python), "--no-deps", "--require-hashes",
            "--only-binary", ":all:", "-r", "{requirements}",
        ]  # fmt: skip
        run_installer(self.name, command, pins, self._environ, listener, on_terminal=self._on_terminal)


class Pip:
    """``pip install``, by the target's own pip or, where it has none, by ours."""

    name = "pip"

    def __init__(self, environ: Mapping[str, str], *, on_terminal: bool) -> None:
        """``on_terminal`` lets pip draw its own progress bars."""
        self._environ = environ
        self._on_terminal = on_terminal

    def install(self, python: Path, pins: Sequence[Pin], listener: Listener) -> None:
        """Install exactly ``pins``; see :class:`Engine`."""
        # -I: neither the working folder nor PYTHONPATH may put another "pip" in front of the real one.
        command = [
            *_pip_for(python, self._environ), "install", "--no-deps", "--require-hashes", "--no-input",
            "--only-binary", ":all:", "--disable-pip-version-check", "--no-warn-script-location",
            "--no-compile", "--root-user-action", "ignore", "-r", "{requirements}",
        ]  # fmt: skip
        environ = {**self._environ, "PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0"}
        run_installer(self.name, command, pins, environ, listener, on_terminal=self._on_terminal)


def choose_engine(wish: EngineName, environ: Mapping[str, str], *, on_terminal: bool) -> Engine:
    """uv when found (or wished for), else pip.

    Raises:
        UsageError: uv was wished for and is not on this machine.
    """
    clean = installer_environment(environ)
    if wish != "pip":
        uv = find_uv(environ)
        if uv is not None:
            return Uv(uv, clean, on_terminal=on_terminal)
        if wish == "uv":
            raise UsageError(
                "no-uv",
                "uv was not found on PATH or beside tfenv.",
                hint="Install it (`pip install uv`) or use --engine pip.",
            )
    return Pip(clean, on_terminal=on_terminal)


def find_uv(environ: Mapping[str, str]) -> Optional[str]:
    """uv's executable: the one that runs us, the one on PATH, or the one installed beside tfenv."""
    running = environ.get("UV")
    if running and Path(running).is_file():
        return running
    on_path = shutil.which("uv", path=environ.get("PATH"))
    if on_path:
        return on_path
    name = "uv.exe" if os.name == "nt" else "uv"
    beside = Path(sysconfig.get_path("scripts")) / name
    return str(beside) if beside.is_file() else None


def _pip_for(python: Path, environ: Mapping[str, str]) -> list[str]:
    """The command that runs pip for ``python``.

    Raises:
        InstallError: neither that interpreter nor tfenv's own has pip.
    """
    for command in (
        [str(python), "-I", "-m", "pip"],
        [sys.executable, "-I", "-m", "pip", "--python", str(python)],
    ):
        probe = subprocess.run([*command, "--version"], env=dict(environ), capture_output=True, check=False)
        if probe.returncode == 0:
            return command
    raise InstallError(
        "no-pip",
        "This interpreter has no pip, and uv was not found.",
        hint=f"Give it pip with `{python} -m ensurepip`, or put uv on PATH (`pip install uv`).",
    )
