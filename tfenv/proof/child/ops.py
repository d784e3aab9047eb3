"""One operation as a row: how to draw its inputs, how TensorFlow computes it, what NumPy says it is.

Inputs are small integers wherever the operation maps integers to integers: then every product and every
partial sum is an integer below 256, which float32, float16, bfloat16 and TensorFloat-32 all hold exactly, in
whatever order it is summed. Inputs of the others are multiples of 1/8, exact in all of these too, so that
only the operation itself rounds.

NumPy computes in float64, in which integers below 2**53 are exact. The gradient of sum(output * cotangent) is
a central difference of that: with a step of 2**-13 it is exact for whatever is linear in each of its inputs,
piecewise (kinks lie at integers that no input is at), and good to 1e-7 for smooth functions.
"""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

STEP = 2.0**-13
#: Gradients of larger inputs are checked along random directions: a wrong element shows in each of them.
ELEMENTWISE = 100
DIRECTIONS = 3
SIXTEEN_BIT = ("float16", "bfloat16")
DTYPES = ("float32", *SIXTEEN_BIT)
ALL_DTYPES = (*DTYPES, "float64")


class Op(NamedTuple):
    """A row; ``inputs(draw)`` gives arrays, of which floats are cast and differentiated, integers are not."""

    name: str
    title: str
    kind: str
    """Rows of one kind are traced together."""
    inputs: Callable[..., Any]
    compute: Callable[..., Any]
    """``compute(tf, *tensors)``, a tensor or a tuple."""
    reference: Callable[..., Any]
    """``reference(np, *arrays)``, the same in float64; integer arrays are not differentiated."""
    dtypes: tuple = DTYPES
    tolerance: float = 0.0
    """Relative to the largest expected magnitude; 0 where the result is exact."""
    gradient: bool = True
    traced: bool = True
    variable: bool = False
    """Whether the first input is a tf.Variable."""
    layer: Any = None
    """``layer(keras)``; then ``compute(layer, *tensors)`` gets the inputs that are not weights."""
    weights: int = 0
    """How many of the last inputs are the layer's weights."""
    core: bool = False
    """Whether training relies on it, so that it must run on the accelerator and be quick to check."""


class Draw:
    """Random inputs."""

    def __init__(self, np, rng):
        self._np, self._rng = np, rng

    def ints(self, *shape, low=-2, high=2):
        """Integers from ``low`` to ``high``."""
        return self._rng.integers(low, high + 1, shape).astype("float64")

    def nonzero(self, *shape, high=3):
        """Integers of magnitude 1 to ``high``."""
        return self.ints(*shape, low=1, high=high) * self._rng.choice([-1.0, 1.0], shape)

    def distinct(self, *shape):
        """Distinct even numbers around 0, shuffled."""
        size = int(self._np.prod(shape))
        return (2.0 * self._rng.permutation(size) - size + 1 + size % 2).reshape(shape)

    def eighths(self, *shape, high=2):
        """Multiples of 1/8 up to ``high`` in magnitude, none of them 0."""
        return self.nonzero(*shape, high=8 * high) / 8

    def index(self, *shape, below, dtype="int32"):
        """Integers from 0 to ``below`` - 1."""
        return self._rng.integers(0, below, shape).astype(dtype)

    def fixed(self, values, dtype):
        """These values."""
        return self._np.array(values, dtype)


class Case:
    """A row with inputs drawn, and everything NumPy says about it."""

    def __init__(self, context, stage, op):
        np = context.np
        self.op = op
        self._context = context
        rng = context.generator(stage + op.name)
        self.arrays = as_tuple(op.inputs(Draw(np, rng)))
        self.outputs = [np.asarray(array) for array in as_tuple(op.reference(np, *self.arrays))]
        self.cotangents = [
            rng.choice([-2.0, -1.0, 1.0, 2.0], array.shape)
            for array in self.outputs
            if array.dtype.kind == "f" and op.gradient
        ]
        self.directions, self.gradients = [], []
        for number, array in enumerate(self.arrays):
            if array.dtype.kind == "f" and op.gradient:
                directions = None
                if array.size > ELEMENTWISE:
                    directions = rng.choice([-2.0, -1.0, 1.0, 2.0], (DIRECTIONS, *array.shape))
                self.directions.append(directions)
                self.gradients.append(self._differences(number, directions))
        self.layer = None

    def _differences(self, number, directions):
        """The gradient with respect to one input, or its products with ``directions``."""
        np = self._context.np
        arrays = list(self.arrays)
        at = arrays[number]

        def slope(step):
            totals = []
            for sign in (1.0, -1.0):
                arrays[number] = at + sign * step
                outputs = as_tuple(self.op.reference(np, *arrays))
                floats = [array for array in map(np.asarray, outputs) if array.dtype.kind == "f"]
                totals.append(
                    sum(float((array * cotangent).sum()) for array, cotangent in zip(floats, self.cotangents))
                )
            return (totals[0] - totals[1]) / (2 * STEP)

        if directions is not None:
            return np.array([slope(STEP * direction) for direction in directions])
        slopes = np.zeros(at.shape)
        step = np.zeros(at.shape)
        for place in np.ndindex(*at.shape):
            step[place] = STEP
            slopes[place] = slope(step)
            step[place] = 0.0
        return slopes

    def tensors(self, dtype):
        """The inputs and cotangents, for :func:`apply`; a layer gets its weights."""
        tf = self._context.tf
        count = len(self.arrays) - self.op.weights
        inputs = [
            tf.constant(array, dtype if array.dtype.kind == "f" else None) for array in self.arrays[:count]
        ]
        if self.op.variable:
            inputs[0] = tf.Variable(inputs[0])
        if self.op.layer is not None and self.layer is None:
            self.layer = self.op.layer(self._context.keras)
            self.op.compute(self.layer, *inputs)  # builds it
            self.layer.set_weights(list(self.arrays[count:]))
        return inputs, [tf.constant(array, dtype) for array in self.cotangents]


def apply(tf, case, inputs, cotangents, gradient=True):
    """Outputs of the operation, and the gradients with respect to its float inputs where it has any."""
    op = case.op
    subject = tf if case.layer is None else case.layer
    if not (gradient and op.gradient):
        return list(as_tuple(op.compute(subject, *inputs))), []
    sources = [tensor for tensor in inputs if tensor.dtype.is_floating]
    with tf.GradientTape() as tape:
        tape.watch([source for source in sources if not isinstance(source, tf.Variable)])
        outputs = list(as_tuple(op.compute(subject, *inputs)))
    if case.layer is not None:
        weights = case.layer.trainable_variables  # of Keras 3 with TensorFlow's variable inside
        sources += [weight if isinstance(weight, tf.Variable) else weight.value for weight in weights]
    floats = [tensor for tensor in outputs if tensor.dtype.is_floating]
    gradients = tape.gradient(floats, sources, output_gradients=cotangents)
    # Gradients of gathers come as slices that may name a row more than once.
    return outputs, [None if found is None else tf.convert_to_tensor(found) for found in gradients]


def as_tuple(value):
    """``value`` itself if it is a tuple or a list, else alone in one."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)
