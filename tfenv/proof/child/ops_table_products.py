"""S1's rows for convolutions, pooling and matrix products."""

from __future__ import annotations

from . import ops_reference as ref
from .ops import Op

FLOATS = ("float32", "float16")
SINGLE = ("float32",)


def product_rows():
    """All rows of this module, the core of training first."""
    return [*_convolutions(), *_products()]


def _convolutions():
    kind = "convolutions"
    return [
        Op(
            "conv2d",
            "2-D convolution",
            kind,
            lambda d: (d.ints(1, 4, 3, 2), d.ints(2, 2, 2, 3)),
            lambda tf, x, k: tf.nn.conv2d(x, k, 1, "SAME"),
            lambda np, x, k: ref.convolution(np, x, k, same=True),
            core=True,
        ),
        Op(
            "conv1d",
            "1-D convolution",
            kind,
            lambda d: (d.ints(1, 7, 3), d.ints(3, 3, 3)),
            lambda tf, x, k: tf.nn.conv1d(x, k, 2, "VALID"),
            lambda np, x, k: ref.convolution(np, x, k, stride=2),
            core=True,
        ),
        Op(
            "conv2d_odd",
            "2-D convolution, 5 to 7 channels, stride 2",
            kind,
            lambda d: (d.ints(1, 7, 7, 5, low=-1, high=1), d.ints(3, 3, 5, 7, low=-1, high=1)),
            lambda tf, x, k: tf.nn.conv2d(x, k, 2, "SAME"),
            lambda np, x, k: ref.convolution(np, x, k, stride=2, same=True),
        ),
        Op(
            "conv2d_wide",
            "2-D convolution, 16 to 32 channels",
            kind,
            lambda d: (d.ints(1, 8, 8, 16, low=-1, high=1), d.ints(3, 3, 16, 32, low=-1, high=1)),
            lambda tf, x, k: tf.nn.conv2d(x, k, 1, "SAME"),
            lambda np, x, k: ref.convolution(np, x, k, same=True),
        ),
        Op(
            "conv2d_dilated",
            "2-D convolution, dilated",
            kind,
            lambda d: (d.ints(1, 6, 6, 2), d.ints(2, 2, 2, 3)),
            lambda tf, x, k: tf.nn.conv2d(x, k, 1, "VALID", dilations=2),
            lambda np, x, k: ref.convolution(np, x, k, dilation=2),
            gradient=False,  # TensorFlow has none on the CPU
        ),
        Op(
            "conv2d_transpose",
            "transposed convolution",
            kind,
            lambda d: (d.ints(1, 3, 3, 2), d.ints(3, 3, 3, 2)),
            lambda tf, x, k: tf.nn.conv2d_transpose(x, k, [1, 7, 7, 3], 2, "VALID"),
            lambda np, x, k: ref.transposed_convolution(np, x, k, 2),
        ),
        Op(
            "depthwise",
            "depthwise convolution",
            kind,
            lambda d: (d.ints(1, 5, 5, 3), d.ints(3, 3, 3, 2)),
            lambda tf, x, k: tf.nn.depthwise_conv2d(x, k, [1, 1, 1, 1], "SAME"),
            lambda np, x, k: ref.depthwise(np, x, k, same=True),
        ),
        Op(
            "separable",
            "separable convolution",
            kind,
            lambda d: (
                d.ints(1, 4, 4, 2, low=-1, high=1),
                d.ints(2, 2, 2, 2, low=-1, high=1),
                d.ints(1, 1, 4, 3, low=-1, high=1),
            ),
            lambda tf, x, k, p: tf.nn.separable_conv2d(x, k, p, [1, 1, 1, 1], "VALID"),
            lambda np, x, k, p: ref.convolution(np, ref.depthwise(np, x, k), p),
        ),
        Op(
            "conv3d",
            "3-D convolution",
            kind,
            lambda d: (d.ints(1, 3, 4, 3, 2, low=-1, high=1), d.ints(2, 2, 2, 2, 2, low=-1, high=1)),
            lambda tf, x, k: tf.nn.conv3d(x, k, [1] * 5, "VALID"),
            lambda np, x, k: ref.convolution(np, x, k),
            dtypes=FLOATS,
        ),
        Op(
            "max_pool",
            "max pooling",
            kind,
            lambda d: d.distinct(1, 4, 4, 2),
            lambda tf, x: tf.nn.max_pool2d(x, 2, 2, "VALID"),
            lambda np, x: ref.pool(np, x, 2, 2, np.max),
            core=True,
        ),
        Op(
            "max_pool_overlapping",
            "max pooling, overlapping windows",
            kind,
            lambda d: d.distinct(1, 5, 5, 3),
            lambda tf, x: tf.nn.max_pool2d(x, 3, 2, "SAME"),
            lambda np, x: ref.pool(np, x, 3, 2, np.max, same=True),
        ),
        Op(
            "avg_pool",
            "average pooling",
            kind,
            lambda d: 4 * d.ints(1, 4, 6, 3),
            lambda tf, x: tf.nn.avg_pool2d(x, 2, 2, "VALID"),
            lambda np, x: ref.pool(np, x, 2, 2, np.mean),
        ),
    ]


