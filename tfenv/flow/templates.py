"""Write a template: the notebook or Dockerfile to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Optional

from tfenv.errors import EXIT_OK, UsageError
from tfenv.files import write_atomically
from tfenv.paths import templates_dir
from tfenv.records import record
from tfenv.result import Result

#: Template name to (file under templates/, default name of the copy).
_TEMPLATES = {"colab": ("colab.ipynb", "tfenv-colab.ipynb"), "dockerfile": ("Dockerfile", "Dockerfile")}


@record
class Written:
    """A template that was written."""

    template: str
    path: str


def init_command(name: str, output: Optional[Path], *, force: bool) -> Result[Written]:
    """``tfenv init``.

    Raises:
        UsageError: there is no such template, or the file exists or cannot be written.
    """
    if name not in _TEMPLATES:
        raise UsageError(
            "unknown-template",
            f"There is no template named {name!r}.",
            hint=f"Choose one of: {', '.join(_TEMPLATES)}.",
        )
    source, default = _TEMPLATES[name]
    path = output or Path(default)
    if path.exists() and not force:
        raise UsageError(
            "file-exists",
            f"{path} exists already.",
            hint="Write elsewhere with -o FILE, or replace it with --force.",
        )
    write_file(path, (templates_dir() / source).read_text(encoding="utf-8"))
    return Result(command="init", status="ok", exit_code=EXIT_OK, data=Written(template=name, path=str(path)))


def write_file(path: Path, text: str) -> None:
    """Write a file the user named, whole or not at all.

    Raises:
        UsageError: it cannot be written.
    """
    try:
        write_atomically(path, text.encode("utf-8"))
    except OSError as error:
        raise UsageError(
            "cannot-write",
            f"{path} cannot be written: {error.strerror or error}.",
            hint="Choose another path with -o FILE.",
        ) from error
