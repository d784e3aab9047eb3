"""Runs in a target interpreter: the proof's own NumPy arithmetic against definitions. Needs NumPy alone."""

import importlib
import sys

import numpy as np


def main(folder, bench):
    sys.path.insert(0, bench)
    child = importlib.import_module("child_package").import_child(folder)
    gradients(child("arithmetic"))
    follows(child("laws"))
    strays(child("trajectory"))


def gradients(arithmetic):
    """Every gradient written by hand is the slope of the loss written by hand."""
    rng = np.random.default_rng(3)
    conv1d = [(3, 4, 5), (5,), (30, 6), (6,)]
    conv2d = [(3, 3, 1, 4), (4,), (16, 1), (1,)]
    for make, shapes, inputs, targets in (
        (
            lambda w: arithmetic.SequencesReference(np, w, 0.1, 0.9),
            conv1d,
            (7, 8, 4),
            np.eye(6)[[0, 5, 2, 2, 1, 3, 4]],
        ),
        (
            lambda w: arithmetic.ImagesReference(np, w),
            conv2d,
            (7, 6, 6, 1),
            np.float64([[0], [1], [1], [0], [1], [0], [0]]),
        ),
    ):
        weights = [rng.standard_normal(shape) for shape in shapes]
        x = rng.standard_normal(inputs)
        _, found = make(weights).gradients(x, targets)
        for at, gradient in enumerate(found):
            along = rng.standard_normal(gradient.shape)

            def loss(step, at=at, along=along, make=make, weights=weights, x=x, targets=targets):
                moved = [w + step * along if number == at else w for number, w in enumerate(weights)]
                return make(moved).gradients(x, targets)[0]

            slope = (loss(1e-6) - loss(-1e-6)) / 2e-6
            assert abs(slope - (gradient * along).sum()) < 1e-6 * np.linalg.norm(gradient) * np.linalg.norm(
                along
            )


def follows(laws):
    """Numbers of a law pass, numbers of another do not."""
    rng = np.random.default_rng(4)
    cut = rng.standard_normal(40_000)
    cut = cut[np.abs(cut) <= 2][:20_000]
    right = {
        "uniform": (laws.uniform(-1.0, 3.0), rng.uniform(-1, 3, 20_000)),
        "normal": (laws.NORMAL, rng.standard_normal(20_000)),
        "truncated": (laws.truncated().scaled(0.3), 0.3 * cut),
        "classes": (laws.classes([0.1, 0.2, 0.7]), rng.choice(3, 20_000, p=[0.1, 0.2, 0.7])),
    }
    for name, (law, values) in right.items():
        assert laws.deviation(np, values, law)[0] < laws.LIMIT, name
    numbers = right["normal"][1]
    wrong = {
        "mean": numbers + 0.1,
        "variance": numbers * 1.1,
        "shape": np.sign(numbers) * (np.abs(numbers) > 0.6745) * 1.4142,
        "correlation of neighbours": np.repeat(numbers[:10_000], 2),
    }
    for name, values in wrong.items():
        error, _ = laws.deviation(np, values, laws.NORMAL)
        assert error > laws.LIMIT, name
    assert laws.deviation(np, np.full(1000, np.nan), laws.NORMAL)[0] == np.inf


def strays(trajectory):
    """Deviations are zero for the same run, and infinite for one that is no number."""
    rng = np.random.default_rng(5)
    initial = [rng.standard_normal(shape) * 0.1 for shape in ((3, 4, 12), (12,), (264, 10), (10,))]
    x, labels = rng.standard_normal((192, 24, 4)), rng.integers(0, 10, 192)
    run = trajectory.follow(np, initial, x, labels, 4)
    assert trajectory.deviations(np, run, run) == (0.0, 0.0, 0.0)
    lost = ([np.nan] * 4, initial, [[np.nan * weight for weight in weights] for weights in run[2]])
    assert trajectory.deviations(np, lost, run) == (np.inf, np.inf, np.inf)
    swapped = trajectory.follow(np, initial, np.roll(x, 96, axis=0), np.roll(labels, 96), 4)
    assert all(share > 0.05 for share in trajectory.deviations(np, swapped, run)[1:])


if __name__ == "__main__":
    main(*sys.argv[1:])
