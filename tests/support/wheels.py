"""Tiny real wheels, and locks of them: what pip and uv install in tests without any network."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tfenv.locks.model import Floors, Lock, Pin


def make_wheel(
    folder: Path,
    name: str,
    version: str,
    files: Mapping[str, str] | None = None,
    requires: Sequence[str] = (),
) -> Pin:
    """Write a pure-Python wheel into ``folder``; the pin that locks it."""
    stem = f"{name.replace('-', '_')}-{version}"
    contents = dict(files or {f"{name.replace('-', '_')}/__init__.py": f"__version__ = {version!r}\n"})
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    metadata += "".join(f"Requires-Dist: {line}\n" for line in requires)
    contents[f"{stem}.dist-info/METADATA"] = metadata
    contents[f"{stem}.dist-info/WHEEL"] = (
        "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    record = "".join(f"{path},sha256={_digest(text)},{len(text)}\n" for path, text in contents.items())
    contents[f"{stem}.dist-info/RECORD"] = record + f"{stem}.dist-info/RECORD,,\n"
    path = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for inner, text in contents.items():
            # A fixed date: the same wheel has the same hash in every run.
            wheel.writestr(zipfile.ZipInfo(inner, (2020, 1, 1, 0, 0, 0)), text)
    data = path.read_bytes()
    return Pin(name=name, version=version, hashes=(hashlib.sha256(data).hexdigest(),), size=len(data))


def make_lock(
    *pins: Pin,
    lock_id: str = "linux-x86_64-cpu/tf2.99-py311",
    tensorflow: str = "2.99.0",
    python: str = "3.11",
    holder: str = "tensorflow-cpu",
) -> Lock:
    """A lock of ``pins``."""
    return Lock(
        id=lock_id,
        target=lock_id.split("/")[0],
        python=python,
        tensorflow=tensorflow,
        holder=holder,
        as_of="2026-01-01",
        floors=Floors(),
        digest="0" * 64,
        pins=tuple(pins),
    )


def _digest(text: str) -> str:
    raw = hashlib.sha256(text.encode()).digest()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
