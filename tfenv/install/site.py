"""The folders of an environment that an installation touches."""

from __future__ import annotations

from pathlib import Path

from tfenv.paths import ENV_FOLDER
from tfenv.records import record


@record
class Site:
    """Where an environment keeps its distributions and scripts."""

    python: Path
    prefix: Path
    purelib: Path
    platlib: Path
    scripts: Path

    @property
    def folder(self) -> Path:
        """tfenv's own corner of the environment: state, trash."""
        return self.purelib / ENV_FOLDER

    @property
    def roots(self) -> tuple[Path, ...]:
        """The folders an installer writes to, each once; a virtual environment is one whole."""
        if (self.prefix / "pyvenv.cfg").is_file():
            return (self.prefix,)
        return tuple(dict.fromkeys((self.purelib, self.platlib, self.scripts)))


def site_of_venv(directory: Path) -> Site | None:
    """The site of the virtual environment in ``directory``, read from its layout; None if it is none."""
    if not (directory / "pyvenv.cfg").is_file():
        return None
    windows = directory / "Scripts" / "python.exe"
    if windows.is_file():
        purelib = directory / "Lib" / "site-packages"
        return Site(
            python=windows, prefix=directory, purelib=purelib, platlib=purelib, scripts=directory / "Scripts"
        )
    python = directory / "bin" / "python"
    # Exactly one lib/pythonX.Y: more would be a venv that was rebuilt with another Python over the old one.
    found = sorted((directory / "lib").glob("python3.*/site-packages"))
    if not python.exists() or len(found) != 1:
        return None
    return Site(
        python=python, prefix=directory, purelib=found[0], platlib=found[0], scripts=directory / "bin"
    )
