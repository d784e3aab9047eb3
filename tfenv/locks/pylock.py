"""The resolver's answer (PEP 751): which distributions, and every wheel of each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NoReturn
from urllib.parse import unquote, urlsplit

from packaging.markers import InvalidMarker, Marker
from packaging.utils import canonicalize_name

from tfenv.errors import TfenvError
from tfenv.records import record
from tfenv.toml import parse_toml

_SHA256 = re.compile(r"[0-9a-f]{64}")


@record
class RemoteWheel:
    """One wheel on the index. The URL is for reading it now; it is never written anywhere."""

    filename: str
    url: str
    size: int
    sha256: str


@record
class Resolved:
    """One resolved distribution."""

    name: str
    version: str
    wheels: tuple[RemoteWheel, ...]


def parse_pylock(text: str, environment: Mapping[str, str]) -> tuple[Resolved, ...]:
    """The distributions in ``text`` whose markers hold in ``environment``, sorted by name.

    Raises:
        TfenvError: it is not the answer to a resolution from wheels only.
    """
    try:
        tables = parse_toml(text)
    except ValueError as error:
        _refuse(str(error))
    if tables.get("lock-version") != "1.0":
        _refuse(f"its format is {tables.get('lock-version')!r}, not '1.0'")
    packages = tables.get("packages")
    if not isinstance(packages, list):
        _refuse("it has no packages")
    tables_here = [package for package in packages if _is_wanted(package, environment)]
    found = sorted(map(_package, tables_here), key=lambda item: item.name)
    if len({item.name for item in found}) != len(found):
        _refuse("it has a distribution twice")
    return tuple(found)


def _is_wanted(table: object, environment: Mapping[str, str]) -> bool:
    marker = table.get("marker") if isinstance(table, Mapping) else None
    if marker is None:
        return True
    try:
        return Marker(str(marker)).evaluate(dict(environment))
    except InvalidMarker as error:
        _refuse(str(error))


def _package(table: object) -> Resolved:
    if not isinstance(table, Mapping):
        _refuse("a package is no table")
    name = str(canonicalize_name(_text(table, "name")))
    wheels = table.get("wheels")
    if not isinstance(wheels, list) or not wheels:
        _refuse(f"{name} has no wheels")
    return Resolved(
        name=name, version=_text(table, "version"), wheels=tuple(_wheel(name, item) for item in wheels)
    )


def _wheel(name: str, table: object) -> RemoteWheel:
    if not isinstance(table, Mapping):
        _refuse(f"a wheel of {name} is no table")
    url, size, hashes = _text(table, "url"), table.get("size"), table.get("hashes")
    sha256 = hashes.get("sha256") if isinstance(hashes, Mapping) else None
    if not isinstance(sha256, str) or not _SHA256.fullmatch(sha256):
        _refuse(f"a wheel of {name} has no sha256")
    if not isinstance(size, int):
        _refuse(f"a wheel of {name} has no size")
    given = table.get("name")
    filename = given if isinstance(given, str) else unquote(urlsplit(url).path.rsplit("/", 1)[-1])
    return RemoteWheel(filename=filename, url=url, size=size, sha256=sha256)


def _text(table: Mapping[object, object], key: str) -> str:
    value = table.get(key)
    if not isinstance(value, str):
        _refuse(f"a package lacks {key}")
    return value


def _refuse(why: str) -> NoReturn:
    raise TfenvError(
        "bad-resolution",
        f"uv's answer is of no use here: {why}.",
        hint="Check the version of uv: tfenv needs one that writes pylock.toml (0.7 or later).",
    )
