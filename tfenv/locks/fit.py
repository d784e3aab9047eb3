"""Does a lock fit this machine? Every reason why not, in words a person can act on."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, Optional

from packaging.version import InvalidVersion, Version

from tfenv.facts.model import Facts
from tfenv.locks.model import EvidenceGrade, Lock
from tfenv.records import record
from tfenv.targets.model import Target
from tfenv.versions import minor_of

ReasonKind = Literal["target", "python", "glibc", "macos", "cpu", "driver", "compute-capability", "cudnn"]


@record
class Reason:
    """One reason why a lock does not fit."""

    kind: ReasonKind
    text: str


@record
class Fit:
    """A lock of the catalogue beside this machine: it fits, or the reasons why not."""

    lock: str  # its id
    target: str
    python: str
    tensorflow: str
    fits: bool
    reasons: tuple[Reason, ...]
    on_wish: bool
    evidence: EvidenceGrade
    size: int  # bytes to download


def fit(lock: Lock, target: Target, facts: Facts) -> Fit:
    """``lock`` beside ``target`` and ``facts``. What is unknown about the machine is no reason."""
    reasons = reasons_against(lock, target, facts)
    return Fit(
        lock=lock.id,
        target=lock.target,
        python=lock.python,
        tensorflow=lock.tensorflow,
        fits=not reasons,
        reasons=reasons,
        on_wish=lock.on_wish,
        evidence=lock.evidence,
        size=lock.size,
    )


def reasons_against(lock: Lock, target: Target, facts: Facts) -> tuple[Reason, ...]:
    """Every reason why ``lock`` does not fit; empty if it does."""
    if lock.target != target.name:
        return (Reason(kind="target", text=f"it is for {lock.target}, and this is {target.name}"),)
    found = (
        _python(lock, facts),
        _glibc(lock, facts),
        _macos(lock, facts),
        _cpu(lock, facts),
        _driver(lock, facts),
        _compute_capability(lock, facts),
    )
    return tuple(reason for reason in found if reason is not None)


def narrowed(lock: Lock, facts: Facts) -> Lock:
    """``lock`` with what this machine's GPUs demand beyond the closure's own metadata.

    TensorFlow 2.20 accepts any cuDNN 9, and cuDNN 9.11 dropped GPUs below compute capability 7.5
    (immich-app/immich#23110, pytorch/pytorch#172352).
    """
    gpus = facts.nvidia.gpus.value or ()
    old = [gpu for gpu in gpus if gpu.compute_capability and not _at_least(gpu.compute_capability, "7.5")]
    if not old or lock.cuda is None:
        return lock
    pins = tuple(
        replace(pin, accepts=f"{pin.accepts},<9.11".lstrip(",")) if pin.name == "nvidia-cudnn-cu12" else pin
        for pin in lock.pins
    )
    return replace(lock, pins=pins)


def python_minor(facts: Facts) -> Optional[str]:
    """The target interpreter's minor, "3.11"."""
    version = facts.python.version.value
    return minor_of(version) if version else None


def _python(lock: Lock, facts: Facts) -> Optional[Reason]:
    minor = python_minor(facts)
    if minor is None or minor == lock.python:
        return None
    return Reason(kind="python", text=f"it is for Python {lock.python}, and this is {minor}")


def _glibc(lock: Lock, facts: Facts) -> Optional[Reason]:
    have = facts.system.libc_version.value
    if facts.system.libc.value != "glibc" or _at_least(have, lock.floors.glibc):
        return None
    return Reason(kind="glibc", text=f"its wheels need glibc {lock.floors.glibc}, and this system has {have}")


def _macos(lock: Lock, facts: Facts) -> Optional[Reason]:
    have = facts.system.os_version.value
    if facts.system.os.value != "macos" or _at_least(have, lock.floors.macos):
        return None
    return Reason(kind="macos", text=f"its wheels need macOS {lock.floors.macos}, and this is {have}")


def _cpu(lock: Lock, facts: Facts) -> Optional[Reason]:
    have = facts.cpu.features.value
    if have is None:
        return None
    missing = [feature for feature in lock.floors.cpu_features if feature not in have]
    if not missing:
        return None
    return Reason(
        kind="cpu", text=f"its wheels need the CPU features {', '.join(missing)}, which this machine lacks"
    )


def _driver(lock: Lock, facts: Facts) -> Optional[Reason]:
    have = facts.nvidia.driver_nvml.value or facts.nvidia.driver_proc.value
    if lock.cuda is None or _at_least(have, lock.floors.driver):
        return None
    return Reason(
        kind="driver",
        text=f"CUDA {lock.cuda.cuda} needs an NVIDIA driver >= {lock.floors.driver}, "
        f"and this machine has {have}",
    )


def _compute_capability(lock: Lock, facts: Facts) -> Optional[Reason]:
    if lock.cuda is None:
        return None
    for gpu in facts.nvidia.gpus.value or ():
        capability = gpu.compute_capability
        if capability is None:
            continue
        if not _at_least(capability, lock.cuda.min_compute_capability):
            return Reason(
                kind="compute-capability",
                text=f"{gpu.name} has compute capability {capability}, and with cuDNN {lock.cuda.cudnn} "
                f"this lock starts at {lock.cuda.min_compute_capability}",
            )
        if not _at_least(lock.cuda.max_compute_capability, capability):
            return Reason(
                kind="compute-capability",
                text=f"{gpu.name} has compute capability {capability}, and TensorFlow {lock.tensorflow} "
                f"is built for {lock.cuda.max_compute_capability} and below",
            )
    return None


def _at_least(have: Optional[str], floor: str) -> bool:
    """Whether ``have`` >= ``floor``; what is unknown or unreadable counts as enough."""
    if not have or not floor:
        return True
    try:
        return Version(have) >= Version(floor)
    except InvalidVersion:
        return True
