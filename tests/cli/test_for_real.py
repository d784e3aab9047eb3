"""The main job with nothing made up: a real lock, the index, real TensorFlow, both installers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.tf, pytest.mark.network]

NEWEST = "2.20" if sys.version_info < (3, 10) else "2.21"
OLDER = "2.20" if sys.version_info >= (3, 13) else "2.18"


def tfenv(*arguments: str) -> dict[str, object]:
    """The document of a command, run as on a user's machine: children may write bytecode."""
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environ.pop("VIRTUAL_ENV", None)
    done = subprocess.run(
        [sys.executable, "-m", "tfenv", *arguments, "--json"],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    document: dict[str, object] = json.loads(done.stdout)
    return document


@pytest.mark.parametrize(
    ("engine", "tensorflow"), [pytest.param("uv", NEWEST, id="uv"), pytest.param("pip", OLDER, id="pip")]
)
def test_a_bare_machine_gets_a_proven_tensorflow(tmp_path: Path, engine: str, tensorflow: str) -> None:
    venv = str(tmp_path / "env")
    wish = ("--venv", venv, "--tf", tensorflow, "--target", "linux-x86_64-cpu")
    made = tfenv("bootstrap", *wish, "--engine", engine)
    assert (made["status"], made["exit_code"], made["findings"]) == ("ok", 0, []), made
    data = made["data"]
    assert isinstance(data, dict)
    assert (data["engine"], data["proof"]["verdict"]) == (engine, "pass")
    assert [stage["id"] for stage in data["proof"]["stages"]] == [f"S{number}" for number in range(7)]
    again = tfenv("bootstrap", *wish)
    assert isinstance(again["data"], dict)
    assert (again["exit_code"], again["data"]["settled"]) == (0, True)
    assert tfenv("status", "--venv", venv)["exit_code"] == 0
    doctor = tfenv("doctor", "--venv", venv)
    assert (doctor["exit_code"], doctor["findings"]) == (0, [])
    assert equal_draws(venv)
    assert tfenv("seed", "off", "--venv", venv)["exit_code"] == 0
    assert not equal_draws(venv)


def equal_draws(venv: str) -> bool:
    """Whether two fresh interpreters draw the same from everything the hook seeds."""
    code = (
        "import random; a = random.random()\n"
        "import numpy; b = numpy.random.rand()\n"
        "import tensorflow as tf; c = float(tf.random.normal([]))\n"
        "d = tf.keras.initializers.GlorotUniform()((2, 2)).numpy().tolist()\n"
        "print(a, b, c, d)"
    )
    command = [str(Path(venv) / "bin" / "python"), "-c", code]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(2)]
    return runs[0] == runs[1]
