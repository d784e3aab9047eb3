"""Lines of a report, styled alike everywhere."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Sequence

from tfenv.redact import redact
from tfenv.report.style import Style
from tfenv.result import Finding

#: Column of the values in "label   value" lines.
_LABEL = 12


class Page:
    """Collects lines. What comes from outside is cleaned of terminal escapes on its way in."""

    def __init__(self, style: Style) -> None:
        """``style`` says whether colour may be used."""
        self.style = style
        self._lines: list[str] = []
        #: Columns; long lines are hard to read.
        self.width = min(shutil.get_terminal_size((100, 24)).columns, 110)

    def text(self) -> str:
        """Everything written so far."""
        return "".join(line + "\n" for line in self._lines)

    def raw(self, text: str) -> None:
        """``text`` as it is: for files that are meant to be piped."""
        self._lines += text.splitlines()

    def line(self, text: str = "", *styles: str) -> None:
        """One line."""
        self._lines.append(self.style.paint(redact(text), *styles))

    def item(self, label: str, text: str) -> None:
        """A labelled value; long values go on below the value."""
        body = textwrap.wrap(redact(text), max(self.width - _LABEL - 2, 40)) or [""]
        self._lines.append(f"  {self.style.paint(f'{label:<{_LABEL}}', 'dim')}{body[0]}")
        self._lines += [" " * (_LABEL + 2) + more for more in body[1:]]

    def paragraph(self, text: str, indent: int = 4) -> None:
        """A wrapped paragraph."""
        pad = " " * indent
        self._lines += textwrap.wrap(
            redact(text), self.width, initial_indent=pad, subsequent_indent=pad, break_long_words=False
        )

    def command(self, command: str, indent: int = 6) -> None:
        """A command to copy: never wrapped."""
        self._lines.append(" " * indent + self.style.paint(redact(command), "bold"))

    def finding(self, finding: Finding) -> None:
        """A finding: what, why, evidence, what to do."""
        mark = self.style.mark(finding.severity)
        self._lines.append(f"{mark} {self.style.paint(redact(finding.title), 'bold')}  {finding.id}")
        if finding.cause:
            self.paragraph(finding.cause)
        for evidence in finding.evidence:
            self.paragraph(f"{evidence.what}: {evidence.value}  ({evidence.source})", 6)
        if finding.remedy.text:
            self.paragraph(finding.remedy.text)
        for command in finding.remedy.commands:
            self.command(command)
        for link in finding.links:
            self.line(f"    {link}", "dim")

    def verdict(self, kind: str, text: str) -> None:
        """The last word."""
        self._lines.append(f"{self.style.mark(kind)} {self.style.paint(redact(text), 'bold')}")

    def table(self, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Columns as wide as their widest cell; the last one is not padded."""
        cells = [[redact(cell) for cell in row] for row in rows]
        widths = [max(len(row[index]) for row in [list(header), *cells]) for index in range(len(header))]
        self._lines.append(self.style.paint(_row(header, widths), "dim"))
        self._lines += [_row(row, widths) for row in cells]


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths)).rstrip()
