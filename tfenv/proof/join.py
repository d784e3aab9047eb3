"""One stage out of what several processes left of it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Optional

from tfenv.proof.child.registry import stage as stage_spec
from tfenv.proof.judge import judge
from tfenv.proof.model import Measurement, Rule, StageResult, StageVerdict

#: What decides when parts of a stage fared differently, first to last.
_WEIGHT: tuple[StageVerdict, ...] = ("fail", "unknown", "skip", "warn", "pass")
_SAME = "the same bits in both processes"
_WHY = (
    "with the same seed and op determinism on, TensorFlow promises the same bits; what differs depends on "
    "chance, on memory that was never set, or on the order of threads"
)


def joined(stage_id: str, parts: Sequence[StageResult]) -> StageResult:
    """The stage whose ``parts`` ran in different processes; skipped where there are none."""
    if not parts:
        return StageResult(id=stage_id, title=stage_spec(stage_id).title, verdict="skip")
    if len(parts) == 1:
        return parts[0]
    return replace(
        parts[0],
        verdict=min((part.verdict for part in parts), key=_WEIGHT.index),
        seconds=round(sum(part.seconds for part in parts), 4),
        checks=tuple(check for part in parts for check in part.checks),
        losses=tuple(curve for part in parts for curve in part.losses),
        digests=tuple(digest for part in parts for digest in part.digests),
        error=next((part.error for part in parts if part.error is not None), None),
    )


def repeated(parts: Sequence[StageResult], seed: int) -> tuple[StageResult, ...]:
    """A stage that ran in two processes with the same seed: the first, and the second compared with it.

    Unchanged when either did not run to its end.
    """
    if len(parts) != 2 or any(part.verdict != "pass" for part in parts):
        return tuple(parts)
    first, second = parts
    values = {digest.task: digest.value for digest in second.digests}
    checks = []
    for digest in first.digests:
        other = values.get(digest.task)
        measurement = Measurement(
            id=f"{first.id}.{digest.task}",
            title=digest.task.replace(".", ": "),
            rule=Rule(kind="equal", text=_WHY),
            got=_SAME if other == digest.value else _difference(first, second, digest.task),
            expected=_SAME,
            device=first.checks[0].device if first.checks else "",
        )
        checks.append(judge(measurement, first.id, None, seed))
    verdict: StageVerdict = "pass" if all(check.passed for check in checks) else "fail"
    # Both ran at the same time.
    compared = replace(second, verdict=verdict, seconds=0.0, checks=tuple(checks), losses=(), digests=())
    return first, compared


def _difference(first: StageResult, second: StageResult, task: str) -> str:
    """How two runs of ``task`` differ; step by step where it is the losses."""
    curves = [_losses(part, task) for part in (first, second)]
    if curves[0] is not None and curves[1] is not None:
        for step, (one, other) in enumerate(zip(*curves), 1):
            if one != other:
                return f"other bits: first at step {step}, {one:.9g} and {other:.9g}"
    return "other bits"


def _losses(part: StageResult, task: str) -> Optional[tuple[float, ...]]:
    name = task.rpartition(".")[0] if task.endswith(".losses") else ""
    return next((curve.losses for curve in part.losses if curve.task == name), None)
