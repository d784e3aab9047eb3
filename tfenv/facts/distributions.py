"""Every installed distribution, read from its metadata folder without importing anything."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Optional

from tfenv.facts.machine import Machine
from tfenv.facts.model import Distribution
from tfenv.facts.names import canonical
from tfenv.records import record
from tfenv.redact import mask_text

#: Headers fit in this nearly always; the description that follows can be a hundred times as long.
_FIRST_READ = 16_384
_MOST = 10_000_000
_METADATA_FOLDERS = (".dist-info", ".egg-info")


#: The fields read here; none of them spans lines, and a line that begins with a space is not a field.
_FIELD = re.compile(r"^(name|version|requires-dist):[ \t]*(.*?)[ \t]*$", re.MULTILINE | re.IGNORECASE)


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
            if name.startswith("~"):
                interrupted.append(os.path.join(entry, name))  # noqa: PTH118  (as sys.path spells it)
            elif name.endswith(_METADATA_FOLDERS):
                found = _read(os.path.join(real, name), entry)  # noqa: PTH118
                if found is not None:
                    installed.append(found)
                elif name.endswith(".dist-info"):
                    broken.append(os.path.join(entry, name))  # noqa: PTH118
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


def _read(metadata: str, location: str) -> Optional[Installed]:
    headers = None
    for file in (f"{metadata}/METADATA", f"{metadata}/PKG-INFO", metadata):
        headers = _headers(file)
        if headers:
            break
    if not headers:
        return None
    name, version, requires = "", "", []
    for key, value in _FIELD.findall(headers):
        if key.lower() == "name":
            name = name or value
        elif key.lower() == "version":
            version = version or value
        else:
            requires.append(mask_text(value, {}) if "://" in value else value)
    if not name or not version:
        return None
    return Installed(
        distribution=Distribution(
            name=canonical(name),
            version=version,
            location=location,
            installer=(_start(f"{metadata}/INSTALLER", 100) or b"").decode("utf-8", "replace").strip()
            or None,
            requires=tuple(requires),
        ),
        metadata=Path(metadata),
    )


def _headers(path: str) -> Optional[str]:
    """The text up to the first empty line."""
    raw = _start(path, _FIRST_READ)
    if raw is None:
        return None
    if len(raw) == _FIRST_READ and b"\n\n" not in raw and b"\r\n\r\n" not in raw:
        raw = _start(path, _MOST) or raw
    if b"\r" in raw:
        raw = raw.replace(b"\r\n", b"\n")
    return raw.partition(b"\n\n")[0].decode("utf-8", "replace")


def _start(path: str, most: int) -> Optional[bytes]:
    """The first ``most`` bytes; ``None`` if there is no such file. Bare calls: this runs a thousand times."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    except OSError:
        return None
    try:
        return os.read(descriptor, most)
    except OSError:
        return None  # a folder
    finally:
        os.close(descriptor)
