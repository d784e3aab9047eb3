"""Finding interpreters: links to real ones, kept where each tool keeps its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Optional

import pytest

from tfenv.facts.machine import LocalMachine, Ran
from tfenv.facts.pythons import FoundPython, find_interpreters

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="symbolic links to interpreters")

PYENV = Path("~/.pyenv/versions").expanduser()
OLD, NEW = PYENV / "3.9.18" / "bin" / "python", PYENV / "3.12.1" / "bin" / "python"
needs_two = pytest.mark.skipif(not (OLD.exists() and NEW.exists()), reason="needs CPython 3.9.18 and 3.12.1")


def link(path: Path, target: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)
    return path


def found(root: Path, **environ: str) -> list[tuple[str, str, str]]:
    machine = LocalMachine(root=root, environ={"HOME": "/home/me", **environ})
    return [
        (item.version, item.found_by, item.path.replace(str(root), "")) for item in find_interpreters(machine)
    ]


@needs_two
def test_each_tool_is_asked_and_the_newest_comes_first(tmp_path: Path) -> None:
    link(tmp_path / "home/me/.pyenv/versions/3.9.18/bin/python", OLD)
    link(tmp_path / "home/me/.local/share/uv/python/cpython-3.12/bin/python3", NEW)
    assert found(tmp_path) == [
        ("3.12.1", "uv", "/home/me/.local/share/uv/python/cpython-3.12/bin/python3"),
        ("3.9.18", "pyenv", "/home/me/.pyenv/versions/3.9.18/bin/python"),
    ]


@needs_two
def test_variables_move_the_tools_folders(tmp_path: Path) -> None:
    link(tmp_path / "p/versions/x/bin/python", OLD)
    link(tmp_path / "u/x/bin/python3", NEW)
    assert [row[:2] for row in found(tmp_path, PYENV_ROOT="/p", UV_PYTHON_INSTALL_DIR="/u")] == [
        ("3.12.1", "uv"),
        ("3.9.18", "pyenv"),
    ]


@needs_two
def test_conda_environments_are_listed_in_a_file(tmp_path: Path) -> None:
    link(tmp_path / "opt/conda/envs/tf/bin/python", OLD)
    (tmp_path / "home/me/.conda").mkdir(parents=True)
    (tmp_path / "home/me/.conda/environments.txt").write_text("/opt/conda/envs/tf\n/gone\n\n")
    assert found(tmp_path) == [("3.9.18", "conda", "/opt/conda/envs/tf/bin/python")]


@needs_two
def test_path_and_system_folders(tmp_path: Path) -> None:
    link(tmp_path / "bin/python3", NEW)
    link(tmp_path / "usr/bin/python3.9", OLD)
    link(tmp_path / "usr/bin/python3.9-config", OLD)
    assert found(tmp_path, PATH="/bin:/none:") == [
        ("3.12.1", "PATH", "/bin/python3"),
        ("3.9.18", "system", "/usr/bin/python3.9"),
    ]


@needs_two
def test_an_installation_counts_once_and_not_by_its_environments(tmp_path: Path) -> None:
    import subprocess

    subprocess.run([str(NEW), "-m", "venv", "--without-pip", str(tmp_path / "env")], check=True)
    link(tmp_path / "usr/bin/python3.12", NEW)
    assert found(tmp_path, PATH="/env/bin") == [("3.12.1", "system", "/usr/bin/python3.12")]


@needs_two
def test_a_shim_stands_for_an_interpreter_found_elsewhere(tmp_path: Path) -> None:
    link(tmp_path / "pyenv/shims/python3", NEW)
    assert found(tmp_path, PATH="/pyenv/shims") == []


def test_impostors_are_no_interpreters(tmp_path: Path) -> None:
    for name in ("bin/python3", "usr/bin/python3.99"):
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.write_text("#!/bin/sh\nexit 127\n")
        path.chmod(0o755)
    assert found(tmp_path, PATH="/bin") == []


def test_a_machine_without_any(tmp_path: Path) -> None:
    assert found(tmp_path) == []


def test_the_pythons_of_this_machine_run() -> None:
    interpreters = find_interpreters()
    assert all(os.access(item.path, os.X_OK) for item in interpreters)
    versions = [tuple(int(part) for part in item.version.split(".")) for item in interpreters]
    assert versions == sorted(versions, reverse=True)
    running = ".".join(map(str, sys.version_info[:3]))
    assert running in {item.version for item in interpreters}


def test_minor() -> None:
    one = FoundPython(path="/p", version="3.12.1", implementation="cpython", found_by="PATH")
    assert one.minor == "3.12"


class WindowsLike(LocalMachine):
    """This machine with the launcher of Windows."""

    def __init__(self, listing: str, environ: dict[str, str]) -> None:
        super().__init__(environ=environ)
        self._listing = listing

    @property
    def platform(self) -> str:
        return "win32"

    def which(self, command: str) -> Optional[str]:
        return "py" if command == "py" else None

    def run(
        self,
        command: Sequence[str],
        *,
        limit: float,
        cwd: Optional[Path] = None,
        environ: Optional[Mapping[str, str]] = None,
    ) -> Ran:
        if command[0] == "py":
            return Ran(outcome="exited", stdout=self._listing)
        return super().run(command, limit=limit, cwd=cwd, environ=environ)


@needs_two
def test_the_launcher_of_windows_lists_interpreters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # To this system a name like any other.
    (tmp_path / "C:\\Python312\\python.exe").symlink_to(NEW)
    rows = (
        " -V:3.12 *        C:\\Python312\\python.exe",
        " -V:3.11     C:\\Gone\\python.exe",
        "No drive here",
    )
    listing = "\r\n".join(rows)
    machine = WindowsLike(listing, {"PATH": "C/WindowsApps"})
    assert find_interpreters(machine) == (
        FoundPython(
            path="C:\\Python312\\python.exe",
            version="3.12.1",
            implementation="cpython",
            found_by="py launcher",
        ),
    )
