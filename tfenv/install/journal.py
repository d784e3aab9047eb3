"""The memory of a transaction on disk: what was there before and what was moved aside."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Optional

from tfenv.records import record

_BEFORE = "before.json"
_MOVES = "moves.jsonl"


@record
class Entries:
    """What a journal says."""

    before: frozenset[str]  # every path of the environment when the transaction began
    moves: tuple[tuple[str, str], ...]  # (name in the trash, path it came from)


class Journal:
    """Lies in the trash folder that it describes; every entry is on disk before the deed."""

    def __init__(self, trash: Path) -> None:
        """``trash`` exists."""
        self._trash = trash

    def begin(self, before: Iterable[str]) -> None:
        """Note every path of the environment."""
        _write_synced(self._trash / _BEFORE, "w", json.dumps(sorted(before)))

    def intend(self, moves: Sequence[tuple[str, str]]) -> None:
        """Note that these files are about to be moved aside."""
        lines = "".join(json.dumps(move) + "\n" for move in moves)
        _write_synced(self._trash / _MOVES, "a", lines)

    def read(self) -> Optional[Entries]:
        """The entries; None if the transaction never got as far as touching anything."""
        try:
            before = json.loads((self._trash / _BEFORE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        if not isinstance(before, list):
            return None
        return Entries(before=frozenset(map(str, before)), moves=tuple(self._moves()))

    def _moves(self) -> list[tuple[str, str]]:
        try:
            lines = (self._trash / _MOVES).read_text(encoding="utf-8").splitlines()
        except OSError:
            return []
        moves = []
        for line in lines:
            try:
                aside, path = json.loads(line)
            except ValueError:
                break  # cut off by the crash: nothing after it was done
            moves.append((str(aside), str(path)))
        return moves


def _write_synced(path: Path, mode: str, text: str) -> None:
    with path.open(mode, encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
