"""What library code may say while it works; the command line decides how that looks."""

from __future__ import annotations

from typing import Protocol


class Listener(Protocol):
    """Receives the progress of an operation. Implementations live in ``tfenv.report``."""

    def step(self, title: str) -> None:
        """A new stage of the work begins, e.g. "installing 38 distributions"."""

    def note(self, text: str) -> None:
        """One line worth telling, e.g. a warning about what comes next."""

    def progress(self, what: str, done: int, total: int) -> None:
        """``done`` of ``total`` units (bytes or items) of ``what``; ``total`` is 0 if unknown."""


class Silent:
    """A listener that says nothing: for the library, for tests, for ``--json``."""

    def step(self, title: str) -> None:
        """Say nothing."""

    def note(self, text: str) -> None:
        """Say nothing."""

    def progress(self, what: str, done: int, total: int) -> None:
        """Say nothing."""
