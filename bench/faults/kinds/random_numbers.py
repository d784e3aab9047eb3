"""Random numbers that are not random, not repeatable, or of another distribution."""

from ..catalogue import kind
from ..patch import around, around_method, first_output, kernel

UNIFORM = ("RandomUniform", "StatelessRandomUniform", "StatelessRandomUniformV2", "StatefulUniform")
NORMAL = (
    "RandomStandardNormal",
    "StatelessRandomNormal",
    "StatelessRandomNormalV2",
    "StatefulStandardNormalV2",
)
TRUNCATED = (
    "TruncatedNormal",
    "StatelessTruncatedNormal",
    "StatelessTruncatedNormalV2",
    "StatefulTruncatedNormal",
)
INTEGERS = (
    "RandomUniformInt",
    "StatelessRandomUniformInt",
    "StatelessRandomUniformIntV2",
    "StatefulUniformInt",
)


@kind("random-constant", "Random floats are all the same constant.")
def random_constant(tf, hit):
    kernel(tf, hit, (*UNIFORM, *NORMAL, *TRUNCATED), first_output(lambda out: tf.ones_like(out) * 0.5))


@kind("random-draw-constant", "All numbers of one draw are equal, though two draws differ.")
def random_draw_constant(tf, hit):
    def wrong(out):
        return tf.ones_like(out) * tf.reshape(out, [-1])[0]

    kernel(tf, hit, (*UNIFORM, *NORMAL, *TRUNCATED), first_output(wrong))


@kind("uniform-repeats", "Every uniform draw of the stateful generators repeats the first (Metal).")
def uniform_repeats(tf, hit):
    def wrong(out):
        return tf.random.stateless_uniform(tf.shape(out), [1, 2], dtype=out.dtype)

    kernel(tf, hit, ("RandomUniform", "StatefulUniform"), first_output(wrong))


@kind("normal-repeats", "Every normal draw of the stateful generators repeats the first.")
def normal_repeats(tf, hit):
    def wrong(out):
        return tf.random.stateless_normal(tf.shape(out), [1, 2], dtype=out.dtype)

    kernel(tf, hit, ("RandomStandardNormal", "StatefulStandardNormalV2"), first_output(wrong))


@kind("generator-stuck", "tf.random.Generator does not advance its state.")
def generator_stuck(tf, hit):
    def skip(call):
        return [tf.zeros_like(call.outputs[0])]

    kernel(tf, hit, "RngReadAndSkip", skip)


@kind("stateless-ignores-seed", "Stateless generators give the same numbers for every seed.")
def stateless_ignores_seed(tf, hit):
    def wrong(call):
        names = [name for name in ("seed", "key", "counter") if name in call.inputs]
        return call.again(**{name: tf.zeros_like(call.inputs[name]) for name in names})

    types = [name for name in (*UNIFORM, *NORMAL, *TRUNCATED, *INTEGERS) if name.startswith("Stateless")]
    kernel(tf, hit, types, wrong)


@kind("seed-ignored", "Setting the seed has no effect: every run draws other numbers.")
def seed_ignored(tf, hit):
    import os

    def another(right, seed, *args, **kwargs):
        hit()
        return right(int.from_bytes(os.urandom(3), "little"), *args, **kwargs)

    around(tf.random, "set_seed", another)
    around(tf.keras.utils, "set_random_seed", another)


@kind("uniform-half-range", "Uniform numbers cover the lower half of their range only.")
def uniform_half_range(tf, hit):
    kernel(tf, hit, UNIFORM, first_output(lambda out: out * 0.5))


@kind("uniform-not-uniform", "Uniform numbers are denser near zero.")
def uniform_not_uniform(tf, hit):
    kernel(tf, hit, UNIFORM, first_output(tf.square))


@kind("normal-variance", "Normal numbers have twice their variance.")
def normal_variance(tf, hit):
    kernel(tf, hit, (*NORMAL, *TRUNCATED), first_output(lambda out: out * 2**0.5))


@kind("normal-positive", "Normal numbers have lost their sign.")
def normal_positive(tf, hit):
    kernel(tf, hit, (*NORMAL, *TRUNCATED), first_output(tf.abs))


@kind("integers-miss-last", "Random integers never are the largest of their range.")
def integers_miss_last(tf, hit):
    def wrong(call):
        top = tf.convert_to_tensor(call.inputs["maxval"], call.outputs[0].dtype)
        return [tf.minimum(call.outputs[0], top - 2)]

    kernel(tf, hit, INTEGERS, wrong)


@kind("dropout-never-drops", "Dropout lets everything through.")
def dropout_never_drops(tf, hit):
    def dropout(right, x, *args, **kwargs):
        hit()
        return tf.identity(x)

    _around_dropout(tf, dropout)


@kind("dropout-rate", "Dropout drops with half of the rate asked for.")
def dropout_rate(tf, hit):
    def dropout(right, x, rate, *args, **kwargs):
        hit()
        return right(x, rate / 2, *args, **kwargs)

    _around_dropout(tf, dropout)


@kind("dropout-unscaled", "What dropout keeps is not scaled up.")
def dropout_unscaled(tf, hit):
    def dropout(right, x, rate, *args, **kwargs):
        hit()
        return right(x, rate, *args, **kwargs) * (1 - rate)

    _around_dropout(tf, dropout)


@kind("dropout-same-mask", "Dropout uses the same mask for ever.")
def dropout_same_mask(tf, hit):
    def dropout(right, x, rate, *args, **kwargs):
        hit()
        noise = kwargs.get("noise_shape")
        return same(x, rate, seed=[1, 2], noise_shape=noise)

    same = tf.nn.experimental.stateless_dropout
    _around_dropout(tf, dropout)


@kind("initialisers-constant", "The random initialisers of Keras give a constant.")
def initialisers_constant(tf, hit):
    def initial(right, self, shape, *args, **kwargs):
        hit()
        return tf.zeros_like(right(self, shape, *args, **kwargs)) + 0.05

    around_method(tf.keras.initializers.GlorotUniform, "__call__", initial)
    around_method(tf.keras.initializers.RandomNormal, "__call__", initial)
    around_method(tf.keras.initializers.RandomUniform, "__call__", initial)


@kind("initialisers-wide", "The scaled initialisers of Keras are twice as wide as they should be.")
def initialisers_wide(tf, hit):
    def initial(right, self, *args, **kwargs):
        hit()
        return right(self, *args, **kwargs) * 2.0

    around_method(tf.keras.initializers.GlorotUniform, "__call__", initial)


@kind("shuffle-keeps-order", "tf.random.shuffle returns its input.")
def shuffle_keeps_order(tf, hit):
    kernel(tf, hit, "RandomShuffle", lambda call: [tf.convert_to_tensor(call.inputs["value"])])


def _around_dropout(tf, dropout):
    """Keras 2 (which has modules of its own) and 3 and ``tf.nn`` itself drop through these."""
    for nn in (tf.nn, tf.compat.v2.nn):
        around(nn, "dropout", dropout)
        around(nn.experimental, "stateless_dropout", dropout)
        around(nn.experimental, "general_dropout", dropout)
