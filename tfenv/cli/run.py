"""``tfenv run -- CMD``: a command under the environment's seed."""

from typing import Annotated

import typer

from tfenv.cli.options import Python, Venv


def run(
    command: Annotated[list[str], typer.Argument(metavar="CMD...", help="The command and its arguments.")],
    python: Python = None,
    venv: Venv = None,
) -> int:
    """Run a command in the environment under its seed, with PYTHONHASHSEED set."""
    from tfenv.flow.seed import run_command

    return run_command(python, venv, command)