def _products():
    kind = "matrix products"
    return [
        Op(
            "matmul",
            "matrix product",
            kind,
            lambda d: (d.ints(5, 7), d.ints(7, 3)),
            lambda tf, x, w: tf.linalg.matmul(x, w),
            lambda np, x, w: x @ w,
            core=True,
        ),
        Op(
            "bias_add",
            "bias",
            kind,
            lambda d: (d.ints(4, 2, 3), d.ints(3)),
            lambda tf, x, b: tf.nn.bias_add(x, b),
            lambda np, x, b: x + b,
            core=True,
        ),
        Op(
            "relu",
            "ReLU",
            kind,
            lambda d: d.nonzero(5, 7),
            lambda tf, x: tf.nn.relu(x),
            lambda np, x: np.maximum(x, 0),
            core=True,
        ),
        Op(
            "range",
            "products beyond the range of float16",
            kind,
            # Powers of two lose nothing in TensorFloat-32 or bfloat16, whose range is that of float32.
            lambda d: (1024 * d.nonzero(3, 4), 1024 * d.nonzero(4, 2), 1024 * d.nonzero(1, 3, 3, 1)),
            lambda tf, x, w, image: (
                tf.linalg.matmul(x, w),
                tf.nn.conv2d(image, tf.reshape(w, [2, 2, 1, 2]), 1, "VALID"),
            ),
            lambda np, x, w, image: (x @ w, ref.convolution(np, image, w.reshape(2, 2, 1, 2))),
            dtypes=SINGLE,
            gradient=False,
            core=True,
        ),
        Op(
            "double",
            "products in float64",
            kind,
            lambda d: (d.ints(4, 5, low=-40000, high=40000), d.ints(5, 3, low=-40000, high=40000)),
            lambda tf, x, w: tf.linalg.matmul(x, w),
            lambda np, x, w: x @ w,
            dtypes=("float64",),
        ),
        Op(
            "matmul_wide",
            "matrix product, 64 x 96 x 48",
            kind,
            lambda d: (d.ints(64, 96, low=-1, high=1), d.ints(96, 48, low=-1, high=1)),
            lambda tf, x, w: tf.linalg.matmul(x, w),
            lambda np, x, w: x @ w,
        ),
        Op(
            "matmul_transposed",
            "matrix product of transposed matrices",
            kind,
            lambda d: (d.ints(5, 4), d.ints(5, 3), d.ints(6, 3)),
            lambda tf, x, y, z: (
                tf.linalg.matmul(x, y, transpose_a=True),
                tf.linalg.matmul(y, z, transpose_b=True),
            ),
            lambda np, x, y, z: (x.T @ y, y @ z.T),
        ),
        Op(
            "batch_matmul",
            "batched matrix product",
            kind,
            lambda d: (d.ints(2, 3, 5), d.ints(2, 5, 4)),
            lambda tf, x, y: tf.linalg.matmul(x, y),
            lambda np, x, y: x @ y,
        ),
        Op(
            "einsum",
            "einsum",
            kind,
            lambda d: (d.ints(2, 3, 4), d.ints(4, 2, 3), d.ints(2, 5, 4)),
            lambda tf, x, k, y: (tf.einsum("abc,cde->abde", x, k), tf.einsum("bij,bkj->bik", x, y)),
            lambda np, x, k, y: (np.einsum("abc,cde->abde", x, k), np.einsum("bij,bkj->bik", x, y)),
        ),
    ]
