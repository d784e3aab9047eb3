"""``tfenv seed``: the seed that every later interpreter of the environment starts with."""

from typing import Annotated

import typer

from tfenv.cli.options import Json, Python, Venv
from tfenv.cli.plain import PlainCommand, PlainGroup

app = typer.Typer(
    cls=PlainGroup,
    no_args_is_help=True,
    help="The seed that every interpreter of the environment starts with.",
)


@app.command("show", cls=PlainCommand)
def show(python: Python = None, venv: Venv = None, json: Json = False) -> int:
    """What is seeded, and what a fresh interpreter really does."""
    from tfenv.cli.present import present
    from tfenv.flow.seed import seed_show_command

    return present(seed_show_command(python, venv), json=json)


@app.command("on", cls=PlainCommand)
def on(
    seed: Annotated[int, typer.Argument(metavar="[N]", help="The seed.")] = 42,
    deterministic: Annotated[
        bool, typer.Option("--deterministic", help="Also make TensorFlow's ops deterministic.")
    ] = False,
    python: Python = None,
    venv: Venv = None,
    json: Json = False,
) -> int:
    """Seed every later interpreter of the environment."""
    from tfenv.cli.present import present
    from tfenv.flow.seed import seed_on_command

    return present(seed_on_command(python, venv, seed, deterministic), json=json)


@app.command("off", cls=PlainCommand)
def off(python: Python = None, venv: Venv = None, json: Json = False) -> int:
    """Remove the seed from the environment."""
    from tfenv.cli.present import present
    from tfenv.flow.seed import seed_off_command

    return present(seed_off_command(python, venv), json=json)
