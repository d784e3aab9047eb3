"""Which interpreter a command acts on: ``--python``, ``--venv``, the active one, or the running one."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Optional

from tfenv.errors import UsageError
from tfenv.install.site import Site, site_of_venv
from tfenv.install.venv import existing_venv
from tfenv.records import record

if TYPE_CHECKING:
    from tfenv.facts.interpreter import InterpreterProbe

#: Files and folders that mark an environment as a tool's private one (pipx, uv tool, uvx).
_TOOL_MARKS = ("pipx_metadata.json", "uv-receipt.toml")
_UVX_FOLDER = "archive-v0"


@record
class Host:
    """The interpreter to act on; ``None`` is the running one. ``venv`` is still to be made from it."""

    python: Optional[Path] = None
    venv: Optional[Path] = None
    reason: str = ""


def find_host(
    python: Optional[str], venv: Optional[Path], environ: Mapping[str, str], *, may_make: bool = False
) -> Host:
    """The interpreter that a command with ``--python`` and ``--venv`` acts on.

    With ``may_make``, ``venv`` may be missing; ``python`` is then what it is made from.

    Raises:
        UsageError: ``venv`` is no virtual environment, or is missing where it must exist; or both options
            name an environment and disagree.
    """
    if venv is not None:
        return _of_venv(venv, python, may_make)
    if python is not None:
        return Host(python=Path(python), reason="--python")
    active = _active(environ)
    if active is not None:
        return active
    if _is_tool_environment(Path(sys.prefix)):
        found = _on_path(environ)
        if found is None:
            raise UsageError(
                "no-environment",
                "tfenv runs from its own private environment, and there is no other Python to act on.",
                hint="Name one with --python PATH, or let tfenv make one: tfenv bootstrap --venv .venv",
            )
        return Host(python=found, reason="python on PATH")
    return Host(reason="the Python that runs tfenv")


def locate(python: Optional[str], venv: Optional[Path], environ: Mapping[str, str]) -> Site:
    """The folders of the environment a command acts on; runs the interpreter only if nothing else tells.

    Raises:
        UsageError: see :func:`find_host`, and what an interpreter that does not answer raises.
    """
    host = find_host(python, venv, environ)
    site = cheap_site(host)
    if site is not None:
        return site
    from tfenv.facts.interpreter import read_interpreter

    return site_of(read_interpreter(host.python))


def site_of(probe: InterpreterProbe) -> Site:
    """The folders of the interpreter that answered ``probe``."""
    return Site(
        python=Path(probe.executable or sys.executable),
        prefix=Path(probe.prefix),
        purelib=Path(probe.purelib),
        platlib=Path(probe.platlib),
        scripts=Path(probe.scripts),
    )


def cheap_site(host: Host) -> Optional[Site]:
    """The host's folders without running it; None where only the interpreter itself could tell."""
    if host.venv is not None:
        return None
    if host.python is not None:
        return site_of_venv(host.python.parent.parent)
    import sysconfig

    paths = sysconfig.get_paths()
    return Site(
        python=Path(sys.executable),
        prefix=Path(sys.prefix),
        purelib=Path(paths["purelib"]),
        platlib=Path(paths["platlib"]),
        scripts=Path(paths["scripts"]),
    )


def _of_venv(venv: Path, python: Optional[str], may_make: bool) -> Host:
    # Absolute, but not resolved: a link to an environment is a name the user chose.
    directory = venv.expanduser().absolute()
    site = existing_venv(directory)
    if site is None:
        if not may_make:
            raise UsageError(
                "no-venv",
                f"There is no virtual environment at {venv}.",
                hint=f"Make it with: tfenv bootstrap --venv {venv}",
            )
        return Host(python=Path(python) if python else None, venv=directory, reason="--venv")
    if python is not None and Path(python).expanduser().absolute().parent != site.python.parent:
        raise UsageError(
            "venv-exists",
            f"{venv} exists already, so --python {python} cannot choose its Python.",
            hint=f"Leave out --python, or delete {venv} first to have it made anew.",
        )
    return Host(python=site.python, reason="--venv")


def _active(environ: Mapping[str, str]) -> Optional[Host]:
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        prefix = environ.get(variable)
        if not prefix:
            continue
        for relative in ("bin/python", "Scripts/python.exe", "python.exe"):
            candidate = Path(prefix) / relative
            if candidate.is_file():
                return Host(python=candidate, reason=f"the active environment ({variable})")
    return None


def _is_tool_environment(prefix: Path) -> bool:
    return any((prefix / mark).exists() for mark in _TOOL_MARKS) or _UVX_FOLDER in prefix.parts


def _on_path(environ: Mapping[str, str]) -> Optional[Path]:
    for name in ("python3", "python"):
        found = shutil.which(name, path=environ.get("PATH"))
        if found and not Path(found).resolve().is_relative_to(Path(sys.prefix).resolve()):
            return Path(found)
    return None
