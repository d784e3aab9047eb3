"""Numbers reported about training that are not true."""

from ..catalogue import kind
from ..patch import around_method


@kind("auc-constant", "AUC is always 0.5.")
def auc_constant(tf, hit):
    def result(right, self):
        hit()
        return tf.zeros_like(right(self)) + 0.5

    around_method(tf.keras.metrics.AUC, "result", result)


@kind("accuracy-off", "Accuracy metrics report one tenth less.")
def accuracy_off(tf, hit):
    def result(right, self):
        hit()
        return right(self) * 0.9

    names = ("BinaryAccuracy", "CategoricalAccuracy", "SparseCategoricalAccuracy", "Accuracy")
    for owner in {_owner(getattr(tf.keras.metrics, name), "result") for name in names}:
        around_method(owner, "result", _only(names, result))


@kind("metrics-never-reset", "Metrics keep their state from one epoch to the next.")
def metrics_never_reset(tf, hit):
    around_method(tf.keras.metrics.Metric, "reset_state", lambda right, self: hit())
    around_method(tf.keras.metrics.AUC, "reset_state", lambda right, self: hit())


@kind("loss-reported-first", "``fit`` reports a tenth of its loss.")
def loss_reported(tf, hit):
    def train_step(right, self, data):
        hit()
        logs = right(self, data)
        return {name: value * 0.1 if name == "loss" else value for name, value in logs.items()}

    around_method(tf.keras.Model, "train_step", train_step)


def _owner(cls, name):
    return next(owner for owner in cls.__mro__ if name in vars(owner))


def _only(names, replacement):
    """Applies to metrics of these classes; the function they share belongs to others too."""

    def result(right, self):
        return replacement(right, self) if type(self).__name__ in names else right(self)

    return result
