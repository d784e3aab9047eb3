"""S1's rows for operations that move elements: gather, scatter, pad, and their gradients."""

from __future__ import annotations

from . import ops_reference as ref
from .ops import Op

FLOATS = ("float32", "float16")
SINGLE = ("float32",)


def array_rows():
    """All rows of this module."""
    return [*_gathers(), *_scatters(), *_shapes()]


def _gathers():
    kind = "gathers"
    return [
        Op(
            "gather",
            "gather with repeated indices",
            kind,
            lambda d: (d.nonzero(4, 3), d.index(7, below=4)),
            lambda tf, x, i: tf.gather(x, i),
            lambda np, x, i: x[i],
            core=True,
        ),
        Op(
            "gather_axis",
            "gather along an axis",
            kind,
            lambda d: (d.ints(2, 5), d.index(4, below=5, dtype="int64")),
            lambda tf, x, i: tf.gather(x, i, axis=1),
            lambda np, x, i: x[:, i],
            dtypes=FLOATS,
        ),
        Op(
            "gather_batch",
            "gather in batches",
            kind,
            lambda d: (d.ints(2, 5), d.index(2, 3, below=5)),
            lambda tf, x, i: tf.gather(x, i, axis=1, batch_dims=1),
            lambda np, x, i: np.take_along_axis(x, i, 1),
            dtypes=FLOATS,
            gradient=False,
        ),
        Op(
            "gather_nd",
            "gather_nd",
            kind,
            lambda d: (d.ints(3, 4, 2), d.index(5, 2, below=3)),
            lambda tf, x, i: tf.gather_nd(x, i),
            lambda np, x, i: x[i[:, 0], i[:, 1]],
        ),
        Op(
            "gather_nd_variable",
            "gather_nd of a Variable",
            kind,
            lambda d: (d.ints(3, 4), d.index(5, 2, below=3)),
            lambda tf, x, i: tf.gather_nd(x, i),
            lambda np, x, i: x[i[:, 0], i[:, 1]],
            dtypes=SINGLE,
            variable=True,
        ),
        Op(
            "embedding",
            "embedding lookup, and its gradient with repeated indices",
            kind,
            lambda d: (d.ints(14, 3), 9 + d.index(4, 5, below=4)),
            lambda tf, x, i: tf.nn.embedding_lookup(x, i),
            lambda np, x, i: x[i],
            dtypes=SINGLE,
            variable=True,
        ),
        Op(
            "boolean_mask",
            "boolean_mask, and where with one argument",
            kind,
            lambda d: (d.ints(6, 2), d.index(6, below=2), d.index(6, below=100, dtype="int64")),
            lambda tf, x, c, y: (
                tf.boolean_mask(x, c > 0),
                tf.boolean_mask(y, c > 0),
                tf.where(c > 0),
            ),
            lambda np, x, c, y: (x[c > 0], y[c > 0], np.argwhere(c > 0)),
        ),
        Op(
            "one_hot",
            "one_hot",
            kind,
            lambda d: d.index(9, below=5),
            lambda tf, i: tf.one_hot(i, 5),
            lambda np, i: np.eye(5)[i],
            dtypes=SINGLE,
            gradient=False,
        ),
        Op(
            "dynamic_partition",
            "dynamic_partition and dynamic_stitch",
            kind,
            lambda d: (d.ints(6, 2), d.fixed([1, 0, 1, 1, 0, 0], "int32")),
            lambda tf, x, p: (
                *tf.dynamic_partition(x, p, 2),
                tf.dynamic_stitch([[1, 4, 5], [0, 2, 3]], tf.dynamic_partition(x, p, 2)),
            ),
            lambda np, x, p: (x[p == 0], x[p == 1], x),
            dtypes=SINGLE,
        ),
    ]


