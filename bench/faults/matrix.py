"""From proofs of faulty stacks to the detection matrix. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from faults.catalogue import FAULTS, Fault
from tfenv.proof.child.registry import STAGES
from tfenv.proof.model import ProofReport
from tfenv.records import record

STAGE_IDS = tuple(spec.id for spec in STAGES)


@record
class Row:
    """One proof of a stack with a fault."""

    fault: str
    level: str
    python: str
    seed: int
    code: str  # digest of proof and fault, so that old results are not taken for new ones
    tensorflow: str
    verdict: str
    stages: Mapping[str, str]  # verdict by stage
    failed: Mapping[str, str]  # what was got, by check
    crash: str  # kind and where; "" for none
    acted: int  # how often the fault did
    seconds: float


@record
class Count:
    """How many proofs of one fault at one level found it."""

    proofs: int
    acted: int  # in which the fault acted at all
    caught: int
    stages: Mapping[str, int]  # those that caught it, by stage


def row_of(fault: str, code: str, report: ProofReport, acted: int) -> Row:
    """What is kept of ``report``."""
    crash = report.crash
    failed = {
        check.id: check.got[:200]
        for stage in report.stages
        for check in stage.checks
        if check.passed is False
    }
    errors = {
        stage.id: f"{stage.error.type}: {stage.error.message}"[:200]
        for stage in report.stages
        if stage.error is not None
    }
    return Row(
        fault=fault,
        level=report.level,
        python=report.python,
        seed=report.seed,
        code=code,
        tensorflow=report.stack.tensorflow if report.stack else "",
        verdict=report.verdict,
        stages={stage.id: stage.verdict for stage in report.stages},
        failed={**failed, **errors},
        crash=f"{crash.kind} in {crash.stage}: {crash.step}" if crash else "",
        acted=acted,
        seconds=report.seconds,
    )


def count(rows: Iterable[Row]) -> Count:
    """The proofs of one fault at one level, counted."""
    rows = tuple(rows)
    return Count(
        proofs=len(rows),
        acted=sum(row.acted > 0 for row in rows),
        caught=sum(row.verdict == "fail" for row in rows),
        stages={
            stage: caught
            for stage in STAGE_IDS
            if (caught := sum(row.stages.get(stage) == "fail" for row in rows))
        },
    )


def matrix(rows: Sequence[Row], faults: Mapping[str, Fault] = FAULTS) -> str:
    """The page: totals, a table of faults by stage, and one of the benign changes."""
    counts = {
        (name, level): count(row for row in rows if row.fault == name and row.level == level)
        for name in faults
        for level in ("quick", "full")
    }
    harmful = [fault for fault in faults.values() if not fault.benign]
    benign = [fault for fault in faults.values() if fault.benign]
    stacks = sorted({row.tensorflow for row in rows if row.tensorflow})
    lines = [
        "# What the proof finds: faults by stage",
        "",
        f"Written by `nox -s faults` from {len(rows)} proofs on TensorFlow {', '.join(stacks)}.",
        "Each number says in how many proofs the stage failed at level `full`; the last columns say in how",
        "many of how many any stage did. A statistical failure counts when two of three seeds fail, as in",
        "`tfenv smoke`. A fault that never acted at a level (what it changes was not run) is marked `-`:",
        "neither found nor missed.",
        "",
        *(f"- {_total(harmful, counts, level)}" for level in ("quick", "full")),
        f"- benign changes flagged: {_flagged(benign, counts)}",
    ]
    for category in dict.fromkeys(fault.category for fault in harmful):
        lines += ["", f"## {category.capitalize()}", "", *_header(rows)]
        lines += [_line(fault, counts, rows) for fault in harmful if fault.category == category]
    lines += ["", "## Benign: must not be flagged", "", *_header(rows)]
    lines += [_line(fault, counts, rows) for fault in benign]
    return "\n".join(lines) + "\n"


def missed(rows: Sequence[Row], level: str, faults: Mapping[str, Fault] = FAULTS) -> list[str]:
    """The harmful faults that acted at ``level`` and were not found every time."""
    result = []
    for name, fault in faults.items():
        counted = count(row for row in rows if row.fault == name and row.level == level)
        if not fault.benign and counted.acted and counted.caught < counted.proofs:
            result.append(name)
    return result


def _total(harmful: Sequence[Fault], counts: Mapping[tuple[str, str], Count], level: str) -> str:
    mine = [counts[fault.name, level] for fault in harmful if counts[fault.name, level].proofs]
    acted = [each for each in mine if each.acted or each.caught]
    always = [each for each in acted if each.caught == each.proofs]
    share = f" ({len(always) / len(acted):.0%})" if acted else ""
    return (
        f"`{level}`: {len(mine)} kinds of fault, {len(acted)} of them acted, "
        f"{len(always)}{share} found with every seed"
    )


def _flagged(benign: Sequence[Fault], counts: Mapping[tuple[str, str], Count]) -> str:
    mine = [counts[fault.name, level] for fault in benign for level in ("quick", "full")]
    return f"{sum(each.caught for each in mine)} of {sum(each.proofs for each in mine)} proofs"


def _stages(rows: Sequence[Row]) -> list[str]:
    return [stage for stage in STAGE_IDS if any(stage in row.stages for row in rows)]


def _header(rows: Sequence[Row]) -> list[str]:
    stages = _stages(rows)
    return [
        f"| fault | what | {' | '.join(stages)} | quick | full |",
        f"| --- | --- | {' | '.join('---' for _ in stages)} | --- | --- |",
    ]


def _line(fault: Fault, counts: Mapping[tuple[str, str], Count], rows: Sequence[Row]) -> str:
    quick, full = counts[fault.name, "quick"], counts[fault.name, "full"]
    detail = full if full.proofs else quick
    cells = [str(detail.stages.get(stage, "")) for stage in _stages(rows)]
    return f"| {fault.name} | {fault.says} | {' | '.join(cells)} | {_cell(quick)} | {_cell(full)} |"


def _cell(counted: Count) -> str:
    if not counted.proofs:
        return ""
    if not counted.acted and not counted.caught:
        return "-"
    return f"{counted.caught}/{counted.proofs}"
