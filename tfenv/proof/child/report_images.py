"""The first of the two reports tfenv started from, in miniature: a functional CNN whose AUC stayed at 0.5.

Two datasets of unequal size, one per class, sampled together for ever; augmentation layers inside the model;
sigmoid, binary cross-entropy and AUC; Adam, with and without an average of the weights. The pipeline and the
metrics are compared with NumPy, so that a network that learns from wrong batches, or a metric that is stuck,
is told from one that does not learn. (The second report is what S8 saves and loads.)
"""

from __future__ import annotations

import time

from .context import placed_on
from .measure import WHY_BAND, at_most, between, equal, in_band
from .tasks import SIDE, Groups, area_under_curve, cross_entropy, image_classifier

GROUPS = 32
#: Prototypes named rightly: a fair coin reaches 28 of 32 with probability 1e-5, healthy stacks 30 or more.
_LEAST = 28
_BATCH, _STEPS, _EPOCHS = 32, 48, 2
#: One negative example is kept of so many: the classes are unequal, and sampling evens them out.
_KEPT_OF = 3
_DRAWN = 640
#: Keras' AUC sums trapezoids between 200 thresholds; so does the reference, but in other precision: an
#: example on a threshold may fall to either side.
_AUC_TOLERANCE = 0.005
#: float32 against float64 sums of some hundred terms.
_METRIC_TOLERANCE = 1e-3


def run(context):
    """Sample, train with both optimizers, and judge."""
    data = _Data(context)
    plain, trained = _trained(context, data, "report1", "report 1 (CNN, sampled classes, Adam)", {})
    averaged, _ = _trained(
        context,
        data,
        "report1-ema",
        "report 1 with averaged weights (Adam, EMA)",
        {"use_ema": True, "ema_momentum": 0.9},
    )
    return [*_pipeline(context, data), *plain, *_metrics(context, data, *trained), *averaged]


class _Data:
    """Examples of two classes in unequal numbers, and fresh ones for the test."""

    def __init__(self, context):
        np = context.np
        self.groups = Groups(context, "report1", groups=GROUPS, classes=2, shape=(SIDE, SIDE, 1), noise=0.5)
        x, labels, _ = self.groups.draw(48, mirrored=True)
        negatives, positives = np.flatnonzero(labels == 0)[::_KEPT_OF], np.flatnonzero(labels == 1)
        self.parts = [(x[chosen], labels[chosen]) for chosen in (negatives, positives)]
        self.x_test, self.labels_test, self.group_test = self.groups.draw(16, mirrored=True)

    def batches(self, context):
        """Both classes shuffled, repeated and sampled with equal weights: (x, label, number in its class)."""
        tf, np = context.tf, context.np
        seed = context.seed % 2**31
        parts = [
            tf.data.Dataset.from_tensor_slices((x, labels[:, None].astype("float32"), np.arange(len(x))))
            .shuffle(len(x), seed=seed + index)
            .repeat()
            for index, (x, labels) in enumerate(self.parts)
        ]
        return tf.data.Dataset.sample_from_datasets(parts, weights=[0.5, 0.5], seed=seed).batch(_BATCH)


