"""The NVIDIA driver's own parts: CUDA's memory device, libcuda, nvidia-smi and NVML."""

from __future__ import annotations

from tfenv.doctor.answers import cannot_tell, seen, variable
from tfenv.doctor.context import Context
from tfenv.doctor.model import Check
from tfenv.doctor.nvidia import driver, gpu_severity, nodes, wants_gpu
from tfenv.result import Finding, Remedy


def _uvm(context: Context) -> tuple[Finding, ...]:
    there = nodes(context)
    if not wants_gpu(context) or not there or "/dev/nvidia-uvm" in there:
        return ()
    return (
        Finding(
            id="CUD018",
            severity=gpu_severity(context),
            title="/dev/nvidia-uvm is missing, so CUDA cannot start",
            cause="nvidia-smi works without it, CUDA does not ('unknown error', 999). The module nvidia_uvm "
            "is not "
            "loaded, often after the machine slept.",
            evidence=(seen("device nodes", context.facts.nvidia.device_nodes),),
            remedy=Remedy(text="Load it.", commands=("sudo nvidia-modprobe -u -c=0",)),
        ),
    )


def _libcuda(context: Context) -> tuple[Finding, ...]:
    facts, fact = context.facts, context.facts.nvidia.libcuda
    if not wants_gpu(context) or driver(context) is None:
        return ()
    if not nodes(context) and not facts.nvidia.gpus.value:
        return ()
    if not fact.known:
        return (cannot_tell("CUD004", "the driver's library libcuda.so.1", fact),)
    if fact.value is None:
        wanted = context.variable("NVIDIA_DRIVER_CAPABILITIES")
        evidence = (seen("libcuda.so.1", fact),)
        return (
            Finding(
                id="CUD004",
                severity=gpu_severity(context),
                title="The driver's library libcuda.so.1 is not found: TensorFlow will use the CPU",
                cause="The kernel part of the driver is there, the library that programs use is not."
                + (" The container was not given the capability 'compute'." if wanted else ""),
                evidence=evidence
                + ((variable("NVIDIA_DRIVER_CAPABILITIES", wanted),) if wanted is not None else ()),
                remedy=Remedy(
                    text="Give the container the driver's libraries."
                    if facts.system.container.value
                    else "Install the driver's libraries of exactly the kernel module's version.",
                    commands=("docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility …",)
                    if facts.system.container.value
                    else ("ldconfig -p | grep libcuda",),
                ),
            ),
        )
    if "/stubs" in fact.value:
        return (
            Finding(
                id="CUD004",
                severity=gpu_severity(context),
                title="The loader finds a stub of libcuda.so.1, which has no driver behind it",
                cause="The folder 'stubs' of the CUDA toolkit is for linking only ('CUDA driver is a stub "
                "library').",
                evidence=(seen("libcuda.so.1", fact),),
                remedy=Remedy(
                    text="Take the stubs folder out of LD_LIBRARY_PATH.",
                    commands=(context.commands.unset("LD_LIBRARY_PATH"),),
                ),
            ),
        )
    return ()


def _smi(context: Context) -> tuple[Finding, ...]:
    fact = context.facts.nvidia.nvidia_smi
    if not wants_gpu(context) or (driver(context) is None and not nodes(context)):
        return ()
    if fact.value == "hung":
        return (
            Finding(
                id="CUD005",
                severity=gpu_severity(context),
                title="The NVIDIA driver does not answer: nvidia-smi hangs",
                cause="A GPU that fell off the bus or a driver that waits for one blocks every program, "
                "TensorFlow "
                "as well.",
                evidence=(seen("nvidia-smi", fact),),
                remedy=Remedy(
                    text="Look at the kernel's messages (Xid), then restart the machine.",
                    commands=("sudo dmesg | grep -iE 'xid|nvrm' | tail", "sudo reboot"),
                ),
            ),
        )
    if fact.value and fact.value.startswith("failed"):
        return (
            Finding(
                id="CUD005",
                severity="warn",
                title=f"nvidia-smi {fact.value}",
                cause="The driver is seen, but its own tool ends with an error.",
                evidence=(seen("nvidia-smi", fact),),
                remedy=Remedy(text="See what it says.", commands=("nvidia-smi",)),
            ),
        )
    return ()


def _answers(context: Context) -> tuple[Finding, ...]:
    """NVML that cannot be asked is no GPU seen and none denied."""
    nvidia = context.facts.nvidia
    if not wants_gpu(context) or nvidia.gpus.known or "mismatch" in nvidia.gpus.reason.lower():
        return ()
    return (cannot_tell("CUD020", "the GPUs and their driver", nvidia.gpus),)


CHECKS = (
    Check(
        id="CUD018",
        rung="device",
        tier="probe",
        summary="CUDA's memory device is there",
        run=_uvm,
        after=("CUD001", "CTR002", "CUD006"),
    ),
    Check(
        id="CUD005",
        rung="device",
        tier="probe",
        summary="nvidia-smi answers",
        run=_smi,
        after=("CUD003", "CUD001", "CTR002", "CUD006"),
    ),
    Check(
        id="CUD020",
        rung="device",
        tier="probe",
        summary="NVML tells the GPUs",
        run=_answers,
        after=("CUD003", "CUD001", "CTR002", "CUD006", "CUD005"),
    ),
    Check(
        id="CUD004",
        rung="device",
        tier="probe",
        summary="The driver's library is found",
        run=_libcuda,
        after=("CUD003", "CUD001", "CTR002", "CUD006"),
    ),
)
