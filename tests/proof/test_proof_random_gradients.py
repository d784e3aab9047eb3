"""S3, S4 and the trajectories of S5 and S6 on real TensorFlows: healthy ones pass, faults are named."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from faults.arm import plant
from proof.envs import layer, site_packages

import tfenv.proof.child
from tfenv.events import Silent
from tfenv.proof.judge import judge_stages
from tfenv.proof.model import Level, StageResult
from tfenv.proof.protocol import ChildRequest
from tfenv.proof.reference import References
from tfenv.proof.runner import SubprocessRunner

pytestmark = pytest.mark.tf

CHILD = Path(tfenv.proof.child.__file__).parent
BENCH = Path(__file__).parents[2] / "bench"


def _stages(python: Path, level: Level, *names: str) -> tuple[StageResult, ...]:
    request = ChildRequest(level=level, device="cpu", seed=11, stages=("S0", *names))
    (outcome,) = SubprocessRunner().run(python, (request,), Silent())
    assert outcome.status == 0, outcome.output
    return judge_stages(outcome, None, names, References(bands=()), 11)


def _failed(stages: tuple[StageResult, ...]) -> list[str]:
    return [check.id for stage in stages for check in stage.checks if check.passed is False]


def test_the_reference_arithmetic_is_right(tf_python: Path) -> None:
    script = Path(__file__).with_name("reference_checks.py")
    done = subprocess.run([tf_python, script, CHILD, BENCH], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_healthy_stack_passes_in_full(tf_python: Path) -> None:
    random, gradients, memorise = stages = _stages(tf_python, "full", "S3", "S4", "S5")
    assert [(stage.id, stage.verdict, stage.error) for stage in stages] == [
        ("S3", "pass", None),
        ("S4", "pass", None),
        ("S5", "pass", None),
    ]
    assert {
        "S3.uniform",
        "S3.generator-int.law",
        "S3.scalar",
        "S3.dropout.rate",
        "S3.zoom",
        "S3.HeNormal.law",
    } <= {check.id for check in random.checks}
    assert {"S4.adam", "S4.adam-ema", "S4.lion", "S4.lstm", "S4.attention"} <= {
        check.id for check in gradients.checks
    }
    # float32 on a CPU: far below the tolerances, which allow for bfloat16.
    for check in memorise.checks:
        if check.id in ("S5.trajectory", "S5.update", "S5.weights"):
            assert check.statistic is not None
            assert check.statistic < 1e-3


_STRAYED = ["S5.trajectory", "S5.update", "S5.weights"]
FAULTS: dict[str, tuple[Level, str, list[str]]] = {
    "uniform-repeats": ("quick", "S3", ["S3.uniform"]),
    "initialisers-wide": ("quick", "S3", ["S3.sequences.initial", "S3.sequences.initial.law"]),
    "dropout-same-mask": ("full", "S3", ["S3.dropout"]),
    "adam-second-moment-kept": ("quick", "S4", ["S4.adam"]),
    "max-pool-gradient-shifted": ("full", "S4", ["S4.max-pooling", "S4.images"]),
    "sgd-momentum-ignored": ("quick", "S5", ["S5.correct", *_STRAYED]),
    "conv-quarter-zero": ("quick", "S5", _STRAYED),
    "gradients-bias-dead": ("quick", "S5", _STRAYED),
}


@pytest.mark.parametrize("fault", list(FAULTS))
def test_a_fault_is_named(tf_python: Path, tmp_path: Path, fault: str) -> None:
    level, stage, expected = FAULTS[fault]
    python = layer(tmp_path / "env", tf_python, over=True)
    plant(site_packages(python), fault)
    assert _failed(_stages(python, level, stage)) == expected
