"""CPU and accelerator side by side: which is wrong, and where they first differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from proof.recorded import STACK, START, Replay, at_least, broken_off, ended, equal, finished, stage

from tfenv.proof.finding import findings_of
from tfenv.proof.model import LossCurve, ProofReport
from tfenv.proof.protocol import ChildEvent, ChildOutcome
from tfenv.proof.reference import References
from tfenv.proof.run import prove
from tfenv.result import Finding

NONE = References(bands=())
ON_GPU = replace(STACK, devices=("CPU:0", "GPU:0"), devices_used=("GPU:0",))
ON_METAL = replace(ON_GPU, system="darwin")
GOOD_1 = stage("S6", equal("S1.top_k", "as NumPy computes it", "as NumPy computes it"))
BAD_1 = stage(
    "S6", equal("S1.top_k", "float32, eager: element [17] is 0, expected 5", "as NumPy computes it")
)
GOOD_5 = stage("S5", at_least("S5.correct", 96, 80))
BAD_5 = stage("S5", at_least("S5.correct", 30, 80))


def _imported(stack: object) -> tuple[ChildEvent, ...]:
    assert isinstance(stack, type(STACK))
    return (*stage("S0", equal("S0.version", "2.18.1", "2.18.1")), ChildEvent(event="stack", stack=stack))


def _curve(task: str, *losses: float) -> tuple[ChildEvent, ...]:
    """A stage S5 with a loss curve."""
    return tuple(
        replace(event, losses=(LossCurve(task=task, losses=losses),)) if event.event == "done" else event
        for event in GOOD_5
    )


def _on(stack: object, *events: Sequence[ChildEvent]) -> ChildOutcome:
    return finished(_imported(stack), *events)


def _both(gpu: Sequence[ChildOutcome], *cpu: ChildOutcome) -> tuple[ProofReport, Replay]:
    replay = Replay(*gpu, *cpu)
    return prove(Path("python"), device="both", seed=7, runner=replay, references=NONE), replay


def _first(report: ProofReport) -> Finding:
    return findings_of(report)[0]


def test_both_agree() -> None:
    report, replay = _both([_on(ON_GPU, GOOD_1, GOOD_5)], _on(STACK, GOOD_1, GOOD_5))
    assert [request.device for request in replay.requests] == ["gpu", "cpu"]
    assert report.differential is not None
    assert (report.verdict, report.device, report.differential.outcome) == ("pass", "both", "agree")
    assert report.differential.sentence == "The CPU and GPU:0 agree."
    assert findings_of(report) == ()


def test_the_accelerator_is_wrong() -> None:
    report, _ = _both([_on(ON_GPU, BAD_1, GOOD_5)], _on(STACK, GOOD_1, GOOD_5))
    assert report.differential is not None
    assert (report.verdict, report.differential.outcome) == ("fail", "accelerator-wrong")
    finding = _first(report)
    assert (finding.id, finding.severity) == ("DIF001", "fail")
    assert finding.title == "The GPU stack is wrong (GPU:0), the CPU is right."
    assert finding.evidence[0].value == (
        "stage S6: S1.top_k, a value: wrong on the accelerator only "
        "(float32, eager: element [17] is 0, expected 5, expected as NumPy computes it)"
    )
    assert "CUDA_VISIBLE_DEVICES=-1" in finding.remedy.text
    assert [other.id for other in findings_of(report)] == ["DIF001", "OPS001"]


def test_the_cpu_is_wrong() -> None:
    report, _ = _both([_on(ON_GPU, GOOD_1, GOOD_5)], _on(STACK, BAD_1, GOOD_5))
    assert (report.verdict, _first(report).title) == ("fail", "The CPU is wrong, GPU:0 is right.")


def test_both_fail() -> None:
    report, _ = _both([_on(ON_GPU, BAD_5), _on(ON_GPU, BAD_5)], _on(STACK, BAD_5), _on(STACK, BAD_5))
    assert (report.verdict, _first(report).title) == ("fail", "Both fail, the CPU too: it is not the GPU.")
    assert _first(report).evidence[0].value == "stage S5: answers: 30, expected at least 80 of 96"


def test_a_crash_on_the_accelerator_only() -> None:
    crashed = ended(-6, START, _imported(ON_GPU), broken_off("S5", "train Conv1D classifier, epoch 1"))
    report, _ = _both([crashed], _on(STACK, GOOD_5))
    assert report.differential is not None
    assert (report.verdict, report.differential.outcome) == ("fail", "accelerator-wrong")
    assert report.differential.first == "stage S5: pass on the CPU, fail on the accelerator"


def test_a_proof_that_was_killed_decides_nothing() -> None:
    killed = ended(-15, START, _imported(ON_GPU), broken_off("S5", "train"))
    report, _ = _both([killed], _on(STACK, GOOD_5))
    assert (report.verdict, _first(report).severity) == ("unknown", "unknown")


def test_without_an_accelerator_the_cpu_is_not_proven_twice() -> None:
    alone = stage("S0", equal("S0.gpu", "CPU:0", "a GPU"))
    report, replay = _both([finished(alone, (ChildEvent(event="stack", stack=STACK),), GOOD_5)])
    assert (report.verdict, report.device, report.differential, len(replay.requests)) == (
        "fail",
        "both",
        None,
        1,
    )
    (finding,) = findings_of(report)
    assert (finding.id, finding.title) == ("DEV001", "TensorFlow lists no GPU, only CPU:0")
    assert finding.remedy.commands == (
        "tfenv doctor --python python",
        "tfenv smoke --device cpu --python python",
    )


@pytest.mark.parametrize(
    ("task", "cpu", "gpu", "got"),
    [
        ("sequences", (3.0, 2.0, 1.0), (3.01, 2.1, 1.05), "the same on both"),
        (
            "sequences",
            (3.0, 2.0, 1.0, 0.5),
            (3.0, 2.0, 1.0, 0.9),
            "loss of sequences first differs at step 4: 0.5 on the CPU, 0.9 on the accelerator",
        ),
        ("sequences", (3.0, 2.0), (2.0, 2.9), "the same on both"),
        ("sequences", (3.0, 0.001), (3.0, 0.004), "the same on both"),
        ("images", (3.0, 2.0, 1.0, 0.5), (3.0, 2.0, 1.0, 0.9), "the same on both"),
        (
            "images",
            (3.0, 2.0, 1.0),
            (3.0, 2.9, 1.0),
            "loss of images first differs at step 2: 2 on the CPU, 2.9 on the accelerator",
        ),
    ],
    ids=["rounding", "late", "other-start", "tiny", "amplified", "early"],
)
def test_loss_curves(task: str, cpu: tuple[float, ...], gpu: tuple[float, ...], got: str) -> None:
    report, _ = _both([_on(ON_GPU, _curve(task, *gpu))], _on(STACK, _curve(task, *cpu)))
    checks = {check.id: check.got for check in report.stages[-1].checks}
    assert (report.stages[-1].id, checks["S10.S5"]) == ("S10", got)
    same = got == "the same on both"
    assert report.verdict == ("pass" if same else "warn")
    assert [finding.id for finding in findings_of(report)] == ([] if same else ["DIF001"])


def test_the_fused_pattern_on_metal_names_what_avoids_it() -> None:
    fused = stage("S6", equal("S2.matmul_bias_relu", "traced: [0, 1] is -3, expected 0", "as eager"))
    report = prove(Path("python"), seed=7, runner=Replay(_on(ON_METAL, fused)), references=NONE)
    finding = _first(report)
    assert (finding.id, finding.remedy.commands) == ("OPS002", ("tfenv bootstrap --tf 2.19 --venv .venv",))
    for part in ("2.18.1 or 2.19.1", "tensorflow-metal 1.2.0", "Keras 3.6.0", "Hiding the GPU gives right"):
        assert part in finding.remedy.text


def test_the_fused_pattern_on_another_accelerator() -> None:
    fused = stage("S6", equal("S2.matmul_bias_relu", "traced: [0, 1] is -3, expected 0", "as eager"))
    report = prove(Path("python"), seed=7, runner=Replay(_on(ON_GPU, fused)), references=NONE)
    assert _first(report).remedy.text.startswith(
        "Hide the GPU (CUDA_VISIBLE_DEVICES=-1), and results are right."
    )
