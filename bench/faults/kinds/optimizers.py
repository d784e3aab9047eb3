"""Optimizers that do not do what they are named after."""

from ..catalogue import kind
from ..patch import around_method, optimizer_step, slot


@kind("optimizer-idle", "Optimizers apply nothing.")
def optimizer_idle(tf, hit):
    _around_steps(tf, lambda right, optimizer, gradient, variable, rate: hit())


@kind("optimizer-one-variable-idle", "Optimizers never update the first variable they are given.")
def one_variable_idle(tf, hit):
    first = {}

    def step(right, optimizer, gradient, variable, rate):
        if first.setdefault(id(optimizer), id(variable)) == id(variable):
            hit()
            return None
        return right(gradient)

    _around_steps(tf, step)


@kind("optimizer-wrong-order", "Optimizers add the step instead of subtracting it.")
def wrong_sign(tf, hit):
    def step(right, optimizer, gradient, variable, rate):
        hit()
        return right(-gradient)

    _around_steps(tf, step)


@kind("learning-rate-zero", "Optimizers run with a learning rate of zero.")
def learning_rate_zero(tf, hit):
    _learning_rate(tf, hit, 0.0)


@kind("learning-rate-ignored", "Optimizers use a learning rate of 0.001, whatever was asked for.")
def learning_rate_ignored(tf, hit):
    _learning_rate(tf, hit, 0.001)


@kind("sgd-momentum-ignored", "SGD ignores its momentum.")
def momentum_ignored(tf, hit):
    def step(right, optimizer, gradient, variable, rate):
        hit()
        momentum, optimizer.momentum = optimizer.momentum, 0.0
        try:
            return right(gradient)
        finally:
            optimizer.momentum = momentum

    optimizer_step(tf.keras.optimizers.SGD, step)


@kind("sgd-momentum-not-kept", "The momentum of SGD is forgotten after every step.")
def momentum_not_kept(tf, hit):
    def step(right, optimizer, gradient, variable, rate):
        if not optimizer.momentum:
            return right(gradient)
        hit()
        result = right(gradient)
        momentum = slot(optimizer, "momentums", variable)
        momentum.assign(momentum * 0)
        return result

    optimizer_step(tf.keras.optimizers.SGD, step)


@kind("adam-second-moment-kept", "Adam never updates its second moment.")
def second_moment(tf, hit):
    _adam_keeps(tf, hit, "_velocities")


@kind("adam-first-moment-kept", "Adam never updates its first moment.")
def first_moment(tf, hit):
    _adam_keeps(tf, hit, "_momentums")


@kind("adam-no-bias-correction", "Adam does not correct the bias of its moments.")
def no_bias_correction(tf, hit):
    def step(right, optimizer, gradient, variable, rate):
        hit()
        m, v = slot(optimizer, "_momentums", variable), slot(optimizer, "_velocities", variable)
        gradient = tf.cast(gradient, variable.dtype)
        m.assign(m + (gradient - m) * (1 - optimizer.beta_1))
        v.assign(v + (gradient * gradient - v) * (1 - optimizer.beta_2))
        moment, scale = tf.convert_to_tensor(m), tf.sqrt(tf.convert_to_tensor(v)) + optimizer.epsilon
        variable.assign(variable - tf.cast(rate, moment.dtype) * moment / scale)

    optimizer_step(tf.keras.optimizers.Adam, step)


@kind("ema-never-updated", "The exponential moving average of the weights is never updated.")
def ema_never_updated(tf, hit):
    around_method(
        tf.keras.optimizers.Adam,
        "_update_model_variables_moving_average",
        lambda right, *args, **kwargs: hit(),
    )


@kind("ema-is-last", "The exponential moving average is simply the last weight.")
def ema_is_last(tf, hit):
    def update(right, self, variables, *args, **kwargs):
        hit()
        momentum, self.ema_momentum = self.ema_momentum, 0.0
        try:
            return right(self, variables, *args, **kwargs)
        finally:
            self.ema_momentum = momentum

    around_method(tf.keras.optimizers.Adam, "_update_model_variables_moving_average", update)


@kind("rmsprop-unscaled", "RMSprop does not divide by the root of the mean square.")
def rmsprop_unscaled(tf, hit):
    def step(right, optimizer, gradient, variable, rate):
        hit()
        variable.assign(variable - tf.cast(rate, gradient.dtype) * gradient)

    optimizer_step(tf.keras.optimizers.RMSprop, step)


def _around_steps(tf, step):
    optimizers = tf.keras.optimizers
    for name in ("SGD", "Adam", "RMSprop", "AdamW", "Adamax", "Nadam", "Adagrad", "Adadelta"):
        cls = getattr(optimizers, name, None)
        # AdamW is Adam with a decay: patched once, above.
        if cls is not None and "update_step" in vars(cls):
            optimizer_step(cls, step)


def _learning_rate(tf, hit, another):
    def step(right, optimizer, gradient, variable, rate):
        hit()
        return right(gradient, another)

    _around_steps(tf, step)


def _adam_keeps(tf, hit, name):
    """After every step the slot called ``name`` is what it was before."""

    def step(right, optimizer, gradient, variable, rate):
        hit()
        kept = slot(optimizer, name, variable)
        before = tf.identity(tf.convert_to_tensor(kept))
        result = right(gradient)
        kept.assign(before)
        return result

    optimizer_step(tf.keras.optimizers.Adam, step)
