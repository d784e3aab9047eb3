"""Runs in the target interpreter (``python -c``) and writes what the seed hook really did there, as JSON.

Arguments: the file to write, then the modules to import first. Python 3.8 syntax.
"""

import sys


def observe() -> "dict[str, object]":
    """What happened in this interpreter, in the shape of ``tfenv.seeding.model.Observation``."""
    if "_tfenv_seed" not in sys.modules:
        try:
            import _tfenv_seed  # type: ignore[import-not-found] # noqa: F401
        except Exception as error:
            return _report(None, False, [f"{type(error).__name__}: {error}"])
        return _report(None, False, ["the .pth file that starts it was not processed"])
    hook = sys.modules["_tfenv_seed"]
    import random

    # Before anything else is imported: what is imported next may draw from it (Keras 3.15 does).
    random_seeded = hook.state.seed >= 0 and random.getstate() == random.Random(hook.state.seed).getstate()
    errors = []
    for name in sys.argv[2:]:
        try:
            __import__(name)
        except Exception as error:
            errors.append(f"import {name}: {type(error).__name__}: {error}")
    return _report(hook, random_seeded, errors)


def _report(hook: object, random_seeded: bool, errors: "list[str]") -> "dict[str, object]":
    import os

    state = getattr(hook, "state", None)
    seed = getattr(state, "seed", -1)
    fixed = not sys.flags.ignore_environment and os.environ.get("PYTHONHASHSEED", "random")
    return {
        "loaded": hook is not None,
        "file": getattr(hook, "__file__", ""),
        "version": getattr(hook, "VERSION", 0),
        "source": getattr(state, "source", ""),
        "seed": seed if seed >= 0 else None,
        "deterministic": getattr(state, "deterministic", False),
        "determinism_on": getattr(state, "determinism_on", False),
        "seeded": getattr(state, "seeded", []),
        "waiting": list(hook.waiting()) if hasattr(hook, "waiting") else [],
        "random_seeded": random_seeded,
        "hash_seed": int(fixed) if fixed and fixed.isdecimal() else None,
        "problems": errors + getattr(state, "problems", []),
    }


if __name__ == "__main__":
    import json

    report = json.dumps(observe())
    with open(sys.argv[1], "w", encoding="utf-8") as file:  # noqa: PTH123  (no needless imports here)
        file.write(report)
