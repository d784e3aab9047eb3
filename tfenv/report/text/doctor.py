"""``tfenv doctor`` as text: the ladder, then what is wrong."""

from __future__ import annotations

from tfenv.doctor.model import DoctorReport
from tfenv.flow.doctor import CheckList
from tfenv.report.text.page import Page
from tfenv.result import D, Finding, Result

_RUNG_MARKS = {"ok": "ok", "broken": "fail", "unknown": "unknown", "skipped": "skip"}
_ORDER = ("fail", "warn", "unknown", "info")


def write(page: Page, result: Result[D]) -> None:
    """Write ``result`` if it is the doctor's."""
    data = result.data
    if isinstance(data, CheckList):
        page.table(
            ("id", "rung", "tier", "question"),
            [(check.id, check.rung, check.tier, check.summary) for check in data.checks],
        )
        return
    if not isinstance(data, DoctorReport):
        return
    for rung in data.rungs:
        because = f": {rung.because}" if rung.because else ""
        page.line(f"{page.style.mark(_RUNG_MARKS[rung.state])} {rung.title}{because}")
    for severity in _ORDER:
        for finding in result.findings:
            if finding.severity == severity:
                page.line()
                page.finding(finding)
    page.line()
    _write_verdict(page, data, result.findings)


def _write_verdict(page: Page, report: DoctorReport, findings: tuple[Finding, ...]) -> None:
    counts = {
        severity: sum(finding.severity == severity for finding in findings) for severity in (*_ORDER, "skip")
    }
    if not findings:
        page.verdict("ok", f"Nothing to complain about ({report.checks} checks).")
        return
    parts = [
        _count(counts["fail"], "problem"),
        _count(counts["warn"], "warning"),
        _count(counts["info"], "remark"),
        f"{counts['unknown']} could not be checked" if counts["unknown"] else "",
        f"{counts['skip']} not judged" if counts["skip"] else "",
    ]
    kind = "fail" if counts["fail"] else "warn" if counts["warn"] else "ok"
    page.verdict(kind, ", ".join(part for part in parts if part) + f" ({report.checks} checks).")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' if number != 1 else ''}" if number else ""
