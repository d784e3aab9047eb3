"""Whether numbers follow a probability law, in standard errors.

Four statistics of ``n`` numbers, each about standard normal under the law: mean, variance, a chi-square over
bins of equal probability (made normal by Wilson and Hilferty's cube root, 1931) and the correlation of
neighbours. 7 is exceeded with probability 2.6e-12 by a normal variable; skewness at these n adds less than a
factor of ten, so a hundred laws with four statistics each give a false alarm in fewer than 1e-8 of runs.
"""

from __future__ import annotations

import math
from statistics import NormalDist

from .measure import between

LIMIT = 7.0
WHY = (
    "mean, variance, shape (chi-square) and correlation of neighbours, in standard errors; chance exceeds 7 "
    "with probability below 1e-10"
)
_BINS = 64
_NORMAL = NormalDist()


class Law:
    """A law by its mean, variance, fourth central moment, and bins: inner edges and shares.

    ``bins(count)`` gives about ``count`` of them, of equal share where the law is continuous.
    """

    def __init__(self, mean, variance, fourth, bins):
        self.mean = mean
        self.variance = variance
        self.fourth = fourth
        self.bins = bins

    def scaled(self, factor):
        """The law of ``factor`` times the number, for laws with mean 0."""

        def bins(count):
            edges, shares = self.bins(count)
            return [factor * edge for edge in edges], shares

        return Law(0.0, self.variance * factor**2, self.fourth * factor**4, bins)


def uniform(low, high):
    """Every number between ``low`` and ``high``."""
    width = high - low
    return Law((low + high) / 2, width**2 / 12, width**4 / 80, _quantiles(lambda share: low + width * share))


def classes(shares):
    """The whole numbers from 0, with these probabilities."""
    mean = sum(number * share for number, share in enumerate(shares))
    second, fourth = (
        sum((number - mean) ** power * share for number, share in enumerate(shares)) for power in (2, 4)
    )
    return Law(
        mean, second, fourth, lambda count: ([number + 0.5 for number in range(len(shares) - 1)], shares)
    )


def truncated(limit=2.0):
    """The standard normal law between ``-limit`` and ``limit``: what Keras and TensorFlow call truncated."""
    below = _NORMAL.cdf(-limit)
    mass = 1 - 2 * below
    edge = 2 * limit * _NORMAL.pdf(limit) / mass
    variance = 1 - edge
    quantiles = _quantiles(lambda share: _NORMAL.inv_cdf(below + share * mass))
    return Law(0.0, variance, 3 * variance - limit**2 * edge, quantiles)


def _quantiles(quantile):
    return lambda count: ([quantile(at / count) for at in range(1, count)], [1 / count] * count)


NORMAL = Law(0.0, 1.0, 3.0, _quantiles(_NORMAL.inv_cdf))


def deviation(np, values, law):
    """The largest of the four statistics in magnitude, and its name; infinite where there is no number."""
    values = np.asarray(values, "float64").ravel()
    n = len(values)
    centred = values - law.mean
    edges, shares = law.bins(min(_BINS, n // 16))
    expected = n * np.array(shares)
    counts = np.bincount(np.searchsorted(edges, values), minlength=len(shares))
    freedom = len(shares) - 1
    spread = 2 / (9 * freedom)
    statistics = {
        "mean": centred.mean() / math.sqrt(law.variance / n),
        "variance": ((centred**2).mean() - law.variance) / math.sqrt((law.fourth - law.variance**2) / n),
        "shape": ((float(((counts - expected) ** 2 / expected).sum()) / freedom) ** (1 / 3) - 1 + spread)
        / math.sqrt(spread),
        "correlation of neighbours": (centred[1:] * centred[:-1]).mean() / law.variance * math.sqrt(n - 1),
    }
    worst = max(statistics, key=lambda name: _magnitude(statistics[name]))
    return _magnitude(statistics[worst]), worst


def follows(np, check, title, values, law, **more):
    """The measurement that ``values`` follow ``law``."""
    error, which = deviation(np, values, law)
    found = between(check, title, error, 0.0, LIMIT, n=int(np.size(values)), why=WHY, **more)
    found["got"] = f"{which} {error:.3g} standard errors off"
    return found


def _magnitude(statistic):
    size = abs(float(statistic))
    return size if size == size else math.inf
