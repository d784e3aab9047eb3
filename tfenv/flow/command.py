"""Each command as a function from plain arguments to its result."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Optional, cast

from tfenv.errors import EXIT_OK, EXIT_PENDING, EXIT_PROOF, UsageError
from tfenv.events import Listener
from tfenv.facts.model import Facts
from tfenv.flow.host import find_host, locate
from tfenv.flow.request import BootstrapReport, BootstrapRequest, Smoke
from tfenv.flow.status import StatusReport, status
from tfenv.install.engine import EngineName
from tfenv.paths import config_dir, lockfiles_dir
from tfenv.proof.model import ProofReport, device_named, level_named
from tfenv.result import Finding, Result, Status, status_of
from tfenv.seeding.model import SeedShow, SeedState
from tfenv.settings import Settings, Value, read_settings

_SMOKE = ("none", "quick", "full")
_ENGINES = ("auto", "uv", "pip")


def bootstrap_command(
    flags: Mapping[str, Value], *, dry_run: bool, listener: Listener, on_terminal: bool
) -> Result[BootstrapReport]:
    """``tfenv bootstrap``."""
    from tfenv.flow.settled import find_settled

    settings = read_settings(flags, os.environ, Path.cwd(), config_dir() / "tfenv.toml")
    request = request_of(settings, dry_run=dry_run)
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


def status_command(python: Optional[str], venv: Optional[Path]) -> Result[StatusReport]:
    """``tfenv status``: exit 3 if a bootstrap would change something."""
    report = status(locate(python, venv, os.environ), lockfiles_dir())
    pending = bool(report.differences)
    return Result(
        command="status",
        status="warn" if pending else "ok",
        exit_code=EXIT_PENDING if pending else EXIT_OK,
        data=report,
    )


def facts_command(python: Optional[str], venv: Optional[Path], recorded: Optional[Path]) -> Result[Facts]:
    """``tfenv facts``: the data is the facts document itself, so that ``--facts`` can read it back."""
    return Result(command="facts", status="ok", exit_code=EXIT_OK, data=gather(python, venv, recorded))


def gather(python: Optional[str], venv: Optional[Path], recorded: Optional[Path]) -> Facts:
    """The facts of this machine, or of the recorded one.

    Raises:
        UsageError: the interpreter or the file is not what it should be.
    """
    if recorded is not None:
        from tfenv.facts.recorded import load_facts

        return load_facts(recorded)
    from tfenv.facts.read import read_facts

    return read_facts(find_host(python, venv, os.environ).python, cwd=Path.cwd())


def smoke_command(
    python: Optional[str],
    venv: Optional[Path],
    *,
    level: str,
    device: str,
    seed: int,
    listener: Listener,
) -> Result[ProofReport]:
    """``tfenv smoke``: exit 6 if the stack does not learn or computes wrong values."""
    from tfenv.proof.finding import findings_of
    from tfenv.proof.run import prove
    from tfenv.seeding.model import check_seed

    site = locate(python, venv, os.environ)
    listener.step(f"proving that the stack of {site.python} loads and learns ({level})")
    report = prove(
        site.python,
        level=level_named(level),
        device=device_named(device),
        seed=check_seed(seed),
        listener=listener,
    )
    findings = findings_of(report)
    failed = report.verdict == "fail"
    return Result(
        command="smoke",
        status="fail" if failed else status_of(findings),
        exit_code=EXIT_PROOF if failed else EXIT_OK,
        data=report,
        findings=findings,
    )


def seed_show_command(python: Optional[str], venv: Optional[Path]) -> Result[SeedShow]:
    """``tfenv seed show``."""
    from tfenv.seeding.show import show

    site = locate(python, venv, os.environ)
    shown = show(site.python, site.purelib, environ=os.environ)
    return Result(
        command="seed show", status="warn" if shown.problem else "ok", exit_code=EXIT_OK, data=shown
    )


def seed_on_command(
    python: Optional[str], venv: Optional[Path], seed: int, deterministic: bool
) -> Result[SeedState]:
    """``tfenv seed on``."""
    from tfenv.seeding.install import seed_on

    state = seed_on(locate(python, venv, os.environ).purelib, seed, deterministic)
    return Result(command="seed on", status="ok", exit_code=EXIT_OK, data=state)


def seed_off_command(python: Optional[str], venv: Optional[Path]) -> Result[SeedState]:
    """``tfenv seed off``."""
    from tfenv.seeding.install import seed_off

    state = seed_off(locate(python, venv, os.environ).purelib)
    return Result(command="seed off", status="ok", exit_code=EXIT_OK, data=state)


def run_command(python: Optional[str], venv: Optional[Path], command: Sequence[str]) -> int:
    """``tfenv run``: becomes the command; on Windows returns its exit code."""
    from tfenv.seeding.install import read_seed
    from tfenv.seeding.launch import launch, run_environment

    site = locate(python, venv, os.environ)
    in_venv = (site.prefix / "pyvenv.cfg").is_file()
    environment = run_environment(
        os.environ,
        bin_dir=site.scripts,
        venv=site.prefix if in_venv else None,
        seed=read_seed(site.purelib).seed,
    )
    return launch(command, environment)
