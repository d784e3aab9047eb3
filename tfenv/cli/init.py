"""``tfenv init``: write a template."""

from pathlib import Path
from typing import Annotated, Optional

import typer

from tfenv.cli.options import Json


def init(
    name: Annotated[str, typer.Argument(metavar="NAME", help="colab or dockerfile.")],
    output: Annotated[
        Optional[Path], typer.Option("--output", "-o", metavar="FILE", help="Where to write it.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    json: Json = False,
) -> int:
    """Write a template: a Colab notebook or a Dockerfile."""
    from tfenv.cli.present import present
    from tfenv.flow.templates import init_command

    return present(init_command(name, output, force=force), json=json)
