"""S6: train the two networks users reported, in miniature, on labels with structure.

The CNN goes through ``compile``/``fit``/``predict_on_batch`` (Adam, data pipeline, callbacks, augmentation)
and the Conv1D classifier through a ``GradientTape`` step in a ``tf.function`` (SGD with momentum): the two
ways in which people train. AUC is computed from the predictions by ranks, because a metric object costs as
much tracing as a second network.
"""

from __future__ import annotations

import time

from . import report_images
from .context import placed_on
from .initial import initial_weights
from .measure import WHY_BAND, equal, in_band
from .tasks import (
    BATCH,
    CLASSES,
    SEQUENCE,
    SIDE,
    Groups,
    Sequences,
    area_under_curve,
    cross_entropy,
    image_classifier,
)
from .trajectory import Recorder, compare, follow, moved

WHY_PLACEMENT = "a run that silently fell back to the CPU proves nothing about the device"


def run(context):
    """Train and judge both networks; beyond ``quick`` also the first report that tfenv started from."""
    report = [] if context.level == "quick" else report_images.run(context)
    return _images(context) + _sequences(context) + report


def _images(context):
    np, keras = context.np, context.keras
    began = time.perf_counter()
    groups = Groups(context, "images", groups=32, classes=2, shape=(SIDE, SIDE, 1), noise=0.5)
    x, labels, _ = groups.draw(48, mirrored=True)
    x_test, labels_test, group_test = groups.draw(16, mirrored=True)
    model = image_classifier(context)
    initial = initial_weights(context, "S6.images", "the augmented CNN", model)
    before = model.get_weights()
    losses = []

    class Watch(keras.callbacks.Callback):
        def on_train_batch_begin(self, batch, logs=None):
            context.step(f"fit augmented CNN, batch {batch + 1}")

        def on_train_batch_end(self, batch, logs=None):
            losses.append(float(logs["loss"]))

    context.step("fit augmented CNN")
    model.fit(x, labels[:, None].astype("float32"), batch_size=32, epochs=2, verbose=0, callbacks=[Watch()])
    context.step("predict with augmented CNN")
    scores = np.asarray(model.predict_on_batch(x_test))[:, 0]
    device = placed_on(model(x_test[:1], training=False))
    context.keep("images", losses, scores)
    right = (scores > 0.5) == (labels_test == 1)
    seconds = time.perf_counter() - began
    return [
        groups.named_rightly(
            "S6.images.groups",
            "augmented CNN, sigmoid: prototypes named rightly",
            right,
            group_test,
            29,
            device=device,
            seconds=seconds,
        ),
        in_band(
            "S6.images.auc",
            "augmented CNN, sigmoid: AUC on fresh examples",
            area_under_curve(np, scores, labels_test),
            n=len(scores),
            why=WHY_BAND,
            device=device,
        ),
        in_band(
            "S6.images.loss",
            "augmented CNN, sigmoid: loss on fresh examples",
            cross_entropy(context, np.stack([1 - scores, scores], axis=1), labels_test),
            n=len(scores),
            why=WHY_BAND,
            device=device,
        ),
        equal(
            "S6.images.placement",
            "augmented CNN ran on the device",
            device.partition(":")[0],
            context.device,
            why=WHY_PLACEMENT,
            device=device,
        ),
        moved(context, "S6.images", "augmented CNN", model, before, device=device),
        *initial,
    ]


def _sequences(context):
    began = time.perf_counter()
    groups = Groups(context, "sequences", groups=24, classes=CLASSES, shape=SEQUENCE, noise=1.0)
    x, labels, _ = groups.draw(16)
    x_test, labels_test, group_test = groups.draw(16)
    sequences = context.shared("sequences", Sequences)
    sequences.reset()
    compared = 2 * len(x) // BATCH  # two rounds: every batch must have arrived, and in its turn
    recorder = Recorder(sequences, compared)
    losses, last = sequences.train(x, labels, epochs=10, after_step=recorder)
    probabilities = sequences.predict(x_test).numpy()
    context.keep("sequences", losses, probabilities)
    device = placed_on(last)
    right = probabilities.argmax(1) == labels_test
    context.step("compare Conv1D classifier with arithmetic")
    expected = follow(context.np, sequences.initial, x, labels, compared)
    got = recorder.result(losses[:compared])
    return [
        groups.named_rightly(
            "S6.sequences.groups",
            "Conv1D, softmax: prototypes named rightly",
            right,
            group_test,
            18,
            device=device,
            seconds=time.perf_counter() - began,
        ),
        in_band(
            "S6.sequences.accuracy",
            "Conv1D, softmax: accuracy on fresh examples",
            float(right.mean()),
            n=len(right),
            why=WHY_BAND,
            device=device,
        ),
        in_band(
            "S6.sequences.loss",
            "Conv1D, softmax: loss on fresh examples",
            cross_entropy(context, probabilities, labels_test),
            n=len(right),
            why=WHY_BAND,
            device=device,
        ),
        *compare(context, "S6.sequences", "Conv1D, softmax", got, expected, device=device),
    ]