def _scatters():
    kind = "scatters"
    return [
        Op(
            "scatter_nd",
            "scatter_nd and tensor_scatter_nd_add with repeated indices",
            kind,
            lambda d: (d.ints(8, 2), d.index(8, 1, below=3), d.ints(5, 2)),
            lambda tf, u, i, x: (tf.scatter_nd(i, u, [5, 2]), tf.tensor_scatter_nd_add(x, i, u)),
            lambda np, u, i, x: (
                ref.scatter(np, np.zeros((5, 2)), i[:, 0], u),
                ref.scatter(np, x, i[:, 0], u),
            ),
            dtypes=FLOATS,
        ),
        Op(
            "tensor_scatter_update",
            "tensor_scatter_nd_update",
            kind,
            lambda d: (d.ints(5, 2), d.fixed([[3], [0]], "int32"), d.ints(2, 2)),
            lambda tf, x, i, u: tf.tensor_scatter_nd_update(x, i, u),
            lambda np, x, i, u: np.stack([u[1], x[1], x[2], u[0], x[4]]),
        ),
        Op(
            "scatter_add",
            "scatter_add to a Variable with repeated indices",
            kind,
            lambda d: (d.ints(5, 2), d.index(8, below=3), d.ints(8, 2)),
            _scatter_add,
            lambda np, v, i, u: ref.scatter(np, np.zeros_like(v), i, u),
            dtypes=SINGLE,
            variable=True,
            gradient=False,
        ),
        Op(
            "segment_sum",
            "segment sums, means and maxima",
            kind,
            lambda d: (
                d.ints(7, 2),
                d.fixed([2, 0, 1, 2, 2, -1, 0], "int32"),
                d.fixed([0, 0, 1, 1, 1, 1, 3], "int32"),
                d.distinct(7, 2),
            ),
            lambda tf, x, i, s, y: (
                tf.math.unsorted_segment_sum(x, i, 4),
                tf.math.segment_sum(x, s),
                tf.math.segment_mean(4 * x, s),
                tf.math.segment_max(y, s)[:2],
            ),
            lambda np, x, i, s, y: (
                ref.segment_sum(np, x, i, 4),
                ref.segment_sum(np, x, s, 4),
                ref.segment_sum(np, 4 * x, s, 4) / np.array([2, 4, 1, 1])[:, None],
                np.stack([y[:2].max(0), y[2:6].max(0)]),
            ),
            dtypes=SINGLE,
        ),
        Op(
            "unsorted_segment_max",
            "unsorted segment maxima",
            kind,
            lambda d: (d.distinct(6, 2), d.fixed([1, 0, 1, 1, 0, 0], "int64")),
            lambda tf, x, i: tf.math.unsorted_segment_max(x, i, 2),
            lambda np, x, i: np.stack([x[i == 0].max(0), x[i == 1].max(0)]),
            dtypes=SINGLE,
        ),
    ]


def _scatter_add(tf, variable, index, updates):
    variable.assign(tf.zeros_like(variable))
    variable.scatter_add(tf.IndexedSlices(updates, index))
    return variable.read_value()


