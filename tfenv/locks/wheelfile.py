"""What a wheel holds and demands, read from the wheel itself without downloading it."""

from __future__ import annotations

import io
import json
import os
import threading
import time
import urllib.request
import zipfile
from collections.abc import Callable
from contextlib import suppress
from email.parser import HeaderParser
from http.client import HTTPException
from pathlib import Path
from typing import Protocol

from tfenv.codec import decode, encode
from tfenv.errors import TfenvError
from tfenv.locks.pylock import RemoteWheel
from tfenv.records import record

#: Bytes read at once from the end: the metadata and directory of all but the largest wheels.
_TAIL = 256 * 1024
_READ_AHEAD = 64 * 1024
_COMPILED = (".so", ".pyd", ".dylib", ".dll")
#: Bytes of compiled code: stubs have none, TensorFlow has hundreds of megabytes.
_REAL = 50_000_000
_ATTEMPTS = 4


@record
class WheelFacts:
    """The part of a wheel that decides about a lock."""

    requires: tuple[str, ...]  # its Requires-Dist lines
    folders: tuple[str, ...]  # what it puts into site-packages, top level, without its own metadata
    tensorflow_code: int = 0  # bytes of compiled code under tensorflow/, unpacked

    @property
    def holds_tensorflow(self) -> bool:
        """Whether this wheel is the one with TensorFlow's code in it, rather than a stub."""
        return self.tensorflow_code >= _REAL


class WheelReader(Protocol):
    """Tells the facts of wheels; the tests have one that needs no network."""

    def read(self, wheel: RemoteWheel) -> WheelFacts:
        """The facts of ``wheel``."""


class RemoteWheels:
    """Reads wheels from the index by HTTP ranges, and remembers by hash what it read."""

    def __init__(self, cache: Path, *, pause: float = 1.0) -> None:
        """``cache`` is a folder, made when needed; ``pause`` the seconds before the second try."""
        self._cache = cache
        self._pause = pause

    def read(self, wheel: RemoteWheel) -> WheelFacts:
        """The facts of ``wheel``.

        Raises:
            TfenvError: it cannot be read, or is no wheel.
        """
        remembered = self._cache / f"{wheel.sha256}.json"
        try:
            return decode(WheelFacts, json.loads(remembered.read_text(encoding="utf-8")))
        except (OSError, ValueError):
            pass  # not read yet, or written by another tfenv: read it anew
        facts = read_wheel(lambda start, end: self._fetch(wheel, start, end), wheel.size, wheel.filename)
        # Several locks may read one wheel at the same time: each thread needs a file of its own.
        temporary = remembered.with_suffix(f".{os.getpid()}.{threading.get_ident()}.new")
        with suppress(OSError):  # a cache that cannot be written costs time, not the result
            self._cache.mkdir(parents=True, exist_ok=True)
            temporary.write_text(json.dumps(encode(facts)), encoding="utf-8")
            temporary.replace(remembered)
        return facts

    def _fetch(self, wheel: RemoteWheel, start: int, end: int) -> bytes:
        if not wheel.url.startswith(("https://", "http://")):
            raise _unreachable(wheel, "its address is not one of the web")
        request = urllib.request.Request(wheel.url, headers={"Range": f"bytes={start}-{end - 1}"})  # noqa: S310
        for attempt in range(_ATTEMPTS):
            time.sleep(attempt * self._pause)
            try:
                with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310  the scheme is checked
                    data: bytes = response.read(end - start) if response.status == 206 else b""
                if len(data) == end - start:
                    return data
                problem = f"the server gave {len(data)} of the {end - start} bytes asked for"
            except (OSError, HTTPException) as error:
                problem = str(error)
        raise _unreachable(wheel, problem)


def read_wheel(fetch: Callable[[int, int], bytes], size: int, filename: str) -> WheelFacts:
    """The facts of the wheel of ``size`` bytes whose bytes ``start`` to ``end`` (exclusive) ``fetch`` gives.

    Raises:
        TfenvError: it is no wheel.
    """
    try:
        with zipfile.ZipFile(_Ranges(fetch, size)) as archive:
            members = {info.filename: info.file_size for info in archive.infolist()}
            metadata = next(
                name for name in members if name.endswith(".dist-info/METADATA") and name.count("/") == 1
            )
            text = archive.read(metadata).decode("utf-8", "replace")
    except (zipfile.BadZipFile, StopIteration, EOFError) as error:
        raise TfenvError(
            "bad-wheel",
            f"{filename} on the index is no wheel: {error or 'it has no metadata'}.",
            hint="Run the command again; if it stays, the index serves a damaged file.",
        ) from error
    places = {place: size for name, size in members.items() if (place := _installed_as(name))}
    code = sum(
        size
        for place, size in places.items()
        if place.startswith("tensorflow/") and (place.endswith(_COMPILED) or ".so." in place)
    )
    return WheelFacts(
        requires=tuple(HeaderParser().parsestr(text).get_all("Requires-Dist") or ()),
        folders=tuple(sorted({place.partition("/")[0] for place in places})),
        tensorflow_code=code if "tensorflow/__init__.py" in places else 0,
    )


def _installed_as(name: str) -> str:
    """Where the wheel's member ``name`` ends up under site-packages; "" if it does not."""
    top, _, rest = name.partition("/")
    if top.endswith(".dist-info"):
        return ""
    if top.endswith(".data"):
        kind, _, inside = rest.partition("/")
        return inside if kind in ("purelib", "platlib") else ""
    return name


class _Ranges(io.RawIOBase):
    """A file on a server, read piece by piece."""

    def __init__(self, fetch: Callable[[int, int], bytes], size: int) -> None:
        self._fetch = fetch
        self._size = size
        self._position = 0
        self._start = max(0, size - _TAIL)
        self._window = self._tail = fetch(self._start, size)
        self._tail_start = self._start

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence]
        self._position = max(0, base + offset)
        return self._position

    def read(self, size: int = -1) -> bytes:
        end = self._size if size < 0 else min(self._position + size, self._size)
        if self._position >= end:
            return b""
        if self._position >= self._tail_start:
            self._start, self._window = self._tail_start, self._tail
        elif not self._start <= self._position <= end <= self._start + len(self._window):
            self._start = self._position
            self._window = self._fetch(self._start, min(max(end, self._start + _READ_AHEAD), self._size))
        data = self._window[self._position - self._start : end - self._start]
        self._position += len(data)
        return data


def _unreachable(wheel: RemoteWheel, why: str) -> TfenvError:
    return TfenvError(
        "wheel-unreadable",
        f"{wheel.filename} cannot be read from the index: {why}.",
        hint="Check the network and run the command again; the index must answer range requests.",
    )
