"""Measurements: what a stage observed and the rule the tfenv process will judge it by.

A measurement is a plain dictionary, because it crosses a process border as JSON. The child never judges; it
says what would be right and why a wrong result could not look right.
"""

from __future__ import annotations

import math

WHY_BAND = "healthy stacks end in this band"


def equal(check, title, got, expected, *, why, **more):
    """``got`` must be ``expected``; both are compared as text."""
    return _measurement(
        check, title, {"kind": "equal", "text": why}, str(got), expected=str(expected), **more
    )


def at_least(check, title, value, low, *, n, chance, why, **more):
    """``value`` of ``n`` answers must be right; without learning each is right with probability ``chance``.

    The binomial tail of that null is computed by the judge.
    """
    rule = {"kind": "within", "low": low, "luck": True, "null_n": n, "null_p": chance, "text": why}
    return _measurement(check, title, rule, value, n=n, expected=f"at least {low} of {n}", **more)


def at_most(check, title, value, high, *, why, **more):
    """The error ``value`` must not exceed ``high``, a tolerance whose source ``why`` states."""
    return _measurement(
        check,
        title,
        {"kind": "within", "high": high, "text": why},
        value,
        expected=f"at most {high:.3g}",
        **more,
    )


def between(check, title, value, low, high, *, n, why, **more):
    """The statistic ``value`` of ``n`` random draws must lie in [``low``, ``high``].

    A healthy stack leaves the range with the small probability that ``why`` states: a failure is run again
    with other seeds.
    """
    rule = {"kind": "within", "low": low, "high": high, "luck": True, "text": why}
    return _measurement(check, title, rule, value, n=n, expected=f"{low:.4g} to {high:.4g}", **more)


def in_band(check, title, value, *, n, why, **more):
    """``value`` must lie in the band that healthy stacks gave, which the judge looks up by ``check``."""
    return _measurement(check, title, {"kind": "band", "luck": True, "text": why}, value, n=n, **more)


def _measurement(check, title, rule, value, *, n=1, expected="", device="", seconds=0.0):
    number = float(value) if isinstance(value, (int, float)) else None
    finite = number is not None and math.isfinite(number)
    return {
        "id": check,
        "title": title,
        "rule": rule,
        # JSON has no NaN: a statistic that is not finite travels as text only.
        "statistic": number if finite else None,
        "got": value if isinstance(value, str) else (f"{number:.6g}"),
        "expected": expected,
        "n": n,
        "device": device,
        "seconds": round(seconds, 4),
    }
