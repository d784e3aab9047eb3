"""Runs in the target interpreter: the child's ordinary main for many requests, without importing anew.

``python worker.py MAIN``: each line of standard input is the path of a request file; when it has been served,
``REQUEST.done`` says how often the fault of this environment acted meanwhile.
"""

import gc
import importlib.util
import json
import os
import sys


def main(entry_path):
    sys.path.insert(0, os.path.dirname(entry_path))  # the entry takes its own folder off the path again
    spec = importlib.util.spec_from_file_location("_tfenv_proof_entry", entry_path)
    entry = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(entry)
    for line in sys.stdin:
        request = line.rstrip("\n")
        before = _acted()
        entry.main(request)
        _forget()
        with open(request + ".part", "w") as file:
            json.dump({"acted": _acted() - before}, file)
        os.replace(request + ".part", request + ".done")


def _acted():
    arm = sys.modules.get("faults.arm")
    return 0 if arm is None else arm.armed.count


def _forget():
    """Leave no graph, model or state of the last request behind."""
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow is not None and hasattr(tensorflow, "keras"):
        tensorflow.keras.backend.clear_session()
    gc.collect()


if __name__ == "__main__":
    del sys.path[0]
    main(sys.argv[1])
    os._exit(0)
