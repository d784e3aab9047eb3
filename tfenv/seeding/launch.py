"""``tfenv run -- CMD``: a command under the seed, with the variables that must exist before Python starts."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Optional

from tfenv.errors import UsageError
from tfenv.seeding.model import check_seed


def run_environment(
    environ: Mapping[str, str], *, bin_dir: Path, venv: Optional[Path], seed: Optional[int]
) -> dict[str, str]:
    """``environ`` as a command under the seed needs it.

    ``bin_dir`` (``Scripts`` on Windows) comes first on PATH, ``venv`` is the virtual environment's root, None
    for an interpreter that lives in none. ``seed`` becomes PYTHONHASHSEED and TFENV_SEED; None leaves both.

    Raises:
        UsageError: the seed is no whole number from 0 to 2**32 - 1.
    """
    found = dict(environ)
    path = found.get("PATH", "")
    found["PATH"] = f"{bin_dir}{os.pathsep}{path}" if path else str(bin_dir)
    found.pop("PYTHONHOME", None)  # it would point the environment's interpreter at another library
    if venv is not None:
        found["VIRTUAL_ENV"] = str(venv)
    if seed is not None:
        found["PYTHONHASHSEED"] = found["TFENV_SEED"] = str(check_seed(seed))
    return found


def launch(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Become ``command`` (POSIX: this does not return) or run it and return its exit code (Windows).

    Raises:
        UsageError: there is no such command on the environment's PATH, or it cannot be run.
    """
    if not command:
        raise UsageError(
            "no-command", "No command was given to run.", hint="For example: tfenv run -- python train.py"
        )
    program = shutil.which(command[0], path=environment.get("PATH", ""))
    if program is None:
        raise UsageError(
            "unknown-command",
            f"There is no command {command[0]!r}, neither in the environment nor on PATH.",
            hint=f"A script is run by its interpreter: tfenv run -- python {command[0]}"
            if command[0].endswith(".py")
            else "Check the spelling, or install the package that brings it into the environment.",
        )
    try:
        if os.name == "nt":
            return run_as_child(program, command, environment)
        sys.stdout.flush()
        sys.stderr.flush()
        os.execve(program, list(command), dict(environment))  # noqa: S606
    except OSError as error:
        raise UsageError(
            "command-not-runnable",
            f"{program} cannot be run: {error.strerror or error}.",
            hint=f"A script without a #! line is run by its interpreter: tfenv run -- python {program}",
        ) from error


def run_as_child(program: str, command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run ``command`` and return its exit code: for Windows, where ``exec`` ends before the program does."""
    # Ctrl-C reaches the child as well; it decides, and this process only waits for its answer. Not SIG_IGN,
    # which a child may inherit.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        with subprocess.Popen(list(command), executable=program, env=dict(environment)) as child:
            return child.wait()
    finally:
        signal.signal(signal.SIGINT, before)
