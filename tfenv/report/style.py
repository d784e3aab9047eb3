"""Colour and marks: decided once, from the stream and the environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TextIO

from tfenv.records import record

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


@record
class Style:
    """Whether colour and characters beyond ASCII may be used."""

    colour: bool = False
    unicode: bool = True

    @classmethod
    def of(cls, stream: TextIO, environ: Mapping[str, str]) -> Style:
        """The style for ``stream``: NO_COLOR and FORCE_COLOR are obeyed, and pipes get plain text."""
        terminal = stream.isatty() and environ.get("TERM") != "dumb"
        colour = not environ.get("NO_COLOR") and (terminal or bool(environ.get("FORCE_COLOR")))
        encoding = (getattr(stream, "encoding", "") or "").lower().replace("-", "")
        return cls(colour=colour, unicode=encoding.startswith("utf"))

    def paint(self, text: str, *names: str) -> str:
        """``text`` in the named colours and weights, if colour is on."""
        if not self.colour or not text or not names:
            return text
        return f"\x1b[{';'.join(_CODES[name] for name in names)}m{text}\x1b[0m"

    def mark(self, kind: str) -> str:
        """The mark of a severity or outcome."""
        plain, fancy, colour = _MARKS[kind]
        return self.paint(fancy if self.unicode else plain, colour)


_MARKS = {
    "ok": ("ok", "✓", "green"),
    "fail": ("x", "✗", "red"),
    "error": ("x", "✗", "red"),
    "warn": ("!", "!", "yellow"),
    "info": ("-", "·", "cyan"),
    "unknown": ("?", "?", "yellow"),
    "skip": ("-", "-", "dim"),
}
