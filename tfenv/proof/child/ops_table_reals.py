"""S1's rows for operations on real numbers, against float64 within a tolerance.

``ROUNDED``: exponentials, logarithms, roots. Single precision errs by about 1e-6 relative to the largest
result, fast-math versions on GPUs by about 1e-5, and 10-bit rounding (TensorFloat-32) by 5e-4: 2e-3 leaves a
factor of four beyond that, and every confirmed wrong result was of the size of the result itself.
``PRODUCTS``: also real-valued matrix products, whose factors some devices round to 8 bits (bfloat16): 4e-3
each, and up to four of them in a row, so 5e-2.
"""

from __future__ import annotations

from . import ops_reference as ref
from .ops import Op

SINGLE = ("float32",)
ROUNDED = 2e-3
PRODUCTS = 5e-2
EPSILON = 0.125


def real_rows():
    """All rows of this module."""
    return [*_losses(), *_functions(), *_normalisation(), *_attention(), *_recurrent()]


def _losses():
    kind = "losses"
    return [
        Op(
            "softmax_cross_entropy",
            "softmax cross-entropy",
            kind,
            lambda d: (
                d.eighths(3, 5),
                d.fixed([[8, 0, 0, 0, 0], [2, 2, 2, 2, 0], [0, 0, 4, 1, 3]], "int32"),
            ),
            lambda tf, x, t: tf.nn.softmax_cross_entropy_with_logits(tf.cast(t, x.dtype) / 8, x),
            lambda np, x, t: ref.cross_entropy(np, x, t / 8),
            dtypes=SINGLE,
            tolerance=ROUNDED,
            core=True,
        ),
        Op(
            "sparse_softmax_cross_entropy",
            "softmax cross-entropy with class numbers",
            kind,
            lambda d: (d.eighths(3, 5), d.index(3, below=5)),
            lambda tf, x, i: tf.nn.sparse_softmax_cross_entropy_with_logits(i, x),
            lambda np, x, i: ref.cross_entropy(np, x, np.eye(5)[i]),
            dtypes=SINGLE,
            tolerance=ROUNDED,
        ),
        Op(
            "softmax",
            "softmax and log_softmax",
            kind,
            lambda d: (d.eighths(3, 7), d.eighths(2, 3, 4)),
            lambda tf, x, y: (tf.nn.softmax(x), tf.nn.log_softmax(x), tf.nn.softmax(y)),
            lambda np, x, y: (ref.softmax(np, x), np.log(ref.softmax(np, x)), ref.softmax(np, y)),
            dtypes=SINGLE,
            tolerance=ROUNDED,
        ),
        Op(
            "sigmoid_cross_entropy",
            "sigmoid cross-entropy",
            kind,
            lambda d: (d.eighths(4, 3, high=4), d.index(4, 3, below=2)),
            lambda tf, x, t: tf.nn.sigmoid_cross_entropy_with_logits(tf.cast(t, x.dtype), x),
            lambda np, x, t: np.log(1 + np.exp(x)) - x * t,
            dtypes=SINGLE,
            tolerance=ROUNDED,
        ),
    ]


def _functions():
    kind = "functions"
    return [
        Op(
            "sigmoid",
            "sigmoid and tanh",
            kind,
            lambda d: d.eighths(24, high=6),
            lambda tf, x: (tf.sigmoid(x), tf.tanh(x)),
            lambda np, x: (ref.sigmoid(np, x), np.tanh(x)),
            dtypes=SINGLE,
            tolerance=ROUNDED,
            core=True,
        ),
        Op(
            "functions",
            "exp, log, sqrt, rsqrt, softplus, erf, pow, division",
            kind,
            lambda d: (d.eighths(24, high=6), abs(d.eighths(24)) + 0.5),
            lambda tf, x, y: (
                tf.exp(x),
                tf.math.log(y),
                tf.sqrt(y),
                tf.math.rsqrt(y),
                tf.math.softplus(x),
                tf.math.erf(x),
                tf.pow(y, 1.5),
                x / y,
            ),
            lambda np, x, y: (
                np.exp(x),
                np.log(y),
                np.sqrt(y),
                1 / np.sqrt(y),
                np.log(1 + np.exp(x)),
                ref.error_function(np, x),
                y**1.5,
                x / y,
            ),
            dtypes=SINGLE,
            tolerance=ROUNDED,
        ),
        Op(
            "activations",
            "elu, selu, gelu, swish, softsign",
            kind,
            lambda d: d.eighths(11),
            lambda tf, x: (
                tf.nn.elu(x),
                tf.nn.selu(x),
                tf.nn.gelu(x),
                tf.nn.gelu(x, approximate=True),
                tf.nn.silu(x),
                tf.nn.softsign(x),
            ),
            lambda np, x: (
                np.where(x > 0, x, np.exp(x) - 1),
                1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * (np.exp(x) - 1)),
                gelu(np, x),
                0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
                x * ref.sigmoid(np, x),
                x / (1 + np.abs(x)),
            ),
            dtypes=SINGLE,
            tolerance=ROUNDED,
        ),
    ]


