"""TensorFlow among the installed distributions: there once, whole, and with nothing in its folder."""

from __future__ import annotations

from tfenv.doctor import tables
from tfenv.doctor.answers import cannot_tell, installed, listed, seen
from tfenv.doctor.context import Context
from tfenv.doctor.model import Check
from tfenv.doctor.stack import COMPANIONS, TENSORFLOWS, within
from tfenv.result import Evidence, Finding, Remedy


def _present(context: Context) -> tuple[Finding, ...]:
    fact = context.facts.packages.distributions
    if not fact.known:
        return (cannot_tell("TFW001", "what is installed", fact),)
    if context.stack.tensorflow is not None:
        return ()
    state = context.bootstrapped
    if state is not None:
        return (
            Finding(
                id="TFW001",
                severity="fail",
                title=f"TensorFlow {state.tensorflow} was installed here and is gone",
                cause=f"The environment was bootstrapped with {state.lock}, and none of the installed "
                "distributions holds TensorFlow any more.",
                evidence=(seen("distributions", context.facts.environment.purelib),),
                remedy=Remedy(
                    text="Put it back.", commands=(context.commands.bootstrap(tensorflow=state.tensorflow),)
                ),
            ),
        )
    needing = [name for name in COMPANIONS if name in context.stack.installed]
    return (
        Finding(
            id="TFW001",
            severity="warn" if needing else "info",
            title="TensorFlow is not installed in this environment"
            + (f", and {listed(needing)} need{'s' if len(needing) == 1 else ''} it" if needing else ""),
            evidence=(
                seen("environment", context.facts.environment.prefix),
                *(installed(name, context.stack.version(name) or "") for name in needing),
            ),
            remedy=_how_to_get(context),
        ),
    )


def _how_to_get(context: Context) -> Remedy:
    if context.lock is not None:
        text = f"Install TensorFlow {context.lock.tensorflow} and prove it."
        return Remedy(text=text, commands=(context.commands.bootstrap(),))
    if context.refusal is not None:
        return Remedy(text=f"{context.refusal.message} {context.refusal.hint}".strip())
    return Remedy(text="Install it and prove it.", commands=(context.commands.bootstrap(),))


def _stub(context: Context) -> tuple[Finding, ...]:
    facts, found = context.facts, context.stack.installed
    arch = (facts.python.build_arch.value or "").lower()
    for row in tables.STUBS:
        stub = found.get(row.stub)
        if stub is None or row.holder in found or not within(stub.version, row.versions):
            continue
        if facts.system.os.value != row.system or arch not in row.arch:
            continue
        if any(name in found for name in TENSORFLOWS if name not in (row.stub, row.holder)):
            continue
        return (
            Finding(
                id="TFW007",
                severity="fail",
                title=f"{row.stub} {stub.version} is an empty shell here: TensorFlow itself is not installed",
                cause=f"On this platform the wheel of {row.holder} holds the code of this release, and it is "
                f"missing. ({row.source})",
                evidence=(installed(row.stub, stub.version), installed(row.holder, "not installed")),
                remedy=context.repair(
                    f"Install {row.holder} of the same version.", f"{row.holder}=={stub.version}"
                ),
            ),
        )
    return ()


def _shared_tensorflow(context: Context) -> tuple[Finding, ...]:
    shared = context.facts.packages.shared_folders
    stack = context.stack
    owners: tuple[str, ...] = ()
    if shared.known:
        folders = [item for item in shared.value or () if item.folder == "tensorflow"]
        owners = tuple(name for item in folders for name in item.owners if name in TENSORFLOWS)
    else:
        present = tuple(name for name in TENSORFLOWS if name in stack.installed)
        if len(present) > 1:
            return (cannot_tell("PKG002", f"whether {listed(present)} overwrote each other", shared),)
    if len(owners) < 2:
        return ()
    versions = {name: stack.version(name) or "" for name in owners}
    differ = len(set(versions.values())) > 1
    holder = "tensorflow" if "tensorflow" in owners else owners[0]
    return (
        Finding(
            id="PKG002",
            severity="fail" if differ else "warn",
            title=f"{len(owners)} distributions own the folder tensorflow/: {listed(owners)}",
            cause="They unpack over each other. "
            + (
                "Their versions differ, so the folder is a mixture: 'undefined symbol' or 'cannot import "
                "name'."
                if differ
                else "Uninstalling or updating one of them removes files of the other."
            ),
            evidence=tuple(installed(name, version) for name, version in versions.items()),
            remedy=Remedy(
                text="Remove them all, then install one.",
                commands=(
                    context.commands.uninstall(*owners),
                    context.commands.bootstrap()
                    if context.bootstrapped
                    else context.commands.install(f"{holder}=={versions[holder]}"),
                ),
            ),
        ),
    )


