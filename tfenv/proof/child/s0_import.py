"""S0: import TensorFlow, say what it is, and run one operation on every device that will be used."""

from __future__ import annotations

import importlib
import os
import sys
import time

from .context import placed_on
from .measure import equal

#: Distributions that may hold the TensorFlow code, by release and platform.
DISTRIBUTIONS = ("tensorflow", "tensorflow-cpu", "tensorflow-macos", "tensorflow-intel", "tensorflow-cpu-aws")


def run(context):
    """Import, choose the device, and place one matrix product on it."""
    began = time.perf_counter()
    context.step("import tensorflow")
    tf = context.tf = importlib.import_module("tensorflow")
    context.np = importlib.import_module("numpy")
    import_seconds = time.perf_counter() - began
    context.step("read the version of TensorFlow")
    version = str(tf.__version__)
    installed = _installed_versions()
    context.step("import keras")
    if os.environ.get("TF_USE_LEGACY_KERAS") in ("1", "true", "True"):
        # TensorFlow imports it now, but says only "Keras cannot be imported" where it is missing.
        importlib.import_module("tf_keras")
    keras = context.keras = tf.keras
    keras_package = str(keras.__name__).partition(".")[0]
    backend = str(keras.backend.backend())
    # A user's keras.json may say otherwise; the proof is about the stack, not about those settings.
    keras.backend.set_floatx("float32")
    keras.backend.set_image_data_format("channels_last")
    if context.process:
        # Fresh processes are there to repeat results bit by bit; it must be on before the first operation.
        tf.config.experimental.enable_op_determinism()
    context.step("list devices")
    listed = [device.name.rpartition("physical_device:")[2] for device in tf.config.list_physical_devices()]
    used = _choose_device(context, listed)
    context.report(
        tensorflow=version,
        keras=str(sys.modules[keras_package].__version__),
        keras_package=keras_package,
        numpy=str(context.np.__version__),
        python=sys.version.split()[0],
        devices=listed,
        devices_used=used,
        import_seconds=round(import_seconds, 3),
        system=sys.platform,
    )
    measurements = [
        equal(
            "S0.version",
            "the imported TensorFlow is the installed one",
            version,
            version if not installed or version in installed.values() else " or ".join(installed.values()),
            why="two releases mixed in one folder, or another copy first on the path, import but misbehave",
            seconds=import_seconds,
        ),
        equal(
            "S0.keras-backend",
            "Keras computes with TensorFlow",
            backend,
            "tensorflow",
            why="KERAS_BACKEND or keras.json can make Keras compute with another framework",
        ),
    ]
    if context.wanted_device == "gpu" and context.device == "CPU":
        return [*measurements, _missing_device(listed)]
    return measurements + [_placement(context, name) for name in used]


def _choose_device(context, listed):
    """The devices that will be used; hides every accelerator when the CPU was asked for."""
    tf = context.tf
    accelerators = [name for name in listed if not name.startswith("CPU")]
    if context.wanted_device == "cpu":
        for kind in sorted({name.partition(":")[0] for name in accelerators}):
            tf.config.set_visible_devices([], kind)
        accelerators = []
    if accelerators:
        context.device = accelerators[0].partition(":")[0]
        return accelerators
    return [name for name in listed if name.startswith("CPU")]


def _placement(context, name):
    """A small exact product on device ``name``, and where it really ran."""
    tf, np = context.tf, context.np
    context.step(f"matrix product on {name}")
    began = time.perf_counter()
    left = np.arange(-6, 6, dtype="float32").reshape(3, 4)
    right = np.arange(8, dtype="float32").reshape(4, 2)
    with tf.device("/" + name):
        product = tf.linalg.matmul(tf.constant(left), tf.constant(right))
    return equal(
        "S0.product." + name.replace(":", ""),
        f"a matrix product on {name}",
        f"{product.numpy().astype('int64').tolist()} on {placed_on(product)}",
        f"{(left.astype('int64') @ right.astype('int64')).tolist()} on {name}",
        why="small integers are exact in float32 on any device",
        n=6,
        device=placed_on(product),
        seconds=time.perf_counter() - began,
    )


def _missing_device(listed):
    return equal(
        "S0.gpu",
        "TensorFlow lists the GPU that was asked for",
        ", ".join(listed),
        "a GPU",
        why="--device gpu was asked for",
    )


def _installed_versions():
    """Version by name of the installed distributions that may hold TensorFlow."""
    import importlib.metadata as metadata

    found = {}
    for name in DISTRIBUTIONS:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