def _pipeline(context, data):
    """What the sampled datasets really give."""
    np = context.np
    context.step("sample from two datasets")
    began = time.perf_counter()
    drawn = [part.numpy() for batch in data.batches(context).take(_DRAWN // _BATCH) for part in batch]
    x, labels, numbers = (np.concatenate(drawn[part::3]) for part in range(3))
    labels = labels[:, 0].astype(int)
    strange = sum(
        not (label in (0, 1) and np.array_equal(image, data.parts[label][0][number]))
        for image, label, number in zip(x, labels, numbers)
    )
    first_rounds = [numbers[labels == label][: len(data.parts[label][0])] for label in (0, 1)]
    repeated = sum(len(numbers) - len(set(numbers.tolist())) for numbers in first_rounds)
    spread = 6.5 / (2 * _DRAWN**0.5)
    return [
        between(
            "S6.report1.share",
            "share of the second of two datasets sampled with equal weights",
            float((labels == 1).mean()),
            0.5 - spread,
            0.5 + spread,
            n=_DRAWN,
            why="6.5 standard deviations of a binomial: left once in 1e10 runs",
            seconds=time.perf_counter() - began,
        ),
        equal(
            "S6.report1.examples",
            "examples that reach training",
            f"{len(x)} drawn, {strange} altered or mislabelled, {repeated} drawn again before their turn",
            f"{_DRAWN} drawn, 0 altered or mislabelled, 0 drawn again before their turn",
            why="a pipeline only selects; one round of a shuffled dataset has every example once",
            n=_DRAWN,
        ),
    ]


def _trained(context, data, name, title, options):
    np = context.np
    began = time.perf_counter()
    metrics = [context.keras.metrics.AUC(name="auc"), "accuracy"]
    model = image_classifier(context, name, rotation=0.01, metrics=metrics, **options)
    context.step(f"fit {title}")
    training = data.batches(context).map(lambda x, label, number: (x, label))
    history = model.fit(training, steps_per_epoch=_STEPS, epochs=_EPOCHS, verbose=0)
    context.step(f"apply {title}")
    applied = model(data.x_test, training=False)
    scores, device = applied.numpy()[:, 0], placed_on(applied)
    context.keep(name, history.history["loss"], scores)
    right = (scores > 0.5) == (data.labels_test == 1)
    loss = cross_entropy(context, np.stack([1 - scores, scores], axis=1), data.labels_test)
    seconds = time.perf_counter() - began
    return [
        data.groups.named_rightly(
            f"S6.{name}.groups",
            f"{title}: prototypes named rightly",
            right,
            data.group_test,
            _LEAST,
            device=device,
            seconds=seconds,
        ),
        in_band(
            f"S6.{name}.auc",
            f"{title}: AUC on fresh examples",
            area_under_curve(np, scores, data.labels_test),
            n=len(scores),
            why=WHY_BAND,
            device=device,
        ),
        in_band(
            f"S6.{name}.loss",
            f"{title}: loss on fresh examples",
            loss,
            n=len(scores),
            why=WHY_BAND,
            device=device,
        ),
    ], (model, scores, loss, device)


def _metrics(context, data, model, scores, loss, device):
    """What ``evaluate`` tells of the predictions ``scores``, against NumPy."""
    np = context.np
    targets = data.labels_test[:, None].astype("float32")
    context.step("evaluate report 1")
    evaluated = model.evaluate(data.x_test, targets, batch_size=len(targets), verbose=0, return_dict=True)
    expected = {
        "loss": (loss, _METRIC_TOLERANCE * max(1.0, loss)),
        "accuracy": (float(((scores > 0.5) == (data.labels_test == 1)).mean()), _METRIC_TOLERANCE),
        "auc": (_area_by_thresholds(np, scores, data.labels_test), _AUC_TOLERANCE),
    }
    return [
        at_most(
            f"S6.report1.metric-{metric}",
            f"report 1: {metric} as evaluate tells it, deviation from the predictions' own",
            abs(float(evaluated[metric]) - value),
            tolerance,
            n=len(scores),
            why="the same predictions in NumPy, float64",
            device=device,
        )
        for metric, (value, tolerance) in expected.items()
    ]


def _area_by_thresholds(np, scores, labels, thresholds=200):
    """The area under the ROC curve as trapezoids between ``thresholds`` points, as Keras sums it."""
    inner = np.arange(1, thresholds - 1) / (thresholds - 1)
    above = scores.astype("float64") > np.concatenate([[-1e-7], inner, [1 + 1e-7]])[:, None]
    true, false = above[:, labels == 1].mean(1), above[:, labels == 0].mean(1)
    return float(((false[:-1] - false[1:]) * (true[:-1] + true[1:]) / 2).sum())
