"""What to do about a stack that failed its proof, as commands for the user's interpreter."""

from __future__ import annotations

import os
import shlex
import subprocess

from tfenv.proof.model import ProofReport
from tfenv.result import Remedy

_HIDE_METAL = "tf.config.set_visible_devices([], 'GPU') at the start of the program"


def general(report: ProofReport) -> Remedy:
    """For whatever computes or learns wrongly: find out whether it is the device."""
    differential = report.differential
    if differential is not None and differential.outcome in ("accelerator-wrong", "differ"):
        return hide_gpu(report)
    if differential is None and report.stack is not None and report.stack.accelerators:
        return Remedy(
            text="See whether the CPU passes. If it does, the fault is in the GPU's driver, libraries or "
            "plugin: hide the GPU (CUDA_VISIBLE_DEVICES=-1) or choose another lock.",
            commands=(smoke(report, "--device", "both"), "tfenv locks list"),
        )
    return Remedy(
        text="Build a fresh environment from a lock and prove that one; if it passes, leave the old one.",
        commands=("tfenv bootstrap --venv .venv",),
    )


def no_gpu(report: ProofReport) -> Remedy:
    """A GPU was asked for and TensorFlow has none."""
    return Remedy(
        text="If this machine has a GPU, doctor says what keeps TensorFlow from it. If it has none, prove "
        "the CPU.",
        commands=(
            command("doctor", "--python", report.python),
            smoke(report, "--device", "cpu"),
        ),
    )


def hide_gpu(report: ProofReport) -> Remedy:
    """The accelerator computes wrongly and the CPU does not."""
    if report.stack is not None and report.stack.is_metal:
        return Remedy(
            text=f"Hide the GPU, and results are right: {_HIDE_METAL}. To repair it, take a TensorFlow and a "
            "tensorflow-metal that were built together, as tfenv's Metal locks do.",
            commands=("tfenv locks list", "tfenv bootstrap --venv .venv"),
        )
    return Remedy(
        text="Hide the GPU (CUDA_VISIBLE_DEVICES=-1), and results are right. To repair it, take another "
        "driver or another lock.",
        commands=("tfenv locks list",),
    )


def fused(report: ProofReport) -> Remedy:
    """A graph optimizer's fused kernel is wrong.

    The Metal plugin fuses what Keras 2 and Keras >= 3.7 trace (BiasAdd), and not what Keras 3.0 to 3.6 trace
    (AddV2): keras pull request 20386, keras issue 21668; lockfiles/policy.toml pins 3.6.0 for that reason.
    """
    if report.stack is not None and report.stack.is_metal:
        return Remedy(
            text="tensorflow-metal fuses matrix product, bias and activation wrongly. Keras 3.6.0 traces "
            "them in a way that it does not fuse: TensorFlow 2.18.1 or 2.19.1 with tensorflow-metal 1.2.0 "
            "and Keras 3.6.0, as tfenv's Metal locks pin them. "
            f"Hiding the GPU gives right results too: {_HIDE_METAL}.",
            commands=("tfenv bootstrap --tf 2.19 --venv .venv",),
        )
    if report.stack is not None and report.stack.accelerators:
        return hide_gpu(report)
    return Remedy(
        text="Without fusions results are right, if slower: "
        "tf.config.optimizer.set_experimental_options({'remapping': False}). "
        "Build a fresh environment from a lock; if it passes, leave the old one.",
        commands=("tfenv bootstrap --venv .venv",),
    )


def smoke(report: ProofReport, *options: str) -> str:
    """The command that proves the same interpreter again."""
    return command("smoke", *options, "--python", report.python)


def command(*words: str) -> str:
    """A tfenv command line for the user's shell."""
    line = ("tfenv", *words)
    return subprocess.list2cmdline(line) if os.name == "nt" else shlex.join(line)
