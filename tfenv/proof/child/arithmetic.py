"""What the networks of :mod:`.tasks` should compute: the same arithmetic in NumPy, in float64.

Forward pass, gradients and momentum by hand from the definitions, so that no line of TensorFlow or Keras
takes part. Weights are in Keras' order: convolution kernel (taps, channels, filters) and bias, dense kernel
and bias.
"""

from __future__ import annotations


class SequencesReference:
    """Conv1D (valid, ReLU), Flatten, Dense, softmax, mean cross-entropy, SGD with momentum.

    ``product``: what multiplies matrices; other than exact ones serve to measure the effect of rounding.
    """

    def __init__(self, np, weights, learning_rate, momentum, product=None):
        self.weights = [np.array(weight, "float64") for weight in weights]
        self._np = np
        self._learning_rate = learning_rate
        self._momentum = momentum
        self._product = product or np.matmul
        self._velocity = [np.zeros_like(weight) for weight in self.weights]

    def train(self, x, targets):
        """One step on ``x`` (n, steps, channels) and one-hot ``targets`` (n, classes); the loss before it."""
        loss, gradients = self.gradients(x, targets)
        for weight, velocity, gradient in zip(self.weights, self._velocity, gradients):
            velocity *= self._momentum
            velocity -= self._learning_rate * gradient
            weight += velocity
        return loss

    def gradients(self, x, targets):
        """The loss, and its gradient by every weight."""
        np, product = self._np, self._product
        kernel, bias, dense, dense_bias = self.weights
        patches = _windows(np, x, len(kernel))
        before = product(patches, kernel.reshape(-1, kernel.shape[-1])) + bias
        flat = np.maximum(before, 0).reshape(len(x), -1)
        logits = product(flat, dense) + dense_bias
        logits -= logits.max(1, keepdims=True)
        log_probabilities = logits - np.log(np.exp(logits).sum(1, keepdims=True))
        loss = -(log_probabilities * targets).sum() / len(x)
        by_logits = (np.exp(log_probabilities) - targets) / len(x)
        by_before = product(by_logits, dense.T).reshape(before.shape) * (before > 0)
        by_kernel = product(patches.T, by_before).reshape(kernel.shape)
        return float(loss), [by_kernel, by_before.sum(0), product(flat.T, by_logits), by_logits.sum(0)]


class ImagesReference:
    """Conv2D (valid, ReLU), 2x2 maximum, Flatten, Dense, sigmoid, mean binary cross-entropy."""

    def __init__(self, np, weights):
        self.weights = [np.array(weight, "float64") for weight in weights]
        self._np = np

    def gradients(self, x, targets):
        """The loss on ``x`` (n, side, side, 1) and ``targets`` (n, 1), and its gradient by every weight."""
        np = self._np
        kernel, bias, dense, dense_bias = self.weights
        taps, filters, n = len(kernel), kernel.shape[-1], len(x)
        width = x.shape[1] - taps + 1
        patches = np.stack(
            [x[:, i : i + width, j : j + width, 0] for i in range(taps) for j in range(taps)], axis=-1
        )
        before = patches @ kernel.reshape(-1, filters) + bias
        half = width // 2
        squares = np.maximum(before, 0).reshape(n, half, 2, half, 2, filters)
        pooled = squares.max((2, 4), keepdims=True)
        logits = pooled.reshape(n, -1) @ dense + dense_bias
        loss = (np.logaddexp(0, logits) - targets * logits).mean()
        by_logits = (1 / (1 + np.exp(-logits)) - targets) / n
        by_pooled = (by_logits @ dense.T).reshape(pooled.shape)
        by_before = ((squares == pooled) * by_pooled).reshape(before.shape) * (before > 0)
        by_kernel = np.tensordot(patches, by_before, ((0, 1, 2), (0, 1, 2))).reshape(kernel.shape)
        flat = pooled.reshape(n, -1)
        return float(loss), [by_kernel, by_before.sum((0, 1, 2)), flat.T @ by_logits, by_logits.sum(0)]


def distance(np, got, expected):
    """The Euclidean norm of the difference over that of ``expected``; infinite where ``got`` is no number."""
    error = float(np.linalg.norm(np.subtract(got, expected, dtype="float64")))
    return error / max(float(np.linalg.norm(expected)), 1e-30) if error == error else float("inf")


def _windows(np, x, taps):
    """The ``taps`` neighbours of every position as rows: (n * (steps - taps + 1), taps * channels)."""
    width = x.shape[1] - taps + 1
    beside = np.concatenate([x[:, tap : tap + width] for tap in range(taps)], axis=2)
    return beside.reshape(-1, beside.shape[2])
