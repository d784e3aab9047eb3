"""Applies a fault right after ``import tensorflow``, in every start of one interpreter.

``plant`` writes a ``.pth`` line and a small module into an environment; every interpreter of it, also one
that the proof starts itself, then patches TensorFlow the moment it is imported. The proof knows nothing of
it, and nothing of this is part of tfenv.
"""

import importlib.abc
import importlib.machinery
import os
import sys
from pathlib import Path

from .catalogue import FAULTS, Hits

_MODULE = """\
import sys
sys.path.insert(0, {bench!r})
try:
    from faults.arm import arm
finally:
    del sys.path[0]
arm({name!r})
"""


def plant(site_packages, name):
    """Make every start of the environment with this ``site_packages`` folder carry the fault ``name``."""
    assert name in FAULTS, name
    bench = os.fspath(Path(__file__).resolve().parents[1])
    folder = Path(site_packages)
    (folder / "_tfenv_fault.py").write_text(_MODULE.format(bench=bench, name=name), "utf-8")
    (folder / "_tfenv_fault.pth").write_text("import _tfenv_fault\n", "utf-8")


def arm(name):
    """Apply the fault ``name`` once TensorFlow has been imported."""
    global armed
    armed = Hits(name)
    if FAULTS[name].env:
        armed()
    sys.meta_path.insert(0, _After(FAULTS[name].inject, armed))


#: The counter of this process' fault; None: no fault.
armed = None


class _After(importlib.abc.MetaPathFinder):
    """Finds TensorFlow as usual, and calls the fault when its module has been executed."""

    def __init__(self, inject, hit):
        self._inject = inject
        self._hit = hit

    def find_spec(self, name, path=None, target=None):
        if name != "tensorflow":
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            self._inject(module, self._hit)

        spec.loader.exec_module = exec_module
        return spec
