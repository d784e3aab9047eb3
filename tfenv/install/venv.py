"""Making the virtual environment that ``--venv`` names."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tfenv.errors import InstallError, UsageError
from tfenv.install.site import Site, site_of_venv


def existing_venv(directory: Path) -> Site | None:
    """The environment in ``directory``, or None if it is still to be made.

    Raises:
        UsageError: something is there that is not a virtual environment, or a broken one.
    """
    if not directory.exists() or (directory.is_dir() and not any(directory.iterdir())):
        return None
    if not directory.is_dir():
        raise UsageError(
            "not-a-venv", f"{directory} is a file, not a directory.", hint="Give --venv another path."
        )
    if not (directory / "pyvenv.cfg").is_file():
        raise UsageError(
            "not-a-venv",
            f"{directory} is not empty and not a virtual environment (it has no pyvenv.cfg).",
            hint="Give --venv the path of a virtual environment, or one that does not exist yet.",
        )
    site = site_of_venv(directory)
    if site is None:
        raise UsageError(
            "broken-venv",
            f"The virtual environment {directory} is broken: its Python or its site-packages is missing.",
            hint=f"Delete {directory} and run the command again; tfenv makes a new one.",
        )
    return site


def make_venv(directory: Path, base: Path, environ: Mapping[str, str]) -> Site:
    """Make ``directory`` a virtual environment of the interpreter ``base``, with pip if ``base`` can.

    Raises:
        InstallError: it could not be made; nothing is left behind.
    """
    existed = directory.exists()
    command = [str(base), "-I", "-m", "venv", str(directory)]
    try:
        done = _run(command, environ)
        if done.returncode != 0:
            # Debian's python3 without python3-venv has no ensurepip; uv needs no pip in there.
            done = _run([*command, "--without-pip", "--clear"], environ)
        site = site_of_venv(directory) if done.returncode == 0 else None
    except BaseException:
        remove_venv(directory, existed=existed)
        raise
    if site is None:
        remove_venv(directory, existed=existed)
        printed = (done.stderr or done.stdout).strip().splitlines()
        raise InstallError(
            "no-venv",
            f"The virtual environment could not be made: {printed[-1] if printed else 'no reason given'}",
            hint="Check that the folder above it can be written, or give --venv another path.",
        )
    return site


def remove_venv(directory: Path, *, existed: bool) -> None:
    """Delete an environment that this run made; an empty folder that was there before stays."""
    shutil.rmtree(directory, ignore_errors=True)
    if existed:
        directory.mkdir(exist_ok=True)


def _run(command: list[str], environ: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, env=dict(environ), capture_output=True, text=True, check=False)
