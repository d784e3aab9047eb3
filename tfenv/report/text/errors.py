"""Errors: what happened, and what to do."""

from __future__ import annotations

from tfenv.report.text.page import Page
from tfenv.result import ErrorInfo


def write(page: Page, errors: tuple[ErrorInfo, ...]) -> None:
    """One line for each error and one for its hint: never wrapped, so that they can be copied."""
    for error in errors:
        page.verdict("error", error.message)
        if error.hint:
            page.line(f"  {error.hint}")
