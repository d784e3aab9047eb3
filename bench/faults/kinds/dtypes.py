"""Values computed or kept in another type than asked for."""

from ..catalogue import kind
from ..patch import all_but_last, around_method, kernel
from .kernels import PRODUCTS

CONVOLUTIONS = ("Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter")


@kind("float32-as-float16", "Products of float32 are computed in float16.")
def float32_as_float16(tf, hit):
    kernel(tf, hit, (*PRODUCTS, *CONVOLUTIONS), _computed_as(tf, tf.float32, tf.float16))


@kind("float64-as-float32", "Products of float64 are computed in float32.")
def float64_as_float32(tf, hit):
    kernel(tf, hit, (*PRODUCTS, *CONVOLUTIONS), _computed_as(tf, tf.float64, tf.float32))


@kind("float16-product-wrong", "A product in float16 misses its last term.")
def float16_product(tf, hit):
    def wrong(call):
        if call.outputs[0].dtype != tf.float16:
            return None
        a = tf.convert_to_tensor(call.inputs.get("a", call.inputs.get("x")))
        axis = -2 if call.attrs.get("transpose_a") or call.attrs.get("adj_x") else -1
        return call.again(**{"a" if "a" in call.inputs else "x": a * all_but_last(tf, a, axis)})

    kernel(tf, hit, PRODUCTS, wrong)


@kind("int64-sum-as-int32", "Sums of int64 wrap around at 32 bits.")
def int64_sum(tf, hit):
    def wrong(call):
        if call.outputs[0].dtype != tf.int64:
            return None
        return [tf.cast(tf.bitcast(call.outputs[0], tf.int32)[..., 0], tf.int64)]

    kernel(tf, hit, "Sum", wrong)


@kind("cast-truncates", "Casting float to integer rounds up.")
def cast_rounds_up(tf, hit):
    def wrong(call):
        x = tf.convert_to_tensor(call.inputs["x"])
        if not (x.dtype.is_floating and call.outputs[0].dtype.is_integer):
            return None
        return call.again(x=tf.math.ceil(x))

    kernel(tf, hit, "Cast", wrong)


@kind(
    "mixed-precision-unscaled",
    "Mixed precision forgets to scale the loss up before it scales gradients down.",
)
def mixed_precision(tf, hit):
    def scale(right, self, loss, *args, **kwargs):
        hit()
        return loss

    optimizer = tf.keras.mixed_precision.LossScaleOptimizer
    name = "scale_loss" if hasattr(optimizer, "scale_loss") else "get_scaled_loss"
    for cls in {optimizer, *optimizer.__subclasses__()}:
        if name in vars(cls):
            around_method(cls, name, scale)


def _computed_as(tf, dtype, lower):
    def wrong(call):
        if call.outputs[0].dtype != dtype:
            return None
        inputs = {name: tf.convert_to_tensor(value) for name, value in call.inputs.items()}
        low = {
            name: tf.cast(value, lower) if value.dtype == dtype else value for name, value in inputs.items()
        }
        call.attrs.pop("T", None)
        return [tf.cast(each, dtype) for each in call.again(**low)]

    return wrong
