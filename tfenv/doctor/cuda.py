"""TensorFlow's CUDA build against the driver and the cards."""

from __future__ import annotations

from typing import Optional

from tfenv.doctor import tables
from tfenv.doctor.answers import listed, seen
from tfenv.doctor.context import Context
from tfenv.doctor.model import Check
from tfenv.doctor.nvidia import cpu_by_choice, driver, gpu_severity, on_cuda_platform
from tfenv.doctor.stack import is_below
from tfenv.facts.model import GpuFacts
from tfenv.locks.model import CudaBuild, Lock
from tfenv.result import Evidence, Finding, Remedy
from tfenv.versions import version_key

#: Distributions that hold TensorFlow without CUDA.
_CPU_BUILDS = ("tensorflow-cpu", "tensorflow-cpu-aws", "tensorflow-intel", "tf-nightly-cpu")
_CPU_TARGET = "linux-x86_64-cpu"
_BLACKWELL = (10, 0)


def uses_gpu(context: Context) -> bool:
    """A GPU with a driver, on the platform that has CUDA wheels, and a stack that wants it."""
    return on_cuda_platform(context) and not cpu_by_choice(context) and driver(context) is not None


def is_cpu_build(context: Context) -> bool:
    tensorflow = context.stack.tensorflow
    return tensorflow is not None and tensorflow.name in _CPU_BUILDS


def cuda_build(context: Context) -> Optional[CudaBuild]:
    """The CUDA build of the installed TensorFlow."""
    tensorflow = context.stack.tensorflow
    if tensorflow is None or is_cpu_build(context):
        return None
    return tables.cuda_build(tensorflow.version, context.locks)


def _candidates(context: Context) -> list[Lock]:
    """Without a TensorFlow: the CUDA locks that a bootstrap could take."""
    return (
        [lock for lock in context.locks if lock.cuda is not None] if context.stack.tensorflow is None else []
    )


def _driver_floor(context: Context) -> tuple[Finding, ...]:
    have, build = driver(context), cuda_build(context)
    if not uses_gpu(context) or have is None:
        return ()
    if build is not None:
        floor = tables.driver_floor(build, context.locks)
        tensorflow = context.stack.tensorflow
        what = f"TensorFlow {tensorflow.version if tensorflow else ''} (CUDA {build.cuda})"
    else:
        floors = {lock.floors.driver for lock in _candidates(context) if lock.floors.driver}
        floor = min(floors, key=version_key, default="")
        what = "every CUDA build of the catalogue"
    if not is_below(have, floor):
        return ()
    facts = context.facts
    if facts.system.wsl.value:
        where = "the NVIDIA driver of Windows (never install one inside WSL)"
    elif facts.system.container.value:
        where = "the NVIDIA driver of the host"
    else:
        where = "the NVIDIA driver"
    return (
        Finding(
            id="CUD002",
            severity=gpu_severity(context),
            title=f"The NVIDIA driver {have} is too old: {what} needs {floor} or newer",
            cause="CUDA runs on drivers of its own generation or newer ('CUDA driver version is "
            "insufficient').",
            evidence=(
                seen("driver (NVML)", facts.nvidia.driver_nvml),
                seen("driver (kernel)", facts.nvidia.driver_proc),
                Evidence(
                    what="floor",
                    value=floor,
                    source="NVIDIA, CUDA Compatibility: minor version compatibility",
                ),
            ),
            remedy=Remedy(
                text=f"Update {where} to {floor} or newer, or train on the CPU.",
                commands=(context.commands.bootstrap(target=_CPU_TARGET),),
            ),
        ),
    )


def _capability(context: Context) -> tuple[Finding, ...]:
    gpus = context.facts.nvidia.gpus.value or ()
    if not uses_gpu(context) or not gpus:
        return ()
    silent = [gpu.name for gpu in gpus if gpu.compute_capability is None]
    findings: list[Finding] = []
    if silent:
        findings.append(
            Finding(
                id="CUD007",
                severity="unknown",
                title=f"Could not read the compute capability of {listed(silent)}",
                cause="The driver did not tell it.",
                evidence=(seen("GPUs", context.facts.nvidia.driver_nvml),),
            )
        )
    build = cuda_build(context)
    if build is not None:
        findings += [finding for gpu in gpus for finding in _against_build(context, gpu, build)]
    else:
        findings += _against_catalogue(context, gpus)
    return tuple(findings)


