"""What went wrong, in words: the first element that differs, or the exception."""

from __future__ import annotations


def raised(error):
    """``error`` in one line: its type and the first line of its message that says something."""
    first = next((line for line in str(error).splitlines() if line.strip()), "")
    return f"raises {type(error).__name__}: {first[:300]}".rstrip(": ")


def difference(np, got, expected, tolerance=0.0):
    """What is wrong with ``got`` as text, "" if nothing; and its largest error as a share of the tolerance.

    ``tolerance`` is relative to the largest expected magnitude; 0 asks for equality.
    """
    got, expected = np.asarray(got).astype("float64"), np.asarray(expected).astype("float64")
    if got.shape != expected.shape:
        return f"shape is {list(got.shape)}, expected {list(expected.shape)}", 0.0
    same = (got == expected) | (np.isnan(got) & np.isnan(expected))
    finite = np.isfinite(expected)
    allowed = tolerance * max(float(np.abs(expected[finite]).max(initial=0.0)), 1e-3)
    with np.errstate(invalid="ignore"):
        error = np.where(same, 0.0, np.abs(got - expected))
    wrong = ~same & ~(error <= allowed)
    share = float(error.max(initial=0.0)) / allowed if tolerance and not wrong.any() else 0.0
    if not wrong.any():
        return "", share
    first = tuple(int(at) for at in np.argwhere(wrong)[0])
    where = f"element {list(first)} is" if first else "is"
    many = f" ({int(wrong.sum())} of {wrong.size} differ)" if wrong.size > 1 else ""
    return f"{where} {got[first]:.7g}, expected {expected[first]:.7g}{many}", share
