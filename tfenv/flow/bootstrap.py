"""The whole line: facts, target, lock, plan, install, seed, proof."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Optional

from tfenv.errors import NoLockError, UsageError
from tfenv.events import Listener
from tfenv.facts.interpreter import InterpreterProbe, read_interpreter
from tfenv.facts.pythons import find_interpreters
from tfenv.facts.read import facts_of
from tfenv.flow.choice import Choice, choose, plan_of, report_of
from tfenv.flow.host import Host, site_of
from tfenv.flow.machine import machine_key
from tfenv.flow.request import BootstrapReport, BootstrapRequest
from tfenv.install.apply import apply_plan
from tfenv.install.engine import choose_engine
from tfenv.install.environ import installer_environment
from tfenv.install.plan import Plan
from tfenv.install.site import Site
from tfenv.install.state import EnvState, ProofState, lock_key, read_state, write_state
from tfenv.install.transaction import Transaction, recover
from tfenv.install.venv import make_venv, remove_venv
from tfenv.locks.choose import check_wish
from tfenv.proof.model import ProofReport
from tfenv.proof.run import prove
from tfenv.seeding.install import seed_off, seed_on
from tfenv.version import __version__


def bootstrap(
    request: BootstrapRequest,
    host: Host,
    *,
    catalogue: Path,
    environ: Mapping[str, str],
    listener: Listener,
    on_terminal: bool = False,
) -> BootstrapReport:
    """Give ``host`` a pinned stack that has just proven that it learns.

    Does the work whatever is there already; see :func:`tfenv.flow.settled.find_settled` for a second run.

    Raises:
        UsageError: the request names something that is not there.
        NoLockError: no lock fits this machine and request.
        InstallError: the installation failed; the environment is as it was.
    """
    check_wish(request.tf)
    probe = read_interpreter(host.python)
    if host.venv is None and not request.dry_run and recover(site_of(probe)):
        listener.note("An earlier bootstrap was interrupted; the environment is as it was before it.")
    probe, choice = _choose(request, host, probe, catalogue, listener)
    plan = plan_of(choice, new=host.venv is not None)
    if request.dry_run:
        report = report_of(request, choice, plan, environ)
        # The facts are those of the interpreter from which the environment would be made.
        return report if host.venv is None else replace(report, environment=str(host.venv))
    if host.venv is None:
        return _carry_out(request, choice, plan, site_of(probe), environ, listener, on_terminal)
    listener.step(f"making the virtual environment {host.venv} with Python {probe.version}")
    existed = host.venv.exists()
    site = make_venv(host.venv, site_of(probe).python, installer_environment(environ))
    try:
        write_state(site.folder, EnvState(tfenv=__version__, owned=True, distributions={}))
        facts = facts_of(read_interpreter(site.python), cwd=Path.cwd())
        choice = replace(choice, facts=facts)
        plan = plan_of(choice)
        report = _carry_out(request, choice, plan, site, environ, listener, on_terminal)
    except BaseException:
        remove_venv(host.venv, existed=existed)
        raise
    if report.undone:
        remove_venv(host.venv, existed=existed)
    return replace(report, made=True)


def _choose(
    request: BootstrapRequest, host: Host, probe: InterpreterProbe, catalogue: Path, listener: Listener
) -> tuple[InterpreterProbe, Choice]:
    """The lock for the host's interpreter; for an environment still to be made, any interpreter will do."""
    try:
        return probe, choose(request, facts_of(probe, cwd=Path.cwd()), catalogue, hosts=find_interpreters)
    except NoLockError as refusal:
        if host.venv is None or host.python is not None:
            raise
        for found in find_interpreters():
            try:
                probe = read_interpreter(Path(found.path))
                choice = choose(request, facts_of(probe, cwd=Path.cwd()), catalogue)
            except (NoLockError, UsageError):
                continue
            listener.note(f"{refusal.message} Using Python {found.version} at {found.path} instead.")
            return probe, choice
        raise


