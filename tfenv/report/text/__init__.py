"""Results as text: one module per family of commands."""

from __future__ import annotations

import importlib

from tfenv.report.style import Style
from tfenv.report.text import errors
from tfenv.report.text.page import Page
from tfenv.result import D, Result

#: The first word of a command to the module that writes its result; only that one is imported.
_FAMILIES = {
    "bootstrap": "bootstrap",
    "doctor": "doctor",
    "smoke": "proof",
    "locks": "catalogue",
    "status": "environment",
    "seed": "environment",
    "init": "environment",
    "facts": "machine",
}


def render(result: Result[D], style: Style) -> str:
    """The text of ``result``; ends with a newline unless it is empty."""
    page = Page(style)
    if result.errors:
        errors.write(page, result.errors)
    else:
        family = importlib.import_module(f"tfenv.report.text.{_FAMILIES[result.command.split()[0]]}")
        family.write(page, result)
    return page.text()
