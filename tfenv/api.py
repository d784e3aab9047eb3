"""The library: what the commands do, as functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Optional

from tfenv.errors import ProofError
from tfenv.events import Silent

if TYPE_CHECKING:
    from tfenv.flow.request import BootstrapReport
    from tfenv.settings import Value


def bootstrap(
    *,
    tf: Optional[str] = None,
    target: Optional[str] = None,
    python: Optional[str] = None,
    venv: Optional[str] = None,
    seed: Optional[int] = None,
    deterministic: Optional[bool] = None,
    smoke: Optional[str] = None,
    engine: Optional[str] = None,
) -> BootstrapReport:
    """Give an environment a pinned TensorFlow that has just proven that it learns; see ``tfenv bootstrap``.

    What is not given comes from ``TFENV_*`` variables, ``tfenv.toml`` or the defaults.

    Raises:
        TfenvError: one of its children, by what went wrong; ``ProofError`` if the stack does not learn.
    """
    from tfenv.flow.wish import bootstrap_command

    flags: Mapping[str, Value] = {
        "tf": tf,
        "target": target,
        "python": python,
        "venv": venv,
        "seed": seed,
        "deterministic": deterministic,
        "smoke": smoke,
        "engine": engine,
    }
    result = bootstrap_command(flags, dry_run=False, listener=Silent(), on_terminal=False)
    if result.status == "fail":
        first = result.findings[0] if result.findings else None
        raise ProofError(
            "proof-failed",
            first.title if first else "The stack did not prove itself.",
            hint=first.remedy.text if first else "See the numbers: tfenv smoke",
        )
    return result.data
