"""Names of distributions."""

from __future__ import annotations

import re

_SEPARATORS = re.compile(r"[-_.]+")


def canonical(name: str) -> str:
    """``name`` as PEP 503 normalises it: ``ml_dtypes`` and ``ML.DTypes`` are ``ml-dtypes``."""
    return _SEPARATORS.sub("-", name).lower()
