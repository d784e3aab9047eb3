"""``tfenv seed`` and ``tfenv run``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Optional

from tfenv.errors import EXIT_OK
from tfenv.flow.host import locate
from tfenv.result import Result
from tfenv.seeding.install import read_seed, seed_off, seed_on
from tfenv.seeding.launch import launch, run_environment
from tfenv.seeding.model import SeedShow, SeedState
from tfenv.seeding.show import show


def seed_show_command(python: Optional[str], venv: Optional[Path]) -> Result[SeedShow]:
    """``tfenv seed show``."""
    site = locate(python, venv, os.environ)
    shown = show(site.python, site.purelib, environ=os.environ)
    return Result(
        command="seed show", status="warn" if shown.problem else "ok", exit_code=EXIT_OK, data=shown
    )


def seed_on_command(
    python: Optional[str], venv: Optional[Path], seed: int, deterministic: bool
) -> Result[SeedState]:
    """``tfenv seed on``."""
    state = seed_on(locate(python, venv, os.environ).purelib, seed, deterministic)
    return Result(command="seed on", status="ok", exit_code=EXIT_OK, data=state)


def seed_off_command(python: Optional[str], venv: Optional[Path]) -> Result[SeedState]:
    """``tfenv seed off``."""
    state = seed_off(locate(python, venv, os.environ).purelib)
    return Result(command="seed off", status="ok", exit_code=EXIT_OK, data=state)


def run_command(python: Optional[str], venv: Optional[Path], command: Sequence[str]) -> int:
    """``tfenv run``: becomes the command; on Windows returns its exit code."""
    site = locate(python, venv, os.environ)
    in_venv = (site.prefix / "pyvenv.cfg").is_file()
    environment = run_environment(
        os.environ,
        bin_dir=site.scripts,
        venv=site.prefix if in_venv else None,
        seed=read_seed(site.purelib).seed,
    )
    return launch(command, environment)
