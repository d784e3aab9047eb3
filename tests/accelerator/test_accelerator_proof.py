"""The proof on a real device that is not the CPU: found, used, and blamed for what it does wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from accelerator.conftest import Accelerated, accelerated

from tfenv.proof.finding import findings_of
from tfenv.proof.model import ProofReport

pytestmark = pytest.mark.tf

HIDDEN = ("CPU:0",)
USED = ("GPU:0",)


def _devices(report: ProofReport) -> set[str]:
    """Where S5 and S6 ran; a check of numbers that no operation gave names no device."""
    checks = [check for stage in report.stages if stage.id in ("S5", "S6") for check in stage.checks]
    return {check.device for check in checks if check.device}


def _ids(report: ProofReport) -> list[tuple[str, str]]:
    return [(finding.id, finding.severity) for finding in findings_of(report)]


def test_a_healthy_device_passes_the_full_proof(gpu: Accelerated) -> None:
    report = gpu.prove(level="full", device="gpu")
    assert (report.verdict, report.crash, findings_of(report)) == ("pass", None, ())
    assert report.stack is not None
    assert (report.stack.devices, report.stack.devices_used) == (("CPU:0", "GPU:0"), USED)
    assert _devices(report) == {"GPU:0"}
    assert {stage.verdict for stage in report.stages} == {"pass"}


def test_a_hidden_device_is_not_used(gpu: Accelerated) -> None:
    report = gpu.prove("nan:*", device="cpu")
    assert (report.verdict, findings_of(report)) == ("pass", ())
    assert report.stack is not None
    assert (report.stack.devices, report.stack.devices_used) == (("CPU:0", "GPU:0"), HIDDEN)
    assert _devices(report) == {"CPU:0"}


def test_a_plugin_without_a_device(gpu: Accelerated) -> None:
    report = gpu.prove("no-device", device="gpu", stages=("S0",))
    assert (report.verdict, _ids(report)) == ("fail", [("DEV001", "fail")])


def test_both_devices_are_compared(gpu: Accelerated) -> None:
    report = gpu.prove("last-channel:Conv2D", device="both", stages=("S5",))
    assert report.differential is not None
    assert (report.verdict, report.differential.outcome) == ("fail", "accelerator-wrong")
    assert ("DIF001", "fail") in _ids(report)


@pytest.mark.parametrize(
    ("fault", "stages", "ids"),
    [
        ("nan:MatMul", ("S0",), {"DEV002"}),
        ("missing:MatMul,missing:_FusedMatMul,missing:BatchMatMulV2", ("S5",), {"DEV002"}),
        ("nan:Relu", ("S5",), {"TRN001"}),
        ("last-channel:Conv2D", ("S5",), {"GRD001"}),
        ("constant:Conv2DBackpropFilter", ("S5",), {"TRN001"}),
    ],
    ids=["nan-everywhere", "kernel-missing", "nan", "last-channel", "dead-gradient"],
)
def test_wrong_values_are_found(gpu: Accelerated, fault: str, stages: tuple[str, ...], ids: set[str]) -> None:
    report = gpu.prove(fault, stages=stages)
    assert report.verdict == "fail"
    assert {id_ for id_, severity in _ids(report) if severity == "fail"} == ids


def test_an_abort_is_told_with_its_signal_and_step(gpu: Accelerated) -> None:
    report = gpu.prove("abort:Conv2DBackpropFilter", stages=("S5",))
    crash = report.crash
    assert crash is not None
    assert (crash.kind, crash.status, crash.stage) == ("sigabrt", "signal 6 (SIGABRT)", "S5")
    assert crash.step.startswith("train Conv1D classifier")
    assert _ids(report) == [("TRN003", "fail")]


def test_a_hang_is_ended_and_shows_where(gpu: Accelerated) -> None:
    report = gpu.prove("hang:MatMul", timeout=20)
    crash = report.crash
    assert crash is not None
    assert (crash.kind, crash.stage, crash.step) == ("hang", "S0", "matrix product on GPU:0")
    assert crash.status == "no end within 20 s"
    assert any("in _placement" in line for line in crash.stacks)


def test_a_slow_device_is_not_a_wrong_one(gpu: Accelerated) -> None:
    report = gpu.prove("slow:MatMul", stages=("S5",))
    assert (report.verdict, findings_of(report)) == ("pass", ())


def test_a_plugin_of_another_release_fails_the_import(tf_python: Path, tmp_path: Path, cache: Path) -> None:
    gpu = accelerated(tf_python, tmp_path / "env", cache, variant="ACCELERATOR_MISSING_SYMBOL")
    report = gpu.prove()
    assert report.crash is not None
    assert (report.verdict, report.crash.stage, report.crash.step) == ("fail", "S0", "import tensorflow")
    assert report.crash.kind == "symbol-missing"
    assert "tensorflow_symbol_of_another_release" in report.crash.status
    assert _ids(report) == [("IMP001", "fail")]
