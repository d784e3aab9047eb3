"""``tfenv bootstrap``: settings to request to report, by the short way where nothing is to be done."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Optional, cast

from tfenv.errors import EXIT_OK, EXIT_PENDING, EXIT_PROOF, UsageError
from tfenv.events import Listener
from tfenv.flow.host import find_host
from tfenv.flow.request import BootstrapReport, BootstrapRequest, Smoke
from tfenv.paths import config_dir, lockfiles_dir
from tfenv.result import Finding, Result, Status
from tfenv.settings import Settings, Value, read_settings

if TYPE_CHECKING:
    from tfenv.install.engine import EngineName

_SMOKE = ("none", "quick", "full")
_ENGINES = ("auto", "uv", "pip")


def bootstrap_command(
    flags: Mapping[str, Value],
    *,
    dry_run: bool,
    listener: Listener,
    on_terminal: bool,
    recorded: Optional[Path] = None,
) -> Result[BootstrapReport]:
    """``tfenv bootstrap``; with ``recorded`` facts of another machine, only its plan.

    Raises:
        TfenvError: one of its children, by what went wrong.
    """
    from tfenv.flow.settled import find_settled

    settings = read_settings(flags, os.environ, Path.cwd(), config_dir() / "tfenv.toml")
    request = request_of(settings, dry_run=dry_run)
    if recorded is not None:
        return _judged(replace(_planned(request, recorded), settings=settings), dry_run)
    host = find_host(request.python, request.venv, os.environ, may_make=True)
    catalogue = lockfiles_dir()
    report = find_settled(request, host, catalogue)
    if report is None:
        from tfenv.flow.bootstrap import bootstrap  # lazily: a settled environment needs none of it

        report = bootstrap(
            request,
            host,
            catalogue=catalogue,
            environ=os.environ,
            listener=listener,
            on_terminal=on_terminal,
        )
    return _judged(replace(report, settings=settings), dry_run)


def _planned(request: BootstrapRequest, recorded: Path) -> BootstrapReport:
    """The plan for a machine that is not this one."""
    from tfenv.facts.recorded import load_facts
    from tfenv.flow.choice import choose, plan_of, report_of

    if not request.dry_run:
        raise UsageError(
            "facts-need-dry-run",
            "A recorded machine can only be planned for, not changed.",
            hint="Add --dry-run.",
        )
    choice = choose(request, load_facts(recorded), lockfiles_dir())
    return report_of(request, choice, plan_of(choice, new=request.venv is not None), {})


def request_of(settings: Settings, *, dry_run: bool) -> BootstrapRequest:
    """The request that ``settings`` make.

    Raises:
        UsageError: a value is not one of those that exist.
    """
    venv = settings.text("venv")
    return BootstrapRequest(
        tf=settings.text("tf"),
        target=settings.text("target"),
        python=settings.text("python"),
        venv=Path(venv) if venv else None,
        seed=_seed(settings),
        deterministic=settings.flag("deterministic"),
        smoke=cast("Smoke", _one_of(settings, "smoke", _SMOKE)),
        engine=cast("EngineName", _one_of(settings, "engine", _ENGINES)),
        dry_run=dry_run,
    )


def _one_of(settings: Settings, name: str, allowed: Sequence[str]) -> str:
    value = settings.text(name) or ""
    if value not in allowed:
        raise UsageError(
            f"bad-{name}",
            f"{settings.origin(name)}: {value!r} is not a value of {name}.",
            hint=f"Choose one of: {', '.join(allowed)}.",
        )
    return value


def _seed(settings: Settings) -> Optional[int]:
    from tfenv.seeding.model import check_seed

    seed = settings.number("seed")
    return None if seed is None else check_seed(seed)


def _judged(report: BootstrapReport, dry_run: bool) -> Result[BootstrapReport]:
    findings: tuple[Finding, ...] = ()
    outcome: Status = "ok"
    exit_code = EXIT_OK
    if report.proof is not None:
        from tfenv.proof.finding import findings_of

        findings = findings_of(report.proof)
        if report.proof.verdict == "fail":
            outcome, exit_code = "fail", EXIT_PROOF
        elif any(finding.severity == "warn" for finding in findings):
            outcome = "warn"
    if dry_run and report.plan is not None and report.plan.pending:
        exit_code = EXIT_PENDING
    return Result(command="bootstrap", status=outcome, exit_code=exit_code, data=report, findings=findings)
