"""``tfenv bootstrap`` as text."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from tfenv.flow.request import BootstrapReport
from tfenv.report.text.page import Page
from tfenv.report.units import megabytes
from tfenv.result import D, Result

if TYPE_CHECKING:
    from tfenv.install.plan import Plan

#: Steps beyond this are counted, not listed.
_LISTED = 60


def write(page: Page, result: Result[D]) -> None:
    """Write ``result`` if it is a bootstrap's."""
    report = result.data
    if not isinstance(report, BootstrapReport):
        return
    lock = report.lock
    page.item("environment", f"{report.environment}" + (" (made by this run)" if report.made else ""))
    if report.target is not None:
        page.item("target", f"{report.target.name}: {report.target.reason}")
        for note in report.target.notes:
            page.item("", note)
    page.item("lock", f"{lock.id}: TensorFlow {lock.tensorflow}, {lock.evidence}, as of {lock.as_of}")
    for fault in lock.faults:
        page.item("known fault", f"{fault.text} ({fault.source})")
    if report.plan is not None:
        _write_plan(page, report.plan, listed=report.planned)
    if report.scrubbed:
        page.item("not passed on", f"{', '.join(report.scrubbed)} (would redirect or break the installation)")
    if report.planned:
        if report.plan is not None and report.plan.pending:
            page.verdict("info", "Nothing was changed. Run the same command without --dry-run to do it.")
        else:
            page.verdict("ok", "What is installed satisfies the lock: nothing would change.")
        return
    page.item("seed", "off" if report.seed is None else f"{report.seed} in every later interpreter")
    if report.proof is not None:
        from tfenv.report.text.proof import write_proof  # lazily: a second bootstrap has none

        write_proof(page, report.proof)
    elif report.last_proof is not None:
        last = report.last_proof
        page.item("proof", f"{last.verdict} ({last.level}, {last.date})")
    for finding in result.findings:
        page.line()
        page.finding(finding)
    _write_verdict(page, report, result.exit_code)


def _write_plan(page: Page, plan: Plan, *, listed: bool) -> None:
    counts = [(len(plan.names(action)), action) for action in ("install", "change", "remove", "keep")]
    words = ", ".join(f"{count} to {action}" for count, action in counts if count)
    size = f" (at most {megabytes(plan.download)} to download)" if plan.download else ""
    others = sum(step.action == "keep" and step.installed != step.locked for step in plan.steps)
    adopted = f" ({others} in another version that satisfies the stack)" if others else ""
    page.item("plan", f"{words or 'nothing to do'}{adopted}{size}")
    actions = ("install", "change", "remove") if listed else ("change", "remove")
    shown = [step for step in plan.steps if step.action in actions]
    for step in shown[:_LISTED]:
        versions = " -> ".join(version for version in (step.installed, step.locked) if version)
        size = f", {megabytes(step.size)}" if step.size and listed else ""
        reason = f" ({step.reason})" if step.reason else ""
        page.line(f"    {step.action:<8}{step.name} {versions}{size}{reason}")
    if len(shown) > _LISTED:
        page.line(f"    and {len(shown) - _LISTED} more (see --json)")
    for broken in plan.breaks:
        becomes = broken.becomes or "removed"
        page.item("breaks", f"{broken.name} needs {broken.requirement}, and that becomes {becomes}")


def _write_verdict(page: Page, report: BootstrapReport, exit_code: int) -> None:
    name = f"TensorFlow {report.lock.tensorflow}"
    if exit_code != 0:
        ending = " The environment is as it was before." if report.undone else ""
        page.verdict("fail", f"{name} did not prove itself here.{ending}")
        return
    if report.settled:
        page.verdict("ok", f"Nothing to do: {name} is installed as locked, seeded and proven.")
    elif report.proof is None:
        page.verdict("ok", f"{name} is installed as locked. It was not proven (--smoke none).")
    elif report.proof.verdict == "unknown":
        page.verdict("warn", f"{name} is installed as locked, but the proof could not run to its end.")
    else:
        page.verdict("ok", f"{name} is pinned, loads and learns.")
    activate = Path(report.environment) / "bin" / "activate"
    if report.made and activate.is_file():
        page.line(f"  Use it: . {_short(activate)}")


def _short(path: Path) -> str:
    relative = os.path.relpath(path)
    return relative if not relative.startswith("..") else str(path)
