"""The whole line: facts, target, lock, plan, install, seed, proof."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Optional

from tfenv.errors import NoLockError, UsageError
from tfenv.events import Listener
from tfenv.facts.interpreter import InterpreterProbe, read_interpreter
from tfenv.facts.model import Distribution, Facts
from tfenv.facts.pythons import FoundPython, find_interpreters
from tfenv.facts.read import facts_of
from tfenv.flow.host import Host, site_of
from tfenv.flow.machine import machine_key
from tfenv.flow.request import BootstrapReport, BootstrapRequest, LockSummary
from tfenv.install.apply import apply_plan
from tfenv.install.engine import choose_engine
from tfenv.install.environ import installer_environment, scrubbed
from tfenv.install.markers import marker_environment
from tfenv.install.plan import Mode, Plan, make_plan
from tfenv.install.site import Site
from tfenv.install.state import EnvState, ProofState, read_state, write_state
from tfenv.install.transaction import Transaction
from tfenv.install.venv import make_venv, remove_venv
from tfenv.locks.catalogue import Catalogue, load_catalogue
from tfenv.locks.choose import check_wish, choose_lock
from tfenv.locks.model import Lock
from tfenv.proof.model import ProofReport
from tfenv.proof.run import prove
from tfenv.records import record
from tfenv.seeding.install import seed_off, seed_on
from tfenv.targets.choose import choose_target
from tfenv.targets.model import Target
from tfenv.version import __version__


@record
class _Choice:
    """An interpreter with the lock that was chosen for it."""

    probe: InterpreterProbe
    facts: Facts
    target: Target
    lock: Lock


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
    choice = _choose(request, host, catalogue, listener)
    if host.venv is None:
        _refuse_managed(choice.facts)
    if request.dry_run:
        return _report(request, choice, _plan(choice, host), environ)
    if host.venv is None:
        return _carry_out(request, choice, host, environ, listener, on_terminal)
    listener.step(f"making the virtual environment {host.venv} with Python {choice.probe.version}")
    site = make_venv(host.venv, site_of(choice.probe).python, installer_environment(environ))
    try:
        write_state(site.folder, EnvState(tfenv=__version__, owned=True, distributions={}))
        probe = read_interpreter(site.python)
        facts = facts_of(probe, cwd=Path.cwd())
        made = replace(choice, probe=probe, facts=facts)
        report = _carry_out(request, made, Host(python=site.python), environ, listener, on_terminal)
    except BaseException:
        remove_venv(host.venv)
        raise
    if report.undone:
        remove_venv(host.venv)
    return replace(report, made=True)


def _choose(request: BootstrapRequest, host: Host, catalogue: Path, listener: Listener) -> _Choice:
    """The lock for the host's interpreter; for an environment still to be made, any interpreter will do."""
    try:
        return _choose_for(request, host.python, catalogue, hosts=find_interpreters)
    except NoLockError as refusal:
        if host.venv is None or host.python is not None:
            raise
        for found in find_interpreters():
            try:
                choice = _choose_for(request, Path(found.path), catalogue)
            except (NoLockError, UsageError):
                continue
            listener.note(f"{refusal.message} Using Python {found.version} at {found.path} instead.")
            return choice
        raise


def _choose_for(
    request: BootstrapRequest,
    python: Optional[Path],
    catalogue: Path,
    hosts: Callable[[], Sequence[FoundPython]] = tuple,
) -> _Choice:
    probe = read_interpreter(python)
    facts = facts_of(probe, cwd=Path.cwd())
    target = choose_target(facts, request.target)
    locks = load_catalogue(catalogue, targets=[name for name in (target.name, target.fallback) if name])
    try:
        lock = choose_lock(locks, target=target, facts=facts, wish=request.tf, hosts=hosts)
    except NoLockError as refusal:
        raise _with_unreadable(refusal, locks) from None
    return _Choice(probe=probe, facts=facts, target=target, lock=lock)


