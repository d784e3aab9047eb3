"""What is known of platforms, companions and CUDA beyond the locks of the catalogue. A source per row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Optional

from packaging.specifiers import SpecifierSet

from tfenv.doctor.stack import within
from tfenv.locks.model import CudaBuild, Lock
from tfenv.records import record
from tfenv.versions import minor_of


@record
class Companion:
    """A package whose minor must be TensorFlow's own."""

    package: str
    severity: Literal["fail", "warn"]
    cause: str
    source: str


COMPANIONS: tuple[Companion, ...] = (
    Companion(
        package="tensorflow-text",
        severity="fail",
        cause="Its compiled ops belong to one TensorFlow minor; with another the import ends in 'undefined "
        "symbol'.",
        source="metadata of tensorflow-text 2.15 to 2.21 (tensorflow of the same minor)",
    ),
    Companion(
        package="tf-keras",
        severity="warn",
        cause="tf-keras is made for the TensorFlow of its own minor and says so in its requirements.",
        source="metadata of tf-keras 2.15 to 2.21 (tensorflow of the same minor)",
    ),
)


@record
class Stub:
    """Where the distribution ``tensorflow`` (or its namesake) is empty and another one holds the code."""

    system: str
    arch: tuple[str, ...]  # lower case
    stub: str
    versions: str
    holder: str
    source: str


_WHEELS = "content of the wheels on PyPI"
STUBS: tuple[Stub, ...] = (
    Stub(system="macos", arch=("arm64",), stub="tensorflow", versions=">=2.13,<2.15.1",
         holder="tensorflow-macos", source=_WHEELS),
    Stub(system="macos", arch=("arm64",), stub="tensorflow-macos", versions=">=2.15.1,<2.17",
         holder="tensorflow", source=_WHEELS),
    Stub(system="windows", arch=("amd64", "x86_64"), stub="tensorflow", versions=">=2.11,<2.18.1",
         holder="tensorflow-intel", source=_WHEELS),
    Stub(system="linux", arch=("aarch64", "arm64"), stub="tensorflow", versions=">=2.12,<2.16",
         holder="tensorflow-cpu-aws", source=_WHEELS),
)  # fmt: skip

#: cuDNN from here on serves no GPU below that compute capability.
CUDNN_DROPPED = ("9.11", "7.5", "immich-app/immich#23110, pytorch/pytorch#172352")

#: CUDA of the releases before those that have locks (build_info.py of the wheels).
_OLDER_CUDA: tuple[tuple[str, CudaBuild], ...] = (
    (
        ">=2.12,<2.15",
        CudaBuild(
            cuda="11.8",
            cudnn="8.6",
            architectures=("sm_35", "sm_50", "sm_60", "sm_70", "sm_75", "compute_80"),
            min_compute_capability="3.5",
            max_compute_capability="9.0",
            source="build_info.py of the wheels 2.12 to 2.14",
        ),
    ),
)
#: NVIDIA's minor-version compatibility table (CUDA Compatibility guide), Linux.
_DRIVER_FLOORS = {"11": "450.80.02", "12": "525.60.13", "13": "580"}


def cuda_build(version: str, locks: Sequence[Lock]) -> Optional[CudaBuild]:
    """What TensorFlow ``version`` was built for: as its lock says, else as a lock of its minor."""
    minor = minor_of(version)
    with_cuda = [lock for lock in locks if lock.cuda is not None]
    exact = [lock.cuda for lock in with_cuda if lock.tensorflow == version]
    near = exact or [lock.cuda for lock in with_cuda if lock.minor == minor]
    if near:
        return near[0]
    return next((build for versions, build in _OLDER_CUDA if within(version, versions)), None)


def driver_floor(build: CudaBuild, locks: Sequence[Lock]) -> str:
    """The lowest driver for ``build``: as its lock says, else NVIDIA's floor for the CUDA generation."""
    of_locks = [lock.floors.driver for lock in locks if lock.cuda == build and lock.floors.driver]
    return of_locks[0] if of_locks else _DRIVER_FLOORS.get(build.cuda.split(".")[0], "")


def cudnn_serves(cudnn: str, capability: str) -> bool:
    """Whether cuDNN of version ``cudnn`` has kernels for a GPU of this compute capability."""
    first, lowest, _ = CUDNN_DROPPED
    dropped = SpecifierSet(f"<{lowest}").contains(capability) and SpecifierSet(f">={first}").contains(cudnn)
    return not dropped
