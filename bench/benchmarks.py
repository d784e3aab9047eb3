"""The tables of BENCHMARKS.md, each between two marks of its own."""

from __future__ import annotations

from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "BENCHMARKS.md"


def write_table(name: str, text: str) -> None:
    """Put ``text`` in place of what stands between the marks called ``name``."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    page = PAGE.read_text("utf-8")
    head, tail = page.split(begin)[0], page.split(end)[1]
    PAGE.write_text(f"{head}{begin}\n{text}\n{end}{tail}", "utf-8")
