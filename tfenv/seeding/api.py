"""Seeds for the running process: a script or a notebook kernel."""

from __future__ import annotations

import os
import sys

from tfenv.errors import TfenvError
from tfenv.seeding.hook._tfenv_seed_work import hook
from tfenv.seeding.model import SeedReport, check_seed

_NAMES = {
    "random": "random",
    "numpy.random": "NumPy",
    "tensorflow": "TensorFlow",
    "keras": "Keras",
    "tf_keras": "Keras 2 (tf_keras)",
}


def seed_everything(seed: int, *, deterministic: bool = False) -> SeedReport:
    """Seed ``random``, NumPy's global generator, TensorFlow and Keras in this process.

    Libraries that are loaded are seeded now, the others the moment they are first imported; nothing is
    imported for it, so a call before ``import tensorflow`` costs nothing. A later call starts all of them
    anew. ``deterministic=True`` also switches TensorFlow's op determinism on and verifies that it is on
    (it cannot be switched off again in the same process). A library that cannot be seeded at its import
    is told by a RuntimeWarning.

    Not seeded: ``tf.random.Generator`` and ``numpy.random.default_rng()`` objects (give them a seed), and
    the hashes of strings, for which PYTHONHASHSEED must be set before the interpreter starts.

    Raises:
        UsageError: the seed is no whole number from 0 to 2**32 - 1.
        TfenvError: a loaded library could not be seeded, or op determinism could not be switched on.
    """
    check_seed(seed)
    _silence_installed_hook()
    if hook not in sys.meta_path:
        sys.meta_path.insert(0, hook)
    hook.source = ""  # until here failures are an error, later ones are warnings
    hook.arm(seed, deterministic)
    hook.source = "call"
    if hook.problems:
        raise TfenvError(
            "seed-incomplete",
            f"Not everything could be seeded: {'; '.join(hook.problems)}",
            hint="Check what is installed: tfenv doctor",
        )
    return SeedReport(
        seed=seed,
        seeded=_names(hook.seeded),
        armed=_names(hook.waiting),
        determinism="on" if hook.determinism_on else "armed" if deterministic else "off",
        hash_seed=_hash_seed(),
    )


def _silence_installed_hook() -> None:
    """From now on the call speaks for the whole process, not the environment's ``.pth`` file."""
    if "_tfenv_seed" in sys.modules:
        sys.modules["_tfenv_seed"].names = ()  # type: ignore[attr-defined]
    if "_tfenv_seed_work" in sys.modules:
        sys.modules["_tfenv_seed_work"].hook.disarm()


def _names(modules: tuple[str, ...] | list[str]) -> tuple[str, ...]:
    return tuple(_NAMES[name] for name in modules)


def _hash_seed() -> int | None:
    text = "" if sys.flags.ignore_environment else os.environ.get("PYTHONHASHSEED", "")
    # A program may set the variable for its children; that changes nothing here, and nothing tells.
    return int(text) if text.isdecimal() else None
