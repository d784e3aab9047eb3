"""S10: the proof on the CPU beside the proof on the accelerator, stage by stage. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, Optional

from tfenv.proof.child.registry import stage as stage_spec
from tfenv.proof.judge import judge
from tfenv.proof.model import (
    Check,
    Differential,
    LossCurve,
    Measurement,
    ProofReport,
    Rule,
    StageResult,
    Verdict,
)

#: How far two loss curves may be apart, relative to the loss: three times what bfloat16 products may put
#: between them, each being at most 0.013 off exact arithmetic (200 seeds, bench/proof_rounding.py).
TOLERANCE = 0.08
#: Losses below this are compared absolutely, as in the proof's own comparison with arithmetic.
_SMALL_LOSS = 0.05
#: The two curves that the tolerance was measured on; where other optimizers and layers amplify rounding, only
#: the first steps are compared.
_MEASURED = ("memorise", "sequences")
_FIRST_STEPS = 3
_AGREE = "the same on both"
_WHY = (
    "both have the same inputs, seed and steps; a curve that starts from another loss has other initial "
    "weights, as a device with a random generator of its own draws them, and is not compared"
)


def compared(accelerator: ProofReport, cpu: ProofReport) -> ProofReport:
    """The proof of both: the accelerator's, with S10 and its sentence; as bad as the worse of the two."""
    stages = [
        (one, other) for one in cpu.stages for other in accelerator.stages if one.id == other.id != "S0"
    ]
    checks = tuple(_check(one, other, accelerator) for one, other in stages)
    differs = any(check.passed is False for check in checks)
    outcome = _outcome(accelerator, cpu, differs)
    first = _first(outcome, accelerator, cpu, checks)
    result = StageResult(
        id="S10",
        title=stage_spec("S10").title,
        verdict="warn" if differs else "skip" if outcome == "unknown" else "pass",
        checks=checks,
    )
    verdicts: tuple[Verdict, ...] = (accelerator.verdict, cpu.verdict, "warn" if differs else "pass")
    order = ("fail", "unknown", "warn", "pass")
    return replace(
        accelerator,
        verdict=min(verdicts, key=order.index),
        device="both",
        stages=(*accelerator.stages, result),
        seconds=round(accelerator.seconds + cpu.seconds, 3),
        differential=Differential(
            outcome=outcome, sentence=_sentence(outcome, accelerator), first=first, cpu=cpu
        ),
    )


def _check(cpu: StageResult, accelerator: StageResult, report: ProofReport) -> Check:
    difference = next(_differences(cpu, accelerator), "")
    measurement = Measurement(
        id=f"S10.{cpu.id}",
        title=f"{cpu.title} on the CPU and on the accelerator",
        rule=Rule(kind="equal", text=_WHY),
        got=difference or _AGREE,
        expected=_AGREE,
        n=len(cpu.checks),
        device=_name(report),
    )
    return judge(measurement, "S10", None, report.seed)


def _differences(cpu: StageResult, accelerator: StageResult) -> Iterator[str]:
    """What is different, in the order in which it was computed."""
    others = {check.id: check for check in accelerator.checks}
    for check in cpu.checks:
        other = others.get(check.id)
        if other is None or check.passed is other.passed:
            continue
        bad, place = (check, "CPU") if check.passed is False else (other, "accelerator")
        if bad.passed is False:
            yield f"{bad.id}, {bad.title}: wrong on the {place} only ({bad.got}, expected {bad.expected})"
    curves = {curve.task: curve for curve in accelerator.losses}
    for curve in cpu.losses:
        if curve.task in curves:
            step = _first_step_apart(curve, curves[curve.task])
            if step is not None:
                one, other_loss = curve.losses[step], curves[curve.task].losses[step]
                yield (
                    f"loss of {curve.task} first differs at step {step + 1}: {one:.6g} on the CPU, "
                    f"{other_loss:.6g} on the accelerator"
                )
    if (cpu.verdict == "pass") != (accelerator.verdict == "pass"):
        yield f"{cpu.verdict} on the CPU, {accelerator.verdict} on the accelerator"


def _first_step_apart(one: LossCurve, other: LossCurve) -> Optional[int]:
    """The index of the first step beyond tolerance; None: equal, or not comparable."""
    pairs = list(zip(one.losses, other.losses))
    if not pairs or _apart(*pairs[0]):
        return None
    steps = len(pairs) if one.task in _MEASURED else _FIRST_STEPS
    return next((step for step, pair in enumerate(pairs[:steps]) if _apart(*pair)), None)


def _apart(one: float, other: float) -> bool:
    return abs(one - other) > TOLERANCE * max(abs(one), abs(other), _SMALL_LOSS)


_Outcome = Literal["agree", "differ", "accelerator-wrong", "cpu-wrong", "both-fail", "unknown"]


def _outcome(accelerator: ProofReport, cpu: ProofReport, differs: bool) -> _Outcome:
    failed = (accelerator.verdict == "fail", cpu.verdict == "fail")
    if all(failed):
        return "both-fail"
    if "unknown" in (accelerator.verdict, cpu.verdict):
        return "unknown"
    if failed[0]:
        return "accelerator-wrong"
    if failed[1]:
        return "cpu-wrong"
    return "differ" if differs else "agree"


def _sentence(outcome: _Outcome, accelerator: ProofReport) -> str:
    name = _name(accelerator)
    return {
        "agree": f"The CPU and {name} agree.",
        "differ": f"The CPU and {name} both pass, but do not compute the same.",
        "accelerator-wrong": f"The GPU stack is wrong ({name}), the CPU is right.",
        "cpu-wrong": f"The CPU is wrong, {name} is right.",
        "both-fail": "Both fail, the CPU too: it is not the GPU.",
        "unknown": "One of the two proofs could not run to its end, so they cannot be compared.",
    }[outcome]


def _first(outcome: _Outcome, accelerator: ProofReport, cpu: ProofReport, checks: tuple[Check, ...]) -> str:
    found = next(
        (f"stage {check.id.partition('.')[2]}: {check.got}" for check in checks if not check.passed), ""
    )
    if found or outcome not in ("both-fail", "accelerator-wrong", "cpu-wrong"):
        return found
    report = cpu if outcome == "cpu-wrong" else accelerator
    if report.crash is not None:
        return f"stage {report.crash.stage or 'S0'}: {report.crash.title} ({report.crash.step or 'start'})"
    bad = (check for stage in report.stages for check in stage.checks if check.passed is False)
    return next(
        (f"stage {check.stage}: {check.title}: {check.got}, expected {check.expected}" for check in bad), ""
    )


def _name(report: ProofReport) -> str:
    """The accelerator, "GPU:0"."""
    names = report.stack.accelerators if report.stack is not None else ()
    return names[0] if names else "the accelerator"
