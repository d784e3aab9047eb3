"""The layers' part of S4: the gradient of every common layer and loss, from two sides.

In float64 on the CPU, eagerly: the directional derivative along a random direction through all weights and
inputs against a central difference, so that the formula is right. Then in float32 on the device, traced: the
gradient by every variable against the one in float64, so that the kernels are.
"""

from __future__ import annotations

import math
import time

from .arithmetic import ImagesReference, SequencesReference, distance
from .compare import raised
from .context import placed_on
from .measure import at_most
from .tasks import CLASSES, LEARNING_RATE, MOMENTUM, SEQUENCE, SIDE, Sequences, image_classifier
from .trajectory import WEIGHTS_TOLERANCE

#: Step of the central difference: its error is about STEP**2 for smooth layers; float64 adds 1e-16 / STEP.
STEP = 1e-5
#: Of the gradient's norm times the direction's: 1000 times what smooth layers were measured to need (1e-9).
DIFFERENCE_TOLERANCE = 1e-6
#: Of every variable's gradient, as a norm. Layers that compute in bfloat16 throughout (mixed_bfloat16), which
#: is coarser than to round the factors of products, were measured at most 0.043 away (the transposed
#: convolution; others 0.016), float32 7e-7. One dead channel of five makes about 0.45.
ROUNDING_TOLERANCE = 0.15
#: Of the gradients of the task networks, where sums over positions cancel: see ``trajectory``.
NETWORK_TOLERANCE = WEIGHTS_TOLERANCE


