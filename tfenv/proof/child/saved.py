"""The model that S8 saves, and what its two halves tell each other."""

from __future__ import annotations

import os

from .tasks import CLASSES, SEQUENCE, Groups

#: Files in the exchange folder, by how they were made.
WHOLE = {"keras": "whole.keras", "h5": "whole.h5"}
WEIGHTS = "only.weights.h5"
EXPORTED = "exported"
EXPECTED = "expected.npz"

#: Where the inputs lie: far from zero, so that a model whose normalisation was lost answers at random.
_MEAN, _SPREAD = 50.0, 20.0


def classifier(context):
    """Normalisation, Conv1D, softmax: built, but neither adapted nor compiled."""
    keras = context.keras
    layers = keras.layers
    context.step("build normalised Conv1D classifier")
    inputs = keras.Input(SEQUENCE)
    hidden = layers.Normalization(axis=-1, name="normalisation")(inputs)
    hidden = layers.Conv1D(12, 3, activation="relu")(hidden)
    outputs = layers.Dense(CLASSES, activation="softmax")(layers.Flatten()(hidden))
    return keras.Model(inputs, outputs)


def examples(context):
    """Twice (inputs, integer labels, group numbers), to train and to test on; and the groups.

    Inputs are float32 with mean 50 and spread 20.
    """
    groups = Groups(context, "saved", groups=24, classes=CLASSES, shape=SEQUENCE, noise=0.5)
    drawn = [groups.draw(8) for _ in range(2)]
    scaled = [((x * _SPREAD + _MEAN).astype("float32"), labels, group) for x, labels, group in drawn]
    return scaled, groups


def weights_of(model):
    """Every weight of ``model``, normalisation statistics included, by name."""
    return {f"weight {number}": value for number, value in enumerate(model.get_weights())}


def state_of(model):
    """The weights of ``model`` and everything its optimizer remembers, by name."""
    variables = enumerate(model.optimizer.variables)
    return {**weights_of(model), **{f"optimizer variable {number}": v.numpy() for number, v in variables}}


def path(context, name):
    """Where the file called ``name`` lies."""
    return os.path.join(context.exchange, name)
