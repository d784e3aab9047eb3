"""The pure middle of the line: facts to target to lock to plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tfenv.errors import NoLockError, UsageError
from tfenv.facts.model import Facts
from tfenv.facts.pythons import FoundPython
from tfenv.flow.request import BootstrapReport, BootstrapRequest, LockSummary
from tfenv.install.environ import scrubbed
from tfenv.install.markers import marker_environment
from tfenv.install.plan import Mode, Plan, make_plan
from tfenv.locks.catalogue import Catalogue, load_catalogue
from tfenv.locks.choose import choose_lock
from tfenv.locks.fit import narrowed
from tfenv.locks.model import Lock
from tfenv.records import record
from tfenv.targets.choose import choose_target
from tfenv.targets.model import Target


@record
class Choice:
    """What a machine and interpreter get."""

    facts: Facts
    target: Target
    lock: Lock


def choose(
    request: BootstrapRequest,
    facts: Facts,
    catalogue: Path,
    hosts: Callable[[], Sequence[FoundPython]] = tuple,
) -> Choice:
    """Target and lock for ``facts``; ``hosts`` finds other interpreters, for the hint of a refusal.

    Raises:
        UsageError: the request names a target or version that cannot be.
        NoLockError: no lock fits.
    """
    target = choose_target(facts, request.target)
    locks = load_catalogue(catalogue, targets=[name for name in (target.name, target.fallback) if name])
    try:
        lock = choose_lock(locks, target=target, facts=facts, wish=request.tf, hosts=hosts)
    except NoLockError as refusal:
        raise _with_unreadable(refusal, locks) from None
    return Choice(facts=facts, target=target, lock=narrowed(lock, facts))


def plan_of(choice: Choice, *, new: bool = False) -> Plan:
    """The plan for the environment of the facts, or for a ``new`` one that is still to be made from it.

    Raises:
        UsageError: the environment belongs to the operating system (PEP 668).
        NoLockError: see :func:`tfenv.install.plan.make_plan`.
    """
    markers = marker_environment(choice.facts)
    if new:
        return make_plan(choice.lock, (), mode="sync", markers=markers)
    environment = choice.facts.environment
    if environment.externally_managed.value is not None:
        raise UsageError(
            "externally-managed",
            "This Python belongs to the operating system, which asks to install nothing into it (PEP 668).",
            hint="Let tfenv make an environment of its own: tfenv bootstrap --venv .venv",
        )
    installed = choice.facts.packages.distributions.value or ()
    mode: Mode = "sync" if environment.tfenv_owned.value else "adopt"
    return make_plan(choice.lock, installed, mode=mode, markers=markers)


def report_of(
    request: BootstrapRequest, choice: Choice, plan: Plan, environ: Mapping[str, str]
) -> BootstrapReport:
    """The report of a bootstrap that has been planned and not yet carried out."""
    return BootstrapReport(
        python=choice.facts.python.executable.value or "",
        environment=choice.facts.environment.prefix.value or "",
        planned=request.dry_run,
        target=choice.target,
        lock=LockSummary.of(choice.lock),
        plan=plan,
        seed=request.seed,
        scrubbed=scrubbed(environ),
    )


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
