"""Options that several commands share, declared once."""

from pathlib import Path
from typing import Annotated, Optional

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Python = Annotated[
    Optional[str],
    typer.Option("--python", metavar="PATH", help="Act on this interpreter; it need not have tfenv."),
]
Venv = Annotated[
    Optional[Path], typer.Option("--venv", metavar="DIR", help="Act on this virtual environment.")
]
FactsFile = Annotated[
    Optional[Path],
    typer.Option("--facts", metavar="FILE", help="Use a recorded machine (from `tfenv facts --json`)."),
]
