"""S1: single operations and their gradients, eagerly and traced, against NumPy."""

from __future__ import annotations

import time

from .compare import difference, raised
from .context import placed_on
from .measure import equal
from .ops import ALL_DTYPES
from .ops_run import EXACT, run_rows
from .ops_table import all_rows

MANY_FILTERS = 65_537


def run(context):
    """The core of training at ``quick``, in single precision; every row in every number format otherwise."""
    rows = all_rows()
    if context.level == "quick":
        core = [op for op in rows if op.core]
        found = run_rows(context, "S1", core, ("float32",), together="core operations", eager_gradients=False)
        return [*(finding.measurement("S1") for finding in found.values()), _placement(context, found)]
    found = run_rows(context, "S1", rows, ALL_DTYPES)
    singles = [_float16_constant, _many_filters, _image_pipeline]
    if context.level == "long":
        singles.append(_jit_compile)
    return [
        *(finding.measurement("S1") for finding in found.values()),
        _placement(context, found),
        *(_single(context, single) for single in singles),
    ]


def _placement(context, found):
    """Whether the core of training ran on the device; whatever else fell back to the CPU only says so."""
    elsewhere = {}
    for finding in found.values():
        kind = finding.device.partition(":")[0]
        if finding.op.core and kind and kind != context.device:
            elsewhere.setdefault(kind, []).append(finding.op.title)
    got = "; ".join(f"{kind} ({', '.join(titles)})" for kind, titles in elsewhere.items())
    return equal(
        "S1.placement",
        "the operations that training relies on ran on the device",
        got or context.device,
        context.device,
        why="a run that silently fell back to the CPU proves nothing about the device",
        n=sum(finding.op.core for finding in found.values()),
        device=context.device,
    )


def _single(context, single):
    """The measurement of a check that is no row: ``single(context)`` gives name, title, problem, device."""
    began = time.perf_counter()
    name, title, check = single(context)
    context.step(title)
    device = ""
    try:
        problem, device = check()
    except Exception as error:
        problem = raised(error)
    return equal(
        f"S1.{name}",
        title,
        problem or EXACT,
        EXACT,
        why="copies and products of small integers are exact",
        device=device,
        seconds=time.perf_counter() - began,
    )


def _float16_constant(context):
    """tf.constant(float16) on the CPU: wrong on arm64 in TensorFlow 2.9 (tensorflow issue 57010)."""
    tf, np = context.tf, context.np
    values = np.array([1.5, -2.25, 65504.0, 6e-8, 0.0, -0.125, 1023.5], "float16")

    def check():
        with tf.device("/CPU:0"):
            tensor = tf.constant(values.tolist(), "float16")
            widened = tf.cast(tensor, "float32")
        return difference(np, widened.numpy(), values)[0], placed_on(tensor)

    return "float16_constant", "float16 constants on the CPU", check


def _many_filters(context):
    """Conv1D beyond 65,536 filters: an index of 16 bits wraps (tensorflow issue 71577)."""
    tf, np = context.tf, context.np
    rng = context.generator("S1many_filters")
    x = rng.integers(-3, 4, (1, 2, 1)).astype("float32")
    kernel = rng.integers(1, 100, (1, 1, MANY_FILTERS)).astype("float32")

    def check():
        output = tf.nn.conv1d(tf.constant(x), tf.constant(kernel), 1, "VALID")
        return difference(np, output.numpy(), x @ kernel[0])[0], placed_on(output)

    return "conv1d_many_filters", f"1-D convolution with {MANY_FILTERS:,} filters", check


def _image_pipeline(context):
    """tf.image in a tf.data pipeline: aborted on tensorflow-metal 0.5 (tensorflow issue 58840)."""
    tf, np = context.tf, context.np
    images = context.generator("S1image_pipeline").integers(0, 200, (6, 4, 4, 3)).astype("uint8")

    def augment(image):
        return tf.image.adjust_brightness(tf.cast(tf.image.flip_left_right(image), "float32"), 3.0)

    def check():
        data = tf.data.Dataset.from_tensor_slices(images).map(augment).batch(6)
        batch = next(iter(data))
        return difference(np, batch.numpy(), images[:, :, ::-1].astype("float64") + 3)[0], placed_on(batch)

    return "image_pipeline", "tf.image in a tf.data pipeline", check


def _jit_compile(context):
    """XLA is not needed, and missing on some devices; it must compute right or say that it is missing."""
    tf, np = context.tf, context.np
    x = context.generator("S1jit").integers(-3, 4, (5, 5)).astype("float32")

    def check():
        compiled = tf.function(
            lambda a: tf.nn.relu(tf.linalg.matmul(a, a)), jit_compile=True, autograph=False
        )
        try:
            output = compiled(tf.constant(x))
        except (tf.errors.OpError, ValueError, NotImplementedError):
            return "", ""  # it says that it cannot, which is allowed
        return difference(np, output.numpy(), np.maximum(x @ x, 0))[0], placed_on(output)

    return "jit_compile", "jit_compile=True computes right or says that it cannot", check
