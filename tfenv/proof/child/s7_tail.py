"""S7: keep training past convergence; the loss must not climb.

Reported from the field: training that is fine for ten epochs and then explodes. A healthy run goes on
falling, so the mean loss of every later stretch is compared with that of the first after convergence.
"""

from __future__ import annotations

import time

from .context import placed_on
from .measure import at_most, equal
from .tasks import BATCH, CLASSES, SEQUENCE, Groups, Sequences

#: Steps after the first 40, by level.
STEPS = {"full": 400, "long": 8000}
_CONVERGED = 40
_STRETCH = 40
#: The mean loss of a later stretch over that of the first. Both optimizers still fall, so healthy runs stay
#: far below; above one the loss has climbed.
_CLIMB = 1.0


def run(context):
    """Train the Conv1D classifier on and on, with SGD and with Adam."""
    groups = Groups(context, "tail", groups=24, classes=CLASSES, shape=SEQUENCE, noise=1.0)
    x, labels, _ = groups.draw(16)
    x_test, labels_test, group_test = groups.draw(16)
    adam = context.keras.optimizers.Adam(0.01)
    return [
        measurement
        for name, sequences in (
            ("sgd", context.shared("sequences", Sequences)),
            ("adam", Sequences(context, adam)),
        )
        for measurement in _tail(
            context, name, sequences, (x, labels), (x_test, labels_test, group_test), groups
        )
    ]


def _tail(context, name, sequences, training, test, groups):
    np = context.np
    began = time.perf_counter()
    sequences.reset()
    steps = _CONVERGED + STEPS[context.level]
    losses, last = sequences.train(*training, epochs=steps * BATCH // len(training[0]))
    device = placed_on(last)
    answers = sequences.predict(test[0]).numpy()
    context.keep(f"tail-{name}", losses[:: len(losses) // 100], answers)
    tail = np.array(losses[_CONVERGED:])
    stretches = tail[: len(tail) // _STRETCH * _STRETCH].reshape(-1, _STRETCH).mean(1)
    weights = sequences.model.get_weights()
    infinite = sum(not np.isfinite(weight).all() for weight in weights)
    return [
        at_most(
            f"S7.{name}.climb",
            f"{name}, {len(losses)} steps: highest loss of a later stretch, relative to the first",
            float((stretches[1:] / stretches[0]).max()),
            _CLIMB,
            n=len(tail),
            why="past convergence the loss of a healthy stack goes on falling",
            device=device,
            seconds=time.perf_counter() - began,
        ),
        groups.named_rightly(
            f"S7.{name}.groups",
            f"{name}, {len(losses)} steps: prototypes named rightly",
            answers.argmax(1) == test[1],
            test[2],
            18,
            device=device,
        ),
        equal(
            f"S7.{name}.finite",
            f"{name}, {len(losses)} steps: weights that are not finite",
            f"{infinite} of {len(weights)} variables",
            f"0 of {len(weights)} variables",
            why="one infinity spreads to every weight",
            device=device,
        ),
    ]
