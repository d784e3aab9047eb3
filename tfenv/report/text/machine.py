"""``tfenv facts`` as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass

from tfenv.facts.model import Fact, Facts
from tfenv.report.text.page import Page
from tfenv.result import D, Result

#: Lists longer than this are counted.
_LISTED = 8


def write(page: Page, result: Result[D]) -> None:
    """Write ``result`` if it is the facts."""
    facts = result.data
    if not isinstance(facts, Facts):
        return
    for group in fields(facts):
        value = getattr(facts, group.name)
        if isinstance(value, Fact):
            _write_fact(page, group.name, value)
        elif is_dataclass(value) and not isinstance(value, type):
            page.line(group.name, "bold")
            for field in fields(value):
                _write_fact(page, field.name, getattr(value, field.name))


def _write_fact(page: Page, name: str, fact: Fact[object]) -> None:
    text = _value(fact.value) if fact.known else f"unknown: {fact.reason}"
    page.line(f"  {name:<22}{text}  {page.style.paint(f'[{fact.source}]', 'dim')}")


def _value(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={item}" for key, item in value.items()) or "none"
    if isinstance(value, tuple):
        if len(value) > _LISTED:
            return f"{len(value)} of them (see --json)"
        return ", ".join(_entry(item) for item in value) or "none"
    return str(value)


def _entry(item: object) -> str:
    if is_dataclass(item) and not isinstance(item, type):
        return " ".join(
            str(getattr(item, field.name)) for field in fields(item) if getattr(item, field.name) is not None
        )
    return str(item)
