"""``tfenv bootstrap``: detect, choose, install, seed, prove, report."""

from pathlib import Path
from typing import Annotated, Optional

import typer

from tfenv.cli.options import FactsFile, Json


def bootstrap(
    tf: Annotated[
        Optional[str], typer.Option(metavar="VERSION", help="TensorFlow minor or exact version, e.g. 2.18.")
    ] = None,
    target: Annotated[
        Optional[str], typer.Option(metavar="NAME", help="Platform instead of the detected one.")
    ] = None,
    python: Annotated[Optional[str], typer.Option(metavar="PATH", help="Interpreter to act on.")] = None,
    venv: Annotated[
        Optional[Path], typer.Option(metavar="DIR", help="Virtual environment; made if absent.")
    ] = None,
    seed: Annotated[
        Optional[int], typer.Option(metavar="N", help="Seed for every later interpreter (default 42).")
    ] = None,
    no_seed: Annotated[bool, typer.Option("--no-seed", help="Do not seed.")] = False,
    deterministic: Annotated[
        Optional[bool], typer.Option("--deterministic", help="Also make TensorFlow's ops deterministic.")
    ] = None,
    smoke: Annotated[Optional[str], typer.Option(metavar="LEVEL", help="Proof: none, quick or full.")] = None,
    engine: Annotated[Optional[str], typer.Option(metavar="NAME", help="Installer: auto, uv or pip.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show the plan; exit 3 if it would change anything.")
    ] = False,
    recorded: FactsFile = None,
    json: Json = False,
) -> int:
    """Give this machine a pinned TensorFlow that has just proven that it learns."""
    from tfenv.cli.present import on_terminal, present, progress
    from tfenv.flow.wish import bootstrap_command

    flags = {
        "tf": tf, "target": target, "python": python, "venv": str(venv) if venv else None,
        "seed": False if no_seed else seed, "deterministic": deterministic, "smoke": smoke, "engine": engine,
    }  # fmt: skip
    result = bootstrap_command(
        flags,
        dry_run=dry_run,
        listener=progress(json=json),
        on_terminal=on_terminal(json=json),
        recorded=recorded,
    )
    return present(result, json=json)
