"""What happened when TensorFlow was imported and proven in a child of the target interpreter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from tfenv.doctor.context import Context
from tfenv.doctor.model import Check
from tfenv.doctor.nvidia import gpu_severity
from tfenv.result import Evidence, Finding, Remedy


def _of_proof(check: str) -> Callable[[Context], tuple[Finding, ...]]:
    """The check that hands on what the proof found under its id."""

    def run(context: Context) -> tuple[Finding, ...]:
        executed = context.executed
        return tuple(finding for finding in executed.findings if finding.id == check) if executed else ()

    return run


def _told(check: str, tier: Literal["import", "proof"], summary: str, after: tuple[str, ...] = ()) -> Check:
    """The row of a check that the proof makes; its rung is called like its tier."""
    return Check(id=check, rung=tier, tier=tier, summary=summary, run=_of_proof(check), after=after)


def _devices(context: Context) -> tuple[Finding, ...]:
    """The proof only complains when it was told to use a GPU; here the machine tells whether it should."""
    found = _of_proof("DEV001")(context)
    executed, state, target = context.executed, context.bootstrapped, context.target
    if found or executed is None or not executed.loaded or context.stock_notebook:
        return found
    name = state.target if state is not None else target.name if target is not None else ""
    with_plugin = name.endswith("-metal") and "tensorflow-metal" in context.stack.installed
    if not (name.endswith("-cuda") or with_plugin) or any(
        item.startswith("GPU") for item in executed.devices
    ):
        return ()
    return (
        Finding(
            id="DEV001",
            severity=gpu_severity(context) if name.endswith("-cuda") else "fail",
            title="TensorFlow does not see the GPU and computes on the CPU",
            cause="Driver, card and packages show no reason, so TensorFlow's own messages have to tell it.",
            evidence=(
                Evidence(
                    what="devices",
                    value=", ".join(executed.devices),
                    source="tf.config.list_physical_devices()",
                ),
            ),
            remedy=Remedy(
                text="Read what TensorFlow says while it looks for the GPU, or install its stack again.",
                commands=(
                    context.commands.set("TF_CPP_MIN_LOG_LEVEL", "0"),
                    context.commands.list_devices(),
                    context.commands.bootstrap(target=name),
                ),
            ),
        ),
    )


CHECKS = (
    _told("IMP001", "import", "TensorFlow can be imported"),
    _told("IMP002", "import", "What is imported is what is installed", ("IMP001", "TFW006")),
    Check(
        id="DEV001",
        rung="import",
        tier="import",
        summary="TensorFlow sees the GPU",
        run=_devices,
        after=(
            "IMP001",
            "CUD001",
            "CTR002",
            "CUD003",
            "CUD006",
            "CUD018",
            "CUD005",
            "CUD004",
            "CUD002",
            "CUD007",
            "CUD008",
            "CUD009",
            "CUD012",
            "PKG012",
            "TFW002",
            "WSL002",
            "WSL004",
            "MAC005",
        ),
    ),
    _told("DEV002", "import", "Operations run where they are asked to", ("IMP001", "DEV001")),
    _told("IMP003", "import", "The proof knows this TensorFlow", ("IMP001",)),
    _told("TRN003", "proof", "Training ends well"),
    _told("OPS001", "proof", "Operations compute what NumPy computes"),
    _told("OPS002", "proof", "Traced graphs compute what eager code computes", ("OPS001",)),
    _told("RND001", "proof", "Random numbers are random and repeat with their seed"),
    _told("GRD001", "proof", "Gradients and optimizer steps are right", ("OPS001",)),
    _told("TRN001", "proof", "The stack memorises random labels", ("TRN003", "OPS001", "OPS002", "GRD001")),
    _told(
        "TRN002",
        "proof",
        "The stack learns as healthy ones do",
        ("TRN003", "OPS001", "OPS002", "RND001", "GRD001", "TRN001"),
    ),
)
