"""Interpreters with a real TensorFlow: those of TFENV_TEST_TF_PYTHONS, or oldest and newest, built by uv."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tfenv.facts.pythons import find_interpreters

#: TensorFlow and CPython: the ends of the range that tfenv serves.
BUILT = (("2.15.1", "3.11"), ("2.21.0", "3.13"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "tf_python" in metafunc.fixturenames:
        named = [part for part in os.environ.get("TFENV_TEST_TF_PYTHONS", "").split(os.pathsep) if part]
        wanted = [(path, "") for path in named] or list(BUILT)
        ids = [Path(first).parent.parent.name if not second else f"tf-{first}" for first, second in wanted]
        metafunc.parametrize("tf_python", wanted, indirect=True, ids=ids, scope="session")


@pytest.fixture(scope="session")
def tf_python(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with TensorFlow."""
    tensorflow, python = request.param
    if not python:
        return Path(tensorflow)
    uv = shutil.which("uv")
    base = next((found.path for found in find_interpreters() if found.minor == python), None)
    if uv is None or base is None:
        pytest.skip(f"needs uv and a Python {python}, or TFENV_TEST_TF_PYTHONS")
    folder = tmp_path_factory.mktemp(f"tf-{tensorflow}")
    subprocess.run([uv, "venv", "-q", "--clear", "--python", base, folder], check=True)
    made = folder / "bin" / "python"
    subprocess.run(
        [uv, "pip", "install", "-q", "--python", made, f"tensorflow-cpu=={tensorflow}"], check=True
    )
    return made
