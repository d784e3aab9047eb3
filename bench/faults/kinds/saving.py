"""Models that come back other than they were saved."""

from ..catalogue import kind
from ..patch import around, around_method


@kind("weights-not-loaded", "load_weights and load_model leave new initial weights.")
def weights_not_loaded(tf, hit):
    def load_weights(right, self, *args, **kwargs):
        hit()
        return

    def load_model(right, *args, **kwargs):
        hit()
        model = right(*args, **kwargs)
        model.set_weights([_other(value) for value in model.get_weights()])
        return model

    around_method(tf.keras.Model, "load_weights", load_weights)
    _around_load(tf, load_model)


@kind("last-layer-lost", "The last layer of a loaded model is zero.")
def last_layer_lost(tf, hit):
    def change(model):
        values = model.get_weights()
        model.set_weights([*values[:-2], *(value * 0 for value in values[-2:])])

    _around_loads(tf, hit, change)


@kind("weights-rounded", "Weights come back in half precision.")
def weights_rounded(tf, hit):
    def change(model):
        values = model.get_weights()
        model.set_weights([value.astype("float16").astype(value.dtype) for value in values])

    _around_loads(tf, hit, change)


@kind("layers-reordered", "The columns of the first loaded weight are in another order.")
def layers_reordered(tf, hit):
    def change(model):
        first, *rest = model.get_weights()
        model.set_weights([first[..., ::-1], *rest])

    _around_loads(tf, hit, change)


@kind("optimizer-state-lost", "A loaded model has forgotten the state of its optimizer.")
def optimizer_state_lost(tf, hit):
    def load_model(right, *args, **kwargs):
        model = right(*args, **kwargs)
        if getattr(model, "optimizer", None) is not None:
            hit()
            variables = model.optimizer.variables
            for variable in variables() if callable(variables) else variables:
                if "learning_rate" not in str(getattr(variable, "name", "")):
                    variable.assign(variable * 0)
        return model

    _around_load(tf, load_model)


@kind("save-loses-last-variable", "What is saved has zeros for the last variable.")
def save_loses_last(tf, hit):
    def save(right, self, *args, **kwargs):
        hit()
        values = self.get_weights()
        self.set_weights([*values[:-1], values[-1] * 0])
        try:
            return right(self, *args, **kwargs)
        finally:
            self.set_weights(values)

    around_method(tf.keras.Model, "save", save)
    around_method(tf.keras.Model, "save_weights", save)


def _around_loads(tf, hit, change):
    def load_weights(right, self, *args, **kwargs):
        hit()
        result = right(self, *args, **kwargs)
        change(self)
        return result

    def load_model(right, *args, **kwargs):
        hit()
        model = right(*args, **kwargs)
        change(model)
        return model

    around_method(tf.keras.Model, "load_weights", load_weights)
    _around_load(tf, load_model)


def _around_load(tf, load_model):
    for name in ("models", "saving"):
        owner = getattr(tf.keras, name, None)  # tf.keras of Keras 3 has no saving
        if owner is not None:
            around(owner, "load_model", load_model)


def _other(value):
    """The same numbers in another order: variances stay positive."""
    import numpy

    return numpy.random.default_rng(1).permutation(value.ravel()).reshape(value.shape)
