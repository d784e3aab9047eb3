"""Runs in the target interpreter (``python -c``) and writes what the seed hook really did there, as JSON.

Arguments: the file to write, then the modules to import first. Python 3.8 syntax.
"""

import sys


def observe() -> "dict[str, object]":
    """What happened in this interpreter, in the shape of ``tfenv.seeding.model.Observation``."""
    starter = sys.modules.get("_tfenv_seed")
    if starter is None:
        return _report(None, None, False, [_why_not_started()])
    import random

    hook = getattr(sys.modules.get("_tfenv_seed_work"), "hook", None)
    if hook is None:
        return _report(starter, None, False, [starter.problem] if starter.problem else [])
    # Before anything else is imported: what is imported next may draw from it (Keras 3.15 does).
    expected = random.Random(hook.seed).getstate()  # noqa: S311
    random_seeded = hook.seed >= 0 and random.getstate() == expected
    errors = []
    for name in sys.argv[2:]:
        try:
            __import__(name)
        except Exception as error:
            errors.append(f"import {name}: {type(error).__name__}: {error}")
    return _report(starter, hook, random_seeded, errors + hook.problems)


def _why_not_started() -> str:
    try:
        import _tfenv_seed  # type: ignore[import-not-found] # noqa: F401
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "the .pth file that starts it was not processed"


def _report(starter: object, hook: object, random_seeded: bool, problems: "list[str]") -> "dict[str, object]":
    import os

    seed = getattr(hook, "seed", -1)
    fixed = not sys.flags.ignore_environment and os.environ.get("PYTHONHASHSEED", "random")
    return {
        "loaded": starter is not None,
        "file": getattr(starter, "__file__", ""),
        "version": getattr(starter, "VERSION", 0),
        "source": getattr(hook, "source", ""),
        "seed": seed if seed >= 0 else None,
        "deterministic": getattr(hook, "deterministic", False),
        "determinism_on": getattr(hook, "determinism_on", False),
        "seeded": getattr(hook, "seeded", []),
        "waiting": getattr(hook, "waiting", []) if hook in sys.meta_path else [],
        "random_seeded": random_seeded,
        "hash_seed": int(fixed) if fixed and fixed.isdecimal() else None,
        "problems": problems,
    }


if __name__ == "__main__":
    import json

    report = json.dumps(observe())
    with open(sys.argv[1], "w", encoding="utf-8") as file:  # noqa: PTH123  (no needless imports here)
        file.write(report)