def _with_unreadable(refusal: NoLockError, locks: Catalogue) -> NoLockError:
    """``refusal``, or what is more likely the cause: a damaged lockfile."""
    if not locks.unreadable:
        return refusal
    broken = locks.unreadable[0]
    return NoLockError(
        refusal.code,
        f"{refusal.message} The lockfile of {broken.id} cannot be read: {broken.reason}",
        hint="Reinstall tfenv; every damaged file is named by: tfenv locks verify",
    )


def _plan(choice: _Choice, host: Host) -> Plan:
    installed: tuple[Distribution, ...] = ()
    mode: Mode = "sync"
    if host.venv is None:
        installed = choice.facts.packages.distributions.value or ()
        state = read_state(site_of(choice.probe).folder)
        mode = "sync" if state is not None and state.owned else "adopt"
    return make_plan(choice.lock, installed, mode=mode, markers=marker_environment(choice.facts))


def _refuse_managed(facts: Facts) -> None:
    """PEP 668: the system's package manager owns this environment."""
    if facts.environment.externally_managed.value is not None:
        raise UsageError(
            "externally-managed",
            "This Python belongs to the operating system, which asks to install nothing into it (PEP 668).",
            hint="Let tfenv make an environment of its own: tfenv bootstrap --venv .venv",
        )


def _carry_out(
    request: BootstrapRequest,
    choice: _Choice,
    host: Host,
    environ: Mapping[str, str],
    listener: Listener,
    on_terminal: bool,
) -> BootstrapReport:
    plan = _plan(choice, host)
    site = site_of(choice.probe)
    for fault in choice.lock.faults:
        listener.note(f"known fault of this stack: {fault.text} ({fault.source})")
    for broken in plan.breaks:
        becomes = f"{broken.becomes} comes" if broken.becomes else "it is removed"
        listener.note(f"this breaks {broken.name}, which needs {broken.requirement}: {becomes}")
    report = _report(request, choice, plan, environ)
    if not plan.pending:
        return _finish(request, choice, plan, site, report, listener)
    engine = choose_engine(request.engine, environ, on_terminal=on_terminal)
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
        report = _finish(request, choice, plan, site, replace(report, engine=engine.name), listener)
        if report.proof is not None and report.proof.verdict == "fail":
            return replace(report, undone=True)
        transaction.commit()
    return report


def _finish(
    request: BootstrapRequest,
    choice: _Choice,
    plan: Plan,
    site: Site,
    report: BootstrapReport,
    listener: Listener,
) -> BootstrapReport:
    """Seed, prove, remember."""
    _seed(request, site)
    proof = _prove(request, site, listener)
    write_state(site.folder, _state(request, choice, plan, site, proof))
    return replace(report, proof=proof)


def _seed(request: BootstrapRequest, site: Site) -> None:
    if request.seed is None:
        seed_off(site.purelib)
    else:
        seed_on(site.purelib, request.seed, request.deterministic)


def _prove(request: BootstrapRequest, site: Site, listener: Listener) -> Optional[ProofReport]:
    if request.smoke == "none":
        return None
    listener.step(f"proving that the stack loads and learns ({request.smoke})")
    return prove(
        site.python,
        level=request.smoke,
        seed=request.seed if request.seed is not None else 42,
        listener=listener,
    )


def _state(
    request: BootstrapRequest, choice: _Choice, plan: Plan, site: Site, proof: Optional[ProofReport]
) -> EnvState:
    before = read_state(site.folder)
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


def _report(
    request: BootstrapRequest, choice: _Choice, plan: Plan, environ: Mapping[str, str]
) -> BootstrapReport:
    site = site_of(choice.probe)
    return BootstrapReport(
        python=str(site.python),
        environment=str(site.prefix),
        target=choice.target,
        lock=LockSummary.of(choice.lock),
        plan=plan,
        seed=request.seed,
        scrubbed=scrubbed(environ),
    )
