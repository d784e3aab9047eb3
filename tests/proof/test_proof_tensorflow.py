"""The proof on real TensorFlows: healthy ones pass and repeat, faulty ones are found and named."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from faults.arm import plant
from proof.envs import layer, site_packages

from tfenv.proof.finding import findings_of
from tfenv.proof.model import Device, ProofReport
from tfenv.proof.run import prove

pytestmark = pytest.mark.tf


def _digests(report: ProofReport) -> list[str]:
    return [digest.value for stage in report.stages for digest in stage.digests]


def test_a_healthy_stack_passes_and_repeats(tf_python: Path) -> None:
    first, second, other = (prove(tf_python, seed=seed) for seed in (11, 11, 12))
    for report in (first, second, other):
        assert (report.verdict, report.crash, findings_of(report)) == ("pass", None, ())
        assert len(report.seeds) == 1
    assert first.stack is not None
    assert first.stack.devices_used == ("CPU:0",)
    assert first.peak_memory is not None
    assert first.peak_memory > 100_000_000
    assert _digests(first) == _digests(second) != _digests(other)
    checks = [check for stage in first.stages for check in stage.checks]
    assert [check.passed for check in checks] == [True] * len(checks)
    # A check of numbers that no operation gave, such as a pipeline's, names no device.
    assert {check.device for check in checks if check.stage != "S0"} <= {"CPU:0", "CPU", ""}
    assert all(check.device == "CPU:0" for check in checks if check.stage == "S5")
    for stage in first.stages[1:]:
        for curve in stage.losses:
            assert curve.losses[-1] < curve.losses[0] / 2


def test_the_result_does_not_depend_on_a_seed_hook(tf_python: Path, tmp_path: Path) -> None:
    python = layer(tmp_path / "env", tf_python, over=True)
    hook = "import os, random\nif os.environ.get('TFENV_SEED') != 'off': random.seed(1); import numpy\n"
    (site_packages(python) / "sitecustomize.py").write_text(hook)
    env = {**os.environ, "TFENV_SEED": "99"}
    assert _digests(prove(python, seed=11, env=env)) == _digests(prove(tf_python, seed=11))


def test_full_level_ends_in_the_ordinary_way(tf_python: Path) -> None:
    report = prove(tf_python, level="full")
    assert (report.verdict, report.level, report.crash) == ("pass", "full", None)


@pytest.mark.parametrize(
    ("device", "verdict", "ids"),
    [("cpu", "pass", []), ("gpu", "fail", ["DEV001"])],
    ids=["cpu", "gpu"],
)
def test_the_device_that_was_asked_for(tf_python: Path, device: Device, verdict: str, ids: list[str]) -> None:
    report = prove(tf_python, device=device, env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1"})
    assert report.verdict == verdict
    assert [finding.id for finding in findings_of(report)] == ids


LEARNING_FAULTS = {
    "gradients-zero": {"TRN001", "TRN002"},
    "labels-shuffled": {"TRN001", "TRN002"},
    "optimizer-idle": {"TRN001", "TRN002"},
    "learning-rate-zero": {"TRN001", "TRN002"},
    "gradients-nan": {"TRN001", "TRN002"},
    "conv-constant": {"TRN001", "TRN002"},
    "kernel-missing": {"TRN003"},
    "version-mixed": {"IMP002"},
}


@pytest.mark.parametrize(("fault", "ids"), list(LEARNING_FAULTS.items()), ids=list(LEARNING_FAULTS))
def test_a_fault_is_found(tf_python: Path, tmp_path: Path, fault: str, ids: set[str]) -> None:
    python = layer(tmp_path / "env", tf_python, over=True)
    plant(site_packages(python), fault)
    report = prove(python)
    assert report.verdict == "fail"
    found = {(finding.id, finding.severity) for finding in findings_of(report)}
    assert {(id_, "fail") for id_ in ids} <= found  # S1 to S4 may find the same fault earlier


def test_a_crash_while_training_names_stage_and_step(tf_python: Path, tmp_path: Path) -> None:
    python = layer(tmp_path / "env", tf_python, over=True)
    plant(site_packages(python), "crash-in-fit")
    report = prove(python)
    assert report.crash is not None
    assert (report.crash.kind, report.crash.stage, report.crash.step) == (
        "sigsegv",
        "S6",
        "fit augmented CNN",
    )
    assert [stage.id for stage in report.stages if stage.verdict != "pass"] == ["S6"]
    assert [(finding.id, finding.severity) for finding in findings_of(report)] == [("TRN003", "fail")]


def test_a_hang_while_training_shows_its_stack(tf_python: Path, tmp_path: Path) -> None:
    python = layer(tmp_path / "env", tf_python, over=True)
    plant(site_packages(python), "hang-in-fit")
    report = prove(python, timeout=30)
    assert report.crash is not None
    assert (report.crash.kind, report.crash.stage, report.crash.step) == ("hang", "S6", "fit augmented CNN")
    assert any("in fit" in line for line in report.crash.stacks)


def test_another_keras_backend_is_named(tf_python: Path) -> None:
    report = prove(tf_python, env={**os.environ, "KERAS_BACKEND": "jax"})
    (stack,) = [report.stack] if report.stack else [None]
    if stack is not None and stack.keras.startswith("2."):
        assert report.verdict == "pass"  # Keras 2 knows no other backend
    else:
        assert report.crash is not None
        assert (report.crash.kind, report.crash.step) == ("keras-backend", "import keras")


def test_settings_of_the_user_do_not_matter(tf_python: Path, tmp_path: Path) -> None:
    home = tmp_path / ".keras"
    home.mkdir()
    (home / "keras.json").write_text(
        json.dumps({"floatx": "float16", "backend": "tensorflow", "image_data_format": "channels_first"})
    )
    env = {**os.environ, "HOME": str(tmp_path), "KERAS_HOME": str(home)}
    assert _digests(prove(tf_python, seed=11, env=env)) == _digests(prove(tf_python, seed=11))


def _install(uv: str, python: Path, requirement: str) -> None:
    """Install ``requirement`` alone into the environment of ``python``."""
    target = site_packages(python)
    command = [uv, "pip", "install", "-q", "--no-deps", "--target", target, "--python", python, requirement]
    subprocess.run(command, check=True)


@pytest.mark.network
@pytest.mark.parametrize(
    ("requirement", "kind"),
    [("numpy==2.0.2", "numpy-abi"), ("protobuf==3.19.6", "protobuf")],
    ids=["numpy", "protobuf"],
)
def test_a_requirement_of_the_wrong_generation(
    tf_python: Path, tmp_path: Path, requirement: str, kind: str
) -> None:
    uv = shutil.which("uv")
    healthy = prove(tf_python)
    assert healthy.stack is not None
    if uv is None or not healthy.stack.tensorflow.startswith("2.15."):
        pytest.skip("needs uv, and the TensorFlow that these do not fit")
    python = layer(tmp_path / "env", tf_python, over=True)
    _install(uv, python, requirement)
    report = prove(python)
    assert report.crash is not None
    assert (report.crash.kind, report.verdict) == (kind, "fail")


@pytest.mark.network
def test_legacy_keras(tf_python: Path, tmp_path: Path) -> None:
    env = {**os.environ, "TF_USE_LEGACY_KERAS": "1"}
    bare = prove(tf_python, env=env)
    assert bare.crash is not None
    assert bare.crash.kind == "legacy-keras-missing"
    uv = shutil.which("uv")
    if uv is None:
        pytest.skip("needs uv")
    stack = prove(tf_python).stack
    assert stack is not None
    minor = ".".join(stack.tensorflow.split(".")[:2])
    python = layer(tmp_path / "env", tf_python, over=True)
    _install(uv, python, f"tf-keras=={minor}.*")
    report = prove(python, env=env)
    assert report.stack is not None
    assert (report.verdict, report.stack.keras_package) == ("pass", "tf_keras")
