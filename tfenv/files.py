"""Writing a file whole or not at all."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def write_atomically(path: Path, data: bytes) -> None:
    """Replace ``path`` by ``data`` in one step; a reader sees the old or the new file, never a part.

    Raises:
        OSError: it cannot be written; nothing is left behind.
    """
    # Not tempfile: its files are private to their owner, and others use an environment or a checkout too.
    fresh = path.with_name(f".{path.name}.{os.urandom(4).hex()}.new")
    try:
        with fresh.open("xb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        fresh.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            fresh.unlink()
        raise
