"""The arithmetic of TensorFlow's operations, in plain NumPy, written from their documented definitions.

Shapes are TensorFlow's: batch first, channels last. Every function takes ``np`` first.
"""

from __future__ import annotations

import itertools


def convolution(np, x, kernel, stride=1, dilation=1, same=False):
    """x (N, *space, C) with kernel (*window, C, K) -> (N, *out, K), over any number of space dimensions."""
    x, out = _windows(np, x, kernel.shape[:-2], stride, dilation, same)
    result = np.zeros((x.shape[0], *out, kernel.shape[-1]))
    for tap in itertools.product(*map(range, kernel.shape[:-2])):
        result += _tap(x, tap, out, stride, dilation) @ kernel[tap]
    return result


def transposed_convolution(np, x, kernel, stride):
    """x (N, H, W, C) with kernel (a, b, K, C) -> (N, (H-1)*stride + a, (W-1)*stride + b, K), unpadded."""
    n, height, width, _ = x.shape
    a, b, k, _ = kernel.shape
    result = np.zeros((n, (height - 1) * stride + a, (width - 1) * stride + b, k))
    for i, j in itertools.product(range(a), range(b)):
        rows, columns = slice(i, i + height * stride, stride), slice(j, j + width * stride, stride)
        result[:, rows, columns][:, :height, :width] += x @ kernel[i, j].T
    return result


def depthwise(np, x, kernel, stride=1, same=False):
    """x (N, H, W, C) with kernel (a, b, C, M) -> (N, H', W', C*M)."""
    x, out = _windows(np, x, kernel.shape[:2], stride, 1, same)
    channels, multiplier = kernel.shape[2:]
    result = np.zeros((x.shape[0], *out, channels, multiplier))
    for tap in itertools.product(*map(range, kernel.shape[:2])):
        result += _tap(x, tap, out, stride, 1)[..., None] * kernel[tap]
    return result.reshape(*result.shape[:-2], channels * multiplier)


def pool(np, x, window, stride, reduce, same=False):
    """``reduce`` over windows of x (N, H, W, C); ``same`` pads so that a maximum ignores the padding."""
    x, out = _windows(np, x, (window, window), stride, 1, same, fill=-np.inf)
    taps = [_tap(x, tap, out, stride, 1) for tap in itertools.product(range(window), repeat=2)]
    return reduce(np.stack(taps), axis=0)


