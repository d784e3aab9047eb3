"""What conda installed, from the names of its records."""

from __future__ import annotations

from collections.abc import Iterable

from tfenv.facts.machine import Machine, why
from tfenv.facts.model import Distribution, Fact, known, unknown
from tfenv.facts.names import canonical

FOLDER = "conda-meta"


def conda_packages(prefix: str, machine: Machine) -> Fact[tuple[Distribution, ...]]:
    """The packages in ``conda-meta``, sorted; none outside a conda environment.

    A record is named name-version-build.json; its content (lists of files, up to megabytes) is not read.
    """
    source = f"{prefix}/{FOLDER}"
    try:
        names = sorted(item.stem for item in machine.path(source).iterdir() if item.suffix == ".json")
    except (FileNotFoundError, NotADirectoryError):
        return known((), source)
    except OSError as error:
        return unknown(source, why(error))
    parts = [name.rsplit("-", 2) for name in names]
    packages = [
        Distribution(name=canonical(part[0]), version=part[1], location=prefix, installer="conda")
        for part in parts
        if len(part) == 3
    ]
    return known(tuple(sorted(packages, key=lambda item: item.name)), source)


def with_conda(
    installed: tuple[Distribution, ...], conda: Iterable[Distribution]
) -> tuple[Distribution, ...]:
    """``installed`` and those of ``conda`` that have no metadata folder (libraries, compilers)."""
    names = {item.name for item in installed}
    return (*installed, *(item for item in conda if item.name not in names))


def by_both(installed: Iterable[Distribution], conda: Iterable[Distribution]) -> tuple[str, ...]:
    """Names that conda records although another installer (pip, uv) put the present copy there."""
    recorded = {item.name for item in conda}
    return tuple(
        sorted(
            {
                item.name
                for item in installed
                if item.name in recorded and item.installer not in ("conda", None)
            }
        )
    )
