"""The walk over the ladder: every check once, and the first broken rung explains what stands on it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Optional

from tfenv.doctor.context import Context
from tfenv.doctor.model import RUNGS, STANDS_ON, Check, DoctorReport, Rung, RungReport, Tier
from tfenv.doctor.registry import CHECKS
from tfenv.errors import UsageError
from tfenv.result import Finding

EVERY_TIER: tuple[Tier, ...] = ("static", "probe", "import", "proof")


def diagnose(
    context: Context,
    *,
    only: Collection[str] = (),
    tiers: Collection[Tier] = EVERY_TIER,
    checks: Sequence[Check] = CHECKS,
) -> DoctorReport:
    """Walk the ladder over ``context``: the checks named in ``only`` (all if empty) that are of ``tiers``.

    Raises:
        UsageError: ``only`` names a check that does not exist.
    """
    _refuse_unknown(only, checks)
    chosen = [check for check in checks if check.tier in tiers and (not only or check.id in only)]
    broken: dict[str, Finding] = {}  # check id to the failure, of the checks that failed
    fallen: dict[Rung, Finding] = {}  # rung to its first failure
    findings: list[Finding] = []
    for check in chosen:
        cause = _explained_by(check, broken, fallen)
        for finding in check.run(context):
            if cause is not None and finding.severity != "info":
                findings.append(_skipped(check, cause))
                break
            findings.append(finding)
            if finding.severity == "fail":
                broken.setdefault(check.id, finding)
                fallen.setdefault(check.rung, finding)
    rungs = tuple(_rung(rung, chosen, findings, fallen, context) for rung in RUNGS)
    return DoctorReport(rungs=rungs, findings=tuple(findings), checks=len(chosen))


def _refuse_unknown(only: Collection[str], checks: Sequence[Check]) -> None:
    unknown = sorted(set(only) - {check.id for check in checks})
    if unknown:
        raise UsageError(
            "unknown-check",
            f"There is no check named {', '.join(unknown)}.",
            hint="See them all: tfenv doctor --list",
        )


def _explained_by(
    check: Check, broken: Mapping[str, Finding], fallen: Mapping[Rung, Finding]
) -> Optional[Finding]:
    for rung in STANDS_ON[check.rung]:
        if rung in fallen:
            return fallen[rung]
    return next((broken[name] for name in check.after if name in broken), None)


def _skipped(check: Check, cause: Finding) -> Finding:
    return Finding(
        id=check.id,
        severity="skip",
        title=f"Not judged: {check.summary[0].lower()}{check.summary[1:]}"
        if check.summary[1:2].islower()
        else f"Not judged: {check.summary}",
        cause=f"because {cause.id}: {cause.title}",
    )


def _rung(
    rung: Rung,
    chosen: Sequence[Check],
    findings: Sequence[Finding],
    fallen: Mapping[Rung, Finding],
    context: Context,
) -> RungReport:
    report = RungReport(rung=rung, title=RUNGS[rung], state="ok")
    checks = {check.id for check in chosen if check.rung == rung}
    own = [finding for finding in findings if finding.id in checks]
    if rung in fallen:
        return replace(report, state="broken", because=f"{fallen[rung].id}: {fallen[rung].title}")
    skipped = (
        "not asked for" if not checks else "",
        *(finding.cause for finding in own if finding.severity == "skip"),
        _not_run(rung, fallen, context),
    )
    because = next((reason for reason in skipped if reason), "")
    if because:
        return replace(report, state="skipped", because=because)
    unknown = [finding.title for finding in own if finding.severity == "unknown"]
    if unknown:
        return replace(report, state="unknown", because=unknown[0])
    return report


def _not_run(rung: Rung, fallen: Mapping[Rung, Finding], context: Context) -> str:
    """Why nothing can be said of this rung; "" if something can."""
    runs = rung in ("import", "proof")
    if runs and context.executed is not None:
        # It ran, whatever the rungs below look like: then what it showed counts.
        return "TensorFlow could not be imported" if rung == "proof" and not context.executed.loaded else ""
    if runs and context.stack.tensorflow is None:
        return "TensorFlow is not installed"
    below = [fallen[name] for name in STANDS_ON[rung] if name in fallen]
    if below:
        return f"because {below[0].id}: {below[0].title}"
    return "not run" if runs else ""


__all__ = ["EVERY_TIER", "diagnose"]
