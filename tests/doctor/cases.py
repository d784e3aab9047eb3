"""How the tests of the checks are written: a machine, a check, and what it must find."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

import pytest

from doctor.crafted import one
from tfenv.facts.model import Facts
from tfenv.records import record


@record
class Case:
    """``check`` on ``facts`` finds exactly ``severities``."""

    id: str
    check: str
    facts: Facts
    severities: tuple[str, ...] = ()  # none: all is well, or it does not apply
    says: str = ""  # a part of the title, cause or commands of the first finding
    options: Optional[Mapping[str, Any]] = None


def parametrized(cases: list[Case]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", cases, ids=[f"{case.check}-{case.id}" for case in cases])


def holds(case: Case) -> None:
    """Assert what ``case`` says, and that a finding is complete: evidence, a cause or remedy, its own id."""
    findings = one(case.facts, case.check, **(case.options or {}))
    assert tuple(finding.severity for finding in findings) == case.severities
    for finding in findings:
        assert finding.id == case.check
        assert finding.severity == "skip" or finding.evidence
        assert finding.severity not in ("fail", "warn") or finding.remedy.text
    if case.says:
        first = findings[0]
        assert case.says in "\n".join((first.title, first.cause, first.remedy.text, *first.remedy.commands))
