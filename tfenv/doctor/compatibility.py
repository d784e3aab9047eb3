"""Versions that are known not to go together, whatever the metadata says."""

from __future__ import annotations

from collections.abc import Sequence

from tfenv.doctor import tables
from tfenv.doctor.answers import installed
from tfenv.doctor.clashes import CLASHES, Clash
from tfenv.doctor.context import Context
from tfenv.doctor.model import Check
from tfenv.doctor.stack import within
from tfenv.result import Evidence, Finding, Remedy


def clashes(context: Context, rows: Sequence[Clash]) -> list[Clash]:
    """The rows that this stack is a case of."""
    return [row for row in rows if _applies(context, row)]


def blamed(context: Context) -> set[str]:
    """The packages that a known clash already explains."""
    return {row.package for row in clashes(context, CLASHES)} | {
        companion.package for companion in _strange_companions(context)
    }


def of_clash(context: Context, row: Clash) -> Finding:
    """The finding of a row that applies."""
    stack = context.stack
    assert stack.tensorflow is not None
    version = stack.version(row.package) or ""
    evidence = [installed(stack.tensorflow.name, stack.tensorflow.version)]
    if row.package != stack.tensorflow.name:
        evidence.append(installed(row.package, version))
    if row.beside[0]:
        evidence.append(installed(row.beside[0], stack.version(row.beside[0]) or ""))
    evidence.append(Evidence(what="known because of", value=row.source, source="tfenv"))
    remedy = (
        context.repair(row.advice, row.fix)
        if row.fix
        else Remedy(text=row.advice, commands=(context.commands.uninstall(row.package),))
    )
    return Finding(
        id=row.id,
        severity=row.severity,
        title=row.title.format(version=version, tensorflow=stack.tensorflow.version),
        cause=row.cause,
        evidence=tuple(evidence),
        remedy=remedy,
    )


def _applies(context: Context, row: Clash) -> bool:
    stack = context.stack
    if stack.tensorflow is None or not within(stack.tensorflow.version, row.tensorflow):
        return False
    if row.system and context.facts.system.os.value != row.system:
        return False
    if row.cuda and (context.target is None or context.target.name != "linux-x86_64-cuda"):
        return False
    name, versions = row.beside
    return _has(context, row.package, row.versions) and (not name or _has(context, name, versions))


def _has(context: Context, name: str, versions: str) -> bool:
    if name not in context.stack.installed:
        return False
    return not versions or within(context.stack.version(name), versions) is True


def _numpy(context: Context) -> tuple[Finding, ...]:
    return _with_id(context, "PKG009")


def _protobuf(context: Context) -> tuple[Finding, ...]:
    return _with_id(context, "PKG008")[:1]


def _known_bad(context: Context) -> tuple[Finding, ...]:
    return _with_id(context, "PKG012")


def _mac_locking(context: Context) -> tuple[Finding, ...]:
    return _with_id(context, "MAC010")


def _with_id(context: Context, check: str) -> tuple[Finding, ...]:
    return tuple(of_clash(context, row) for row in clashes(context, CLASHES) if row.id == check)


def _companions(context: Context) -> tuple[Finding, ...]:
    stack = context.stack
    findings = list(_with_id(context, "PKG007"))
    for row in _strange_companions(context):
        version = stack.version(row.package) or ""
        assert stack.tensorflow is not None
        findings.append(
            Finding(
                id="PKG007",
                severity=row.severity,
                title=f"{row.package} {version} is not for TensorFlow {stack.minor}",
                cause=row.cause,
                evidence=(
                    installed(stack.tensorflow.name, stack.tensorflow.version),
                    installed(row.package, version),
                    Evidence(what="known because of", value=row.source, source="tfenv"),
                ),
                # Without its dependencies: those would pull in the full `tensorflow` beside another build.
                remedy=Remedy(
                    text="Install the one of TensorFlow's minor, and leave TensorFlow as it is.",
                    commands=(context.commands.reinstall(f"{row.package}~={stack.minor}.0"),),
                ),
            )
        )
    return tuple(findings)


def _strange_companions(context: Context) -> list[tables.Companion]:
    stack = context.stack
    if not stack.minor or not within(stack.tensorflow.version if stack.tensorflow else None, ">=2.15"):
        return []
    return [
        row for row in tables.COMPANIONS if within(stack.version(row.package), f"=={stack.minor}.*") is False
    ]


_MIX = ("PKG002",)
CHECKS = (
    Check(
        id="PKG009",
        rung="distributions",
        summary="NumPy is of the generation TensorFlow is built for",
        run=_numpy,
        after=_MIX,
    ),
    Check(
        id="PKG008",
        rung="distributions",
        summary="protobuf fits TensorFlow's generated code",
        run=_protobuf,
        after=_MIX,
    ),
    Check(
        id="PKG012",
        rung="distributions",
        summary="No versions that are known not to go together",
        run=_known_bad,
        after=_MIX,
    ),
    Check(
        id="PKG007",
        rung="distributions",
        summary="Companions are of TensorFlow's minor",
        run=_companions,
        after=_MIX,
    ),
    Check(
        id="MAC010",
        rung="distributions",
        summary="No known conflict of locking libraries (macOS)",
        run=_mac_locking,
        after=_MIX,
    ),
)
