"""Findings from facts: the evidence, and the answer when a fact could not be read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from tfenv.facts.model import Fact
from tfenv.result import Evidence, Finding

T = TypeVar("T")

#: More of a list than this helps nobody.
_LISTED = 8


def seen(what: str, fact: Fact[T]) -> Evidence:
    """``fact`` as evidence."""
    if not fact.known:
        return Evidence(what=what, value=f"unknown: {fact.reason}", source=fact.source)
    return Evidence(what=what, value=_text(fact.value), source=fact.source)


def variable(name: str, value: str) -> Evidence:
    """An environment variable as evidence."""
    return Evidence(what=name, value=value, source="environment variable")


def installed(name: str, version: str) -> Evidence:
    """An installed distribution as evidence."""
    return Evidence(what=name, value=version, source="installed distributions")


def cannot_tell(check: str, what: str, fact: Fact[T]) -> Finding:
    """The answer of ``check`` when the ``fact`` it stands on could not be read."""
    return Finding(
        id=check,
        severity="unknown",
        title=f"Could not read {what}",
        cause=f"{fact.source}: {fact.reason}",
        evidence=(seen(what, fact),),
    )


def listed(items: Iterable[str]) -> str:
    """``items`` with commas, shortened when there are many."""
    every = list(items)
    more = f" and {len(every) - _LISTED} more" if len(every) > _LISTED else ""
    return ", ".join(every[:_LISTED]) + more


def size(count: int) -> str:
    """Bytes for people: "7.6 GB", "64 MB"."""
    for unit, name in ((10**9, "GB"), (10**6, "MB")):
        if count >= unit:
            return f"{count / unit:.1f}".removesuffix(".0") + f" {name}"
    return f"{count} bytes"


def _text(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return listed(map(str, value)) or "none"
    return str(value)
