"""S1's rows for reductions, sorts and elementwise operations."""

from __future__ import annotations

from .ops import Op

FLOATS = ("float32", "float16")
SINGLE = ("float32",)


def reduction_rows():
    """All rows of this module."""
    return [*_reductions(), *_sorts(), *_elementwise()]


def _reductions():
    kind = "reductions"
    return [
        Op(
            "reductions",
            "sum and mean",
            kind,
            lambda d: (d.ints(4, 3), 4 * d.ints(4, 3)),
            lambda tf, x, y: (tf.reduce_sum(x, 1), tf.reduce_mean(y, 0)),
            lambda np, x, y: (x.sum(1), y.mean(0)),
            core=True,
        ),
        Op(
            "reductions_more",
            "maximum, minimum, product, and reductions of several axes",
            kind,
            lambda d: (d.distinct(3, 5), d.nonzero(2, 3, high=2), d.ints(3, 4, 2), d.ints(2, 4, 4)),
            lambda tf, x, y, z, v: (
                tf.reduce_max(x, 0),
                tf.reduce_min(x, 1),
                tf.reduce_prod(y, 1),
                tf.reduce_sum(z, [0, 2]),
                tf.reduce_mean(4 * v, [1, 2], keepdims=True),
                tf.nn.l2_loss(2 * v),
            ),
            lambda np, x, y, z, v: (
                x.max(0),
                x.min(1),
                y.prod(1),
                z.sum((0, 2)),
                4 * v.mean((1, 2), keepdims=True),
                2 * (v * v).sum(),
            ),
            dtypes=FLOATS,
        ),
        Op(
            "boolean_reductions",
            "reduce_any, reduce_all, and sums of integers",
            kind,
            lambda d: (d.index(4, 3, below=2), 2**31 - d.index(4, 5, below=100, dtype="int64")),
            lambda tf, x, y: (
                tf.cast(tf.reduce_any(x > 0, 1), "int32"),
                tf.cast(tf.reduce_all(x > 0, 1), "int32"),
                tf.reduce_sum(y, 0),
            ),
            lambda np, x, y: ((x > 0).any(1).astype(int), (x > 0).all(1).astype(int), y.sum(0)),
            gradient=False,
        ),
        Op(
            "argmax",
            "argmax and argmin",
            kind,
            _peaks,
            lambda tf, x, y: (tf.argmax(x, 1), tf.argmin(y, 0)),
            lambda np, x, y: (x.argmax(1), y.argmin(0)),
            gradient=False,
        ),
        Op(
            "cumsum",
            "cumulative sum and product",
            kind,
            lambda d: (d.ints(3, 7), d.nonzero(2, 4, high=2)),
            lambda tf, x, y: (
                tf.cumsum(x, 1),
                tf.cumsum(x, 1, exclusive=True, reverse=True),
                tf.math.cumprod(y, 1),
            ),
            lambda np, x, y: (
                x.cumsum(1),
                x[:, ::-1].cumsum(1)[:, ::-1] - x,
                y.cumprod(1),
            ),
            dtypes=FLOATS,
        ),
    ]


def _peaks(d):
    """Two matrices (5, 5): the largest of each row, the smallest of each column at every index once."""
    x, y = d.distinct(5, 5), d.distinct(5, 5)
    for at in range(5):
        x[at, at] += 60
        y[at, at] -= 60
    return x, y


