"""S5: memorise random labels.

96 random inputs get labels drawn from 4 of 10 classes, independently of the inputs and of the initial
weights. If no label information reaches the weights, each answer is right with probability at most 1/4 and
independently of the others, so the number of right answers is at most Binomial(96, 1/4): 80 or more has
probability below 1e-30.

The whole run is then compared with the same training in NumPy: a fault that still lets the network learn,
such as one dead gradient or noise, leads it another way.
"""

from __future__ import annotations

import time

from .context import placed_on
from .measure import WHY_BAND, at_least, equal, in_band
from .tasks import BATCH, SEQUENCE, Sequences, cross_entropy
from .trajectory import Recorder, compare, follow

CLASSES_USED = 4
THRESHOLD = 80
EPOCHS = 40


def run(context):
    """Train the Conv1D classifier on noise until it knows the labels by heart."""
    began = time.perf_counter()
    rng = context.generator("memorise")
    x = rng.standard_normal((BATCH, *SEQUENCE)).astype("float32")
    labels = rng.integers(0, CLASSES_USED, BATCH)
    sequences = context.shared("sequences", Sequences)
    sequences.reset()
    recorder = Recorder(sequences, steps=EPOCHS)
    losses, last = sequences.train(x, labels, EPOCHS, recorder)
    answers = sequences.predict(x)
    probabilities = answers.numpy()
    context.keep("memorise", losses, probabilities)
    device = placed_on(last)
    seconds = time.perf_counter() - began
    context.step("compare training with arithmetic")
    expected = follow(context.np, sequences.initial, x, labels, EPOCHS)
    return [
        at_least(
            "S5.correct",
            "random labels known by heart",
            int((probabilities.argmax(1) == labels).sum()),
            THRESHOLD,
            n=BATCH,
            chance=1 / CLASSES_USED,
            why="labels are independent of inputs and initial weights: without label information in the "
            "weights, right answers are Binomial(96, 1/4)",
            device=device,
            seconds=seconds,
        ),
        in_band(
            "S5.loss",
            "loss after memorising",
            cross_entropy(context, probabilities, labels),
            n=BATCH,
            why=WHY_BAND,
            device=device,
        ),
        equal(
            "S5.placement",
            "training ran on the device",
            "+".join(sorted({device.partition(":")[0], placed_on(answers).partition(":")[0]})),
            context.device,
            why="a run that silently fell back to the CPU proves nothing about the device",
            device=device,
        ),
        *compare(context, "S5", "Conv1D, random labels", recorder.result(losses), expected, device=device),
    ]
