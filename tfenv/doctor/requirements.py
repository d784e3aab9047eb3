"""What the stack's own metadata demands (with extras, which ``pip check`` passes over)."""

from __future__ import annotations

from packaging.utils import canonicalize_name

from tfenv.doctor.answers import installed, listed
from tfenv.doctor.compatibility import blamed
from tfenv.doctor.context import Context
from tfenv.doctor.cuda_wheels import demanded_wheels
from tfenv.doctor.model import Check
from tfenv.doctor.stack import TENSORFLOWS, needed_by, within
from tfenv.install.markers import marker_environment
from tfenv.records import record
from tfenv.result import Evidence, Finding, Remedy

#: Required by TensorFlow's metadata: two that `import tensorflow` does without, and those that TFW007 judges.
_UNUSED = frozenset(
    {"tensorflow-io-gcs-filesystem", "libclang", "tensorflow-intel", "tensorflow-cpu-aws", "tensorflow-macos"}
)


@record
class _Demand:
    by: str
    name: str
    specifier: str
    have: str  # "" = not installed


def _requirements(context: Context) -> tuple[Finding, ...]:
    if context.stack.tensorflow is None:
        return ()
    already = blamed(context)
    unmet = [demand for demand in _unmet(context) if demand.name not in already]
    missing = [demand for demand in unmet if not demand.have and demand.name not in _UNUSED]
    wrong = [demand for demand in unmet if demand.have]
    findings = []
    if missing:
        findings.append(
            _finding(
                context,
                missing,
                "fail",
                f"Missing: {listed(_names(missing))}",
                "What the stack needs is not installed, so an import will end in ModuleNotFoundError.",
            )
        )
    if wrong:
        findings.append(
            _finding(
                context,
                wrong,
                "warn",
                f"Not the version that is asked for: {listed(_names(wrong))}",
                "The stack's own metadata excludes these versions. It may work; nobody tested it together.",
            )
        )
    return tuple(findings)


def _finding(context: Context, demands: list[_Demand], severity: str, title: str, cause: str) -> Finding:
    assert severity in ("fail", "warn")
    wishes = {
        demand.name: [item.specifier for item in demands if item.name == demand.name] for demand in demands
    }
    requirements = [f"{name}{','.join(part for part in parts if part)}" for name, parts in wishes.items()]
    return Finding(
        id="PKG006",
        severity="fail" if severity == "fail" else "warn",
        title=title,
        cause=cause,
        evidence=tuple(
            Evidence(
                what=f"{demand.name} {demand.have or 'not installed'}",
                value=f"{demand.by} needs {demand.name}{demand.specifier}",
                source=f"metadata of {demand.by}",
            )
            for demand in demands
        ),
        remedy=context.repair("Install what is asked for.", *requirements),
    )


def _names(demands: list[_Demand]) -> list[str]:
    return list(dict.fromkeys(f"{demand.name} {demand.have}".strip() for demand in demands))


def _unmet(context: Context) -> list[_Demand]:
    stack, markers = context.stack, marker_environment(context.facts)
    unmet = []
    for name in sorted(stack.closure):
        distribution = stack.installed.get(name)
        if distribution is None:
            continue
        extras = ("", "and-cuda") if name in TENSORFLOWS and _cuda_wheels(context) else ("",)
        for requirement in needed_by(distribution, markers, extras):
            needed = str(canonicalize_name(requirement.name))
            if _stands_in(context, needed):
                continue
            have = stack.installed.get(needed)
            if needed.startswith("nvidia-") and (have is not None or demanded_wheels(context)):
                continue  # judged by what TensorFlow was built with, see CUD008
            if have is None or within(have.version, str(requirement.specifier)) is False:
                unmet.append(
                    _Demand(
                        by=f"{name} {distribution.version}",
                        name=needed,
                        specifier=str(requirement.specifier),
                        have=have.version if have else "",
                    )
                )
    return unmet


def _cuda_wheels(context: Context) -> bool:
    """With some of TensorFlow's CUDA wheels there, all of the extra are needed."""
    return "nvidia-cudnn-cu12" in context.stack.installed and not context.stock_notebook


def _stands_in(context: Context, needed: str) -> bool:
    """Companions ask for ``tensorflow``; a smaller build of it (``tensorflow-cpu``) serves as well."""
    return needed == "tensorflow" and needed not in context.stack.installed


def _of_lock(context: Context) -> tuple[Finding, ...]:
    """Where a recorded list has no metadata, the lock of this very TensorFlow knows the demands."""
    stack, lock = context.stack, context.reference
    if stack.tensorflow is None or stack.tensorflow.requires is not None or lock is None:
        return ()
    already = blamed(context)
    wrong = [
        (pin, have)
        for pin in lock.pins
        for have in [stack.version(pin.name)]
        if have and not pin.name.startswith("nvidia-") and pin.name not in already
        if within(have, pin.accepts) is False
    ]
    if not wrong:
        return ()
    return (
        Finding(
            id="PKG016",
            severity="warn",
            title=f"Not the version that is asked for: {listed(f'{pin.name} {have}' for pin, have in wrong)}",
            cause=f"The metadata of TensorFlow {lock.tensorflow} and of what it needs excludes these "
            "versions.",
            evidence=tuple(installed(pin.name, f"{have}, asked for: {pin.accepts}") for pin, have in wrong),
            remedy=Remedy(
                text="Install what is asked for.",
                commands=(context.commands.install(*(f"{pin.name}=={pin.version}" for pin, _ in wrong)),),
            ),
        ),
    )


CHECKS = (
    Check(
        id="PKG006",
        rung="distributions",
        summary="The stack's requirements are met",
        run=_requirements,
        after=("PKG002",),
    ),
    Check(
        id="PKG016",
        rung="distributions",
        summary="The versions are those that a lock accepts",
        run=_of_lock,
        after=("PKG002",),
    ),
)
