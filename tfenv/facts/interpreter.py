"""The target interpreter, asked by running it: tfenv need not be installed there."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Callable, Optional

from tfenv.codec import CodecError, decode
from tfenv.errors import UsageError
from tfenv.facts import probe_script
from tfenv.facts.machine import LOCAL, Machine, Ran
from tfenv.facts.model import Distribution, Fact, PythonFacts, known, unknown
from tfenv.records import record
from tfenv.versions import minor_of

#: Seconds. A healthy interpreter answers in 0.05; a network file system can take some.
PROBE_LIMIT = 10.0

#: Set by macOS framework builds for the interpreter they start; inherited, it would misplace another one.
_MISLEADING = ("__PYVENV_LAUNCHER__",)


@record
class InterpreterProbe:
    """What an interpreter says of itself after a normal start. Any Python from 2.7 on can answer."""

    executable: Optional[str]
    version: str  # "3.11.7"
    implementation: str  # "cpython"
    bits: int
    build_arch: str  # "x86_64", "arm64", "aarch64", "AMD64"
    platform_tag: str  # sysconfig.get_platform()
    free_threaded: bool
    debug_build: bool
    writes_bytecode: bool
    prefix: str
    base_prefix: str  # differs from prefix in a virtual environment
    path: tuple[str, ...]  # sys.path without the folder of the script or the working folder
    user_site: Optional[str]  # None: not active
    purelib: str
    platlib: str
    scripts: str  # the folder of commands
    stdlib: str
    libc: Optional[str]  # "glibc", "musl"; None outside Linux
    libc_version: Optional[str]  # None for musl: its loader tells

    @property
    def minor(self) -> str:
        """ "3.11"."""
        return minor_of(self.version)


def probe_interpreter(
    path: Path, *, machine: Machine = LOCAL, limit: float = PROBE_LIMIT
) -> InterpreterProbe:
    """Ask the interpreter ``path`` (or command on PATH) for itself, started normally in an empty folder.

    Raises:
        UsageError: ``no-such-python``, ``not-executable``, ``not-a-python`` or ``python-hangs``.
    """
    executable = _located(path, machine)
    import tempfile  # lazily: the running interpreter needs none of it

    with tempfile.TemporaryDirectory(prefix="tfenv-") as name:
        # An empty working folder: no file of the user's can take the place of a standard module.
        folder = Path(name)
        empty, answer = folder / "empty", folder / "answer.json"
        empty.mkdir()
        script = Path(probe_script.__file__).read_text(encoding="ascii")
        ran = machine.run(
            [str(executable), "-c", script, str(answer)],
            limit=limit,
            cwd=empty,
            environ={key: value for key, value in machine.environ.items() if key not in _MISLEADING},
        )
        try:
            text = answer.read_text(encoding="utf-8")
        except OSError:
            text = ""
        inside = os.path.realpath(folder) + os.sep
    if not text or ran.outcome != "exited":
        raise _no_answer(executable, ran, limit)
    try:
        probe = decode(InterpreterProbe, json.loads(text))
    except (ValueError, CodecError) as error:
        raise _not_a_python(executable, f"its answer makes no sense ({error})") from None
    # A relative entry of PYTHONPATH was looked up in the empty folder.
    return _keeping(probe, lambda entry: not os.path.realpath(entry).startswith(inside))


def this_interpreter() -> InterpreterProbe:
    """The interpreter that runs tfenv, read without starting another."""
    probe = decode(InterpreterProbe, probe_script.describe())
    # "python -m" puts the working folder first; it belongs to no environment.
    own = (probe.purelib, probe.platlib)
    return _keeping(probe, lambda entry: entry in own or entry != str(Path.cwd()))


def read_interpreter(target: Optional[Path], *, machine: Machine = LOCAL) -> InterpreterProbe:
    """The interpreter ``target``; ``None`` is the running one, which is read in-process.

    Raises:
        UsageError: see :func:`probe_interpreter`.
    """
    # Started with -I or -E, this process does not see what a normal start would.
    unlike_normal = bool(sys.flags.isolated or sys.flags.ignore_environment)
    if target is None and not sys.executable:
        return this_interpreter()
    if (target is None or _is_running(target)) and not unlike_normal:
        return this_interpreter()
    return probe_interpreter(target or Path(sys.executable), machine=machine)


def python_facts(probe: InterpreterProbe, distributions: Fact[tuple[Distribution, ...]]) -> PythonFacts:
    """The facts about the interpreter itself."""
    source = "the interpreter itself"
    return PythonFacts(
        executable=known(probe.executable, "sys.executable")
        if probe.executable
        else unknown("sys.executable", "the interpreter does not know its own path"),
        version=known(probe.version, source),
        implementation=known(probe.implementation, source),
        bits=known(probe.bits, source),
        build_arch=known(probe.build_arch, source),
        free_threaded=known(probe.free_threaded, "sysconfig Py_GIL_DISABLED"),
        debug_build=known(probe.debug_build, source),
        platform_tag=known(probe.platform_tag, "sysconfig.get_platform()"),
        pip_version=_pip_version(distributions),
        writes_bytecode=known(probe.writes_bytecode, "sys.dont_write_bytecode"),
    )


def _pip_version(distributions: Fact[tuple[Distribution, ...]]) -> Fact[str]:
    source = "installed distributions"
    if distributions.value is None:
        return unknown(source, distributions.reason)
    versions = [item.version for item in distributions.value if item.name == "pip"]
    return known(versions[0] if versions else None, source)


def _is_running(target: Path) -> bool:
    """Whether ``target`` is this very interpreter: same file, and same folder (venvs link to one file)."""
    if not sys.executable:
        return False
    try:
        here, there = Path(sys.executable).absolute(), target.expanduser().absolute()
        return here.samefile(there) and here.parent.samefile(there.parent)
    except OSError:
        return False


def _keeping(probe: InterpreterProbe, keep: Callable[[str], bool]) -> InterpreterProbe:
    return replace(probe, path=tuple(entry for entry in probe.path if keep(entry)))


def _located(path: Path, machine: Machine) -> Path:
    text = str(path)
    located = path.expanduser()
    if os.sep not in text and not located.exists():
        found = machine.which(text)
        if found is None:
            raise UsageError(
                "no-such-python",
                f"{text}: no such file, and no such command on PATH",
                hint="Give the full path of an interpreter: --python /path/to/bin/python",
            )
        return Path(found)
    # Not resolved: the place of the link is what makes it the interpreter of a virtual environment.
    located = located.absolute()
    if located.is_symlink() and not located.exists():
        raise UsageError(
            "no-such-python",
            f"{located}: a link to {os.readlink(located)}, which is gone",  # noqa: PTH115
            hint="The Python behind this environment was removed. Create the environment anew.",
        )
    if not located.exists():
        raise UsageError(
            "no-such-python",
            f"{located}: no such file",
            hint="Give the path of an interpreter: --python /path/to/bin/python",
        )
    if located.is_dir():
        inside = [located / "bin" / "python", located / "Scripts" / "python.exe", located / "python.exe"]
        found_inside = next((item for item in inside if item.exists()), None)
        raise UsageError(
            "not-a-python",
            f"{located}: a folder, not an interpreter",
            hint=f"Use --python {found_inside}" if found_inside else f"Use --venv {located} to create it",
        )
    return located


def _no_answer(executable: Path, ran: Ran, limit: float) -> UsageError:
    if ran.outcome == "hung":
        return UsageError(
            "python-hangs",
            f"{executable}: did not answer within {limit:g} s",
            hint=f"See where it waits: {executable} -X importtime -c pass; or name another with --python.",
        )
    if ran.outcome != "exited":
        if not os.access(executable, os.X_OK):
            return UsageError(
                "not-executable",
                f"{executable}: not executable",
                hint=f"Allow it with chmod +x {executable}, or name another with --python.",
            )
        return _not_a_python(executable, f"it cannot be run: {ran.problem}")
    if ran.exit_code == 127:
        return UsageError(
            "not-a-python",
            f"{executable}: a version shim with no Python behind it (exit 127)",
            hint="Name a real interpreter; pyenv keeps its own in: ls ~/.pyenv/versions/*/bin/python",
        )
    if ran.exit_code < 0:
        return _not_a_python(executable, f"it was ended by signal {-ran.exit_code}")
    said = [line.strip() for line in ran.stderr.splitlines() if line.strip()]
    ending = f"exit {ran.exit_code}" + (f": {said[-1][:200]}" if said else "")
    return _not_a_python(executable, f"it ran without answering ({ending})")


def _not_a_python(executable: Path, reason: str) -> UsageError:
    return UsageError(
        "not-a-python",
        f"{executable}: not a Python interpreter that works: {reason}",
        hint=f"Check with {executable} --version, or name another with --python.",
    )