class Case:
    """A layer or loss, and what it is fed: normal numbers, or whole ones below ``vocabulary``.

    ``apart``: numbers at least 1/64 apart, because where the largest changes there is no derivative.
    """

    def __init__(self, name, make, shape, *, vocabulary=0, apart=False, call=None):
        self.name = name
        self.make = make
        self.shape = shape
        self.vocabulary = vocabulary
        self.call = call or (lambda layer, x: layer(x, training=True))
        self._apart = apart

    def inputs(self, np, rng):
        """The inputs, drawn from ``rng``."""
        if self.vocabulary:
            return rng.integers(0, self.vocabulary, self.shape).astype("int32")
        if self._apart:
            count = math.prod(self.shape)
            return ((rng.permutation(count) - count // 2) / 64).reshape(self.shape)
        return rng.standard_normal(self.shape)


def cases(keras):
    """The layers and losses that people use."""
    layers = keras.layers
    plain = {"call": lambda layer, x: layer(x)}
    return (
        Case("dense", lambda d: layers.Dense(6, activation="tanh", dtype=d), (5, 7), **plain),
        Case("conv1d", lambda d: layers.Conv1D(5, 3, strides=2, padding="same", dtype=d), (3, 9, 4), **plain),
        Case("conv2d", lambda d: layers.Conv2D(5, 3, padding="same", dtype=d), (2, 7, 6, 3), **plain),
        Case(
            "depthwise",
            lambda d: layers.DepthwiseConv2D(3, depth_multiplier=2, dtype=d),
            (2, 7, 6, 3),
            **plain,
        ),
        Case("separable", lambda d: layers.SeparableConv2D(4, 3, dtype=d), (2, 7, 6, 3), **plain),
        Case("transposed", lambda d: layers.Conv2DTranspose(4, 3, strides=2, dtype=d), (2, 4, 5, 3), **plain),
        Case("batch-norm", lambda d: layers.BatchNormalization(dtype=d), (16, 4, 3)),
        Case("layer-norm", lambda d: layers.LayerNormalization(dtype=d), (6, 8), **plain),
        Case("lstm", lambda d: layers.LSTM(5, return_sequences=True, dtype=d), (3, 3, 4), **plain),
        Case("gru", lambda d: layers.GRU(5, return_sequences=True, dtype=d), (3, 3, 4), **plain),
        Case("embedding", lambda d: layers.Embedding(7, 4, dtype=d), (4, 6), vocabulary=7, **plain),
        Case(
            "attention",
            lambda d: layers.MultiHeadAttention(2, 4, use_bias=False, dtype=d),
            (2, 5, 6),
            call=lambda layer, x: layer(x, x, use_causal_mask=True),
        ),
        Case("max-pooling", lambda d: layers.MaxPooling2D(2, dtype=d), (2, 6, 6, 3), apart=True, **plain),
        Case(
            "average-pooling", lambda d: layers.AveragePooling2D(3, 2, "same", dtype=d), (2, 7, 6, 3), **plain
        ),
        Case("softmax-loss", lambda d: _softmax_loss(keras), (8, 5), call=lambda loss, x: loss(x)),
        Case("sigmoid-loss", lambda d: _sigmoid_loss(keras), (8, 5), call=lambda loss, x: loss(x)),
    )


def every(context):
    """The gradient of every case."""
    return [_measured(context, case) for case in cases(context.keras)] + _networks(context)


def _measured(context, case):
    began = time.perf_counter()
    context.step(f"gradient of {case.name}")
    seen = {"device": ""}
    try:
        share, problem = _compare(context, case, seen)
    except Exception as error:
        share, problem = 0.0, raised(error)
    return at_most(
        f"S4.{case.name}",
        f"gradient of {case.name.replace('-', ' ')}",
        problem or share,
        1.0,
        why="largest share of a tolerance: 1e-6 between derivative and central difference in float64, 0.15 "
        "between float32 on the device and float64",
        n=len(case.shape),
        device=seen["device"],
        seconds=time.perf_counter() - began,
    )


def _compare(context, case, seen):
    tf, np = context.tf, context.np
    rng = context.generator("gradient." + case.name)
    x = case.inputs(np, rng)
    with tf.device("/CPU:0"):
        exact = _Function(context, case, "float64", x)
        start = [rng.standard_normal(value.shape) * 0.5 for value in exact.values()]
        exact.assign(start)
        cotangent = exact.cotangent = rng.standard_normal(exact.output_shape())
        wanted = exact.gradients()
        along = [rng.standard_normal(value.shape) for value in (*start, *exact.real_inputs())]
        derivative = sum(float((gradient * way).sum()) for gradient, way in zip(wanted, along))
        difference = (exact.at(start, along, STEP) - exact.at(start, along, -STEP)) / (2 * STEP)
    size = float(np.sqrt(sum((g**2).sum() for g in wanted)))
    first = abs(derivative - difference) / size / DIFFERENCE_TOLERANCE
    if not first <= 1:
        return first, f"float64: derivative {derivative:.9g}, central difference {difference:.9g}"
    rounded = _Function(context, case, "float32", x)
    rounded.assign(start)
    rounded.cotangent = cotangent
    got = rounded.gradients(traced=True)
    seen["device"] = rounded.device
    worst = 0.0
    for name, one, other in zip(exact.names(), got, wanted):
        apart = distance(np, one, other) / ROUNDING_TOLERANCE
        worst = max(worst, apart)
        if not apart <= 1:
            return (
                apart,
                f"float32, traced, gradient of {name}: off by {apart * ROUNDING_TOLERANCE:.3g} of its norm",
            )
    return max(first, worst), ""


class _Function:
    """The sum of a case's outputs, weighted by ``cotangent``, as a function of its weights and input."""

    def __init__(self, context, case, dtype, x):
        self._tf, self._np, self._case, self._dtype = context.tf, context.np, case, dtype
        self._layer = case.make(dtype)
        self._x = context.tf.constant(x if case.vocabulary else x.astype(dtype))
        self.cotangent = None
        self.device = ""
        self._shape = tuple(case.call(self._layer, self._x).shape)
        self._variables = list(getattr(self._layer, "trainable_variables", ()))

    def output_shape(self):
        return self._shape

    def values(self):
        return [self._np.asarray(variable) for variable in self._variables]

    def real_inputs(self):
        return [] if self._case.vocabulary else [self._x.numpy()]

    def names(self):
        return [*(variable.name for variable in self._variables), "the input"]

    def assign(self, values):
        for variable, value in zip(self._variables, values):
            variable.assign(value.astype(self._dtype))

    def at(self, start, along, step):
        """The function at ``step`` along a direction from ``start`` and the input."""
        self.assign([value + step * way for value, way in zip(start, along)])
        x = self._x if self._case.vocabulary else self._x + step * along[-1]
        return float(self._total(x))

    def gradients(self, traced=False):
        tf = self._tf
        inputs = [] if self._case.vocabulary else [self._x]

        def compute(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                total = self._total(x)
            found = tape.gradient(total, [*self._variables, *([x] if inputs else [])])
            return [tf.convert_to_tensor(one) for one in found]

        found = (tf.function(compute, autograph=False) if traced else compute)(self._x)
        self.device = placed_on(found[0])
        return [one.numpy().astype("float64") for one in found]

    def _total(self, x):
        outputs = self._case.call(self._layer, x)
        return self._tf.reduce_sum(outputs * self._tf.constant(self.cotangent, outputs.dtype))


def _softmax_loss(keras):
    """Categorical cross-entropy of a softmax."""
    labels = [[float(row % 5 == column) for column in range(5)] for row in range(8)]
    return lambda x: keras.losses.categorical_crossentropy(labels, keras.activations.softmax(x))


def _sigmoid_loss(keras):
    """Binary cross-entropy of a sigmoid."""
    labels = [[float((row + column) % 3 == 0) for column in range(5)] for row in range(8)]
    return lambda x: keras.losses.binary_crossentropy(labels, keras.activations.sigmoid(x))


def _networks(context):
    """The first gradients of both task networks against NumPy."""
    np, keras = context.np, context.keras
    rng = context.generator("gradient.networks")
    sequences = context.shared("sequences", Sequences)
    sequences.reset()
    x = rng.standard_normal((32, *SEQUENCE)).astype("float32")
    targets = np.eye(CLASSES, dtype="float32")[rng.integers(0, CLASSES, 32)]
    reference = SequencesReference(np, sequences.initial, LEARNING_RATE, MOMENTUM)
    images = image_classifier(context)
    pictures = rng.standard_normal((32, SIDE, SIDE, 1)).astype("float32")
    answers = rng.integers(0, 2, (32, 1)).astype("float32")
    of_images = ImagesReference(np, images.get_weights())
    losses = keras.losses
    return [
        _network(
            context, "sequences", sequences.model, x, targets, losses.categorical_crossentropy, reference
        ),
        _network(context, "images", images, pictures, answers, losses.binary_crossentropy, of_images),
    ]


def _network(context, name, model, x, targets, loss, reference):
    tf, np = context.tf, context.np
    context.step(f"first gradient of {name}")
    began = time.perf_counter()
    with tf.GradientTape() as tape:
        # Not in training mode: augmentation would draw flips that NumPy cannot know.
        total = tf.reduce_mean(loss(targets, model(tf.constant(x), training=False)))
    got = tape.gradient(total, model.trainable_variables)
    _, wanted = reference.gradients(x.astype("float64"), targets.astype("float64"))
    return at_most(
        f"S4.{name}",
        f"first gradient of the network of {name}",
        max(distance(np, one.numpy(), other) for one, other in zip(got, wanted)),
        NETWORK_TOLERANCE,
        why="every variable's gradient against NumPy, float64; bfloat16 products change it by at most 0.055",
        n=len(got),
        device=placed_on(total),
        seconds=time.perf_counter() - began,
    )
