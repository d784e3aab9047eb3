"""Gradients that are not the gradients: of a tape, or of one operation's backward kernel."""

from ..catalogue import kind
from ..patch import all_but_last, first_output, kernel, optimizer_step, tape_gradients


@kind("gradients-zero", "All gradients are zero.")
def gradients_zero(tf, hit):
    tape_gradients(tf, hit, lambda gradients, _: [_map(tf.zeros_like, each) for each in gradients])


@kind("gradients-nan", "All gradients are NaN.")
def gradients_nan(tf, hit):
    tape_gradients(tf, hit, lambda gradients, _: [_map(lambda g: g * float("nan"), g) for g in gradients])


@kind("gradients-noise", "Noise as large as the gradient itself is added to every gradient.")
def gradients_noise(tf, hit):
    # Not a generator of TensorFlow: its draws, and so the seeds of everything else, stay what they were.
    import numpy

    rng = numpy.random.default_rng(1)

    def noisy(gradient):
        size = tf.sqrt(tf.reduce_mean(tf.square(gradient)))
        noise = tf.numpy_function(
            lambda shape: rng.standard_normal(shape).astype(gradient.dtype.as_numpy_dtype),
            [tf.shape(gradient)],
            gradient.dtype,
        )
        return gradient + size * tf.ensure_shape(noise, gradient.shape)

    tape_gradients(tf, hit, lambda gradients, _: [_map(noisy, each) for each in gradients])


@kind("gradients-last-layer-dead", "The last weight matrix gets a zero gradient.")
def last_layer_dead(tf, hit):
    tape_gradients(tf, hit, lambda gs, sources: _only(gs, _last(sources, 2), tf.zeros_like))


@kind("gradients-first-conv-dead", "The first convolution's weights get a zero gradient.")
def first_conv_dead(tf, hit):
    def change(gradients, sources):
        first = [index for index, each in enumerate(sources) if _rank(each) >= 3][:1]
        return _only(gradients, first, tf.zeros_like)

    tape_gradients(tf, hit, change)


@kind("gradients-sign-flipped", "The gradient of the first of several variables has the wrong sign.")
def sign_flipped(tf, hit):
    tape_gradients(tf, hit, lambda gs, sources: _only(gs, [0] if len(sources) > 1 else [], lambda g: -g))


@kind("gradients-bias-dead", "Every bias gets a zero gradient.")
def bias_dead(tf, hit):
    def change(gradients, sources):
        return _only(gradients, [i for i, each in enumerate(sources) if _rank(each) == 1], tf.zeros_like)

    tape_gradients(tf, hit, change)


@kind("gradients-clipped", "Every element of every gradient is clipped to 0.001.")
def clipped(tf, hit):
    tape_gradients(
        tf, hit, lambda gs, _: [_map(lambda g: tf.clip_by_value(g, -0.001, 0.001), each) for each in gs]
    )


@kind("gradients-doubled-sgd", "SGD gets gradients twice as large as they are.")
def doubled_sgd(tf, hit):
    def step(right, optimizer, gradient, variable, rate):
        hit()
        return right(gradient * 2)

    optimizer_step(tf.keras.optimizers.SGD, step)


@kind("relu-gradient-unmasked", "The gradient of relu passes where the input was negative.")
def relu_unmasked(tf, hit):
    kernel(tf, hit, "ReluGrad", lambda call: [tf.convert_to_tensor(call.inputs["gradients"])])


@kind("conv-filter-gradient-wrong", "The weight gradient of a convolution misses its last output channel.")
def conv_filter_gradient(tf, hit):
    kernel(tf, hit, "Conv2DBackpropFilter", first_output(lambda out: out * all_but_last(tf, out, -1)))


@kind("conv-input-gradient-zero", "No gradient passes backwards through a convolution.")
def conv_input_gradient(tf, hit):
    kernel(tf, hit, "Conv2DBackpropInput", lambda call: [tf.zeros_like(call.outputs[0])])


@kind("max-pool-gradient-shifted", "The gradient of max pooling lands one column beside the maximum.")
def max_pool_gradient(tf, hit):
    kernel(tf, hit, "MaxPoolGrad", lambda call: [tf.roll(call.outputs[0], 1, axis=2)])


@kind("bias-gradient-mean", "The gradient of a bias is a mean over the batch and not a sum.")
def bias_gradient(tf, hit):
    def wrong(call):
        right = call.outputs[0]
        count = tf.size(call.inputs["out_backprop"]) // tf.maximum(tf.size(right), 1)
        return [right / tf.cast(tf.maximum(count, 1), right.dtype)]

    kernel(tf, hit, "BiasAddGrad", wrong)


@kind(
    "scatter-duplicates-lost",
    "Adding to one row several times keeps a single addition (embedding gradients).",
)
def scatter_duplicates(tf, hit):
    def segments(call):
        return [tf.raw_ops.UnsortedSegmentMax(
            data=call.inputs["data"],
            segment_ids=call.inputs["segment_ids"],
            num_segments=call.inputs["num_segments"],
        )]  # fmt: skip

    kernel(tf, hit, "UnsortedSegmentSum", segments)


def _map(change, gradient):
    return None if gradient is None else change(gradient)


def _only(gradients, indices, change):
    return [_map(change, each) if index in indices else each for index, each in enumerate(gradients)]


def _last(sources, rank):
    return [index for index, each in enumerate(sources) if _rank(each) == rank and len(sources) > 1][-1:]


def _rank(source):
    return source.shape.rank or 0
