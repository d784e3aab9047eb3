"""Where tfenv's own files are: shipped data, caches, settings, and its corner of an environment."""

from __future__ import annotations

import os
from pathlib import Path

from tfenv.errors import UsageError

#: tfenv's folder inside an environment's site-packages: state, trash, journal.
ENV_FOLDER = ".tfenv"


def lockfiles_dir() -> Path:
    """The catalogue: ``TFENV_LOCKFILES`` if set, else the one shipped with tfenv.

    Raises:
        UsageError: ``TFENV_LOCKFILES`` names no directory.
    """
    chosen = os.environ.get("TFENV_LOCKFILES")
    if not chosen:
        return _shipped("lockfiles")
    path = Path(chosen)
    if not path.is_dir():
        raise UsageError(
            "no-catalogue",
            f"TFENV_LOCKFILES names {chosen!r}, which is not a directory.",
            hint="Unset TFENV_LOCKFILES to use the catalogue shipped with tfenv.",
        )
    return path


def templates_dir() -> Path:
    """The templates shipped with tfenv."""
    return _shipped("templates")


def _shipped(name: str) -> Path:
    """Inside a wheel the data lies in the package; in a checkout or editable install beside it."""
    package = Path(__file__).resolve().parent
    inside = package / "_data" / name
    return inside if inside.is_dir() else package.parent / name


def cache_dir() -> Path:
    """tfenv's cache folder on this machine."""
    from platformdirs import user_cache_path  # lazily: most commands never need it

    return user_cache_path("tfenv", appauthor=False)


def config_dir() -> Path:
    """The folder of the user's own ``tfenv.toml``."""
    from platformdirs import user_config_path

    return user_config_path("tfenv", appauthor=False)
