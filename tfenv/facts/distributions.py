"""Every installed distribution, read from its metadata folder without importing anything."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Optional

from tfenv.facts.machine import Machine
from tfenv.facts.masking import mask_text
from tfenv.facts.model import Distribution
from tfenv.facts.names import canonical
from tfenv.records import record

#: Headers fit in this nearly always; the description that follows can be a hundred times as long.
_FIRST_READ = 16_384
_METADATA_FOLDERS = (".dist-info", ".egg-info")


@record
class Installed:
    """A distribution and its metadata folder (or file, of old setuptools)."""

    distribution: Distribution
    metadata: Path


@record
class Inventory:
    """What the folders of an import path hold."""

    installed: tuple[Installed, ...]  # in import order: of two with one name, the first is imported
    broken: tuple[str, ...]  # metadata folders without metadata: remains of an interrupted install
    interrupted: tuple[str, ...]  # "~ensorflow": what pip moved aside and did not remove
    holders: tuple[str, ...]  # the entries that hold distributions, in order


def read_inventory(path: Iterable[str], machine: Machine) -> Inventory:
    """Read the folders on the import path ``path``, each once. Unreadable folders hold nothing."""
    installed: list[Installed] = []
    broken: list[str] = []
    interrupted: list[str] = []
    holders: list[str] = []
    seen: set[str] = set()
    for entry in path:
        # lib64 is a link to lib in many environments.
        real = os.path.realpath(machine.path(entry))
        if real in seen:
            continue
        seen.add(real)
        before = len(installed)
        for name in _listing(real):
            if name.endswith(_METADATA_FOLDERS):
                found = _read(Path(real) / name, entry)
                if found is not None:
                    installed.append(found)
                elif name.endswith(".dist-info") and not name.startswith("~"):
                    broken.append(os.path.join(entry, name))  # noqa: PTH118  (as sys.path spells it)
            if name.startswith("~"):
                interrupted.append(os.path.join(entry, name))  # noqa: PTH118
        if len(installed) > before:
            holders.append(entry)
    return Inventory(
        installed=tuple(installed),
        broken=tuple(broken),
        interrupted=tuple(interrupted),
        holders=tuple(holders),
    )


def duplicates(installed: Iterable[Installed]) -> tuple[str, ...]:
    """Names with more than one metadata folder within one folder of the import path, sorted.

    Copies in different folders are no defect: a user's or administrator's copy hides the system's by design.
    """
    counts: dict[tuple[str, str], int] = {}
    for item in installed:
        key = (item.distribution.location, item.distribution.name)
        counts[key] = counts.get(key, 0) + 1
    return tuple(sorted({name for (_, name), count in counts.items() if count > 1}))


def _listing(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208  (names, not paths)
    except OSError:
        return []  # not there, not a folder (a zip file), or not readable


def _read(metadata: Path, location: str) -> Optional[Installed]:
    if metadata.name.startswith("~"):
        return None
    raw = next((raw for name in ("METADATA", "PKG-INFO", "") if (raw := _headers(metadata / name))), None)
    if raw is None:
        return None
    name, version, requires = None, None, []
    for key, value in _fields(raw):
        if key == "name" and name is None:
            name = value
        elif key == "version" and version is None:
            version = value
        elif key == "requires-dist":
            requires.append(mask_text(value, {}) if "://" in value else value)
    if not name or not version:
        return None
    return Installed(
        distribution=Distribution(
            name=canonical(name),
            version=version,
            location=location,
            installer=_installer(metadata),
            requires=tuple(requires),
        ),
        metadata=metadata,
    )


def _headers(path: Path) -> Optional[str]:
    """The text up to the first empty line."""
    try:
        with open(path, "rb", buffering=0) as stream:  # noqa: PTH123  (a thousand times)
            raw = stream.read(_FIRST_READ)
            if len(raw) == _FIRST_READ and b"\n\n" not in raw and b"\r\n\r\n" not in raw:
                raw += stream.read()
    except OSError:
        return None
    return raw.replace(b"\r\n", b"\n").partition(b"\n\n")[0].decode("utf-8", "replace")


def _fields(headers: str) -> Iterator[tuple[str, str]]:
    for line in headers.split("\n"):
        # A line that begins with a space goes on with the field before; none of those read here spans lines.
        key, colon, value = line.partition(":")
        if colon and not key.startswith((" ", "\t")):
            yield key.lower(), value.strip()


def _installer(metadata: Path) -> Optional[str]:
    try:
        with open(metadata / "INSTALLER", "rb", buffering=0) as stream:  # noqa: PTH123
            return stream.read(100).decode("utf-8", "replace").strip() or None
    except OSError:
        return None
