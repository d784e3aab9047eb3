"""Files in the working folder that Python would import in place of TensorFlow or a module it needs."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

from tfenv.facts.interpreter import InterpreterProbe
from tfenv.facts.machine import Machine, exists, why
from tfenv.facts.model import Fact, known, unknown

#: The stack's own import names, and modules of the standard library that the stack imports and people like to
#: name their files after.
_NAMES = re.compile(
    r"absl|google|h5py|keras|numpy|six|tensorboard|tensorflow|wrapt"
    r"|code|copy|enum|inspect|json|logging|numbers|platform|queue|random|secrets|signal|socket|string|struct"
    r"|tempfile|token|tokenize|types|typing"
)
_SUFFIXES = frozenset({".py", ".pyc", ".so", ".pyd"})


def shadowing(probe: InterpreterProbe, cwd: Path, machine: Machine) -> Fact[tuple[str, ...]]:
    """Names of such files in ``cwd``, then full paths of those in the folders of PYTHONPATH.

    A folder counts only with an ``__init__``: without one it is a namespace package, and the search goes on
    to the installed one. The standard library and folders that hold installed distributions shadow nothing.
    """
    found: list[str] = []
    try:
        found += _shadows(cwd, probe.stdlib)
    except OSError as error:
        return unknown("the working folder", why(error))
    for entry in machine.environ.get("PYTHONPATH", "").split(os.pathsep):
        folder = cwd / entry
        if entry and not _same(folder, cwd):
            # A folder that is not there, or a zip file, holds none.
            with contextlib.suppress(OSError):
                found += [str(folder / name) for name in _shadows(folder, probe.stdlib)]
    return known(tuple(found), "the working folder and PYTHONPATH")


def _shadows(folder: Path, stdlib: str) -> list[str]:
    entries = sorted(folder.iterdir())
    if _same(folder, Path(stdlib)) or any(entry.suffix == ".dist-info" for entry in entries):
        return []
    return [entry.name for entry in entries if _is_module(entry)]


def _is_module(entry: Path) -> bool:
    if not _NAMES.fullmatch(entry.name.split(".")[0]):
        return False
    if entry.suffix in _SUFFIXES:
        return True
    return not entry.suffix and any(exists(entry / f"__init__{suffix}") for suffix in _SUFFIXES)


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False