def _sorts():
    kind = "sorts"
    rows = [
        Op(
            "top_k",
            "top_k of 17 entries",
            kind,
            lambda d: d.distinct(2, 17),
            lambda tf, x: tuple(tf.math.top_k(x, 17)),
            lambda np, x: (-np.sort(-x, 1), np.argsort(-x, 1)),
            gradient=False,
            core=True,
        ),
        Op(
            "top_k_long",
            "top_k of 20 and 100 entries",
            kind,
            lambda d: (d.distinct(2, 20), d.distinct(1, 100)),
            lambda tf, x, y: (*tf.math.top_k(x, 18), *tf.math.top_k(y, 99)),
            lambda np, x, y: (
                -np.sort(-x, 1)[:, :18],
                np.argsort(-x, 1)[:, :18],
                -np.sort(-y, 1)[:, :99],
                np.argsort(-y, 1)[:, :99],
            ),
        ),
    ]
    inputs = {
        "inputs": lambda d: (d.distinct(1, 17), d.distinct(2, 20), d.distinct(1, 100)),
        "kind": kind,
    }
    return [
        *rows,
        Op(
            name="sort",
            title="sort of 17, 20 and 100 entries",
            compute=lambda tf, *arrays: tuple(
                sorted_ for x in arrays for sorted_ in (tf.sort(x, 1), tf.sort(x, 1, direction="DESCENDING"))
            ),
            reference=lambda np, *arrays: tuple(
                sorted_ for x in arrays for sorted_ in (np.sort(x, 1), -np.sort(-x, 1))
            ),
            gradient=False,
            **inputs,
        ),
        Op(
            name="argsort",
            title="argsort of 17, 20 and 100 entries",
            compute=lambda tf, *arrays: tuple(tf.argsort(x, 1) for x in arrays),
            reference=lambda np, *arrays: tuple(np.argsort(x, 1) for x in arrays),
            gradient=False,
            **inputs,
        ),
    ]


def _elementwise():
    kind = "elementwise"
    return [
        Op(
            "arithmetic",
            "arithmetic with broadcasting",
            kind,
            lambda d: (d.ints(3, 4), d.ints(4), d.nonzero(3, 1)),
            lambda tf, x, y, z: (x + y, x - z, x * y, x * x, -x * z),
            lambda np, x, y, z: (x + y, x - z, x * y, x * x, -x * z),
        ),
        Op(
            "piecewise",
            "maximum, minimum, abs, clip, sign",
            kind,
            lambda d: (2 * d.ints(3, 5), 2 * d.ints(3, 5) + 1),
            lambda tf, x, y: (
                tf.maximum(x, y),
                tf.minimum(x, y),
                tf.abs(y),
                tf.clip_by_value(y, -2.0, 2.0),
                tf.nn.relu6(2 * y - 1),
                tf.nn.leaky_relu(y, 0.25),
            ),
            lambda np, x, y: (
                np.maximum(x, y),
                np.minimum(x, y),
                np.abs(y),
                np.clip(y, -2, 2),
                np.clip(2 * y - 1, 0, 6),
                np.where(y > 0, y, y / 4),
            ),
            dtypes=FLOATS,
        ),
        Op(
            "round",
            "round half to even, floor, ceil",
            kind,
            lambda d: d.fixed([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, -3.0, 4.0, 2.25, -2.75], "float64"),
            lambda tf, x: (tf.round(x), tf.floor(x), tf.math.ceil(x)),
            lambda np, x: (np.round(x), np.floor(x), np.ceil(x)),
            dtypes=FLOATS,
            gradient=False,
        ),
        Op(
            "integer_division",
            "floor division and remainder",
            kind,
            lambda d: (d.index(12, below=40) - 20, d.index(12, below=5) + 1),
            lambda tf, x, y: (x // y, x % y, tf.truncatediv(x, y)),
            lambda np, x, y: (x // y, x % y, np.trunc(x / y).astype(int)),
            gradient=False,
        ),
        Op(
            "cast",
            "casts between floats, integers and booleans",
            kind,
            lambda d: (d.eighths(3, 5, high=9), d.index(7, below=200)),
            lambda tf, x, y: (
                tf.cast(x, "int32"),
                tf.cast(tf.cast(x, "bool"), "int32"),
                tf.cast(tf.cast(y, "uint8"), "int64"),
                tf.cast(tf.cast(y, "float32"), "int64"),
                tf.cast(tf.cast(x, "float16"), "float32"),
            ),
            lambda np, x, y: (np.trunc(x).astype(int), (x != 0).astype(int), y, y, x),
            dtypes=SINGLE,
            gradient=False,
        ),
        Op(
            "where",
            "where with three arguments",
            kind,
            lambda d: (d.index(3, 4, below=2), d.ints(3, 4), d.ints(4)),
            lambda tf, c, x, y: tf.where(c > 0, x, y),
            lambda np, c, x, y: np.where(c > 0, x, y),
            core=True,
        ),
    ]
