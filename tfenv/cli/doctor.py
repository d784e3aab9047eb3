"""``tfenv doctor``: a read-only ladder of checks."""

from typing import Annotated, Optional

import typer

from tfenv.cli.options import FactsFile, Json, Python, Venv


def doctor(
    quick: Annotated[bool, typer.Option("--quick", help="Neither import nor train: answer at once.")] = False,
    only: Annotated[
        Optional[list[str]], typer.Option("--only", metavar="ID", help="Run only this check (repeatable).")
    ] = None,
    list_checks: Annotated[bool, typer.Option("--list", help="List the checks.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 on warnings too.")] = False,
    python: Python = None,
    venv: Venv = None,
    recorded: FactsFile = None,
    json: Json = False,
) -> int:
    """Find out what is wrong, from the interpreter up to training; changes nothing."""
    from tfenv.cli.present import present, progress
    from tfenv.flow.doctor import doctor_command, list_command

    if list_checks:
        return present(list_command(), json=json)
    result = doctor_command(
        python,
        venv,
        recorded,
        quick=quick,
        only=tuple(only or ()),
        strict=strict,
        listener=progress(json=json),
    )
    return present(result, json=json)