def _against_build(context: Context, gpu: GpuFacts, build: CudaBuild) -> list[Finding]:
    capability, tensorflow = gpu.compute_capability, context.stack.tensorflow
    assert tensorflow is not None
    how = _kernels_for(capability, build) if capability else "native"
    if how == "native":
        return []
    evidence = (
        Evidence(
            what=f"GPU {gpu.index}", value=f"{gpu.name}, compute capability {capability}", source="NVML"
        ),
        Evidence(
            what=f"{tensorflow.name} {tensorflow.version}",
            value=listed(build.architectures),
            source=build.source,
        ),
    )
    if how == "jit":
        return [
            Finding(
                id="CUD007",
                severity="info",
                title=f"On {gpu.name} the first start takes minutes: TensorFlow compiles its kernels for it",
                cause="The wheel has no binary code for this GPU, only PTX that the driver translates once.",
                evidence=evidence,
                remedy=Remedy(
                    text="Let the driver keep what it compiled.",
                    commands=(context.commands.set("CUDA_CACHE_MAXSIZE", "4294967296"),),
                ),
            )
        ]
    return [
        Finding(
            id="CUD007",
            severity=gpu_severity(context),
            title=f"TensorFlow {tensorflow.version} has no kernels for {gpu.name} (compute capability "
            f"{capability})",
            cause=_WHY[how],
            evidence=evidence,
            remedy=_another_stack(context, gpu, how),
        )
    ]


def _against_catalogue(context: Context, gpus: tuple[GpuFacts, ...]) -> list[Finding]:
    builds = [lock.cuda for lock in _candidates(context) if lock.cuda is not None]
    findings = []
    for gpu in gpus:
        capability = gpu.compute_capability
        if capability is None or not builds:
            continue
        ways = {_kernels_for(capability, build) for build in builds}
        if ways & {"native", "jit"}:
            continue
        how = "too new" if "too new" in ways else "too old"
        findings.append(
            Finding(
                id="CUD007",
                severity=gpu_severity(context),
                title=f"No TensorFlow wheel works on {gpu.name} (compute capability {capability})",
                cause=_WHY[how],
                evidence=(
                    Evidence(
                        what=f"GPU {gpu.index}",
                        value=f"{gpu.name}, compute capability {capability}",
                        source="NVML",
                    ),
                    Evidence(
                        what="built for",
                        value=listed(dict.fromkeys(name for build in builds for name in build.architectures)),
                        source=builds[0].source,
                    ),
                ),
                remedy=_another_stack(context, gpu, how),
            )
        )
    return findings


_WHY = {
    "too new": "The wheels are made with CUDA 12.5, which does not know this GPU. Compiling their PTX for it "
    "fails ('CUDA_ERROR_INVALID_PTX', 'PTX version does not support target').",
    "too old": "Support for GPUs of this age was dropped when the wheel was built.",
}


def _kernels_for(capability: str, build: CudaBuild) -> str:
    """ "native", "jit" (from PTX), "too new" or "too old".

    sm_XY is binary code for XY and later minors of the same major; compute_XY is that and PTX for all later.
    """
    have = version_key(capability)[:2]
    entries = [_architecture(name) for name in build.architectures]
    if any(major == have[0] and minor <= have[1] for _, major, minor in entries):
        return "native"
    if any(kind == "compute" and (major, minor) <= have for kind, major, minor in entries):
        # Reported for every Blackwell card: the PTX is there, and translating it fails.
        return "too new" if have >= _BLACKWELL else "jit"
    return "too old" if have < min((major, minor) for _, major, minor in entries) else "too new"


def _architecture(name: str) -> tuple[str, int, int]:
    kind, _, digits = name.partition("_")
    return kind, int(digits[:-1]), int(digits[-1])


def _another_stack(context: Context, gpu: GpuFacts, how: str) -> Remedy:
    capability = gpu.compute_capability or ""
    fitting = [
        lock
        for lock in context.locks
        if lock.cuda is not None and _kernels_for(capability, lock.cuda) == "native" and not lock.on_wish
    ]
    cpu = context.commands.bootstrap(target=_CPU_TARGET)
    if fitting and how == "too old":
        newest = max(fitting, key=lambda lock: version_key(lock.tensorflow))
        return Remedy(
            text=f"TensorFlow {newest.tensorflow} still serves this GPU. Or train on the CPU.",
            commands=(context.commands.bootstrap(tensorflow=newest.minor), cpu),
        )
    if how == "too new":
        return Remedy(
            text="Use NVIDIA's own TensorFlow container, which is built with a newer CUDA, or train on the "
            "CPU.",
            commands=("docker run --gpus all -it --rm nvcr.io/nvidia/tensorflow:25.02-tf2-py3", cpu),
        )
    return Remedy(text="Train on the CPU.", commands=(cpu,))


_CHAIN = ("CUD001", "CTR002", "CUD003", "CUD006")
CHECKS = (
    Check(
        id="CUD002",
        rung="device",
        tier="probe",
        summary="The driver is new enough for CUDA",
        run=_driver_floor,
        after=("CUD001", "CTR002"),
    ),
    Check(
        id="CUD007",
        rung="device",
        tier="probe",
        summary="TensorFlow has kernels for every GPU",
        run=_capability,
        after=_CHAIN,
    ),
)
