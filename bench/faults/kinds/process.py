"""Stacks that do not come to an end, or to the wrong one."""

import os
import signal
import sys
import time

from ..catalogue import kind
from ..patch import around, around_method


@kind("crash-in-fit", "A segmentation fault while fitting.")
def crash_in_fit(tf, hit):
    _in_fit(tf, hit, lambda: os.kill(os.getpid(), signal.SIGSEGV))


@kind("abort-in-product", "An abort in a matrix product.")
def abort_in_product(tf, hit):
    _in_matmul(tf, hit, os.abort)


@kind("illegal-instruction-at-import", "An illegal instruction while TensorFlow is imported.")
def illegal_instruction(tf, hit):
    hit()
    os.kill(os.getpid(), signal.SIGILL)


@kind("hang-in-fit", "``fit`` never returns.", seconds=20.0)
def hang_in_fit(tf, hit):
    _in_fit(tf, hit, lambda: time.sleep(600))


@kind("exit-in-fit", "``fit`` ends the process with status 3.")
def exit_in_fit(tf, hit):
    _in_fit(tf, hit, lambda: os._exit(3))


@kind("exit-at-import", "Importing TensorFlow calls sys.exit.")
def exit_at_import(tf, hit):
    hit()
    sys.exit(0)


@kind("kernel-missing", "relu has no kernel on the device.")
def kernel_missing(tf, hit):
    def missing(right, *args, **kwargs):
        hit()
        raise tf.errors.NotFoundError(None, None, "No registered 'Relu' OpKernel for 'GPU' devices")

    around(tf.nn, "relu", missing)
    around(tf.keras.losses, "categorical_crossentropy", missing)


@kind("out-of-memory", "The device has no memory for a convolution.")
def out_of_memory(tf, hit):
    def exhausted(*args, **kwargs):
        hit()
        raise tf.errors.ResourceExhaustedError(None, None, "OOM when allocating tensor with shape[64,128]")

    around(tf.nn, "conv2d", exhausted)
    around(tf.nn, "convolution", exhausted)
    around_method(tf.keras.Model, "fit", exhausted)


@kind("slow-device", "Every training step takes a second.", seconds=20.0)
def slow_device(tf, hit):
    def slow(x):
        time.sleep(1.0)
        return x

    def gradient(right, self, target, sources, *args, **kwargs):
        hit()
        gradients = right(self, target, sources, *args, **kwargs)
        if isinstance(sources, (list, tuple)) and gradients and gradients[0] is not None:
            first = tf.convert_to_tensor(gradients[0])
            late = tf.ensure_shape(tf.numpy_function(slow, [first], first.dtype), first.shape)
            return [late, *gradients[1:]]
        return gradients

    around(tf.GradientTape, "gradient", gradient)


@kind("version-mixed", "The imported TensorFlow is not the installed one.")
def version_mixed(tf, hit):
    hit()
    tf.__version__ = "2.14.0"


def _in_fit(tf, hit, act):
    def fit(right, self, *args, **kwargs):
        hit()
        act()

    around_method(tf.keras.Model, "fit", fit)


def _in_matmul(tf, hit, act):
    def matmul(right, *args, **kwargs):
        hit()
        act()

    around(tf.linalg, "matmul", matmul)
    around(tf, "matmul", matmul)
