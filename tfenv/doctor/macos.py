"""macOS: its version, and the Metal plugin against TensorFlow, Python and the machine."""

from __future__ import annotations

from tfenv.doctor.answers import cannot_tell, installed, seen
from tfenv.doctor.clashes import METAL_CLASHES
from tfenv.doctor.compatibility import clashes, of_clash
from tfenv.doctor.context import Context
from tfenv.doctor.model import Check
from tfenv.doctor.stack import is_below
from tfenv.locks.fit import python_minor
from tfenv.result import Evidence, Finding, Remedy
from tfenv.versions import version_key

_METAL = "tensorflow-metal"
_METAL_TARGET = "macos-arm64-metal"
#: LC_BUILD_VERSION of the plugin in tensorflow-metal 1.2.0; the wheel's tag says 12.0.
_METAL_FLOOR = "12.1"


def _version(context: Context) -> tuple[Finding, ...]:
    facts, fact = context.facts, context.facts.system.os_version
    if facts.system.os.value != "macos":
        return ()
    if not fact.known:
        return (cannot_tell("MAC004", "the version of macOS", fact),)
    floor = context.reference.floors.macos if context.reference else ""
    what = f"TensorFlow {context.stack.tensorflow.version}" if context.stack.tensorflow else ""
    if context.stack.tensorflow is None:
        names = (context.target.name, context.target.fallback) if context.target else ()
        floors = [lock.floors.macos for lock in context.locks if lock.target in names and lock.floors.macos]
        floor, what = min(floors, key=version_key, default=""), "every TensorFlow in the catalogue"
    if _METAL in context.stack.installed and version_key(floor or "0") < version_key(_METAL_FLOOR):
        floor, what = _METAL_FLOOR, _METAL
    if not is_below(fact.value, floor):
        return ()
    return (
        Finding(
            id="MAC004",
            severity="fail",
            title=f"macOS {fact.value} is too old: {what} needs {floor}",
            cause="Its libraries were built for a newer macOS ('Symbol not found', 'Library not loaded').",
            evidence=(seen("macOS", fact),),
            remedy=Remedy(text="Update macOS in System Settings, General, Software Update."),
        ),
    )


def _metal(context: Context) -> tuple[Finding, ...]:
    if context.facts.system.os.value != "macos":
        return ()
    found = clashes(context, METAL_CLASHES)
    return (of_clash(context, found[0]),) if found else ()


def _metal_python(context: Context) -> tuple[Finding, ...]:
    """A Mac that could have Metal, with a Python that cannot."""
    target, python = context.target, python_minor(context.facts)
    if target is None or target.name != _METAL_TARGET or not context.locks or python is None:
        return ()
    served = {lock.python for lock in context.locks if lock.target == _METAL_TARGET and not lock.on_wish}
    by_choice = context.bootstrapped is not None and context.bootstrapped.target.endswith("-cpu")
    if not served or python in served or by_choice or _METAL in context.stack.installed:
        return ()
    why = [
        entry for entry in context.catalogue.none if entry.target == _METAL_TARGET and entry.python == python
    ]
    newest = max(served, key=version_key)
    return (
        Finding(
            id="MAC018",
            severity="warn",
            title=f"The GPU of this Mac cannot be used with Python {python}",
            cause=f"tensorflow-metal has no wheels for it, only for Python "
            f"{', '.join(sorted(served, key=version_key))}.",
            evidence=(
                seen("Python", context.facts.python.version),
                seen("chip", context.facts.other_gpus.apple),
                *(Evidence(what="policy", value=entry.reason, source=entry.source) for entry in why[:1]),
            ),
            remedy=Remedy(
                text=f"For the GPU, use Python {newest}. Or stay on the CPU with this one.",
                commands=(
                    f"uv venv --python {newest} .venv",
                    "tfenv bootstrap --venv .venv",
                    context.commands.bootstrap(target="macos-arm64-cpu"),
                ),
            ),
        ),
    )


def _virtual(context: Context) -> tuple[Finding, ...]:
    """Apple's virtual machines call their chip "Apple M1 (Virtual)"."""
    facts = context.facts
    fact = facts.other_gpus.apple if facts.other_gpus.apple.value else facts.cpu.model
    if facts.system.os.value != "macos" or "(virtual)" not in (fact.value or "").lower():
        return ()
    version = context.stack.version(_METAL)
    return (
        Finding(
            id="MAC007",
            severity="warn" if version else "info",
            title="This Mac is a virtual machine, whose GPU is not to be trusted with computing",
            cause="A virtual Mac shows a Metal device that stands for the host's; frameworks report wrong "
            "results "
            "and failures on it (pytorch#125197).",
            evidence=(seen("chip", fact), *((installed(_METAL, version),) if version else ())),
            remedy=Remedy(
                text="Train on the CPU here.",
                commands=(context.commands.uninstall(_METAL),)
                if version
                else (context.commands.bootstrap(target="macos-arm64-cpu"),),
            ),
        ),
    )


CHECKS = (
    Check(id="MAC004", rung="device", summary="macOS is new enough", run=_version),
    Check(
        id="MAC005",
        rung="device",
        summary="The Metal plugin belongs to this TensorFlow",
        run=_metal,
        after=("PKG002",),
    ),
    Check(id="MAC018", rung="device", summary="The Metal plugin exists for this Python", run=_metal_python),
    Check(id="MAC007", rung="device", summary="The Mac's GPU is a real one", run=_virtual),
)
