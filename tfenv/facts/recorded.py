"""Facts and package lists that were recorded elsewhere: files and pasted text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote

from tfenv.codec import CodecError, decode
from tfenv.errors import UsageError
from tfenv.facts.model import FACTS_VERSION, Distribution, Facts
from tfenv.facts.names import canonical

#: A machine with a thousand distributions is about 0.5 MB; beyond this it is no facts file.
MAX_BYTES = 20_000_000

_HOW_TO_RECORD = "Record the machine there with: tfenv facts --json > facts.json"


def load_facts(path: Path) -> Facts:
    """The facts in the JSON file ``path``: what ``tfenv facts --json`` printed, or its ``data`` alone.

    Raises:
        UsageError: ``bad-facts``: unreadable, too large, not JSON, or not the shape of :class:`Facts`.
    """
    document = _read_json(path)
    if isinstance(document, Mapping) and "tfenv_result_version" in document:
        document = document.get("data")
    if isinstance(document, Mapping):
        version = document.get("tfenv_facts_version")
        if isinstance(version, int) and version > FACTS_VERSION:
            raise UsageError(
                "bad-facts",
                f"{path}: facts of version {version}; this tfenv reads up to version {FACTS_VERSION}",
                hint="Update tfenv on this machine: python -m pip install -U tfenv",
            )
    try:
        return decode(Facts, document)
    except CodecError as error:
        raise UsageError("bad-facts", f"{path}: not a facts file: {error}", hint=_HOW_TO_RECORD) from None


def _read_json(path: Path) -> object:
    try:
        if not path.is_file():
            what = "a folder" if path.is_dir() else "not a file" if path.exists() else "no such file"
            raise UsageError("bad-facts", f"{path}: {what}", hint=_HOW_TO_RECORD)
        with path.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except OSError as error:
        message = f"{path}: cannot be read: {error.strerror or error}"
        raise UsageError("bad-facts", message, hint="Check the path and its permissions.") from None
    if len(raw) > MAX_BYTES:
        message = f"{path}: larger than {MAX_BYTES // 1_000_000} MB, so it is not a facts file"
        raise UsageError("bad-facts", message, hint=_HOW_TO_RECORD)
    try:
        # From bytes: PowerShell's ">" writes UTF-16, which json recognises. The byte order mark of
        # UTF-8 it does not.
        document: object = json.loads(raw[3:] if raw.startswith(b"\xef\xbb\xbf") else raw)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise UsageError("bad-facts", f"{path}: not JSON: {reason}", hint=_HOW_TO_RECORD) from None
    return document


_PINNED = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)\s*===?\s*([^\s;]+)")
_FROM_URL = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]]*\])?\s*@\s*(\S+)")
_EDITABLE = re.compile(r"^-e\s+\S*#egg=([A-Za-z0-9][A-Za-z0-9._-]*)")
_COLUMNS = re.compile(r"^([A-Za-z0-9_][A-Za-z0-9._-]*)\s+(v?[0-9][^\s]*)(?:\s+(.*))?$")


def recorded_from_freeze(text: str) -> tuple[Distribution, ...]:
    """The distributions in the output of ``pip freeze``, ``pip list`` (columns or JSON), ``uv pip list`` or
    ``conda list``, sorted by name.

    ``location`` is empty and ``requires`` is ``None``: such a list does not tell. ``version`` is empty where
    a URL hides it. Lines of any other kind are skipped: a pasted list often comes with a prompt around it.
    """
    found: dict[str, Distribution] = {}
    for name, version, installer in _entries(text):
        key = canonical(name)
        found.setdefault(key, Distribution(name=key, version=version, location="", installer=installer))
    return tuple(found[name] for name in sorted(found))


def _entries(text: str) -> Iterator[tuple[str, str, str | None]]:
    if text.lstrip().startswith("["):
        yield from _json_entries(text)
        return
    conda = "# packages in environment at" in text
    for raw in text.splitlines():
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        if match := _PINNED.match(line):
            yield match[1], match[2], None
        elif match := _FROM_URL.match(line):
            yield match[1], _version_in_url(match[1], match[2]), None
        elif match := _EDITABLE.match(line):
            yield match[1], "", None
        elif match := _COLUMNS.match(line):
            from_channel = conda and "pypi" not in (match[3] or "").split()
            yield match[1], match[2], "conda" if from_channel else None


def _json_entries(text: str) -> Iterator[tuple[str, str, str | None]]:
    try:
        rows: object = json.loads(text)
    except (ValueError, RecursionError):
        return
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict) and isinstance(row.get("name"), str) and isinstance(row.get("version"), str):
            # "channel" appears only in the output of conda list --json.
            channel = row.get("channel")
            from_channel = isinstance(channel, str) and channel != "pypi"
            yield row["name"], row["version"], "conda" if from_channel else None


def _version_in_url(name: str, url: str) -> str:
    """The version in the file name of a wheel or source archive, "" where there is none."""
    file = unquote(url.split("#")[0].rsplit("/", 1)[-1])
    pattern = re.sub(r"[-_.]+", "[-_.]", re.escape(name).replace("\\", ""))
    match = re.match(pattern + r"-([0-9][^-]*?)(?:-.*\.whl|\.tar\.gz|\.zip)$", file, re.IGNORECASE)
    return match[1] if match else ""
