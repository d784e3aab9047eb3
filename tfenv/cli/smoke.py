"""``tfenv smoke``: only the proof."""

from typing import Annotated

import typer

from tfenv.cli.options import Json, Python, Venv


def smoke(
    level: Annotated[str, typer.Option(metavar="LEVEL", help="quick, full or long.")] = "quick",
    device: Annotated[str, typer.Option(metavar="KIND", help="auto, cpu, gpu or both.")] = "auto",
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the proof's data and weights.")] = 42,
    python: Python = None,
    venv: Venv = None,
    json: Json = False,
) -> int:
    """Prove that the installed TensorFlow loads and learns."""
    from tfenv.cli.present import present, progress
    from tfenv.flow.smoke import smoke_command

    result = smoke_command(python, venv, level=level, device=device, seed=seed, listener=progress(json=json))
    return present(result, json=json)
