"""Runs in the target interpreter: the statistics of S5 and S6 for many seeds in one process, as JSON lines.

``python proof_seeds.py CHILD_FOLDER FIRST COUNT``: what ``proof_reference.py`` feeds on. One process for all
saves the imports; the stages seed themselves, so it changes nothing (``proof_alarms.py`` starts fresh ones).
"""

import importlib
import importlib.util
import json
import os
import sys
from pathlib import Path


def main(folder, first, count):
    spec = importlib.util.spec_from_file_location(
        "child", Path(folder) / "__init__.py", submodule_search_locations=[folder]
    )
    sys.modules["child"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["child"])
    context_module = importlib.import_module("child.context")
    registry = importlib.import_module("child.registry")
    events = context_module.Events(os.devnull)
    for seed in range(first, first + count):
        request = {"level": "quick", "device": "auto", "seed": seed}
        context = context_module.Context(request, events)
        for stage in registry.STAGES:
            measurements = importlib.import_module("child." + stage.module).run(context)
            for measurement in measurements:
                if measurement["rule"].get("luck"):
                    row = {"seed": seed, "check": measurement["id"], "statistic": measurement["statistic"]}
                    _say("row", {**row, "n": measurement["n"], "kind": measurement["rule"]["kind"]})
        if seed == first:
            keras = sys.modules[str(context.keras.__name__).partition(".")[0]]
            stack = {
                "tensorflow": context.tf.__version__,
                "keras": keras.__version__,
                "device": context.device,
            }
            _say("stack", stack)
        context.keras.backend.clear_session()


def _say(what, data):
    sys.stdout.write(f"{what} {json.dumps(data)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
