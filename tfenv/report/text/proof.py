"""A proof as text: stages, numbers, and a sparkline of the loss."""

from __future__ import annotations

from collections.abc import Sequence

from tfenv.proof.model import Check, ProofReport
from tfenv.report.text.page import Page
from tfenv.report.units import seconds
from tfenv.result import D, Result

_BARS = "▁▂▃▄▅▆▇█"
_WIDTH = 24
_MARKS = {"pass": "ok", "fail": "fail", "warn": "warn", "unknown": "unknown", "skip": "skip"}


def write(page: Page, result: Result[D]) -> None:
    """Write ``result`` if it is a proof's."""
    report = result.data
    if not isinstance(report, ProofReport):
        return
    write_proof(page, report)
    for finding in result.findings:
        page.line()
        page.finding(finding)
    words = {
        "pass": ("ok", "The stack loads and learns."),
        "warn": ("warn", "The stack learns, but not with every seed."),
        "fail": ("fail", "The stack did not prove itself."),
        "unknown": ("unknown", "The proof could not run to its end, so nothing is known."),
    }
    page.verdict(*words[report.verdict])


def write_proof(page: Page, report: ProofReport) -> None:
    """The stages of ``report`` with their numbers."""
    if report.stack is not None:
        stack = report.stack
        page.item(
            "stack",
            f"TensorFlow {stack.tensorflow}, {stack.keras_package} {stack.keras}, NumPy {stack.numpy}, "
            f"Python {stack.python}, on {', '.join(stack.devices_used) or 'no device'}",
        )
    page.item("proof", f"{report.verdict} ({report.level}, seed {report.seed}, {seconds(report.seconds)})")
    for stage in report.stages:
        page.line(f"    {page.style.mark(_MARKS[stage.verdict])} {stage.id} {stage.title}")
        for check in stage.checks:
            if check.statistic is not None:
                page.line(f"        {check.title}: {_number(check)}", "dim")
        for curve in stage.losses:
            page.line(f"        loss of {curve.task}: {_losses(page, curve.losses)}", "dim")


def _number(check: Check) -> str:
    """What was measured, beside what passes."""
    value, whole = check.statistic or 0.0, float(check.statistic or 0.0).is_integer()
    measured = f"{value:.0f} of {check.n}" if whole and check.n > 1 else f"{value:.3g}"
    if check.low is not None and check.high is not None:
        return f"{measured} (passes: {check.low:.3g} to {check.high:.3g})"
    if check.low is not None:
        return f"{measured} (passes: at least {check.low:.3g})"
    if check.high is not None:
        return f"{measured} (passes: at most {check.high:.3g})"
    return measured


def _losses(page: Page, losses: Sequence[float]) -> str:
    if not losses:
        return "none"
    ends = f"{losses[0]:.3g} to {losses[-1]:.3g}"
    return f"{sparkline(losses)} {ends}" if page.style.unicode else ends


def sparkline(values: Sequence[float]) -> str:
    """``values`` as at most 24 bars; what is not finite is a question mark."""
    step = max(1, -(-len(values) // _WIDTH))
    chosen = list(values[::step])
    finite = [value for value in chosen if value == value and abs(value) != float("inf")]
    if not finite:
        return "?" * len(chosen)
    low, high = min(finite), max(finite)
    scale = (len(_BARS) - 1) / (high - low) if high > low else 0.0
    return "".join(_BARS[round((value - low) * scale)] if value in finite else "?" for value in chosen)
