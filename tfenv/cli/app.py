"""The command line's table of contents."""

import sys
from typing import Annotated

import typer

from tfenv.cli import bootstrap, doctor, facts, init, locks, run, seed, smoke, status
from tfenv.cli.plain import PlainCommand, PlainGroup
from tfenv.version import __version__

app = typer.Typer(
    cls=PlainGroup,
    name="tfenv",
    help="A TensorFlow stack one can trust: pinned, proven to load, proven to learn.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"tfenv {__version__}\n")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


app.command("bootstrap", cls=PlainCommand)(bootstrap.bootstrap)
app.command("doctor", cls=PlainCommand)(doctor.doctor)
app.command("smoke", cls=PlainCommand)(smoke.smoke)
app.command("status", cls=PlainCommand)(status.status)
app.command("facts", cls=PlainCommand)(facts.facts)
app.add_typer(locks.app, name="locks")
app.add_typer(seed.app, name="seed")
app.command(
    "run",
    cls=PlainCommand,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)(run.run)
app.command("init", cls=PlainCommand)(init.init)