def gelu(np, x):
    """x times the normal distribution function at x."""
    return 0.5 * x * (1 + ref.error_function(np, x / 2**0.5))


def _normalisation():
    kind = "normalisation"
    return [
        Op(
            "batch_norm",
            "BatchNorm, training",
            kind,
            lambda d: (d.distinct(2, 2, 4, 2) / 8, d.nonzero(2), d.ints(2)),
            lambda tf, x, scale, offset: tf.compat.v1.nn.fused_batch_norm(
                x, scale, offset, epsilon=EPSILON, is_training=True
            )[0],
            lambda np, x, scale, offset: ref.batch_norm(np, x, scale, offset, EPSILON)[0],
            dtypes=SINGLE,
            tolerance=ROUNDED,
        ),
        Op(
            "batch_norm_statistics",
            "BatchNorm, training: batch mean and variance",
            kind,
            lambda d: (d.distinct(2, 2, 4, 2) / 8, d.nonzero(2), d.ints(2)),
            lambda tf, x, scale, offset: tf.compat.v1.nn.fused_batch_norm(
                x, scale, offset, epsilon=EPSILON, is_training=True
            )[1:],
            lambda np, x, scale, offset: ref.batch_norm(np, x, scale, offset, EPSILON)[1:],
            dtypes=SINGLE,
            tolerance=ROUNDED,
            gradient=False,
        ),
        Op(
            "batch_norm_inference",
            "BatchNorm, inference",
            kind,
            lambda d: (d.ints(2, 3, 3, 2), d.nonzero(2), d.ints(2), d.index(2, below=3), d.index(2, below=4)),
            lambda tf, x, scale, offset, mean, variance: tf.compat.v1.nn.fused_batch_norm(
                x,
                scale,
                offset,
                mean=tf.cast(mean, "float32"),
                variance=tf.cast(variance, "float32"),
                epsilon=EPSILON,
                is_training=False,
            )[0],
            lambda np, x, scale, offset, mean, variance: (
                (x - mean) / np.sqrt(variance + EPSILON) * scale + offset
            ),
            dtypes=SINGLE,
            tolerance=ROUNDED,
        ),
        Op(
            "batch_norm_layer",
            "BatchNormalization, training: output and moving mean",
            kind,
            lambda d: (
                d.distinct(2, 2, 4, 2) / 8,
                d.nonzero(2),
                d.ints(2),
                d.fixed([0, 0], "float64"),
                d.fixed([1, 1], "float64"),
            ),
            _batch_norm_layer,
            lambda np, x, scale, offset, mean, variance: (
                ref.batch_norm(np, x, scale, offset, EPSILON)[0],
                x.mean((0, 1, 2)) / 2,
            ),
            dtypes=SINGLE,
            tolerance=ROUNDED,
            gradient=False,
            layer=lambda keras: keras.layers.BatchNormalization(momentum=0.5, epsilon=EPSILON),
            weights=4,
        ),
        Op(
            "separable_batch_norm",
            "separable convolution, then BatchNorm",
            kind,
            lambda d: (
                d.ints(2, 4, 4, 2),
                d.nonzero(3, 3, 2, 1),
                d.nonzero(1, 1, 2, 3),
                d.nonzero(3),
                d.ints(3),
            ),
            lambda tf, x, k, p, scale, offset: tf.compat.v1.nn.fused_batch_norm(
                tf.nn.separable_conv2d(x, k, p, [1, 1, 1, 1], "SAME"),
                scale,
                offset,
                epsilon=EPSILON,
                is_training=True,
            )[0],
            lambda np, x, k, p, scale, offset: ref.batch_norm(
                np, ref.convolution(np, ref.depthwise(np, x, k, same=True), p), scale, offset, EPSILON
            )[0],
            dtypes=SINGLE,
            tolerance=ROUNDED,
        ),
    ]


