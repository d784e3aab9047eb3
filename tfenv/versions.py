"""Release versions as their parts."""

from __future__ import annotations

import re

#: The minors of TensorFlow that tfenv has locks for, and that the proof's stages were made and measured with.
OLDEST_TF, NEWEST_TF = "2.15", "2.21"


def minor_of(version: str) -> str:
    """The minor of a release version: "2.18" of "2.18.1", "3.11" of "3.11.7"."""
    return ".".join(version.split(".")[:2])


def version_key(version: str) -> tuple[int, ...]:
    """A release version such as "2.18.1" as numbers."""
    return tuple(int(part) for part in re.findall(r"[0-9]+", version)[:3])
