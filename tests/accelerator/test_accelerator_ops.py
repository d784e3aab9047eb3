"""S1 and S2 on a real device that is wrong in the ways Apple's plugin was: the operation is named."""

from __future__ import annotations

import pytest
from accelerator.conftest import Accelerated

from tfenv.proof.finding import findings_of
from tfenv.proof.model import Check, ProofReport

pytestmark = pytest.mark.tf


def _failed(report: ProofReport) -> dict[str, Check]:
    return {check.id: check for stage in report.stages for check in stage.checks if check.passed is False}


def test_a_relu_lost_in_fusion(gpu: Accelerated) -> None:
    report = gpu.prove("fused-relu", stages=("S1", "S2"), device="gpu")
    failed = _failed(report)
    assert set(failed) <= {"S2.bias_add_relu", "S2.dense"}  # Keras 3.0 to 3.6 trace Dense without BiasAdd
    check = failed["S2.bias_add_relu"]
    assert check.device == "GPU:0"
    assert check.got.startswith("float32, traced: element [0, 0] is -")
    assert check.got.endswith("; with use_plugin_optimizers=False: right")
    (finding,) = findings_of(report)
    assert (finding.id, finding.severity) == ("OPS002", "fail")
    assert finding.remedy is not None
    assert "Hide the GPU" in finding.remedy.text


@pytest.mark.parametrize(
    ("fault", "checks", "findings"),
    [
        ("topk", {"S1.top_k"}, ["OPS001"]),
        (
            "last-channel:Conv2D",
            {"S1.conv2d", "S1.conv1d", "S1.range", "S2.conv_relu"},
            ["OPS001", "OPS002"],
        ),
        ("missing:MaxPool", {"S1.placement"}, ["DEV002"]),
    ],
    ids=["top-k", "last-channel", "kernel-missing"],
)
def test_the_operation_is_named(gpu: Accelerated, fault: str, checks: set[str], findings: list[str]) -> None:
    report = gpu.prove(fault, stages=("S1", "S2"), device="gpu")
    assert set(_failed(report)) == checks
    assert [found.id for found in findings_of(report)] == findings