def _windows(np, x, window, stride, dilation, same, fill=0.0):
    """x, padded where ``same``, and the size of the output in each space dimension."""
    sizes = x.shape[1 : 1 + len(window)]
    reach = [(width - 1) * dilation + 1 for width in window]
    if same:
        out = [-(-size // stride) for size in sizes]
        total = [max((o - 1) * stride + r - size, 0) for o, r, size in zip(out, reach, sizes)]
        padding = [(0, 0), *((t // 2, t - t // 2) for t in total), (0, 0)]
        x = np.pad(x, padding, constant_values=fill) if any(total) else x
    else:
        out = [(size - r) // stride + 1 for size, r in zip(sizes, reach)]
    return x, out


def _tap(x, tap, out, stride, dilation):
    """What the window's element ``tap`` sees, for every output."""
    starts = [at * dilation for at in tap]
    return x[
        (
            slice(None),
            *(slice(at, at + (size - 1) * stride + 1, stride) for at, size in zip(starts, out)),
        )
    ]


def softmax(np, x):
    """Over the last axis; -inf gives 0."""
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def cross_entropy(np, logits, targets):
    """-sum(targets * log softmax(logits)) over the last axis."""
    shifted = logits - logits.max(-1, keepdims=True)
    return (targets * (np.log(np.exp(shifted).sum(-1, keepdims=True)) - shifted)).sum(-1)


def sigmoid(np, x):
    """1 / (1 + exp(-x))."""
    return 1.0 / (1.0 + np.exp(-x))


def error_function(np, x):
    """erf, elementwise: NumPy has none."""
    import math

    return np.vectorize(math.erf, otypes=["float64"])(x)


def batch_norm(np, x, scale, offset, epsilon):
    """x normalised over all axes but the last; and mean and variance, the latter with n - 1, as TensorFlow
    returns it for the moving average."""
    axes = tuple(range(x.ndim - 1))
    mean, variance = x.mean(axes), x.var(axes)
    count = x.size // x.shape[-1]
    y = (x - mean) / np.sqrt(variance + epsilon) * scale + offset
    return y, mean, variance * count / (count - 1)


def lstm(np, x, mask, kernel, recurrent, bias):
    """Last output of an LSTM, x (N, T, C), mask (N, T); gates in Keras' order: input, forget, cell, output.

    A masked step keeps the state.
    """
    hidden = cell = np.zeros((len(x), len(recurrent)))
    for step in range(x.shape[1]):
        gates = np.split(x[:, step] @ kernel + hidden @ recurrent + bias, 4, axis=1)
        i, f, o = (sigmoid(np, gates[gate]) for gate in (0, 1, 3))
        new = f * cell + i * np.tanh(gates[2])
        keep = mask[:, step, None]
        cell = np.where(keep, new, cell)
        hidden = np.where(keep, o * np.tanh(new), hidden)
    return hidden


def gru(np, x, mask, kernel, recurrent, bias):
    """Last output of a GRU with Keras' ``reset_after``: gates update, reset, candidate; bias (2, 3*units)."""
    hidden = np.zeros((len(x), len(recurrent)))
    for step in range(x.shape[1]):
        z_x, r_x, h_x = np.split(x[:, step] @ kernel + bias[0], 3, axis=1)
        z_h, r_h, h_h = np.split(hidden @ recurrent + bias[1], 3, axis=1)
        z, r = sigmoid(np, z_x + z_h), sigmoid(np, r_x + r_h)
        new = z * hidden + (1 - z) * np.tanh(h_x + r * h_h)
        hidden = np.where(mask[:, step, None], new, hidden)
    return hidden


def simple_rnn(np, x, mask, kernel, recurrent, bias):
    """Last output of a tanh RNN."""
    hidden = np.zeros((len(x), len(recurrent)))
    for step in range(x.shape[1]):
        new = np.tanh(x[:, step] @ kernel + hidden @ recurrent + bias)
        hidden = np.where(mask[:, step, None], new, hidden)
    return hidden


def attention(np, query, key, value, mask, low):
    """Softmax attention, (N, T, C) each, mask (T, S) of 0 and 1: scores where it is 0 get ``low`` added."""
    scores = np.einsum("btc,bsc->bts", query, key) / np.sqrt(query.shape[-1])
    return np.einsum("bts,bsc->btc", softmax(np, np.where(mask == 1, scores, scores + low)), value)


def multi_head_attention(np, x, mask, wq, bq, wk, bk, wv, bv, wo, bo):
    """Keras' MultiHeadAttention of x (N, T, C) with itself; kernels (C, heads, size), last one reversed."""
    query, key, value = (
        np.einsum("btc,chd->bhtd", x, kernel) + bias[:, None]
        for kernel, bias in ((wq, bq), (wk, bk), (wv, bv))
    )
    scores = np.einsum("bhtd,bhsd->bhts", query, key) / np.sqrt(query.shape[-1])
    shares = softmax(np, np.where(mask[:, None] == 1, scores, -np.inf))
    return np.einsum("bhts,bhsd,hdc->btc", shares, value, wo) + bo


def segment_sum(np, data, segments, count):
    """Rows of ``data`` added up by segment number; negative numbers are dropped."""
    result = np.zeros((count, *data.shape[1:]))
    np.add.at(result, segments[segments >= 0], data[segments >= 0])
    return result


def scatter(np, start, index, updates):
    """``start`` with ``updates`` added at rows ``index``, repeated rows adding up."""
    result = np.array(start, "float64")
    np.add.at(result, index, updates)
    return result


def reverse_sequence(np, x, lengths):
    """The first ``lengths[n]`` entries along axis 1 reversed."""
    result = x.copy()
    for row, length in enumerate(lengths):
        result[row, :length] = x[row, :length][::-1]
    return result


def resize_bilinear(np, x, factor):
    """x (N, H, W, C) enlarged by an integer, half-pixel centres, edges clamped."""
    for axis in (1, 2):
        size = x.shape[axis]
        at = np.clip((np.arange(size * factor) + 0.5) / factor - 0.5, 0, size - 1)
        low = np.floor(at).astype(int)
        high = np.minimum(low + 1, size - 1)
        share = (at - low).reshape([-1 if axis == other else 1 for other in range(x.ndim)])
        x = np.take(x, low, axis) * (1 - share) + np.take(x, high, axis) * share
    return x