def _carry_out(
    request: BootstrapRequest,
    choice: Choice,
    plan: Plan,
    site: Site,
    environ: Mapping[str, str],
    listener: Listener,
    on_terminal: bool,
) -> BootstrapReport:
    for fault in choice.lock.faults:
        listener.note(f"known fault of this stack: {fault.text} ({fault.source})")
    for broken in plan.breaks:
        becomes = f"{broken.becomes} comes" if broken.becomes else "it is removed"
        listener.note(f"this breaks {broken.name}, which needs {broken.requirement}: {becomes}")
    report = report_of(request, choice, plan, environ)
    if not plan.pending:
        return _finish(request, choice, plan, site, report, listener)
    engine = choose_engine(request.engine, environ, on_terminal=on_terminal)
    began = time.monotonic()
    with Transaction(site) as transaction:
        apply_plan(
            plan,
            choice.lock,
            choice.facts.packages.distributions.value or (),
            site=site,
            engine=engine,
            transaction=transaction,
            listener=listener,
        )
        seconds = round(time.monotonic() - began, 3)
        report = replace(report, engine=engine.name, install_seconds=seconds)
        report = _finish(request, choice, plan, site, report, listener)
        if report.proof is not None and report.proof.verdict == "fail":
            return replace(report, undone=True)
        transaction.commit()
    return report


def _finish(
    request: BootstrapRequest,
    choice: Choice,
    plan: Plan,
    site: Site,
    report: BootstrapReport,
    listener: Listener,
) -> BootstrapReport:
    """Seed, prove, remember."""
    _seed(request, site)
    before = read_state(site.folder)
    proof = _prove(request, choice, site, before, listener)
    write_state(site.folder, _state(choice, plan, site, before, proof))
    return replace(report, proof=proof)


def _seed(request: BootstrapRequest, site: Site) -> None:
    if request.seed is None:
        seed_off(site.purelib)
    else:
        seed_on(site.purelib, request.seed, request.deterministic)


def _prove(
    request: BootstrapRequest, choice: Choice, site: Site, before: Optional[EnvState], listener: Listener
) -> Optional[ProofReport]:
    if request.smoke == "none":
        return None
    listener.step(f"proving that the stack loads and learns ({request.smoke})")
    return prove(
        site.python,
        level=request.smoke,
        seed=request.seed if request.seed is not None else 42,
        lock=lock_key(choice.lock.id, choice.lock.digest),
        stored=before.fingerprint if before is not None else None,
        listener=listener,
    )


def _state(
    choice: Choice, plan: Plan, site: Site, before: Optional[EnvState], proof: Optional[ProofReport]
) -> EnvState:
    places = {str(site.purelib.resolve()), str(site.platlib.resolve())}
    here = {
        found.name: found.version
        for found in choice.facts.packages.distributions.value or ()
        if str(Path(found.location).resolve()) in places
    }
    distributions = {}
    for step in plan.steps:
        if step.action in ("install", "change") and step.locked is not None:
            distributions[step.name] = step.locked
        elif step.action == "keep" and step.name in here:
            distributions[step.name] = here[step.name]
    gone = set(plan.names("remove"))
    return EnvState(
        tfenv=__version__,
        owned=before is not None and before.owned,
        lock=choice.lock.id,
        digest=choice.lock.digest,
        target=choice.lock.target,
        tensorflow=choice.lock.tensorflow,
        mode=plan.mode,
        distributions=distributions,
        extra=tuple(sorted(name for name in here if name not in distributions and name not in gone)),
        machine=machine_key(),
        proof=_proof_state(proof),
        # A quick proof makes none, and says nothing against the one that was made before.
        fingerprint=(proof.fingerprint if proof is not None else None)
        or (before.fingerprint if before is not None else None),
    )


def _proof_state(proof: Optional[ProofReport]) -> Optional[ProofState]:
    if proof is None:
        return None
    return ProofState(
        level=proof.level,
        verdict=proof.verdict,
        date=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        device=", ".join(proof.stack.devices_used) if proof.stack else "",
        seed=proof.seed,
    )
