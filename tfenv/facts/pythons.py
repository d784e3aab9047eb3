"""The Python interpreters on this machine: looked for where tools keep them, verified by running them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from tfenv.errors import UsageError
from tfenv.facts.interpreter import InterpreterProbe, probe_interpreter
from tfenv.facts.machine import LOCAL, Machine, exists, read_text
from tfenv.records import record
from tfenv.versions import minor_of

#: Seconds for one interpreter. A version shim with nothing behind it answers at once, a broken one may hang.
_LIMIT = 5.0
_AT_ONCE = 8


@record
class FoundPython:
    """An interpreter that answered."""

    path: str
    version: str  # "3.11.7"
    implementation: str  # "cpython"
    found_by: str  # "PATH", "pyenv", "uv", "conda", "homebrew", "python.org", "system", "py launcher"

    @property
    def minor(self) -> str:
        """ "3.11"."""
        return minor_of(self.version)


def find_interpreters(machine: Machine = LOCAL) -> tuple[FoundPython, ...]:
    """Every interpreter that runs, newest version first; an environment counts as its installation.

    Takes half a second for ten interpreters: meant for hints and for ``--venv``, not for every run.
    """
    candidates = list(_distinct(_candidates(machine)))
    if not candidates:
        return ()
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        probes = list(pool.map(lambda candidate: _probe(candidate[1], machine), candidates))
    best: dict[tuple[str, str], tuple[bool, FoundPython]] = {}
    for (found_by, path), probe in zip(candidates, probes):
        if probe is None:
            continue
        in_environment = probe.prefix != probe.base_prefix
        found = FoundPython(
            path=path, version=probe.version, implementation=probe.implementation, found_by=found_by
        )
        key = (os.path.realpath(probe.base_prefix), probe.version)
        # An environment stands for its installation only where that was not found itself.
        if key not in best or (best[key][0] and not in_environment):
            best[key] = (in_environment, found)
    return tuple(
        sorted((found for _, found in best.values()), key=lambda item: _order(item.version), reverse=True)
    )


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part) if part.isdecimal() else -1 for part in version.split("."))


def _probe(path: str, machine: Machine) -> InterpreterProbe | None:
    try:
        return probe_interpreter(Path(path), machine=machine, limit=_LIMIT)
    except UsageError:
        return None  # a shim without a Python behind it, a broken link, not a Python


def _distinct(candidates: Iterable[tuple[str, Path]]) -> Iterator[tuple[str, str]]:
    """Each executable once; a link to a file in another folder may be an environment and stays."""
    seen: set[tuple[str, str]] = set()
    for found_by, path in candidates:
        if not exists(path):
            continue
        key = (os.path.realpath(path), os.path.realpath(path.parent))
        if key not in seen:
            seen.add(key)
            yield found_by, str(path)


def _candidates(machine: Machine) -> Iterator[tuple[str, Path]]:
    if machine.platform == "win32":
        yield from _windows(machine)
        return
    home = machine.environ.get("HOME") or str(Path("~").expanduser())
    yield from _pyenv(machine, home)
    yield from _uv(machine, home)
    yield from _conda(machine, home)
    if machine.platform == "darwin":
        frameworks = machine.path("/Library/Frameworks/Python.framework/Versions")
        yield from (("python.org", path) for path in sorted(frameworks.glob("3.*/bin/python3")))
        for prefix in ("/opt/homebrew", "/usr/local"):
            homebrew = machine.path(f"{prefix}/opt")
            yield from (("homebrew", path) for path in sorted(homebrew.glob("python@3.*/bin/python3.*[0-9]")))
    for folder in machine.environ.get("PATH", "").split(os.pathsep):
        # Shims stand for interpreters found above, at a fifth of a second each.
        if folder and "shims" not in Path(folder).parts:
            yield from (("PATH", path) for path in _in_folder(machine.path(folder)))
    for folder in ("/usr/bin", "/usr/local/bin"):
        yield from (("system", path) for path in _in_folder(machine.path(folder)))


def _in_folder(folder: Path) -> list[Path]:
    """python3.x first: it says which one it is."""
    found = sorted(folder.glob("python3.[0-9]*")) if exists(folder) else []
    versions = [path for path in found if path.name.partition(".")[2].isdecimal()]
    return [*versions, *(path for path in (folder / "python3", folder / "python") if exists(path))]


def _pyenv(machine: Machine, home: str) -> Iterator[tuple[str, Path]]:
    root = machine.path(machine.environ.get("PYENV_ROOT") or f"{home}/.pyenv")
    yield from (("pyenv", path) for path in sorted(root.glob("versions/*/bin/python")))


def _uv(machine: Machine, home: str) -> Iterator[tuple[str, Path]]:
    data = machine.environ.get("XDG_DATA_HOME") or f"{home}/.local/share"
    root = machine.path(machine.environ.get("UV_PYTHON_INSTALL_DIR") or f"{data}/uv/python")
    yield from (("uv", path) for path in sorted(root.glob("*/bin/python3")))


def _conda(machine: Machine, home: str) -> Iterator[tuple[str, Path]]:
    prefixes = [machine.environ.get("CONDA_PREFIX", "")]
    with contextlib.suppress(OSError):  # no conda here
        prefixes += read_text(machine, f"{home}/.conda/environments.txt").splitlines()
    for prefix in prefixes:
        if prefix.strip():
            yield "conda", machine.path(prefix.strip()) / "bin" / "python"


def _windows(machine: Machine) -> Iterator[tuple[str, Path]]:
    launcher = machine.which("py")
    if launcher is not None:
        # " -V:3.11 *        C:\\Python311\\python.exe"
        for line in machine.run([launcher, "-0p"], limit=_LIMIT).stdout.splitlines():
            drive = line.find(":\\")
            if drive > 0:
                yield "py launcher", Path(line[drive - 1 :].strip())
    data = machine.environ.get("APPDATA")
    root = machine.environ.get("UV_PYTHON_INSTALL_DIR") or (f"{data}\\uv\\python" if data else "")
    if root:
        yield from (("uv", path) for path in sorted(Path(root).glob("*/python.exe")))
    for folder in machine.environ.get("PATH", "").split(os.pathsep):
        # The stubs of the Microsoft Store open the store.
        if folder and "WindowsApps" not in folder:
            yield "PATH", Path(folder) / "python.exe"
