"""A proof's report as findings: what is wrong, how that is known, what to do."""

from __future__ import annotations

import os
import shlex
import subprocess

from tfenv.proof.model import Check, Crash, ProofReport, StageResult
from tfenv.records import record
from tfenv.result import Evidence, Finding, Remedy, Severity

_STACK_LINES = 12
#: Kinds of crash whose title says where.
_PLACELESS = ("tensorflow-missing", "startup", "teardown")


@record
class _Words:
    """How a failed check is told. ``{got}``, ``{expected}`` and ``{title}`` are the check's."""

    id: str
    title: str
    cause: str


_BACKEND = _Words(
    id="IMP002",
    title="Keras computes with {got}, not with TensorFlow",
    cause="KERAS_BACKEND, or the file keras.json in the user's .keras folder, chooses it.",
)
_MIXED = _Words(
    id="IMP002",
    title="the TensorFlow that is imported ({got}) is not the one that is installed ({expected})",
    cause="Two releases are mixed in one folder, or another copy comes first on the import path.",
)
_NO_GPU = _Words(
    id="DEV001",
    title="TensorFlow lists no GPU, only {got}",
    cause="It found no usable one: driver, CUDA libraries or plugin are missing or do not fit.",
)
_PLACED_ELSEWHERE = _Words(
    id="DEV002",
    title="operations ran on {got}, not on {expected}",
    cause="They silently fell back to another device: the one asked for has no kernel for them.",
)
_WRONG_PRODUCT = _Words(
    id="DEV002",
    title="{title} is wrong or ran elsewhere: {got}",
    cause="The simplest operation fails: driver, plugin or library do not fit this TensorFlow.",
)
_NOT_MEMORISED = _Words(
    id="TRN001",
    title="the stack does not learn: {got} random labels memorised, expected {expected}",
    cause="Label information does not reach the weights: gradients, the optimizer or the copying of data to "
    "the device are broken.",
)
_NOT_LEARNED = _Words(
    id="TRN002",
    title="the stack does not learn: {title} {got}, expected {expected}",
    cause="The network does not learn what healthy stacks learn from the same data in as many steps.",
)
_LEARNS_DIFFERENTLY = _Words(
    id="TRN002",
    title="the stack learns wrongly: {title} {got}, healthy stacks {expected}",
    cause="It learns, but not as healthy stacks of its kind do: an operation, a random generator or the "
    "optimizer gives wrong values.",
)
#: By the end or the start of a check's id; first match counts.
_BY_ID = (
    ("S0.version", _MIXED),
    ("S0.keras-backend", _BACKEND),
    ("S0.gpu", _NO_GPU),
    ("S0.product", _WRONG_PRODUCT),
    ("S5.correct", _NOT_MEMORISED),
    (".placement", _PLACED_ELSEWHERE),
    (".groups", _NOT_LEARNED),
)


def findings_of(report: ProofReport) -> tuple[Finding, ...]:
    """The findings of ``report``, most serious first; none for a stack that passed."""
    found = [_of_crash(report, report.crash)] if report.crash is not None else []
    found += [
        _of_error(report, stage)
        for stage in report.stages
        if stage.error is not None and not (report.crash is not None and report.crash.stage == stage.id)
    ]
    found += [
        _of_checks(report, stage)
        for stage in report.stages
        if any(check.passed is False for check in stage.checks)
    ]
    return tuple(sorted(found, key=lambda finding: ("fail", "unknown", "warn").index(finding.severity)))


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
        remedy=Remedy(text=crash.remedy, commands=(_smoke(report),)),
    )


def _of_error(report: ProofReport, stage: StageResult) -> Finding:
    error = stage.error
    assert error is not None
    lines = [line for line in error.traceback if line.strip()][-_STACK_LINES:]
    return Finding(
        id="TRN003",
        severity="fail",
        title=f"Training raises {error.type} ({error.step or stage.title})",
        cause="An operation that the networks need is missing or refuses its input on this stack.",
        evidence=(
            Evidence(what="message", value=error.message[:400], source=f"stage {stage.id}"),
            *(Evidence(what="traceback", value=line.strip(), source="child's traceback") for line in lines),
        ),
        remedy=_remedy(report),
    )


def _of_checks(report: ProofReport, stage: StageResult) -> Finding:
    failed = [check for check in stage.checks if check.passed is False]
    first = failed[0]
    flaky = stage.verdict == "warn"
    evidence = [_evidence(check) for check in failed]
    for retry in stage.retries:
        again = [check for check in retry.checks if check.passed is False]
        value = "passed" if retry.passed else "failed: " + "; ".join(_got(check) for check in again)
        evidence.append(
            Evidence(what=f"again with seed {retry.seed}", value=value, source=f"stage {stage.id}")
        )
    words = _words(first)
    title = words.title.format(got=first.got, expected=first.expected, title=first.title)
    return Finding(
        id=words.id,
        severity="warn" if flaky else "fail",
        title=f"Failed with one seed of three: {title}" if flaky else title[:1].upper() + title[1:],
        cause=words.cause,
        evidence=tuple(evidence),
        remedy=_remedy(report),
    )


def _words(check: Check) -> _Words:
    for part, words in _BY_ID:
        if check.id.startswith(part) or check.id.endswith(part):
            return words
    return _LEARNS_DIFFERENTLY


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


def _remedy(report: ProofReport) -> Remedy:
    on_accelerator = report.stack is not None and any(
        not name.startswith("CPU") for name in report.stack.devices_used
    )
    if on_accelerator:
        return Remedy(
            text="See whether the CPU passes. If it does, the fault is in the GPU's driver, libraries or "
            "plugin: hide the GPU (CUDA_VISIBLE_DEVICES=-1) or choose another lock.",
            commands=(_smoke(report, "--device", "cpu"), "tfenv locks list"),
        )
    return Remedy(
        text="Build a fresh environment from a lock and prove that one; if it passes, leave the old one.",
        commands=("tfenv bootstrap --venv .venv",),
    )


def _smoke(report: ProofReport, *options: str) -> str:
    words = ["tfenv", "smoke", *options, "--python", report.python]
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)
