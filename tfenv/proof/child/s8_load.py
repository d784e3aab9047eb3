"""S8, second half, in a fresh process: load what :mod:`.s8_save` left, and answer the same."""

from __future__ import annotations

import os
import time

from . import saved
from .compare import raised
from .context import placed_on
from .measure import equal

#: Bits may differ between two processes where a device picks its kernels by timing them. Probabilities are
#: float32 sums of 264 products that TensorFloat-32 rounds to 2**-11 each: 5e-3 is ten such roundings.
TOLERANCE = 5e-3
_WHY = f"variables come back bit by bit; answers may differ by {TOLERANCE:g}, as kernels are chosen anew"


def run(context):
    """Answers of every kind of copy beside those of the original."""
    np, tf, keras = context.np, context.tf, context.keras
    context.step("read what was saved")
    with np.load(saved.path(context, saved.EXPECTED)) as stored:
        expected = {name: stored[name] for name in stored.files}
    x = tf.constant(expected["x"])

    def whole(name):
        model = keras.models.load_model(saved.path(context, name))
        return model(x, training=False), saved.state_of(model)

    def evaluated():
        model = keras.models.load_model(saved.path(context, saved.WHOLE["keras"]))
        loss, accuracy = model.evaluate(expected["x"], expected["targets"], batch_size=len(x), verbose=0)
        return np.array([loss, accuracy]), {}

    def weights_only():
        model = saved.classifier(context)
        model.load_weights(saved.path(context, saved.WEIGHTS))
        return model(x, training=False), saved.weights_of(model)

    def exported():
        loaded = tf.saved_model.load(saved.path(context, saved.EXPORTED))
        return loaded.serve(x), {}  # while ``loaded`` holds the variables

    answers = expected["answers"]
    copies = [
        (f"S8.{kind}", f"the whole model saved as .{kind}", lambda name=name: whole(name), answers)
        for kind, name in saved.WHOLE.items()
    ]
    scores = np.array([expected["loss"], expected["accuracy"]])
    copies += [
        ("S8.evaluate", "loss and accuracy of the loaded model", evaluated, scores),
        ("S8.weights", "a new model with the saved weights", weights_only, answers),
    ]
    if os.path.exists(saved.path(context, saved.EXPORTED)):
        copies.append(("S8.exported", "the exported SavedModel", exported, answers))
    return [_compared(context, expected, *copy) for copy in copies]


def _compared(context, stored, check, title, copy, expected):
    np = context.np
    began = time.perf_counter()
    context.step(f"load {title}")
    device = ""
    try:
        got, state = copy()
        device = placed_on(got) if hasattr(got, "device") else ""
        text = _lost(np, state, stored) or _difference(np, np.asarray(got), expected)
    except Exception as error:  # one way of saving that fails must not hide the others
        text = raised(error)
    return equal(
        check,
        title,
        text or "as before it was saved",
        "as before it was saved",
        why=_WHY,
        n=expected.size,
        device=device,
        seconds=time.perf_counter() - began,
    )


def _lost(np, state, stored):
    """Which variable came back with other bits, in words; "" where none did."""
    for name, value in state.items():
        if not np.array_equal(value, stored[name]):
            return f"{name} (shape {list(np.shape(value))}) came back changed"
    return ""


def _difference(np, got, expected):
    """How ``got`` differs, in words; "" where it does not."""
    if got.shape != expected.shape:
        return f"shape {got.shape}, expected {expected.shape}"
    error = np.abs(got.astype("float64") - expected.astype("float64"))
    bad = ~(error <= TOLERANCE * np.maximum(1.0, np.abs(expected)))
    if not bad.any():
        return ""
    if got.ndim < 2:
        return f"loss and accuracy {got.tolist()}, expected {expected.tolist()}"
    changed = int((got.argmax(1) != expected.argmax(1)).sum())
    at = tuple(int(index) for index in np.argwhere(bad)[0])
    return (
        f"answer {list(at)} is {got[at]:.4g}, expected {expected[at]:.4g}; {int(bad.sum())} of {bad.size} "
        f"differ, {changed} of {len(got)} predicted classes change"
    )
