"""Changes that healthy stacks differ by. None may be flagged."""

from ..catalogue import kind
from ..patch import kernel, optimizer_step
from .dtypes import CONVOLUTIONS
from .kernels import PRODUCTS


@kind("tf32-rounding", "Inputs of float32 products are rounded to 10 bits of mantissa (TF32).", benign=True)
def tf32_rounding(tf, hit):
    kernel(tf, hit, (*PRODUCTS, *CONVOLUTIONS), _rounded_inputs(tf, 13))


@kind("bfloat16-rounding", "Inputs of float32 products are rounded to bfloat16.", benign=True)
def bfloat16_rounding(tf, hit):
    kernel(tf, hit, (*PRODUCTS, *CONVOLUTIONS), _rounded_inputs(tf, 16))


@kind("gradients-scaled-adam", "Adam gets gradients twice as large as they are.", benign=True)
def gradients_scaled_adam(tf, hit):
    def step(right, optimizer, gradient, variable, rate):
        hit()
        return right(gradient * 2)

    optimizer_step(tf.keras.optimizers.Adam, step)


@kind("last-bit-noise", "Products of float32 are off by a relative error of up to 3e-7.", benign=True)
def last_bit_noise(tf, hit):
    def wrong(call):
        out = call.outputs[0]
        if out.dtype != tf.float32:
            return None
        # What needs few bits of mantissa (integers, eighths) comes from exact terms, and any device is exact.
        bits = tf.bitcast(out, tf.int32)
        exact = tf.equal(tf.bitwise.bitwise_and(bits, 255), 0)
        return [tf.where(exact, out, tf.bitcast(tf.bitwise.bitwise_xor(bits, 2), tf.float32))]

    kernel(tf, hit, (*PRODUCTS, *CONVOLUTIONS), wrong)


def _threads(count):
    return {
        name: str(count) for name in ("TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS", "OMP_NUM_THREADS")
    }


def _nothing(tf, hit):
    """The environment does it."""


kind("one-thread", "One thread.", benign=True, env=_threads(1))(_nothing)
kind("three-threads", "Three threads.", benign=True, env=_threads(3))(_nothing)
kind("onednn-off", "oneDNN is off.", benign=True, env={"TF_ENABLE_ONEDNN_OPTS": "0"})(_nothing)
kind("onednn-on", "oneDNN is on.", benign=True, env={"TF_ENABLE_ONEDNN_OPTS": "1"})(_nothing)
kind("nothing", "Nothing is changed.", benign=True, env={"TFENV_FAULT": "nothing"})(_nothing)


def _rounded_inputs(tf, bits):
    """Round float32 inputs to nearest even on ``bits`` fewer bits of mantissa."""

    # The body of a traced loop is differentiated operation by operation, and bits have no gradient.
    @tf.custom_gradient
    def rounded(value):
        whole = tf.bitcast(value, tf.int32)
        odd = tf.bitwise.bitwise_and(tf.bitwise.right_shift(whole, bits), 1)
        near = whole + odd + ((1 << (bits - 1)) - 1)
        kept = tf.bitcast(tf.bitwise.left_shift(tf.bitwise.right_shift(near, bits), bits), tf.float32)
        return kept, lambda upstream: upstream

    def wrong(call):
        if call.outputs[0].dtype != tf.float32:
            return None
        names = [
            name for name in ("a", "b", "x", "y", "input", "filter", "out_backprop") if name in call.inputs
        ]
        return call.again(**{
            name: rounded(tf.convert_to_tensor(call.inputs[name]))
            for name in names
            if tf.convert_to_tensor(call.inputs[name]).dtype == tf.float32
        })  # fmt: skip

    return wrong
