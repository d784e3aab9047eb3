"""A proof as text: one line per stage, with a sparkline of the loss; all numbers are in the JSON."""

from __future__ import annotations

from collections.abc import Sequence

from tfenv.proof.model import Check, LossCurve, ProofReport, StageResult
from tfenv.report.text.page import Page
from tfenv.report.units import seconds
from tfenv.result import D, Result

_BARS = "▁▂▃▄▅▆▇█"
_WIDTH, _NARROWEST = 24, 6
_MARKS = {"pass": "ok", "fail": "fail", "warn": "warn", "unknown": "unknown", "skip": "skip"}
#: Failed checks shown below a stage; the findings tell the rest.
_SHOWN = 3
#: What the checks of a stage that passed amount to; ``{n}`` is their number.
_PASSED = {
    "S0": "imports, lists its devices and computes on them",
    "S1": "{n} operations exact, eager and traced",
    "S2": "{n} traced patterns compute what eager code does",
    "S3": "{n} random sources differ, repeat and follow their laws",
    "S4": "{n} gradients and updates right",
    "S7": "trains on without losing what it learned",
    "S8": "saved in {n} ways, answers the same in another process",
    "S9": "{n} results have the same bits in two processes",
    "S10": "{n} stages the same on the CPU and on the accelerator",
}
#: Checks that are about how a stage was run.
_BESIDE = (".placement", ".determinism", ".trained")


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
    mark, text = words[report.verdict]
    page.verdict(mark, report.differential.sentence if report.differential is not None else text)


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
        _write_stage(page, stage)
    if report.fingerprint is not None:
        page.item("fingerprint", report.fingerprint.value)


def _write_stage(page: Page, stage: StageResult) -> None:
    start = f"    {page.style.mark(_MARKS[stage.verdict])} {stage.id:<3} {stage.title:<12} "
    used = len(f"    x {stage.id:<3} {stage.title:<12} ")
    words = summary(stage)
    page.line(f"{start}{words}{_curves(page, stage.losses, page.width - used - len(words))}".rstrip())
    failed = [check for check in stage.checks if check.passed is False]
    for check in failed[:_SHOWN]:
        text = f"{check.title}: {check.got}, expected {check.expected}"
        page.line(f"          {_shortened(text, page.width - 10)}", "dim")


def summary(stage: StageResult) -> str:
    """What became of ``stage``, in a few words."""
    if stage.verdict == "skip":
        return "not run"
    if stage.error is not None:
        return f"raises {stage.error.type} ({stage.error.step or stage.title})"
    checks = [check for check in stage.checks if not check.id.endswith(_BESIDE)]
    if not checks:
        return "could not run to its end" if stage.verdict == "unknown" else "did not run to its end"
    failed = sum(check.passed is False for check in stage.checks)
    if failed:
        again = (
            f", again with {sum(not retry.passed for retry in stage.retries)} of {len(stage.retries)} seeds"
        )
        return f"{failed} of {len(stage.checks)} checks failed{again if stage.retries else ''}"
    # Where there is a loss curve, it needs the room.
    device = next((check.device for check in stage.checks if ":" in check.device and not stage.losses), "")
    words = _PASSED.get(stage.id, "").format(n=len(checks)) or _answers(checks)
    return f"{words}, on {device}" if device else words


def _answers(checks: Sequence[Check]) -> str:
    """How many answers were right, of the checks that count answers."""
    counts = [f"{check.statistic:.0f} of {check.n}" for check in checks if check.chance is not None]
    return f"{' and '.join(counts)} right" if counts else f"{len(checks)} checks"


def _curves(page: Page, curves: Sequence[LossCurve], room: int) -> str:
    """As many loss curves as fit into ``room`` columns, each with its ends."""
    text = ""
    for curve in curves if page.style.unicode else ():
        if not curve.losses:
            continue
        ends = f" {curve.losses[0]:.3g} to {curve.losses[-1]:.2g}"
        width = min(_WIDTH, room - len(text) - len(ends) - 2)
        if width < _NARROWEST:
            break
        text += f"  {sparkline(curve.losses, width)}{ends}"
    return text


def _shortened(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 4]} ..."


def sparkline(values: Sequence[float], width: int = _WIDTH) -> str:
    """``values`` as at most ``width`` bars; what is not finite is a question mark."""
    step = max(1, -(-len(values) // width))
    chosen = list(values[::step])
    finite = [value for value in chosen if value == value and abs(value) != float("inf")]
    if not finite:
        return "?" * len(chosen)
    low, high = min(finite), max(finite)
    scale = (len(_BARS) - 1) / (high - low) if high > low else 0.0
    return "".join(_BARS[round((value - low) * scale)] if value in finite else "?" for value in chosen)
