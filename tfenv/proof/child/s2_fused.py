"""S2: graphs that a device's optimizer fuses into one kernel, with negative pre-activations.

Of tensorflow-metal from 1.0 on it is reported that relu(bias_add(matmul(x, w), b)) is wrong by tens of
units in a traced graph on the GPU, as if the ReLU were skipped, and right eagerly, on the CPU, without the
ReLU, and with ``+`` (AddV2) in place of bias_add. So the four forms run side by side: the one that differs
says what is broken. Each form has inputs of its own, since a product that two of them share would not be
fused.
"""

from __future__ import annotations

import time

from . import ops_reference as ref
from .compare import difference
from .context import placed_on
from .measure import at_most, equal
from .ops import Op
from .ops_run import run_rows
from .ops_table_reals import EPSILON, PRODUCTS, ROUNDED, gelu

KIND = "fused graphs"
FLOATS = ("float32", "float16")
SINGLE = ("float32",)
REPORTED = "bias_add_relu"
#: Rows that are right where only the reported pattern is broken.
BESIDE = ("matmul", "bias_add", "add_relu")
RELU_LAYER = "tfenv_relu"
#: What a traced layer holds beside its arithmetic.
PLUMBING = ("Cast", "Identity", "NoOp", "Placeholder", "ReadVariableOp")


def run(context):
    """The core of training and a Keras model at ``quick``; every activation and kind of product otherwise."""
    quick = context.level == "quick"
    rows = [row for row in (*_forms(), *_activations(), *_products()) if row.core or not quick]
    settings = []
    if context.device != "CPU":
        settings.append(("on the CPU", lambda: context.tf.device("/CPU:0")))
    dtypes = SINGLE if quick else FLOATS
    found = run_rows(context, "S2", rows, dtypes, together=KIND, settings=settings)
    for finding in found.values():
        _require_negative(context.np, finding)
    if context.device != "CPU" and [name for name in (REPORTED, *BESIDE) if found[name].problem] == [
        REPORTED
    ]:
        _try_without_plugin_optimizers(context, found[REPORTED])
    measurements = [finding.measurement("S2") for finding in found.values()]
    measurements += _dense(context)
    return measurements if quick else [*measurements, *_predict(context)]


def _matrices(d):
    """x (8, 6), w (6, 5), b (5): sums of products are multiples of 1/8 below 8, exact in every format.

    The first row of x against the first column of w gives a negative sum, whatever else is drawn.
    """
    x, w, b = d.ints(8, 6) / 4, d.ints(6, 5) / 2, d.ints(5) / 2
    x[0], w[:, 0], b[0] = abs(x[0]) + 0.25, -abs(w[:, 0]) - 0.5, -0.5
    return x, w, b


def _linear(np, x, w, b):
    return x @ w + b


def _forms():
    def row(name, title, compute, reference):
        return Op(name, title, KIND, _matrices, compute, reference, dtypes=FLOATS, gradient=False, core=True)

    def product(tf, x, w):
        return tf.linalg.matmul(x, w)

    return [
        row("matmul", "matrix product", lambda tf, x, w, b: product(tf, x, w), lambda np, x, w, b: x @ w),
        row(
            "bias_add",
            "matrix product + bias_add",
            lambda tf, x, w, b: tf.nn.bias_add(product(tf, x, w), b),
            _linear,
        ),
        row(
            REPORTED,
            "matrix product + bias_add + ReLU",
            lambda tf, x, w, b: tf.nn.relu(tf.nn.bias_add(product(tf, x, w), b)),
            lambda np, x, w, b: np.maximum(x @ w + b, 0),
        ),
        row(
            "add_relu",
            "matrix product + addition + ReLU",
            lambda tf, x, w, b: tf.nn.relu(product(tf, x, w) + b),
            lambda np, x, w, b: np.maximum(x @ w + b, 0),
        ),
    ]


