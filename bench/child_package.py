"""Imports the proof's child as the package ``child``, in an interpreter that need not have tfenv.

Run in the target interpreter: standard library only.
"""

import importlib
import importlib.util
import sys
from pathlib import Path


def import_child(folder):
    """A function that imports a module of the child in ``folder`` by its name."""
    entry = Path(folder) / "__init__.py"
    spec = importlib.util.spec_from_file_location("child", entry, submodule_search_locations=[str(folder)])
    sys.modules["child"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["child"])
    return lambda name: importlib.import_module("child." + name)


def request(level, seed, device="auto"):
    """What a context of the child is made with, for the first process of a proof."""
    return {"level": level, "device": device, "seed": seed, "process": 0, "exchange": ""}
