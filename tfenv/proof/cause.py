"""A cause of a failed proof in a person's words."""

from __future__ import annotations

import re

from tfenv.records import record

_DISK_FULL = re.compile(r"No space left on device|[Dd]isk quota exceeded|not enough space on the disk")


@record
class Cause:
    """What one way of failing means and what to do about it."""

    kind: str  # stable id: "sigill", "numpy-abi"
    title: str
    cause: str
    remedy: str
    conclusive: bool = True  # False: something outside ended the proof, so nothing is known of the stack


REBUILD = (
    "Build a fresh environment from a lock (tfenv bootstrap --venv NEW) and prove that one; "
    "if it passes, the old environment holds files of two builds."
)

DLL = Cause(
    kind="dll",
    title="Windows could not load a library that TensorFlow needs",
    cause="The Microsoft Visual C++ 2015-2022 runtime is missing or too old, "
    "or a DLL of another release is found first.",
    remedy="Install the current Microsoft Visual C++ Redistributable (x64), then run tfenv smoke again.",
)

DISK_FULL = Cause(
    kind="disk-full",
    title="the disk is full",
    cause="The proof could not write its results into the folder for temporary files.",
    remedy="Free disk space, or point TMPDIR to another disk, and run tfenv smoke again.",
    conclusive=False,
)

OUT_OF_MEMORY = Cause(
    kind="out-of-memory",
    title="there was not enough memory for TensorFlow",
    cause="The limit of the process (ulimit -v), the container or the machine was reached; "
    "importing TensorFlow and training the tiny networks takes about 0.7 GB.",
    remedy="Give it more (ulimit -v unlimited; docker run --memory=2g), or stop what else uses memory.",
)


def is_disk_full(text: str) -> bool:
    """Whether an error's words (of the system, of HDF5, of TensorFlow) say that the disk is full."""
    return _DISK_FULL.search(text) is not None