def _activations():
    def row(name, activation, reference, **more):
        return Op(
            f"bias_add_{name}",
            f"matrix product + bias_add + {name}",
            KIND,
            _matrices,
            lambda tf, x, w, b: activation(tf, tf.nn.bias_add(tf.linalg.matmul(x, w), b)),
            lambda np, x, w, b: reference(np, x @ w + b),
            **{"gradient": False, "dtypes": FLOATS, **more},
        )

    rounded = {"tolerance": ROUNDED, "dtypes": SINGLE}
    return [
        row("relu6", lambda tf, z: tf.nn.relu6(z), lambda np, z: np.clip(z, 0, 6)),
        row("leaky_relu", lambda tf, z: tf.nn.leaky_relu(z, 0.25), lambda np, z: np.where(z > 0, z, z / 4)),
        row("elu", lambda tf, z: tf.nn.elu(z), lambda np, z: np.where(z > 0, z, np.exp(z) - 1), **rounded),
        row("tanh", lambda tf, z: tf.tanh(z), lambda np, z: np.tanh(z), **rounded),
        row("sigmoid", lambda tf, z: tf.sigmoid(z), lambda np, z: ref.sigmoid(np, z), **rounded),
        row("gelu", lambda tf, z: tf.nn.gelu(z), lambda np, z: gelu(np, z), **rounded),
        row(
            "gelu_approximate",
            lambda tf, z: tf.nn.gelu(z, approximate=True),
            lambda np, z: 0.5 * z * (1 + np.tanh(np.sqrt(2 / np.pi) * (z + 0.044715 * z**3))),
            **rounded,
        ),
    ]


def _images(d):
    """x (1, 4, 4, 2), kernel (2, 2, 2, 3), b (3), with one sum that is negative, as in :func:`_matrices`."""
    x, k, b = d.ints(1, 4, 4, 2) / 4, d.ints(2, 2, 2, 3) / 2, d.ints(3) / 2
    x[0, :2, :2], k[..., 0], b[0] = abs(x[0, :2, :2]) + 0.25, -abs(k[..., 0]) - 0.5, -0.5
    return x, k, b


def _batches(d):
    x, w, b = zip(*(_matrices(d) for _ in range(2)))
    import numpy as np

    return np.stack(x), np.stack(w), b[0]


def _products():
    return [
        Op(
            "bias_add_relu_training",
            "matrix product + bias_add + ReLU, and the gradients",
            KIND,
            # Kinks of the ReLU lie at multiples of 1/8, so a sixteenth keeps every sum off them.
            lambda d: (*_matrices(d)[:2], _matrices(d)[2] - 0.0625),
            lambda tf, x, w, b: tf.nn.relu(tf.nn.bias_add(tf.linalg.matmul(x, w), b)),
            lambda np, x, w, b: np.maximum(x @ w + b, 0),
            dtypes=SINGLE,
        ),
        Op(
            "conv_relu",
            "convolution + bias_add + ReLU",
            KIND,
            _images,
            lambda tf, x, k, b: tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, k, 1, "SAME"), b)),
            lambda np, x, k, b: np.maximum(ref.convolution(np, x, k, same=True) + b, 0),
            dtypes=FLOATS,
            gradient=False,
            core=True,
        ),
        Op(
            "batch_matmul_relu",
            "batched matrix product + bias_add + ReLU",
            KIND,
            _batches,
            lambda tf, x, w, b: tf.nn.relu(tf.nn.bias_add(tf.linalg.matmul(x, w), b)),
            lambda np, x, w, b: np.maximum(x @ w + b, 0),
            dtypes=FLOATS,
            gradient=False,
        ),
        Op(
            "matmul_sum",
            "matrix product + bias_add + sum with a tensor",
            KIND,
            lambda d: (*_matrices(d), d.ints(8, 5) / 2),
            lambda tf, x, w, b, y: tf.nn.bias_add(tf.linalg.matmul(x, w), b) + y,
            lambda np, x, w, b, y: x @ w + b + y,
            dtypes=FLOATS,
            gradient=False,
        ),
        Op(
            "batch_norm_relu",
            "BatchNorm + ReLU",
            KIND,
            lambda d: (d.distinct(2, 2, 4, 2) / 8, d.nonzero(2), d.fixed([0, 0], "float64")),
            lambda tf, x, scale, offset: tf.nn.relu(_batch_norm(tf, x, scale, offset)),
            lambda np, x, scale, offset: np.maximum(ref.batch_norm(np, x, scale, offset, EPSILON)[0], 0),
            dtypes=SINGLE,
            tolerance=ROUNDED,
            gradient=False,
        ),
    ]


def _batch_norm(tf, x, scale, offset):
    return tf.compat.v1.nn.fused_batch_norm(x, scale, offset, epsilon=EPSILON, is_training=True)[0]


def _require_negative(np, finding):
    """A ReLU that is skipped shows only where its input is negative."""
    case = finding.case
    if case is None:
        return
    x, w, b = case.arrays[:3]
    if finding.op.name == "conv_relu":
        before = ref.convolution(np, x, w, same=True) + b
    elif finding.op.name == "batch_norm_relu":
        before = ref.batch_norm(np, x, w, b, EPSILON)[0]
    else:
        before = x @ w + b
    if not (before < 0).any():
        finding.blame("inputs", "no pre-activation is negative, so nothing was tested")


