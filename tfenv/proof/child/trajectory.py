"""Whether a training run went the way that arithmetic says: losses, first updates and final weights."""

from __future__ import annotations

from .arithmetic import SequencesReference, distance
from .measure import at_most, equal
from .tasks import BATCH, CLASSES, LEARNING_RATE, MOMENTUM

#: Steps after which the weights are compared: the first (the gradient alone), two more (momentum).
FIRST_STEPS = (1, 2, 3)
#: Losses below this are compared absolutely: relative to nothing, rounding would count.
SMALL_LOSS = 0.05
#: Four times what bfloat16 products do to a healthy run, and what most faults exceed in every run; both
#: measured by ``bench/proof_rounding.py``.
LOSS_TOLERANCE = 0.06
UPDATE_TOLERANCE = 0.05
WEIGHTS_TOLERANCE = 0.25


def follow(np, initial, x, labels, steps, reference=SequencesReference):
    """Train in NumPy from the weights ``initial`` on batches of ``x`` in order.

    Returns what :func:`deviations` compares: losses, initial weights, weights after the first steps and last.
    """
    network = reference(np, initial, LEARNING_RATE, MOMENTUM)
    targets = np.eye(CLASSES)[labels]
    x = x.astype("float64")
    losses, weights = [], []
    for step in range(1, steps + 1):
        at = (step - 1) * BATCH % len(x)
        losses.append(network.train(x[at : at + BATCH], targets[at : at + BATCH]))
        if step in FIRST_STEPS or step == steps:
            weights.append([weight.copy() for weight in network.weights])
    return losses, initial, weights


class Recorder:
    """Remembers the weights of a network in training after the steps that :func:`follow` returns them for."""

    def __init__(self, sequences, steps):
        self._sequences = sequences
        self._steps = (*FIRST_STEPS, steps)
        self._weights = []

    def __call__(self, step):
        if step in self._steps:
            self._weights.append(self._sequences.model.get_weights())

    def result(self, losses):
        """What :func:`deviations` compares."""
        return losses, self._sequences.initial, self._weights


def deviations(np, got, expected):
    """Of two results of :func:`follow`: the largest deviation of a loss, of the first updates and of weights.

    Losses relatively; updates as one vector of all weights; weights as the movement of every variable alone.
    """
    apart = np.abs(np.subtract(got[0], expected[0]))
    loss = float((apart / np.maximum(expected[0], SMALL_LOSS)).max())
    update = weights = 0.0
    for step, (found, wanted) in enumerate(zip(got[2], expected[2])):
        moved = [
            (np.subtract(a, start), np.subtract(b, start)) for a, b, start in zip(found, wanted, expected[1])
        ]
        if step < len(FIRST_STEPS):
            vectors = (np.concatenate([part.ravel() for part in side]) for side in zip(*moved))
            update = max(update, distance(np, *vectors))
        weights = max(weights, *(distance(np, *pair) for pair in moved))
    return loss if loss == loss else float("inf"), update, weights


def compare(context, stage, name, got, expected, *, device):
    """The measurements that two results of :func:`follow` amount to, with check ids of ``stage``."""
    loss, update, weights = deviations(context.np, got, expected)
    return [
        at_most(
            f"{stage}.trajectory",
            f"{name}: largest relative deviation of {len(expected[0])} losses from arithmetic",
            loss,
            LOSS_TOLERANCE,
            n=len(expected[0]),
            why="the same training in NumPy, float64; bfloat16 products move it by at most 0.013 (200 seeds)",
            device=device,
        ),
        at_most(
            f"{stage}.update",
            f"{name}: deviation of the first updates from arithmetic",
            update,
            UPDATE_TOLERANCE,
            n=sum(weight.size for weight in expected[1]),
            why="the same gradients and momenta in NumPy, float64; bfloat16 products change them by at most "
            "0.013 (200 seeds), noise of a tenth of every gradient by 0.09 or more",
            device=device,
        ),
        at_most(
            f"{stage}.weights",
            f"{name}: deviation of the movement of every variable from arithmetic",
            weights,
            WEIGHTS_TOLERANCE,
            n=len(expected[1]),
            why="the same training in NumPy, float64; rounding to bfloat16 changes it by at most 0.055 (200 "
            "seeds), a gradient that does not arrive by 1",
            device=device,
        ),
    ]


def moved(context, stage, name, model, before, *, device):
    """The measurement that training moved every variable of a compiled ``model``, from weights ``before``.

    And that its optimizer keeps something for each: a moment that stays zero is dead, even where the network
    learns.
    """
    np = context.np
    problem = ""
    for variable, old, new in zip(model.weights, before, model.get_weights()):
        if variable.dtype != "float32" or not variable.trainable:
            continue
        if not np.isfinite(new).all():
            problem = problem or f"{variable.name} is not a number"
        elif np.array_equal(old, new):
            problem = problem or f"{variable.name} did not move"
    for slot in model.optimizer.variables:
        if len(slot.shape) and not np.asarray(slot).any():
            problem = problem or f"the optimizer's {slot.name} stayed zero"
    right = "every variable moved, no moment stayed zero"
    why = "every variable has a gradient, and Adam keeps two moments of it"
    return equal(
        f"{stage}.moved", f"{name}: variables after training", problem or right, right, why=why, device=device
    )
