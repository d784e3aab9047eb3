"""``tfenv locks``: the catalogue of lockfiles."""

from pathlib import Path
from typing import Annotated, Optional

import typer

from tfenv.cli.options import FactsFile, Json, Python, Venv
from tfenv.cli.plain import PlainCommand, PlainGroup

app = typer.Typer(cls=PlainGroup, no_args_is_help=True, help="The catalogue of lockfiles.")


@app.command("list", cls=PlainCommand)
def list_(
    everything: Annotated[bool, typer.Option("--all", help="Locks of other targets too.")] = False,
    target: Annotated[
        Optional[str], typer.Option(metavar="NAME", help="Platform instead of the detected one.")
    ] = None,
    python: Python = None,
    venv: Venv = None,
    recorded: FactsFile = None,
    json: Json = False,
) -> int:
    """Which locks exist, and for each whether it fits here or why not."""
    from tfenv.cli.present import present
    from tfenv.flow.catalogue import list_command

    return present(list_command(python, venv, recorded, target=target, everything=everything), json=json)


@app.command("show", cls=PlainCommand)
def show(
    lock: Annotated[str, typer.Argument(metavar="LOCK", help="Its id, from `tfenv locks list`.")],
    json: Json = False,
) -> int:
    """What a lock holds and what is known about it."""
    from tfenv.cli.present import present
    from tfenv.flow.catalogue import show_command

    return present(show_command(lock), json=json)


@app.command("export", cls=PlainCommand)
def export(
    lock: Annotated[str, typer.Argument(metavar="LOCK", help="Its id, from `tfenv locks list`.")],
    output: Annotated[
        Optional[Path], typer.Option("--output", "-o", metavar="FILE", help="Where to write it.")
    ] = None,
    json: Json = False,
) -> int:
    """Write a lockfile that pip, uv and pip-sync install without tfenv."""
    from tfenv.cli.present import present
    from tfenv.flow.catalogue import export_command

    return present(export_command(lock, output), json=json)


@app.command("refresh", cls=PlainCommand)
def refresh(
    only: Annotated[
        Optional[list[str]], typer.Option("--only", metavar="ID", help="Only this lock (repeatable).")
    ] = None,
    json: Json = False,
) -> int:
    """Compile the catalogue anew from its policy (needs the network and uv)."""
    from tfenv.cli.present import present, progress
    from tfenv.flow.catalogue import refresh_command

    return present(refresh_command(tuple(only or ()), listener=progress(json=json)), json=json)


@app.command("verify", cls=PlainCommand)
def verify(json: Json = False) -> int:
    """Check every lockfile of the catalogue, offline."""
    from tfenv.cli.present import present
    from tfenv.flow.catalogue import verify_command

    return present(verify_command(), json=json)
