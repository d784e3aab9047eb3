"""A Metal lock's proof that needs no Mac: its Keras traces Dense layers to a graph the plugin does not fuse.

The plugin rewrites MatMul, BiasAdd, Relu of a traced graph, and the fused operation is reported to be
wrong. What Keras traces to does not depend on the platform: Linux wheels of the same versions show it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tfenv.install.engine import find_uv
from tfenv.install.environ import installer_environment
from tfenv.locks.catalogue import place_of, read_lock

pytestmark = [pytest.mark.tf, pytest.mark.network]

LOCKFILES = Path(__file__).parents[2] / "lockfiles"
PYTHON = f"3.{sys.version_info.minor}"

TRACE = """
import json
import tensorflow as tf, keras
layers = [keras.layers.Dense(4, activation="relu"), keras.layers.Dense(2)]
model = keras.Sequential([keras.Input((3,)), *layers])
traced = tf.function(lambda x: model(x)).get_concrete_function(tf.TensorSpec((None, 3)))
operations = {op.type for op in traced.graph.get_operations()} & {"MatMul", "AddV2", "BiasAdd", "Relu"}
print(json.dumps([tf.__version__, keras.__version__, sorted(operations)]))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="uses the Linux CPU locks")
@pytest.mark.parametrize(
    ("tensorflow", "operations"),
    [
        pytest.param("2.18.1", ["AddV2", "MatMul", "Relu"], id="2.18-avoids-it"),
        pytest.param("2.19.1", ["AddV2", "MatMul", "Relu"], id="2.19-avoids-it"),
        pytest.param("2.15.0", ["BiasAdd", "MatMul", "Relu"], id="2.15-has-it-and-says-so"),
    ],
)
def test_what_the_keras_of_a_metal_lock_traces_dense_layers_to(
    tmp_path: Path, tensorflow: str, operations: list[str]
) -> None:
    metal = place_of("macos-arm64-metal", tensorflow, PYTHON)
    cpu = LOCKFILES / f"{place_of('linux-x86_64-cpu', tensorflow, PYTHON)}.txt"
    if not cpu.is_file():
        pytest.skip(f"no Metal lock of {tensorflow} for Python {PYTHON}")
    lock = read_lock(LOCKFILES, metal)
    keras = next(pin.version for pin in lock.pins if pin.name == "keras")
    python = tmp_path / "venv" / "bin" / "python"
    uv, environ = find_uv(os.environ), installer_environment(os.environ)
    assert uv is not None
    for arguments in (
        ["venv", "--python", sys.executable, str(tmp_path / "venv")],
        ["pip", "sync", "--require-hashes", "--python", str(python), str(cpu)],
        ["pip", "install", "--no-deps", "--python", str(python), f"keras=={keras}"],
    ):
        subprocess.run([uv, "--quiet", *arguments], env=environ, check=True)
    done = subprocess.run([str(python), "-c", TRACE], env=environ, capture_output=True, text=True, check=True)
    traced = json.loads(done.stdout.splitlines()[-1])
    assert traced[1:] == [keras, operations]
    assert traced[0].startswith(lock.minor)
    assert ("BiasAdd" in operations) == bool(lock.faults)
