"""A lock: one hashed, resolved TensorFlow stack for one target, Python minor and TF minor."""

from __future__ import annotations

from typing import Literal, Optional

from tfenv.records import record
from tfenv.versions import minor_of

#: What speaks for a lock, best first. ``proven``: ``tfenv`` ran its proof on this very lock on the kind of
#: device it is for. ``released``: every accelerator pin is exact in the release's own metadata.
#: ``resolved``: the resolver found a consistent closure; nothing ran.
EvidenceGrade = Literal["proven", "released", "resolved"]


@record
class Pin:
    """One locked distribution."""

    name: str  # canonical (PEP 503)
    version: str
    hashes: tuple[str, ...]  # sha256, hex; only of files usable on the lock's target
    accepts: str = ""  # what the closure's own metadata demands of it, e.g. ">=1.26.0,<2.2.0"; "" = anything
    size: int = 0  # bytes to download (the largest of its usable files); 0 = unknown


@record
class KnownFault:
    """A fault reported for a stack that is offered all the same, shown before it installs."""

    text: str
    source: str


@record
class Floors:
    """What the machine must at least have; an empty value is no demand."""

    glibc: str = ""  # "2.17": the highest manylinux tag that the locked wheels need
    macos: str = ""  # "12.0"
    cpu_features: tuple[str, ...] = ()  # ("avx",)
    driver: str = ""  # "525.60.13"
    source: str = ""


@record
class CudaBuild:
    """What the CUDA part of a lock was built for."""

    cuda: str  # "12.5"
    cudnn: str  # the locked cuDNN, "9.3.0.75"
    architectures: tuple[str, ...]  # ("sm_60", …, "compute_90"), build_info.py of the wheel
    min_compute_capability: str  # of wheel and locked cuDNN together, "6.0"
    max_compute_capability: str  # above it no wheel is known to work, "9.0"
    source: str


@record
class Lock:
    """One lockfile of the catalogue."""

    id: str  # "linux-x86_64-cpu/tf2.19-py311": its path under lockfiles/, without ".txt"
    target: str
    python: str  # "3.11"
    tensorflow: str  # "2.19.1"
    holder: str  # the distribution whose wheel really holds TensorFlow: "tensorflow-cpu"
    as_of: str  # ISO date; the resolver saw nothing newer
    floors: Floors
    cuda: Optional[CudaBuild] = None
    on_wish: bool = False  # never chosen by default
    faults: tuple[KnownFault, ...] = ()
    evidence: EvidenceGrade = "resolved"
    digest: str  # sha256 of the file
    pins: tuple[Pin, ...]

    @property
    def minor(self) -> str:
        """The TF minor, "2.19"."""
        return minor_of(self.tensorflow)

    @property
    def size(self) -> int:
        """Bytes to download for the whole lock."""
        return sum(pin.size for pin in self.pins)


@record
class NoStack:
    """A combination for which policy says that there is no lock, and why."""

    target: str
    tensorflow: str  # minor, "2.20"
    python: str = ""  # minor; "" = every Python
    reason: str
    source: str
