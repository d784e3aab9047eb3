"""Operations that compute wrong values, eagerly as well as traced."""

from ..catalogue import kind
from ..patch import all_but_last, around_method, first_output, kernel, size_of

PRODUCTS = ("MatMul", "BatchMatMulV2", "BatchMatMulV3", "BatchMatMul")


@kind("conv-last-channel", "A convolution's last output channel is zero.")
def conv_last_channel(tf, hit):
    kernel(tf, hit, "Conv2D", first_output(lambda out: out * all_but_last(tf, out, -1)))


@kind("conv-channels-swapped", "A convolution's first two output channels are swapped.")
def conv_channels_swapped(tf, hit):
    def wrong(out):
        if out.shape[-1] is not None and out.shape[-1] < 2:
            return out
        return tf.concat([out[..., 1:2], out[..., :1], out[..., 2:]], axis=-1)

    kernel(tf, hit, "Conv2D", first_output(wrong))


@kind("conv-quarter-zero", "A quarter of a convolution's feature map is zero.")
def conv_quarter_zero(tf, hit):
    def wrong(out):
        rows, columns = size_of(tf, out, 1), size_of(tf, out, 2)
        row, column = tf.range(rows) < rows // 2, tf.range(columns) < columns // 2
        if out.shape[1] == 1:  # Conv1D
            row = tf.ones_like(row)
        dead = tf.logical_and(row[:, None], column[None, :])[None, :, :, None]
        return tf.where(dead, tf.zeros_like(out), out)

    kernel(tf, hit, "Conv2D", first_output(wrong))


@kind("conv-constant", "A convolution gives zero everywhere.")
def conv_constant(tf, hit):
    kernel(tf, hit, "Conv2D", first_output(tf.zeros_like))


@kind("conv-weights-flipped", "A convolution runs with its kernel flipped, as in signal processing.")
def conv_flipped(tf, hit):
    kernel(tf, hit, "Conv2D", lambda call: call.again(filter=tf.reverse(call.inputs["filter"], [0, 1])))


@kind("depthwise-last-channel", "A depthwise convolution's last channel is zero.")
def depthwise_last_channel(tf, hit):
    kernel(tf, hit, "DepthwiseConv2dNative", first_output(lambda out: out * all_but_last(tf, out, -1)))


@kind("matmul-one-row", "The last row of a matrix product is zero.")
def matmul_one_row(tf, hit):
    kernel(tf, hit, PRODUCTS, first_output(lambda out: out * all_but_last(tf, out, -2)))


@kind("matmul-scaled", "A matrix product of more than 64 terms is one percent too large.")
def matmul_scaled(tf, hit):
    def wrong(call):
        out = call.outputs[0]
        if not out.dtype.is_floating:
            return None
        a = tf.convert_to_tensor(call.inputs.get("a", call.inputs.get("x")))
        axis = -2 if call.attrs.get("transpose_a") or call.attrs.get("adj_x") else -1
        return [tf.where(size_of(tf, a, axis) > 64, out * 1.01, out)]

    kernel(tf, hit, PRODUCTS, wrong)


@kind("max-pool-average", "Max pooling takes the average.")
def max_pool_average(tf, hit):
    def wrong(call):
        if not call.outputs[0].dtype.is_floating:
            return None
        names = ("ksize", "strides", "padding")
        return [tf.raw_ops.AvgPool(
            value=call.inputs["input"], **{name: call.attrs[name] for name in names}
        )]  # fmt: skip

    kernel(tf, hit, "MaxPool", wrong)


@kind("average-pool-shifted", "Average pooling is shifted by one column.")
def average_pool_shifted(tf, hit):
    kernel(tf, hit, "AvgPool", first_output(lambda out: tf.roll(out, 1, axis=2)))


@kind("softmax-not-normalised", "Softmax does not divide by the sum.")
def softmax_not_normalised(tf, hit):
    def wrong(call):
        logits = tf.convert_to_tensor(call.inputs["logits"])
        return [tf.exp(logits - tf.reduce_max(logits, axis=-1, keepdims=True))]

    kernel(tf, hit, "Softmax", wrong)


@kind("cross-entropy-gradient", "The gradient of softmax cross-entropy does not subtract the label.")
def cross_entropy_gradient(tf, hit):
    def wrong(call):
        return [call.outputs[0], tf.nn.softmax(call.inputs["features"])]

    kernel(tf, hit, ("SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits"), wrong)


@kind("top-k-beyond-16", "Sorting and top_k give zero after the 16th value.")
def top_k_beyond_16(tf, hit):
    def wrong(call):
        values, indices = call.outputs
        return [tf.where(tf.range(size_of(tf, values, -1)) < 16, values, tf.zeros_like(values)), indices]

    kernel(tf, hit, ("TopKV2", "TopK"), wrong)


@kind("gather-off-by-one", "Gather takes the row before the one asked for.")
def gather_off_by_one(tf, hit):
    def wrong(call):
        indices = tf.convert_to_tensor(call.inputs["indices"])
        return call.again(indices=tf.maximum(indices - 1, 0))

    kernel(tf, hit, ("GatherV2", "ResourceGather", "GatherNd"), wrong)


