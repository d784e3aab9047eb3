"""Initial weights against theory: law, limits, that they vary, that seeds repeat them."""

from __future__ import annotations

import math

from . import laws
from .compare import raised
from .laws import follows
from .measure import equal

#: (fan in, fan out): the shape that initialisers are asked for.
SHAPE = (64, 128)
RIGHT = "varies with the seed, and equal seeds repeat it"
FRESH = "kernels vary, biases are zero"


def initial_weights(context, check, title, model):
    """The initial weights of ``model``, whose kernels are Glorot uniform and whose biases are zero."""
    np = context.np
    problem, kernels = "", []
    for variable in model.trainable_variables:
        value = np.asarray(variable)
        if value.ndim == 1:
            if value.any():
                problem = problem or f"bias {variable.name} is {value[value != 0][0]:.4g}, expected 0"
            continue
        limit = math.sqrt(6 / sum(_fans(value.shape)))
        if not np.abs(value).max() <= limit * (1 + 1e-6):
            problem = (
                problem or f"{variable.name} reaches {np.abs(value).max():.4g}, expected at most {limit:.4g}"
            )
        if len(np.unique(value)) < value.size / 2:
            problem = (
                problem or f"{variable.name} has {len(np.unique(value))} different values of {value.size}"
            )
        kernels.append(value.ravel() / limit)
    law = laws.uniform(-1.0, 1.0)
    return [
        equal(
            f"{check}.initial", f"initial weights of {title}", problem or FRESH, FRESH, why="Keras' defaults"
        ),
        follows(np, f"{check}.initial.law", f"law of the kernels of {title}", np.concatenate(kernels), law),
    ]


def every_initializer(context):
    """The initialisers people use, against their laws."""
    return [measurement for row in _laws() for measurement in _initializer(context, *row)] + [
        _orthogonal(context),
        _exact(context),
    ]


def _laws():
    """Class, options and law, for a kernel of SHAPE; definitions as in Keras' documentation."""
    into, out = SHAPE
    unit = laws.truncated()

    def cut(variance):
        # Keras widens the normal so that after cutting at two standard deviations the variance is right.
        return unit.scaled(math.sqrt(variance / unit.variance))

    def flat(variance):
        limit = math.sqrt(3 * variance)
        return laws.uniform(-limit, limit)

    return (
        ("GlorotUniform", {}, flat(2 / (into + out))),
        ("GlorotNormal", {}, cut(2 / (into + out))),
        ("HeUniform", {}, flat(2 / into)),
        ("HeNormal", {}, cut(2 / into)),
        ("LecunUniform", {}, flat(1 / into)),
        ("LecunNormal", {}, cut(1 / into)),
        ("RandomUniform", {}, laws.uniform(-0.05, 0.05)),
        ("RandomNormal", {}, laws.NORMAL.scaled(0.05)),
        ("TruncatedNormal", {}, unit.scaled(0.05)),
        (
            "VarianceScaling",
            {"mode": "fan_out", "distribution": "untruncated_normal"},
            laws.NORMAL.scaled(out**-0.5),
        ),
    )


def _initializer(context, name, options, law):
    np = context.np
    problem, values = _behaviour(context, name, options)
    found = [_varies(name, problem)]
    if values is not None:
        found.append(follows(np, f"S3.{name}.law", f"law of initializer {name}", values, law))
    return found


def _orthogonal(context):
    np = context.np
    problem, values = _behaviour(context, "Orthogonal", {})
    if not problem:
        error = float(np.abs(values.astype("float64") @ values.T - np.eye(SHAPE[0])).max())
        if not error < 0.01:  # float32 leaves 1e-6; bfloat16 products in the decomposition 0.005
            problem = f"rows are not orthonormal: off by {error:.3g}"
    return _varies("Orthogonal", problem)


def _exact(context):
    np, initializers = context.np, context.keras.initializers
    wanted = {"Zeros": 0.0, "Ones": 1.0, "Constant": 0.25}
    problem = ""
    for name, value in wanted.items():
        context.step(f"initializer {name}")
        made = getattr(initializers, name)(value) if name == "Constant" else getattr(initializers, name)()
        got = np.asarray(made(SHAPE, dtype="float32"))
        if not (got == value).all():
            problem = problem or f"{name} gives {got[got != value][0]:.6g}, expected {value:.6g}"
    why = "these are constants"
    return equal("S3.constants", "initializers Zeros, Ones, Constant", problem or "exact", "exact", why=why)


def _behaviour(context, name, options):
    """What is wrong with initializer ``name``, and values of it."""
    np, kind = context.np, getattr(context.keras.initializers, name)
    context.step(f"initializer {name}")
    seed, another = (int(one) for one in context.generator("initializer." + name).integers(2**30, size=2))
    try:
        first, again, other = (
            np.asarray(kind(seed=number, **options)(SHAPE, dtype="float32"))
            for number in (seed, seed, another)
        )
    except Exception as error:
        return raised(error), None
    if not np.isfinite(first).all():
        return "gives values that are no numbers", first
    if len(np.unique(first)) < first.size / 2:
        return f"gives {len(np.unique(first))} different values of {first.size}", first
    if not np.array_equal(first, again):
        return "the same seed does not repeat it", first
    if float((first == other).mean()) > 0.5:
        return "another seed gives the same values", first
    return "", first


def _varies(name, problem):
    why = "8192 numbers do not repeat by chance"
    return equal(f"S3.{name}", f"initializer {name}", problem or RIGHT, RIGHT, why=why, n=SHAPE[0] * SHAPE[1])


def _fans(shape):
    """Inputs and outputs of one unit: the last two axes, times the taps before them."""
    taps = math.prod(shape[:-2])
    return shape[-2] * taps, shape[-1] * taps
