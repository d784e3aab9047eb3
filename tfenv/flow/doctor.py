"""``tfenv doctor``: facts, then import and proof where asked for, then the checks over all of it."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Optional

from tfenv.doctor.context import Context, prepare
from tfenv.doctor.diagnose import diagnose
from tfenv.doctor.executed import Executed
from tfenv.doctor.model import DoctorReport, Rung, Tier
from tfenv.doctor.registry import CHECKS
from tfenv.errors import EXIT_CHECK_FAILED, EXIT_OK, NoLockError
from tfenv.events import Listener
from tfenv.facts.model import Facts
from tfenv.flow.facts import gather
from tfenv.flow.host import locate
from tfenv.install.engine import find_uv
from tfenv.install.state import read_state
from tfenv.locks.catalogue import load_catalogue
from tfenv.paths import lockfiles_dir
from tfenv.records import record
from tfenv.result import Result, status_of
from tfenv.targets.choose import choose_target

_WITHOUT_RUNNING: tuple[Tier, ...] = ("static", "probe")
_EVERYTHING: tuple[Tier, ...] = ("static", "probe", "import", "proof")


def doctor_command(
    python: Optional[str],
    venv: Optional[Path],
    recorded: Optional[Path],
    *,
    quick: bool,
    only: tuple[str, ...],
    strict: bool,
    listener: Listener,
) -> Result[DoctorReport]:
    """``tfenv doctor``: exit 1 if a check failed, or with ``strict`` if one warned."""
    site = None if recorded is not None else locate(python, venv, os.environ)
    facts = gather(python, venv, recorded)
    context = prepare(
        facts,
        catalogue=load_catalogue(lockfiles_dir(), targets=_targets(facts)),
        state=read_state(site.folder) if site is not None else None,
        installer="uv" if find_uv(os.environ) else "pip",
        named=bool(python or venv),
    )
    tiers = _WITHOUT_RUNNING
    if site is not None and not quick and _wants_running(only):
        tiers = _EVERYTHING
        context = replace(context, executed=_run(context, site.python, listener))
    report = diagnose(context, only=only, tiers=tiers)
    outcome = status_of(report.findings)
    bad = outcome == "fail" or (strict and outcome == "warn")
    return Result(
        command="doctor",
        status=outcome,
        exit_code=EXIT_CHECK_FAILED if bad else EXIT_OK,
        data=report,
        findings=report.findings,
    )


def _targets(facts: Facts) -> tuple[str, ...]:
    """The targets whose locks the checks look at; none: all, where the machine has no target."""
    try:
        target = choose_target(facts)
    except NoLockError:
        return ()
    # The CUDA locks know what each release of TensorFlow was built for.
    return tuple(name for name in (target.name, target.fallback, "linux-x86_64-cuda") if name)


def _wants_running(only: tuple[str, ...]) -> bool:
    return not only or any(check.id in only and check.tier in ("import", "proof") for check in CHECKS)


def _run(context: Context, python: Path, listener: Listener) -> Optional[Executed]:
    """Import and proof in a child; nothing to run where TensorFlow is not installed."""
    if context.stack.tensorflow is None:
        return None
    from tfenv.proof.finding import findings_of
    from tfenv.proof.run import prove

    listener.step("importing TensorFlow and proving that it learns")
    report = prove(python, listener=listener)
    return Executed(
        loaded=report.stack is not None,
        devices=report.stack.devices if report.stack is not None else (),
        findings=findings_of(report),
    )


@record
class CheckSummary:
    """One check of the ladder."""

    id: str
    rung: Rung
    tier: Tier
    summary: str


@record
class CheckList:
    """All checks, in the ladder's order."""

    checks: tuple[CheckSummary, ...]


def list_command() -> Result[CheckList]:
    """``tfenv doctor --list``."""
    summaries = tuple(
        CheckSummary(id=check.id, rung=check.rung, tier=check.tier, summary=check.summary) for check in CHECKS
    )
    return Result(command="doctor", status="ok", exit_code=EXIT_OK, data=CheckList(checks=summaries))
