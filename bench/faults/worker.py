"""Runs in the target interpreter: the child's ordinary main for many requests, without importing anew.

``python worker.py MAIN``: each line of standard input is the path of a request file; when it has been served,
``REQUEST.done`` says how often the fault of this environment acted meanwhile.
"""

import gc
import importlib.util
import json
import os
import sys
from pathlib import Path


def main(entry_path):
    sys.path.insert(0, "")  # the entry expects its own folder there, and takes it off
    spec = importlib.util.spec_from_file_location("_tfenv_proof_entry", entry_path)
    entry = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(entry)
    for line in sys.stdin:
        request = line.rstrip("\n")
        before = _acted()
        entry.main(request)
        _forget()
        part = Path(request + ".part")
        part.write_text(json.dumps({"acted": _acted() - before}), "utf-8")
        part.replace(request + ".done")


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