def _batch_norm_layer(layer, x):
    if layer.built:
        layer.moving_mean.assign([0.0, 0.0])
    output = layer(x, training=True)
    return output, layer.moving_mean + 0.0


def _attention():
    kind = "attention"
    rows = [
        Op(
            f"attention{suffix}",
            f"attention: einsum, softmax, mask with {low:g}",
            kind,
            lambda d: (
                *(d.eighths(2, 4, 3) for _ in range(3)),
                d.fixed([[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [1, 1, 1, 1]], "int32"),
            ),
            _attention_with(low),
            lambda np, q, k, v, mask, low=low: ref.attention(np, q, k, v, mask, low),
            dtypes=SINGLE,
            tolerance=PRODUCTS,
        )
        for suffix, low in (("", -1e9), ("_infinite", float("-inf")))
    ]
    return [
        *rows,
        Op(
            "multi_head_attention",
            "MultiHeadAttention with a mask",
            kind,
            lambda d: (
                d.eighths(1, 4, 5, high=1),
                d.fixed([[[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [1, 1, 1, 1]]], "int32"),
                *(d.eighths(*shape, high=1) for _ in range(3) for shape in ((5, 2, 3), (2, 3))),
                d.eighths(2, 3, 5, high=1),
                d.eighths(5, high=1),
            ),
            lambda layer, x, mask: layer(x, x, attention_mask=mask > 0),
            ref.multi_head_attention,
            dtypes=SINGLE,
            tolerance=PRODUCTS,
            gradient=False,  # S4.attention has it
            layer=lambda keras: keras.layers.MultiHeadAttention(num_heads=2, key_dim=3),
            weights=8,
        ),
    ]


def _attention_with(low):
    def compute(tf, query, key, value, mask):
        scores = tf.einsum("btc,bsc->bts", query, key) * query.shape[-1] ** -0.5
        scores = tf.where(mask > 0, scores, scores + low)
        return tf.einsum("bts,bsc->btc", tf.nn.softmax(scores), value)

    return compute


def _recurrent():
    # Right-padded, so that GPUs use their own kernel for whole sequences.
    mask = [[1, 1, 1, 1], [1, 1, 1, 0], [1, 1, 0, 0]]
    units, features = 3, 2

    def inputs(gates, *bias):
        return lambda d: (
            d.eighths(3, 4, features, high=1),
            d.fixed(mask, "int32"),
            d.eighths(features, gates * units, high=1),
            d.eighths(units, gates * units, high=1),
            d.eighths(*bias, gates * units, high=1),
        )

    def row(name, title, layer, reference, draw, weights=3, **more):
        return Op(
            name,
            title,
            "recurrent",
            draw,
            lambda layer, x, mask: layer(x, mask=mask > 0),
            lambda np, x, mask, *weights: reference(np, x, mask > 0, *weights),
            dtypes=SINGLE,
            tolerance=PRODUCTS,
            gradient=False,  # S4.lstm and S4.gru have them
            layer=layer,
            weights=weights,
            **more,
        )

    def both_ways(np, x, mask, *weights):
        # Backwards, the padding comes first and leaves the state at zero.
        forwards = ref.lstm(np, x, mask, *weights[:3])
        return np.concatenate([forwards, ref.lstm(np, x[:, ::-1], mask[:, ::-1], *weights[3:])], 1)

    return [
        row("lstm", "LSTM with a mask", lambda k: k.layers.LSTM(units), ref.lstm, inputs(4)),
        row("gru", "GRU with a mask", lambda k: k.layers.GRU(units), ref.gru, inputs(3, 2)),
        row(
            "simple_rnn",
            "SimpleRNN with a mask",
            lambda k: k.layers.SimpleRNN(units),
            ref.simple_rnn,
            inputs(1),
            traced=False,  # loops cost most to trace, and the two above are
        ),
        row(
            "bidirectional",
            "bidirectional LSTM with a mask",
            lambda k: k.layers.Bidirectional(k.layers.LSTM(units)),
            both_ways,
            lambda d: (*inputs(4)(d), *inputs(4)(d)[2:]),
            weights=6,
            traced=False,
        ),
    ]