def _try_without_plugin_optimizers(context, finding):
    """Say whether the graph is right when the plugin does not rewrite it."""
    optimizer = context.tf.config.optimizer
    try:
        optimizer.set_experimental_options({"use_plugin_optimizers": False})
    except Exception as error:
        finding.problem += f"; use_plugin_optimizers=False cannot be set: {type(error).__name__}"
        return
    try:
        again = run_rows(context, "S2", [finding.op], SINGLE, together=KIND)[finding.op.name]
    finally:
        optimizer.set_experimental_options({"use_plugin_optimizers": True})
    outcome = f"wrong too ({again.problem})" if again.problem else "right"
    finding.problem += f"; with use_plugin_optimizers=False: {outcome}"


def _dense(context):
    """Dense(2, relu) of negative weights, then Dense(3, sigmoid): every output is sigmoid(0) = 0.5."""
    tf, np, layers = context.tf, context.np, context.keras.layers
    context.step("traced: Dense(relu), Dense(sigmoid)")
    began = time.perf_counter()
    first = layers.Dense(2, activation="relu", kernel_initializer="zeros", name=RELU_LAYER)
    second = layers.Dense(3, activation="sigmoid", kernel_initializer="zeros")
    x = np.array([[1, 0, 0], [0, 2, 1]], "float32")
    expected = np.full((2, 3), 0.5)
    for layer, width in ((first, 3), (second, 2)):
        layer.build((None, width))
    first.set_weights([-np.arange(1.0, 7.0).reshape(3, 2), np.zeros(2)])
    second.set_weights([np.arange(1.0, 7.0).reshape(2, 3), np.zeros(3)])
    signature = [tf.TensorSpec(x.shape, "float32")]
    traced = tf.function(
        lambda a: second(first(a)), input_signature=signature, autograph=False, jit_compile=False
    ).get_concrete_function()
    names = [
        operation.type
        for operation in traced.graph.get_operations()
        if RELU_LAYER in operation.name and operation.type not in PLUMBING
    ]
    output = traced(tf.constant(x))
    right = "0.5 everywhere"
    return [
        equal(
            "S2.dense",
            "Dense(relu) of negative sums, then Dense(sigmoid), traced",
            difference(np, output.numpy(), expected, 1e-6)[0] or right,
            right,
            why="a ReLU of negative sums is 0, and sigmoid(0) is 0.5 exactly",
            n=output.shape.num_elements(),
            device=placed_on(output),
            seconds=time.perf_counter() - began,
        ),
        # A fact, read from the graph: which form of the product Keras hands to the device's optimizer.
        equal(
            "S2.trace",
            "the operations to which Keras traces Dense(relu)",
            ", ".join(names),
            ", ".join(names),
            why="MatMul, BiasAdd, Relu is what tensorflow-metal is reported to compute wrongly; Keras 3.0 to "
            "3.6 makes it MatMul, AddV2, Relu",
            device=placed_on(output),
        ),
    ]


def _predict(context):
    """Keras' own loop against the model called directly, on a model of the patterns above."""
    np, keras = context.np, context.keras
    layers = keras.layers
    context.step("model.predict")
    began = time.perf_counter()
    context.reseed("S2predict")
    inputs = keras.Input((6, 6, 2))
    hidden = layers.Conv2D(4, 3, activation="relu")(inputs)
    hidden = layers.ReLU()(layers.BatchNormalization()(hidden))
    hidden = layers.Dense(8, activation="relu")(layers.Flatten()(hidden))
    hidden = layers.ReLU()(layers.Dense(8)(hidden))
    model = keras.Model(inputs, layers.Dense(5)(hidden))
    # Keras 3 would choose XLA where any GPU is listed; device plugins have none.
    model.compile(jit_compile=False)
    x = context.generator("S2predict").standard_normal((24, 6, 6, 2)).astype("float32")
    called = model(x, training=False)
    expected = called.numpy()
    predicted = model.predict(x, batch_size=8, verbose=0)
    problem, share = difference(np, predicted, expected, PRODUCTS)
    return [
        at_most(
            "S2.predict",
            "model.predict against the model called directly",
            problem or share,
            1.0,
            why=f"largest difference as a share of the tolerance, {PRODUCTS:g} of the largest output: a "
            "device that rounds factors to 8 bits in one of the two differs by less",
            n=expected.size,
            device=placed_on(called),
            seconds=time.perf_counter() - began,
        )
    ]
