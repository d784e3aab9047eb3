"""The faults by name. Runs in the target interpreter and in the bench, so nothing here imports TensorFlow.

To add a fault, write a function ``fault(tf, hit)`` in a module of ``kinds`` under the decorator :func:`kind`.
It is called once, right after TensorFlow was imported, and patches what it wants; whatever it puts in place
calls ``hit()`` each time it acts, because a fault that never acted must not count as missed.
"""

import importlib
import os

#: The modules of ``kinds``, in the order of the matrix.
MODULES = (
    "gradients",
    "kernels",
    "traced",
    "random_numbers",
    "optimizers",
    "pipeline",
    "metrics",
    "saving",
    "dtypes",
    "late",
    "process",
    "benign",
)

FAULTS = {}


class Fault:
    """One kind of fault."""

    def __init__(self, name, category, says, inject, benign, env, seconds):
        self.name = name
        self.category = category
        self.says = says  # one sentence
        self.inject = inject  # function(tf, hit)
        self.benign = benign  # a change that healthy stacks differ by: it must not be flagged
        self.env = env  # variables of the process; they act by being set
        self.seconds = seconds  # limit of a stage, for faults that never end


def kind(name, says, *, benign=False, env=None, seconds=120.0):
    """Register the decorated ``function(tf, hit)`` as the fault ``name``."""

    def register(inject):
        category = inject.__module__.rpartition(".")[2].replace("_", " ")
        assert name not in FAULTS, name
        FAULTS[name] = Fault(name, category, says, inject, benign, env or {}, seconds)
        return inject

    return register


class Hits:
    """Counts how often a fault acted; the first time it says so too, for a process that will not end well."""

    def __init__(self, name):
        self.name = name
        self.count = 0

    def __call__(self):
        self.count += 1
        if self.count == 1:
            os.write(2, f"{MARK}{self.name}\n".encode())


MARK = "tfenv-fault-acted: "

for _module in MODULES:
    importlib.import_module(__package__ + ".kinds." + _module)
