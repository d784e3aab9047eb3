"""Faults of a stack that learns wrongly or not at all: the source of a function ``fault(tf)`` each."""

from __future__ import annotations

GRADIENTS_ZERO = """
def fault(tf):
    right = tf.GradientTape.gradient

    def gradient(self, target, sources, *args, **kwargs):
        gradients = right(self, target, sources, *args, **kwargs)
        return tf.nest.map_structure(tf.zeros_like, gradients)

    tf.GradientTape.gradient = gradient
"""

LABELS_SHUFFLED = """
def fault(tf):
    keras = tf.keras
    fit, loss = keras.Model.fit, keras.losses.categorical_crossentropy

    def shuffled_fit(self, x, y, *args, **kwargs):
        import numpy
        return fit(self, x, numpy.random.permutation(y), *args, **kwargs)

    keras.Model.fit = shuffled_fit
    keras.losses.categorical_crossentropy = lambda y, p: loss(tf.random.shuffle(y), p)
"""

OPTIMIZER_IDLE = """
def fault(tf):
    for owner in tf.keras.optimizers.Optimizer.__mro__:
        for name in ("apply_gradients", "apply"):
            if name in vars(owner):
                setattr(owner, name, lambda self, *args, **kwargs: None)
"""

LEARNING_RATE_ZERO = """
def fault(tf):
    for optimizer in (tf.keras.optimizers.SGD, tf.keras.optimizers.Adam):
        build = optimizer.build

        def idle(self, variables, build=build):
            build(self, variables)
            self.learning_rate = 0.0

        optimizer.build = idle
"""

GRADIENT_NAN = """
def fault(tf):
    right = tf.GradientTape.gradient

    def gradient(self, target, sources, *args, **kwargs):
        gradients = right(self, target, sources, *args, **kwargs)
        return [gradient * float("nan") for gradient in gradients]

    tf.GradientTape.gradient = gradient
"""

CONVOLUTION_CONSTANT = """
def fault(tf):
    from tensorflow.python.ops import nn_ops
    for name in ("conv2d_v2", "convolution_v2", "conv1d_v2"):
        right = getattr(nn_ops, name)
        wrong = lambda *args, right=right, **kwargs: 0.0 * right(*args, **kwargs)
        setattr(nn_ops, name, wrong)
    for nn in (tf.nn, tf.compat.v2.nn):
        nn.conv2d, nn.convolution = nn_ops.conv2d_v2, nn_ops.convolution_v2
"""

KERNEL_MISSING = """
def fault(tf):
    def missing(*args, **kwargs):
        raise tf.errors.NotFoundError(None, None, "No registered 'Relu' OpKernel for 'GPU' devices")
    tf.nn.relu = missing
    tf.keras.losses.categorical_crossentropy = missing
"""

CRASH_WHILE_FITTING = """
def fault(tf):
    import os, signal
    def fit(self, *args, **kwargs):
        os.kill(os.getpid(), signal.SIGSEGV)
    tf.keras.Model.fit = fit
"""

HANG_WHILE_FITTING = """
def fault(tf):
    def fit(self, *args, **kwargs):
        import time
        time.sleep(600)
    tf.keras.Model.fit = fit
"""

VERSION_MIXED = """
def fault(tf):
    tf.__version__ = "2.14.0"
"""
