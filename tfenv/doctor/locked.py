"""The stack against locks: the one it was bootstrapped with, or any of the catalogue."""

from __future__ import annotations

from tfenv.doctor.answers import installed, listed
from tfenv.doctor.context import Context
from tfenv.doctor.model import Check
from tfenv.install.markers import marker_environment
from tfenv.install.plan import Plan, make_plan
from tfenv.locks.choose import HOLDERS
from tfenv.locks.fit import python_minor
from tfenv.locks.model import Lock
from tfenv.result import Evidence, Finding, Remedy


def _as_bootstrapped(context: Context) -> tuple[Finding, ...]:
    state, stack = context.bootstrapped, context.stack
    if state is None or stack.tensorflow is None:
        return ()
    gone = sorted(name for name in state.distributions if name not in stack.installed)
    moved = sorted(
        name
        for name, version in state.distributions.items()
        if stack.version(name) is not None and stack.version(name) != version
    )
    findings = []
    remedy = Remedy(
        text="Put the locked versions back, or keep yours and prove them.",
        commands=(context.commands.bootstrap(tensorflow=state.tensorflow), context.commands.proof()),
    )
    if gone:
        findings.append(
            Finding(
                id="PKG001",
                severity="fail",
                title=f"Gone since the bootstrap: {listed(gone)}",
                cause=f"These belong to the lock {state.lock}, and something uninstalled them.",
                evidence=tuple(installed(name, f"was {state.distributions[name]}") for name in gone),
                remedy=remedy,
            )
        )
    if moved:
        findings.append(
            Finding(
                id="PKG001",
                severity="warn",
                title=f"Changed since the bootstrap: {listed(moved)}",
                cause=f"What was proven is the lock {state.lock}; another installation changed these since.",
                evidence=tuple(
                    installed(name, f"{stack.version(name)}, was {state.distributions[name]}")
                    for name in moved
                ),
                remedy=remedy,
            )
        )
    return tuple(findings)


def _any_lock(context: Context) -> tuple[Finding, ...]:
    """A stack that nobody bootstrapped may still be one that a lock accepts."""
    stack, target = context.stack, context.target
    if context.bootstrapped is not None or stack.tensorflow is None or target is None or not context.locks:
        return ()
    names, python = (target.name, target.fallback), python_minor(context.facts)
    here = [lock for lock in context.locks if lock.target in names and lock.python == python]
    same = [lock for lock in here if lock.tensorflow == stack.tensorflow.version]
    near = same or [lock for lock in here if lock.minor == stack.minor]
    if not near:
        return (_foreign(context, f"There is no lock of TensorFlow {stack.minor} for {target.name}.", ()),)
    # The machine's own target before its fallback, where both are as near.
    plans = [(lock, _plan(context, lock)) for lock in sorted(near, key=lambda lock: names.index(lock.target))]
    if any(not plan.pending for _, plan in plans):
        return ()
    lock, plan = min(plans, key=lambda pair: len(pair[1].names("install", "change")))
    steps = [step for step in plan.steps if step.action in ("install", "change")]
    evidence = tuple(
        installed(step.name, f"{step.installed or 'not installed'}, locked: {step.locked}")
        for step in steps[:8]
    )
    text = f"The nearest is {lock.id}; {len(steps)} of its {len(lock.pins)} distributions differ."
    return (_foreign(context, text, evidence, lock.minor),)


def _foreign(
    context: Context, cause: str, evidence: tuple[Evidence, ...], minor: str | None = None
) -> Finding:
    tensorflow = context.stack.tensorflow
    assert tensorflow is not None
    return Finding(
        id="PKG017",
        severity="info",
        title="This stack is none of tfenv's locks, so nobody proved it",
        cause=cause,
        evidence=(installed(tensorflow.name, tensorflow.version), *evidence),
        remedy=Remedy(
            text="Prove it as it is, or make it a lock.",
            commands=(context.commands.proof(), context.commands.bootstrap(tensorflow=minor)),
        ),
    )


def _plan(context: Context, lock: Lock) -> Plan:
    # Only what the lock speaks of: the kernel's packages around it do not matter to the question.
    concerned = {pin.name for pin in lock.pins} | set(HOLDERS)
    found = [item for name, item in context.stack.installed.items() if name in concerned]
    return make_plan(lock, found, mode="adopt", markers=marker_environment(context.facts))


CHECKS = (
    Check(
        id="PKG001", rung="distributions", summary="The stack is as it was bootstrapped", run=_as_bootstrapped
    ),
    Check(id="PKG017", rung="distributions", summary="The stack is one that a lock accepts", run=_any_lock),
)
