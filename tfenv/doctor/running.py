"""What happened when TensorFlow was imported and proven in a child of the target interpreter."""

from __future__ import annotations

from collections.abc import Callable

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
    Check(
        id="IMP001",
        rung="import",
        tier="import",
        summary="TensorFlow can be imported",
        run=_of_proof("IMP001"),
    ),
    Check(
        id="IMP002",
        rung="import",
        tier="import",
        summary="What is imported is what is installed",
        run=_of_proof("IMP002"),
        after=("IMP001", "TFW006"),
    ),
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
    Check(
        id="DEV002",
        rung="import",
        tier="import",
        summary="Operations run where they are asked to",
        run=_of_proof("DEV002"),
        after=("IMP001", "DEV001"),
    ),
    Check(
        id="IMP003",
        rung="import",
        tier="import",
        summary="The proof knows this TensorFlow",
        run=_of_proof("IMP003"),
        after=("IMP001",),
    ),
    Check(id="TRN003", rung="proof", tier="proof", summary="Training ends well", run=_of_proof("TRN003")),
    Check(
        id="OPS001",
        rung="proof",
        tier="proof",
        summary="Operations compute what NumPy computes",
        run=_of_proof("OPS001"),
    ),
    Check(
        id="OPS002",
        rung="proof",
        tier="proof",
        summary="Traced graphs compute what eager code computes",
        run=_of_proof("OPS002"),
        after=("OPS001",),
    ),
    Check(
        id="RND001",
        rung="proof",
        tier="proof",
        summary="Random numbers are random and repeat with their seed",
        run=_of_proof("RND001"),
    ),
    Check(
        id="GRD001",
        rung="proof",
        tier="proof",
        summary="Gradients and optimizer steps are right",
        run=_of_proof("GRD001"),
        after=("OPS001",),
    ),
    Check(
        id="TRN001",
        rung="proof",
        tier="proof",
        summary="The stack memorises random labels",
        run=_of_proof("TRN001"),
        after=("TRN003", "OPS001", "OPS002", "GRD001"),
    ),
    Check(
        id="TRN002",
        rung="proof",
        tier="proof",
        summary="The stack learns as healthy ones do",
        run=_of_proof("TRN002"),
        after=("TRN003", "OPS001", "OPS002", "RND001", "GRD001", "TRN001"),
    ),
)
