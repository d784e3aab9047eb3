"""A proof's report as findings: what is wrong, how that is known, what to do."""

from __future__ import annotations

from tfenv.proof.cause import DISK_FULL, is_disk_full
from tfenv.proof.fingerprint import changed
from tfenv.proof.model import Check, Crash, Differential, ProofReport, StageResult
from tfenv.proof.remedy import fused, general, hide_gpu, no_gpu, smoke
from tfenv.proof.words import title_of, words_for
from tfenv.result import Evidence, Finding, Remedy, Severity
from tfenv.versions import NEWEST_TF, OLDEST_TF, minor_of, version_key

_STACK_LINES = 12
#: Failed checks that one finding lists.
_LISTED = 12
#: Kinds of crash whose title says where.
_PLACELESS = ("tensorflow-missing", "startup", "teardown")
_ORDER = ("fail", "unknown", "warn")


def findings_of(report: ProofReport) -> tuple[Finding, ...]:
    """The findings of ``report``, most serious first; none for a stack that passed."""
    crashes = [report.crash, *report.more_crashes] if report.crash is not None else []
    crashed = {crash.stage for crash in crashes}
    found = [_of_crash(report, crash) for crash in crashes]
    found += [
        _of_error(report, stage)
        for stage in report.stages
        if stage.error is not None and stage.id not in crashed
    ]
    found += [
        _of_checks(report, stage)
        for stage in report.stages
        if stage.id != "S10" and any(check.passed is False for check in stage.checks)
    ]
    found += _of_range(report)
    found += changed(report.fingerprint_before, report.fingerprint)
    if report.differential is not None:
        found = [*_of_differential(report, report.differential), *found]
    return tuple(sorted(found, key=lambda finding: _ORDER.index(finding.severity)))


def _of_range(report: ProofReport) -> list[Finding]:
    version = report.stack.tensorflow if report.stack is not None else OLDEST_TF
    if version_key(OLDEST_TF) <= version_key(minor_of(version)) <= version_key(NEWEST_TF):
        return []
    return [
        Finding(
            id="IMP003",
            severity="warn",
            title=f"TensorFlow {version} is outside the range that the proof was made for",
            cause=f"Its stages, and what healthy stacks measure, come from TensorFlow {OLDEST_TF} to "
            f"{NEWEST_TF}. What passes is still right; what fails may be a stage that does not know this "
            "release.",
            remedy=Remedy(
                text=f"Choose a release from {OLDEST_TF} to {NEWEST_TF}, or a newer tfenv.",
                commands=("tfenv locks list",),
            ),
        )
    ]


def _of_differential(report: ProofReport, differential: Differential) -> list[Finding]:
    outcome = differential.outcome
    if outcome == "agree":
        return []
    alike = [check for stage in report.stages if stage.id == "S10" for check in stage.checks]
    evidence = [Evidence(what="first", value=differential.first, source="S10")] if differential.first else []
    evidence += [
        Evidence(what=check.title, value=check.got, source=f"{check.id}, seed {check.seed}")
        for check in alike
        if check.passed is False
    ]
    severity: Severity = "unknown" if outcome == "unknown" else "warn" if outcome == "differ" else "fail"
    return [
        Finding(
            id="DIF001",
            severity=severity,
            title=differential.sentence,
            cause="The same proof ran on the CPU, with accelerators hidden, and on the accelerator.",
            evidence=tuple(evidence),
            remedy=hide_gpu(report) if outcome in ("accelerator-wrong", "differ") else general(report),
        )
    ]


def _of_crash(report: ProofReport, crash: Crash) -> Finding:
    severity: Severity = "fail" if crash.conclusive else "unknown"
    where = f"stage {crash.stage}" if crash.stage else "start of the proof"
    evidence = [Evidence(what="how it ended", value=crash.status, source=f"child process, {where}")]
    if crash.step:
        evidence.append(Evidence(what="while it did", value=crash.step, source="the proof's events"))
    evidence += [Evidence(what="it said", value=line, source="child's output") for line in crash.quotes]
    evidence += [
        Evidence(what="stack", value=line.strip(), source="faulthandler")
        for line in crash.stacks[:_STACK_LINES]
    ]
    importing = crash.stage in ("", "S0") and crash.kind != "teardown"
    doing = "importing TensorFlow" if importing else f"training ({crash.step or crash.stage})"
    title = crash.title[:1].upper() + crash.title[1:]
    return Finding(
        id="IMP001" if importing else "TRN003",
        severity="warn" if crash.kind == "teardown" else severity,
        title=title if crash.kind in _PLACELESS else f"While {doing}: {crash.title}",
        cause=crash.cause,
        evidence=tuple(evidence),
        remedy=Remedy(text=crash.remedy, commands=(smoke(report),)),
    )


def _of_error(report: ProofReport, stage: StageResult) -> Finding:
    error = stage.error
    assert error is not None
    lines = [line for line in error.traceback if line.strip()][-_STACK_LINES:]
    evidence = (
        Evidence(what="message", value=error.message[:400], source=f"stage {stage.id}"),
        *(Evidence(what="traceback", value=line.strip(), source="child's traceback") for line in lines),
    )
    doing = error.step or stage.title
    if is_disk_full(error.message):
        return Finding(
            id="TRN003",
            severity="unknown",
            title=f"While training ({doing}): {DISK_FULL.title}",
            cause=DISK_FULL.cause,
            evidence=evidence[:1],
            remedy=Remedy(text=DISK_FULL.remedy, commands=(smoke(report),)),
        )
    return Finding(
        id="TRN003",
        severity="fail",
        title=f"Training raises {error.type} ({doing})",
        cause="An operation that the networks need is missing or refuses its input on this stack.",
        evidence=evidence,
        remedy=general(report),
    )


def _of_checks(report: ProofReport, stage: StageResult) -> Finding:
    failed = [check for check in stage.checks if check.passed is False]
    first = failed[0]
    flaky = stage.verdict == "warn"
    evidence = [_evidence(check) for check in failed[:_LISTED]]
    if len(failed) > _LISTED:
        more = f"{len(failed) - _LISTED} further checks failed (all of them: --json)"
        evidence.append(Evidence(what="and", value=more, source=f"stage {stage.id}"))
    for retry in stage.retries:
        again = [check for check in retry.checks if check.passed is False]
        value = "passed" if retry.passed else "failed: " + "; ".join(_got(check) for check in again)
        evidence.append(
            Evidence(what=f"again with seed {retry.seed}", value=value, source=f"stage {stage.id}")
        )
    title = title_of(first)
    return Finding(
        id=words_for(first).id,
        severity="warn" if flaky else "fail",
        title=f"Failed with one seed of three: {title}" if flaky else title[:1].upper() + title[1:],
        cause=words_for(first).cause,
        evidence=tuple(evidence),
        remedy=_remedy(report, first),
    )


def _remedy(report: ProofReport, check: Check) -> Remedy:
    if check.id == "S0.gpu":
        return no_gpu(report)
    return fused(report) if check.id.startswith("S2.") else general(report)


def _evidence(check: Check) -> Evidence:
    chance = f"; without learning this passes with probability {check.chance:.0e}" if check.chance else ""
    device = f", on {check.device}" if check.device else ""
    return Evidence(
        what=check.title,
        value=_got(check),
        source=f"{check.id}, n = {check.n}, seed {check.seed}{device}; {check.rule}{chance}",
    )


def _got(check: Check) -> str:
    return f"{check.got}, expected {check.expected}"