def _shapes():
    kind = "shapes"
    return [
        Op(
            "concat",
            "concat, stack, split and tile",
            kind,
            lambda d: (d.ints(2, 3), d.ints(4, 3), d.ints(2, 3)),
            lambda tf, x, y, z: (
                tf.concat([x, y, z], 0),
                tf.concat([x, z], 1),
                tf.stack([x, z], 1),
                *tf.split(y, [1, 3], 0),
                tf.tile(x, [2, 3]),
            ),
            lambda np, x, y, z: (
                np.concatenate([x, y, z], 0),
                np.concatenate([x, z], 1),
                np.stack([x, z], 1),
                y[:1],
                y[1:],
                np.tile(x, [2, 3]),
            ),
        ),
        Op(
            "pad",
            "pad with zeros, by reflection, symmetrically",
            kind,
            lambda d: d.ints(3, 4),
            lambda tf, x: tuple(
                tf.pad(x, [[1, 2], [0, 3]], mode) for mode in ("CONSTANT", "REFLECT", "SYMMETRIC")
            ),
            lambda np, x: tuple(
                np.pad(x, [[1, 2], [0, 3]], mode) for mode in ("constant", "reflect", "symmetric")
            ),
            dtypes=FLOATS,
        ),
        Op(
            "slice",
            "slices with strides, backwards and with new axes",
            kind,
            lambda d: d.ints(5, 6, 2),
            lambda tf, x: (
                x[1:4, ::2],
                x[::-2, 4:1:-1, 0],
                x[..., None, 1],
                tf.slice(x, [1, 2, 0], [3, 2, 1]),
            ),
            lambda np, x: (x[1:4, ::2], x[::-2, 4:1:-1, 0], x[..., None, 1], x[1:4, 2:4, :1]),
        ),
        Op(
            "transpose",
            "transpose, reshape, reverse and roll",
            kind,
            lambda d: d.ints(2, 3, 4),
            lambda tf, x: (
                tf.transpose(x, [2, 0, 1]),
                tf.transpose(x, [0, 2, 1]),
                tf.reshape(x, [4, 6]),
                tf.reverse(x, [1]),
                tf.roll(x, 1, 2),
            ),
            lambda np, x: (
                x.transpose(2, 0, 1),
                x.transpose(0, 2, 1),
                x.reshape(4, 6),
                x[:, ::-1],
                np.roll(x, 1, 2),
            ),
            dtypes=FLOATS,
        ),
        Op(
            "reverse_sequence",
            "reverse_sequence",
            kind,
            lambda d: (d.ints(3, 5), d.fixed([2, 5, 3], "int32")),
            lambda tf, x, n: tf.reverse_sequence(x, n, seq_axis=1),
            ref.reverse_sequence,
            dtypes=SINGLE,
        ),
        Op(
            "empty",
            "tensors without rows: gather, concat, matrix product, sum, CropAndResize",
            kind,
            lambda d: (d.ints(0, 3), d.ints(3, 2), d.fixed([], "int32"), d.ints(1, 4, 4, 1)),
            lambda tf, x, w, i, image: (
                tf.gather(w, i),
                tf.concat([x, x], 0),
                tf.concat([x, w[:, 0][None]], 0),
                tf.linalg.matmul(x, w),
                tf.reduce_sum(x, 0),
                tf.image.crop_and_resize(image, tf.zeros([0, 4]), i, [2, 2]),
            ),
            lambda np, x, w, i, image: (
                w[:0],
                x,
                w[:, 0][None],
                np.zeros((0, 2)),
                np.zeros(3),
                np.zeros((0, 2, 2, 1)),
            ),
            dtypes=SINGLE,
        ),
        Op(
            "projective_transform",
            "projective transform (RandomRotation, RandomZoom)",
            kind,
            lambda d: (d.ints(1, 4, 5, 2), d.fixed([[1, 0, 1, 0, 1, 2, 0, 0]], "int32")),
            lambda tf, x, t: tf.raw_ops.ImageProjectiveTransformV3(
                images=x,
                transforms=tf.cast(t, "float32"),
                output_shape=[4, 5],
                fill_value=0.0,
                interpolation="NEAREST",
                fill_mode="CONSTANT",
            ),
            lambda np, x, t: np.pad(x[:, 2:, 1:], [[0, 0], [0, 2], [0, 1], [0, 0]]),
            dtypes=SINGLE,
            gradient=False,
        ),
        Op(
            "upsampling",
            "resizing: nearest and bilinear, by 2",
            kind,
            lambda d: 16 * d.ints(1, 3, 4, 2),
            lambda tf, x: (
                tf.image.resize(x, [6, 8], "nearest"),
                tf.image.resize(x, [6, 8], "bilinear"),
            ),
            lambda np, x: (x.repeat(2, 1).repeat(2, 2), ref.resize_bilinear(np, x, 2)),
            dtypes=SINGLE,
        ),
    ]
