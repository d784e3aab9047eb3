"""How far rounding moves training, and how far faults do: ``python bench/proof_rounding.py [--seeds N]``.

Needs NumPy alone. The Conv1D classifier is trained by the proof's own reference arithmetic: exactly; with the
operands of every product rounded as hardware rounds them (float32, TF32 with 10 bits, bfloat16 with 7 bits
of fraction), and the results too; and with faults. Printed is, over all seeds, the largest deviation of each
harmless variant and the smallest of each fault. The tolerances in ``proof/child/trajectory.py`` lie between.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from child_package import import_child

FOLDER = Path(__file__).resolve().parents[1] / "tfenv" / "proof" / "child"
STEPS = 40
CLASSES = 10


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=100)
    seeds = parser.parse_args().seeds
    trajectory = import_child(FOLDER)("trajectory")
    harmless = {
        "float32": {"product": _float32},
        "TF32": {"product": _rounded(10, False)},
        "bfloat16": {"product": _rounded(7, False)},
        "bfloat16, results too": {"product": _rounded(7, True)},
    }
    faults = {
        "noise on gradients, 30 % of each": {"gradient": _noise(0.3)},
        "noise on gradients, 10 % of each": {"gradient": _noise(0.1)},
        "noise on gradients, sd 0.01": {"gradient": lambda rng, g: [_add(rng, a, 0.01) for a in g]},
        "gradient of the convolution dead": {"gradient": _dead(0)},
        "gradient of its bias dead": {"gradient": _dead(1)},
        "gradient of the dense bias dead": {"gradient": _dead(3)},
        "learning rate doubled": {"learning_rate": 2.0},
        "learning rate 1.1 times": {"learning_rate": 1.1},
        "no momentum": {"momentum": 0.0},
        "a quarter of the feature map zeroed": {"product": _hole},
        "one batch repeated": {"repeat": True},
    }
    for data in (_memorise, _groups):
        print(f"\n{data.__doc__}\n{'':34}" + "".join(f"{name:>18}" for name in ("loss", "update", "weights")))
        for name, how in {**harmless, **faults}.items():
            pick = np.max if name in harmless else np.min
            rows = [_deviations(trajectory, data, seed, **how) for seed in range(seeds)]
            worst = pick(np.array(rows), axis=0)
            word = "at most" if name in harmless else "at least"
            print(f"{name:34}" + "".join(f"{word:>9} {value:8.1e}" for value in worst))


def _deviations(
    trajectory, data, seed, product=None, gradient=None, learning_rate=1.0, momentum=None, repeat=False
):
    rng = np.random.default_rng(seed)
    initial = _initial(rng)
    x, labels = data(rng)
    exact = trajectory.follow(np, initial, x, labels, STEPS)
    noise = np.random.default_rng(seed + 1_000_000)

    class Varied(trajectory.SequencesReference):
        def __init__(self, np, weights, rate, inertia):
            super().__init__(
                np, weights, rate * learning_rate, inertia if momentum is None else momentum, product
            )
            self._first = None

        def gradients(self, x, targets):
            self._first = self._first or (x, targets)
            loss, found = super().gradients(*(self._first if repeat else (x, targets)))
            return loss, gradient(noise, found) if gradient else found

    varied = trajectory.follow(np, initial, x, labels, STEPS, Varied)
    return trajectory.deviations(np, varied, exact)


def _memorise(rng):
    """S5: 96 examples of noise with random labels, one batch"""
    return rng.standard_normal((96, 24, 4)).astype("float32"), rng.integers(0, 4, 96)


def _groups(rng):
    """S6: 384 noisy copies of 24 prototypes, four batches"""
    names, prototypes = rng.integers(0, CLASSES, 24), rng.standard_normal((24, 24, 4))
    group = rng.permutation(np.repeat(np.arange(24), 16))
    return (prototypes[group] + rng.standard_normal((384, 24, 4))).astype("float32"), names[group]


def _initial(rng):
    """Glorot uniform weights, as Keras draws them."""
    near, far = (6 / (3 * 4 + 3 * 12)) ** 0.5, (6 / (264 + CLASSES)) ** 0.5
    weights = [
        rng.uniform(-near, near, (3, 4, 12)),
        np.zeros(12),
        rng.uniform(-far, far, (264, CLASSES)),
        np.zeros(CLASSES),
    ]
    return [weight.astype("float32") for weight in weights]


def _float32(left, right):
    return np.matmul(left.astype("float32"), right.astype("float32")).astype("float64")


def _rounded(bits, results):
    """A product of operands rounded to ``bits`` bits of fraction."""

    def keep(values):
        fraction, exponent = np.frexp(values)
        return np.ldexp(np.round(fraction * 2 ** (bits + 1)) / 2 ** (bits + 1), exponent)

    def product(left, right):
        found = np.matmul(keep(left), keep(right))
        return keep(found) if results else found

    return product


def _hole(left, right):
    """The product, but the last quarter of the convolution's output (96 x 22 positions) is zero."""
    found = np.matmul(left, right)
    if found.shape == (96 * 22, 12):
        found.reshape(96, 22, 12)[:, 16:] = 0
    return found


def _noise(share):
    return lambda rng, gradients: [
        array * (1 + share * rng.standard_normal(array.shape)) for array in gradients
    ]


def _add(rng, array, deviation):
    return array + deviation * rng.standard_normal(array.shape)


def _dead(index):
    return lambda rng, gradients: [array * (at != index) for at, array in enumerate(gradients)]


if __name__ == "__main__":
    main()
