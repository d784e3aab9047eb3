"""The pretend GPU itself: it is there, computes right by default, and wrong as it is told."""

from __future__ import annotations

import json

import pytest
from accelerator.conftest import Accelerated

pytestmark = pytest.mark.tf

PROBE = """
import json
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
x, w, b = (tf.constant(rng.normal(size=shape).astype("float32")) for shape in [(8, 16), (16, 4), (4,)])


def dense(x):
    return tf.nn.relu(tf.nn.bias_add(tf.matmul(x, w), b))


def deviation(traced):
    return float(np.abs(dense(x) - traced(x)).max())


image = tf.ones((1, 3, 3, 1))
filters = tf.constant([1.0, 2.0], shape=(1, 1, 1, 2))
first, second = tf.random.uniform((4,)), tf.random.uniform((4,))
found = {
    "devices": [device.name for device in tf.config.list_physical_devices()],
    "ran on": tf.matmul(x, w).device.rpartition("device:")[2],
    "fell back": tf.linalg.inv(tf.eye(2)).device.rpartition("device:")[2],
    "traced differs": deviation(tf.function(dense)) > 1,
    "draws repeat": bool(np.all(first == second)),
    "draws constant": bool(np.ptp(first) == 0),
    "top_k": tf.math.top_k(tf.range(20.0), 18).values.numpy().tolist()[-3:],
    "channels": tf.nn.conv2d(image, filters, 1, "VALID").numpy()[0, 0, 0].tolist(),
}
tf.config.optimizer.set_experimental_options({"use_plugin_optimizers": False})
found["traced differs without plugin optimizers"] = deviation(tf.function(lambda x: dense(x))) > 1
print(json.dumps(found))
"""

RIGHT = {
    "devices": ["/physical_device:CPU:0", "/physical_device:GPU:0"],
    "ran on": "GPU:0",
    "fell back": "CPU:0",
    "traced differs": False,
    "draws repeat": False,
    "draws constant": False,
    "top_k": [4.0, 3.0, 2.0],
    "channels": [1.0, 2.0],
    "traced differs without plugin optimizers": False,
}
WRONG = {
    "traced differs": True,
    "draws repeat": True,
    "top_k": [4.0, 0.0, 0.0],
    "channels": [1.0, 1.0],
}


@pytest.mark.parametrize(
    ("fault", "changes"),
    [
        ("", {}),
        ("fused-relu,repeat:RandomUniform,topk,last-channel:Conv2D", WRONG),
    ],
    ids=["healthy", "faulty"],
)
def test_it_computes_as_it_is_told(gpu: Accelerated, fault: str, changes: dict[str, object]) -> None:
    assert json.loads(gpu.run(PROBE, fault)) == {**RIGHT, **changes}
