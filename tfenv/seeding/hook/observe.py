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
    hook = sys.modules["_tfenv_seed"].hook
    import random

    # Before anything else is imported: what is imported next may draw from it (Keras 3.15 does).
    expected = random.Random(hook.seed).getstate()  # noqa: S311
    random_seeded = hook.seed >= 0 and random.getstate() == expected
    errors = []
    for name in sys.argv[2:]:
        try:
            __import__(name)
        except Exception as error:
            errors.append(f"import {name}: {type(error).__name__}: {error}")
    return _report(hook, random_seeded, errors)


def _report(hook: object, random_seeded: bool, errors: "list[str]") -> "dict[str, object]":
    import os

    module = sys.modules.get("_tfenv_seed")
    seed = getattr(hook, "seed", -1)
    fixed = not sys.flags.ignore_environment and os.environ.get("PYTHONHASHSEED", "random")
    return {
        "loaded": hook is not None,
        "file": getattr(module, "__file__", ""),
        "version": getattr(module, "VERSION", 0),
        "source": getattr(hook, "source", ""),
        "seed": seed if seed >= 0 else None,
        "deterministic": getattr(hook, "deterministic", False),
        "determinism_on": getattr(hook, "determinism_on", False),
        "seeded": getattr(hook, "seeded", []),
        "waiting": getattr(hook, "waiting", []) if hook in sys.meta_path else [],
        "random_seeded": random_seeded,
        "hash_seed": int(fixed) if fixed and fixed.isdecimal() else None,
        "problems": errors + getattr(hook, "problems", []),
    }


if __name__ == "__main__":
    import json

    report = json.dumps(observe())
    with open(sys.argv[1], "w", encoding="utf-8") as file:  # noqa: PTH123  (no needless imports here)
        file.write(report)
