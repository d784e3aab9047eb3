"""Environments with the pretend GPU: a layer over each TensorFlow under test, and proofs run in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Optional

import pytest
from accelerator.build import PLUGINS, compiled
from proof.conftest import pytest_generate_tests, tf_python
from proof.envs import layer, site_packages

from tfenv.events import Listener
from tfenv.proof.model import ProofReport
from tfenv.proof.protocol import ChildOutcome, ChildRequest
from tfenv.proof.run import prove
from tfenv.proof.runner import SubprocessRunner

__all__ = ["Accelerated", "pytest_generate_tests", "tf_python"]


class Accelerated:
    """An interpreter whose TensorFlow has the pretend GPU, and what a proof of it says."""

    def __init__(self, python: Path) -> None:
        self.python = python

    def prove(self, fault: str = "", *, stages: tuple[str, ...] = (), **options: Any) -> ProofReport:
        """A proof with ``fault`` (see fault.h); of ``stages`` only, all of the level's when empty."""
        env = {**os.environ, "TFENV_ACCELERATOR_FAULT": fault}
        runner = _Some(env, stages) if stages else None
        return prove(self.python, env=env, runner=runner, **options)

    def run(self, code: str, fault: str = "") -> str:
        """What ``code`` prints."""
        env = {**os.environ, "TFENV_ACCELERATOR_FAULT": fault, "TF_CPP_MIN_LOG_LEVEL": "3"}
        command = [self.python, "-c", code]
        return subprocess.run(command, env=env, check=True, stdout=subprocess.PIPE, text=True).stdout


class _Some(SubprocessRunner):
    """Runs S0 and some stages of those that are asked for."""

    def __init__(self, env: dict[str, str], stages: tuple[str, ...]) -> None:
        super().__init__(env)
        self._stages = ("S0", *stages)

    def run(
        self, python: Path, requests: Sequence[ChildRequest], listener: Listener
    ) -> tuple[ChildOutcome, ...]:
        return super().run(python, [self._cut(request) for request in requests], listener)

    def _cut(self, request: ChildRequest) -> ChildRequest:
        return replace(request, stages=tuple(name for name in request.stages if name in self._stages))


def accelerated(python: Path, folder: Path, cache: Path, *, variant: str = "") -> Accelerated:
    """A layer in ``folder`` over the environment of ``python``, with the plugin."""
    if shutil.which("g++") is None or sys.platform != "linux":
        pytest.skip("needs Linux and g++")
    made = layer(folder, python, over=True)
    plugins = site_packages(made) / PLUGINS
    plugins.mkdir()
    library = compiled(site_packages(python) / "tensorflow", cache, variant=variant)
    (plugins / "libaccelerator.so").symlink_to(library)
    return Accelerated(made)


@pytest.fixture(scope="session")
def cache(request: pytest.FixtureRequest) -> Path:
    """Where compiled plugins are kept from one session to the next."""
    kept: Optional[pytest.Cache] = request.config.cache
    assert kept is not None
    return kept.mkdir("accelerator")


@pytest.fixture(scope="session")
def gpu(tf_python: Path, tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Accelerated:
    """TensorFlow with the pretend GPU."""
    return accelerated(tf_python, tmp_path_factory.mktemp("accelerated") / "env", cache)
