"""Training that begins well."""

from ..catalogue import kind
from ..patch import optimizer_step

LATE = 250  # steps of one optimizer


@kind("late-divergence", "After 250 steps of an optimizer its steps have the wrong sign: the loss climbs.")
def late_divergence(tf, hit):
    _late(tf, hit, lambda gradient: -3.0 * gradient)


@kind("late-nan", "After 250 steps of an optimizer gradients are NaN.")
def late_nan(tf, hit):
    _late(tf, hit, lambda gradient: gradient * float("nan"))


def _late(tf, hit, change):
    def step(right, optimizer, gradient, variable, rate):
        hit()
        late = tf.convert_to_tensor(optimizer.iterations) >= LATE
        return right(tf.cond(late, lambda: change(gradient), lambda: gradient))

    for optimizer in (tf.keras.optimizers.SGD, tf.keras.optimizers.Adam):
        optimizer_step(optimizer, step)