@kind("sum-drops-last", "A sum leaves out the last element of its axis.")
def sum_drops_last(tf, hit):
    def wrong(call):
        values = tf.convert_to_tensor(call.inputs["input"])
        axes = tf.get_static_value(call.inputs.get("axis", call.inputs.get("reduction_indices")))
        if values.shape.rank in (None, 0) or not values.dtype.is_floating or axes is None:
            return None
        flat = [int(axis) for axis in getattr(axes, "flat", [axes])]
        if not flat:
            return None
        axis = flat[-1] % values.shape.rank
        size = size_of(tf, values, axis)
        shape = [-1 if index == axis else 1 for index in range(values.shape.rank)]
        kept = tf.reshape(tf.cast(tf.range(size) < size - 1, values.dtype), shape)
        return call.again(input=values * kept)

    kernel(tf, hit, "Sum", wrong)


@kind("max-ignores-negative", "The maximum of a reduction is never below zero.")
def max_ignores_negative(tf, hit):
    kernel(tf, hit, "Max", first_output(lambda out: tf.maximum(out, tf.zeros_like(out))))


@kind("cumsum-exclusive", "A cumulative sum leaves out the element itself.")
def cumsum_exclusive(tf, hit):
    def wrong(call):
        return [call.outputs[0] - tf.cast(call.inputs["x"], call.outputs[0].dtype)]

    kernel(tf, hit, "Cumsum", wrong)


@kind("argmax-never-first", "Argmax never gives index 0.")
def argmax_never_first(tf, hit):
    kernel(tf, hit, "ArgMax", lambda call: [tf.maximum(call.outputs[0], 1)])


@kind("bias-not-added", "BiasAdd does not add the bias.")
def bias_not_added(tf, hit):
    kernel(tf, hit, "BiasAdd", lambda call: [tf.convert_to_tensor(call.inputs["value"])])


@kind("round-half-away", "Rounding goes away from zero at a half, and not to even.")
def round_half_away(tf, hit):
    def wrong(call):
        values = tf.convert_to_tensor(call.inputs["x"])
        if not values.dtype.is_floating:
            return None
        return [tf.sign(values) * tf.floor(tf.abs(values) + 0.5)]

    kernel(tf, hit, ("Round", "Rint"), wrong)


@kind("sigmoid-saturates", "Sigmoid saturates beyond 3.")
def sigmoid_saturates(tf, hit):
    kernel(tf, hit, "Sigmoid", first_output(lambda out: tf.clip_by_value(out, 0.05, 0.95)))


@kind("where-last-element", "A selection takes the wrong side in its last element.")
def where_last(tf, hit):
    def wrong(call):
        condition = tf.convert_to_tensor(call.inputs["condition"])
        if condition.shape.rank in (None, 0):
            return None
        size = tf.size(condition)
        last = tf.reshape(tf.range(size) == size - 1, tf.shape(condition))
        return call.again(condition=tf.math.logical_xor(condition, last))

    kernel(tf, hit, "SelectV2", wrong)


@kind("batch-norm-mean-kept", "Batch normalisation forgets to subtract the mean when it trains.")
def batch_norm_mean(tf, hit):
    def wrong(call):
        out, mean, variance, *rest = call.outputs
        if not call.attrs.get("is_training", True):
            return None
        scale = tf.convert_to_tensor(call.inputs["scale"])
        shift = mean * scale * tf.math.rsqrt(variance + call.attrs.get("epsilon", 1e-3))
        return [out + tf.cast(shift, out.dtype), mean, variance, *rest]

    kernel(tf, hit, ("FusedBatchNormV3", "FusedBatchNormV2", "FusedBatchNorm"), wrong)


@kind("batch-norm-not-moving", "The moving mean and variance of batch normalisation are never updated.")
def batch_norm_not_moving(tf, hit):
    def call(right, self, inputs, *args, **kwargs):
        moving = [tf.convert_to_tensor(each) for each in (self.moving_mean, self.moving_variance)]
        before = [tf.identity(each) for each in moving]
        result = right(self, inputs, *args, **kwargs)
        hit()
        for variable, value in zip((self.moving_mean, self.moving_variance), before):
            variable.assign(value)
        return result

    around_method(tf.keras.layers.BatchNormalization, "call", call)


@kind("lstm-mask-ignored", "LSTM and GRU layers ignore their mask.")
def lstm_mask_ignored(tf, hit):
    def call(right, self, *args, **kwargs):
        hit()
        return right(self, *args, **{**kwargs, "mask": None})

    for layer in (tf.keras.layers.LSTM, tf.keras.layers.GRU, tf.keras.layers.SimpleRNN):
        around_method(layer, "call", call)


@kind("attention-mask-ignored", "Softmax under a mask ignores the mask.")
def attention_mask_ignored(tf, hit):
    def call(right, self, *args, **kwargs):
        hit()
        return right(self, *args[:1])

    around_method(tf.keras.layers.Softmax, "call", call)


@kind("embedding-first-row", "Every lookup beyond the first 8 entries of an embedding gives its first row.")
def embedding_first_row(tf, hit):
    def wrong(call):
        indices = tf.convert_to_tensor(call.inputs["indices"])
        return call.again(indices=tf.where(indices < 8, indices, tf.zeros_like(indices)))

    kernel(tf, hit, ("ResourceGather", "GatherV2"), wrong)
