"""``tfenv facts``, and the facts that other commands start from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Optional

from tfenv.errors import EXIT_OK
from tfenv.facts.model import Facts
from tfenv.flow.host import find_host
from tfenv.result import Result


def facts_command(python: Optional[str], venv: Optional[Path], recorded: Optional[Path]) -> Result[Facts]:
    """``tfenv facts``: the data is the facts document itself, so that ``--facts`` can read it back."""
    return Result(command="facts", status="ok", exit_code=EXIT_OK, data=gather(python, venv, recorded))


def gather(python: Optional[str], venv: Optional[Path], recorded: Optional[Path]) -> Facts:
    """The facts of this machine, or of the recorded one.

    Raises:
        UsageError: the interpreter or the file is not what it should be.
    """
    if recorded is not None:
        from tfenv.facts.recorded import load_facts

        return load_facts(recorded)
    from tfenv.facts.read import read_facts

    return read_facts(find_host(python, venv, os.environ).python, cwd=Path.cwd())