def _shared_others(context: Context) -> tuple[Finding, ...]:
    shared = context.facts.packages.shared_folders
    if context.stock_notebook or context.stack.tensorflow is None:
        return ()
    findings = []
    for item in shared.value or ():
        concerned = [name for name in item.owners if name in context.stack.closure]
        if item.folder == "tensorflow" or len(item.owners) < 2 or not concerned:
            continue
        findings.append(
            Finding(
                id="PKG003",
                severity="warn",
                title=f"{listed(item.owners)} own the same folder {item.folder}/",
                cause="They unpack over each other: which files are there depends on the order of "
                "installation, "
                "and uninstalling one removes files of the other.",
                evidence=tuple(installed(name, context.stack.version(name) or "") for name in item.owners),
                remedy=Remedy(
                    text="Remove those that this TensorFlow does not need, then install what it needs again.",
                    commands=_keep_one(context, item.owners),
                ),
            )
        )
    return tuple(findings)


def _keep_one(context: Context, owners: tuple[str, ...]) -> tuple[str, ...]:
    reference = context.reference
    locked = [pin.name for pin in reference.pins if pin.name in owners] if reference else []
    keep = locked[0] if locked else owners[0]
    version = context.stack.version(keep) or ""
    return (
        context.commands.uninstall(*(name for name in owners if name != keep)),
        context.commands.reinstall(f"{keep}=={version}"),
    )


def _duplicates(context: Context) -> tuple[Finding, ...]:
    fact = context.facts.packages.duplicates
    if context.stock_notebook or context.stack.tensorflow is None:
        return ()
    if not fact.known:
        return (cannot_tell("PKG015", "whether a package is there twice", fact),)
    found = [name for name in fact.value or () if name in context.stack.closure]
    if not found:
        return ()
    every = context.facts.packages.distributions.value or ()
    return (
        Finding(
            id="PKG015",
            severity="warn",
            title=f"Installed more than once: {listed(found)}",
            cause="Python takes the first on its import path; the others confuse installers, which then "
            "remove "
            "or update the wrong one.",
            evidence=tuple(
                Evidence(what=item.name, value=item.version, source=item.location)
                for item in every
                if item.name in found
            ),
            remedy=Remedy(
                text="Remove every copy (run it once for each), then install again.",
                commands=(
                    context.commands.uninstall(*found),
                    context.commands.bootstrap()
                    if context.bootstrapped
                    else context.commands.install(*(_as_it_is(context, name) for name in found)),
                ),
            ),
        ),
    )


def _as_it_is(context: Context, name: str) -> str:
    version = context.stack.version(name)
    return f"{name}=={version}" if version else name


def _conda_and_pip(context: Context) -> tuple[Finding, ...]:
    fact = context.facts.packages.conda_and_pip
    found = [name for name in fact.value or () if name in context.stack.closure]
    if not found or context.stack.tensorflow is None:
        return ()
    return (
        Finding(
            id="PKG010",
            severity="warn",
            title=f"Installed by both conda and pip: {listed(found)}",
            cause="pip wrote over conda's files, and conda does not know: its next update mixes the two "
            "again.",
            evidence=(seen("installed twice", fact),),
            remedy=Remedy(
                text="Let conda forget them, and install them with one installer.",
                commands=(
                    context.commands.conda("remove", "--force", *found),
                    context.commands.reinstall(*(_as_it_is(context, name) for name in found)),
                ),
            ),
        ),
    )


CHECKS = (
    Check(id="TFW001", rung="distributions", summary="TensorFlow is installed", run=_present),
    Check(id="TFW007", rung="distributions", summary="The wheel that holds TensorFlow is there", run=_stub),
    Check(
        id="PKG002", rung="distributions", summary="One distribution owns tensorflow/", run=_shared_tensorflow
    ),
    Check(id="PKG003", rung="distributions", summary="No other import folder is shared", run=_shared_others),
    Check(id="PKG015", rung="distributions", summary="Nothing is installed twice", run=_duplicates),
    Check(
        id="PKG010",
        rung="distributions",
        summary="conda and pip hold no copies of one package",
        run=_conda_and_pip,
    ),
)
