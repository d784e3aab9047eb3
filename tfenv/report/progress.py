"""Progress as plain lines, which read well in a terminal, a notebook cell and a CI log alike."""

from __future__ import annotations

from typing import TextIO

from tfenv.report.style import Style
from tfenv.report.units import megabytes


class Lines:
    """A listener that writes one line per event."""

    def __init__(self, stream: TextIO, style: Style) -> None:
        """``stream`` is stderr: stdout belongs to the report."""
        self._stream = stream
        self._style = style

    def step(self, title: str) -> None:
        """A new stage of the work begins."""
        self._write(f"{self._style.paint('==>', 'bold', 'cyan')} {title}")

    def note(self, text: str) -> None:
        """One line worth telling."""
        self._write(f"    {text}")

    def progress(self, what: str, done: int, total: int) -> None:
        """How far ``what`` is."""
        amount = f"{megabytes(done)} of {megabytes(total)}" if total else megabytes(done)
        self._write(f"    {what}: {amount}")

    def _write(self, line: str) -> None:
        self._stream.write(line + "\n")
        self._stream.flush()
