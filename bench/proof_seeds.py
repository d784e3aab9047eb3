"""Runs in the target interpreter: the statistics of S5 and S6 for many seeds in one process, as JSON lines.

``python proof_seeds.py CHILD_FOLDER FIRST COUNT``: what ``proof_reference.py`` feeds on. One process for all
saves the imports; the stages seed themselves, so it changes nothing (``proof_alarms.py`` starts fresh ones).
"""

import json
import os
import sys

from child_package import import_child, request


def main(folder, first, count):
    child = import_child(folder)
    registry = child("registry")
    events = child("context").Events(os.devnull)
    for seed in range(first, first + count):
        context = child("context").Context(request("quick", seed), events)
        for name in registry.stages_in("quick", 0):
            for measurement in child(registry.stage(name).module).run(context):
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
