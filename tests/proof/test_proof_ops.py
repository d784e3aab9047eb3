"""S1 and S2 on real TensorFlows: their arithmetic is right, healthy stacks pass, faults are named."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

import tfenv.proof.child
from tfenv.events import Silent
from tfenv.proof.judge import judge_stages
from tfenv.proof.protocol import ChildRequest
from tfenv.proof.reference import References
from tfenv.proof.runner import SubprocessRunner

pytestmark = pytest.mark.tf

CHILD = Path(tfenv.proof.child.__file__).parent
BENCH = Path(__file__).parents[2] / "bench"

#: Fault of the bench, rows run beside the quick ones, and the checks that must name it.
FAULTS: dict[str, tuple[list[str], set[str]]] = {
    "tf32-rounding": (["conv2d_wide", "matmul_wide", "einsum"], set()),
    "bfloat16-rounding": (["conv2d_odd", "batch_matmul", "attention", "multi_head_attention", "lstm"], set()),
    "last-bit-noise": (["attention", "gru"], set()),
    "conv-last-channel": (["conv2d_odd"], {"S1.conv2d", "S1.conv1d", "S1.conv2d_odd", "S1.range"}),
    "conv-channels-swapped": ([], {"S1.conv2d", "S1.conv1d", "S1.range"}),
    "depthwise-last-channel": (["depthwise", "separable"], {"S1.depthwise", "S1.separable"}),
    "matmul-scaled": (["matmul_wide"], {"S1.matmul_wide"}),
    "max-pool-average": ([], {"S1.max_pool"}),
    "top-k-beyond-16": (["sort", "argsort"], {"S1.top_k", "S1.sort"}),
    "gather-off-by-one": ([], {"S1.gather"}),
    "embedding-first-row": (["embedding"], {"S1.embedding"}),
    "sum-drops-last": ([], {"S1.reductions"}),
    "bias-gradient-mean": ([], {"S1.bias_add"}),
    "relu-gradient-unmasked": ([], {"S1.relu"}),
    "max-pool-gradient-shifted": ([], {"S1.max_pool"}),
    "conv-input-gradient-zero": ([], {"S1.conv2d", "S1.conv1d"}),
    "cross-entropy-gradient": ([], {"S1.softmax_cross_entropy"}),
    "bias-not-added": ([], {"S1.bias_add", "S2.bias_add", "S2.bias_add_relu"}),
    "softmax-not-normalised": (["softmax"], {"S1.softmax"}),
    "round-half-away": (["round"], {"S1.round"}),
    "cumsum-exclusive": (["cumsum"], {"S1.cumsum"}),
    "argmax-never-first": (["argmax"], {"S1.argmax"}),
    "sigmoid-saturates": (["sigmoid"], {"S1.sigmoid"}),
    "where-last-element": (["where"], {"S1.where"}),
    "batch-norm-mean-kept": (["batch_norm"], {"S1.batch_norm"}),
    "float16-product-wrong": (["matmul"], {"S1.matmul"}),
    "float32-as-float16": ([], {"S1.range"}),
    "float64-as-float32": (["double"], {"S1.double"}),
    "int64-sum-as-int32": (["boolean_reductions"], {"S1.boolean_reductions"}),
    "cast-truncates": (["cast"], {"S1.cast"}),
    "fused-relu-dropped": ([], {"S2.bias_add_relu"}),
    "traced-matmul-scaled": ([], {"S1.matmul", "S1.range", "S2.matmul"}),
    # These two patch a class for good, so they come last.
    "batch-norm-not-moving": (["batch_norm_layer"], {"S1.batch_norm_layer"}),
    "lstm-mask-ignored": (["lstm", "gru"], {"S1.lstm", "S1.gru"}),
}


def test_arithmetic_and_faults(tf_python: Path) -> None:
    script = Path(__file__).with_name("ops_checks.py")
    asked = json.dumps({name: rows for name, (rows, _) in FAULTS.items()})
    done = subprocess.run(
        [tf_python, script, CHILD, BENCH, asked],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    missed = {
        name: checks - set(said[name]) for name, (_, checks) in FAULTS.items() if checks - set(said[name])
    }
    assert missed == {}
    assert {name: said[name] for name, (_, checks) in FAULTS.items() if not checks and said[name]} == {}
    # Where only one kernel is wrong, it alone is named, with what it gave.
    assert set(said["max-pool-average"]) == {"S1.max_pool"}
    assert said["fused-relu-dropped"]["S2.bias_add_relu"].startswith("float32, traced: element [0, 0] is -")
    assert set(said["fused-relu-dropped"]) == {"S2.bias_add_relu", "S2.dense"} or (
        set(said["fused-relu-dropped"])
        == {"S2.bias_add_relu"}  # Keras 3.0 to 3.6 trace Dense without BiasAdd
    )


def test_a_healthy_stack_passes_in_full(tf_python: Path) -> None:
    request = ChildRequest(level="full", device="cpu", seed=11, stages=("S0", "S1", "S2"))
    (outcome,) = SubprocessRunner().run(tf_python, (request,), Silent())
    assert outcome.status == 0, outcome.output
    operations, fused = judge_stages(outcome, None, ("S1", "S2"), References(bands=()), 11)
    checks = (*operations.checks, *fused.checks)
    assert [(check.id, check.got) for check in checks if not check.passed] == []
    assert {check.device for check in operations.checks if check.id == "S1.conv2d"} == {"CPU:0"}
    traced = {check.id: check.got for check in fused.checks}["S2.trace"]
    assert traced in ("MatMul, BiasAdd, Relu", "MatMul, AddV2, Relu")
