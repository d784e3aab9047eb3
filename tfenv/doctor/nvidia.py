"""The chain from the NVIDIA card to its device nodes: bus, kernel module, container, nodes."""

from __future__ import annotations

from typing import Literal, Optional

from tfenv.doctor.answers import cannot_tell, seen
from tfenv.doctor.context import Context
from tfenv.doctor.model import Check
from tfenv.result import Finding, Remedy

_GPUS = "docker run --gpus all …"
_TOOLKIT = "On the host, NVIDIA's container toolkit must be installed; with Kubernetes, set the limit "
"nvidia.com/gpu."


def on_cuda_platform(context: Context) -> bool:
    """Linux on x86_64: the only platform whose TensorFlow wheels know CUDA."""
    facts = context.facts
    arch = (facts.python.build_arch.value or facts.system.machine_arch.value or "").lower()
    return facts.system.os.value == "linux" and arch in ("x86_64", "amd64")


def cpu_by_choice(context: Context) -> bool:
    """The user took a CPU stack, so the GPU is none of the doctor's business."""
    return context.bootstrapped is not None and context.bootstrapped.target.endswith("-cpu")


def gpu_severity(context: Context) -> Literal["fail", "warn"]:
    """How bad an unusable GPU is: ``fail`` where the stack or the machine is meant for it."""
    state = context.bootstrapped
    for_gpu = state is not None and state.target.endswith("-cuda")
    wheels = "nvidia-cudnn-cu12" in context.stack.installed
    chosen = context.target is not None and context.target.name.endswith("-cuda")
    return "fail" if for_gpu or wheels or chosen else "warn"


def driver(context: Context) -> Optional[str]:
    """The version of the driver, from whichever source tells it."""
    return context.facts.nvidia.driver_nvml.value or context.facts.nvidia.driver_proc.value


def wants_gpu(context: Context) -> bool:
    """The platform has CUDA wheels, and the user did not choose the CPU."""
    return on_cuda_platform(context) and not cpu_by_choice(context)


def _in_wsl(context: Context) -> bool:
    """There the Windows driver serves /dev/dxg, and the usual files of the driver do not exist."""
    return bool(context.facts.system.wsl.value) or "/dev/dxg" in (
        context.facts.nvidia.device_nodes.value or ()
    )


def nodes(context: Context) -> tuple[str, ...]:
    """The device nodes of NVIDIA's driver."""
    return tuple(node for node in context.facts.nvidia.device_nodes.value or () if "nvidia" in node)


def _mismatch(context: Context) -> tuple[Finding, ...]:
    nvidia = context.facts.nvidia
    if not wants_gpu(context) or _in_wsl(context):
        return ()
    told = "mismatch" in nvidia.driver_nvml.reason.lower()
    kernel, library = nvidia.driver_proc.value, nvidia.driver_nvml.value
    if not told and (not kernel or not library or kernel == library):
        return ()
    in_container = bool(context.facts.system.container.value)
    return (
        Finding(
            id="CUD003",
            severity=gpu_severity(context),
            title="The NVIDIA driver in the kernel and its libraries are of different versions",
            cause="The driver was updated while the old one was loaded ('Driver/library version mismatch').",
            evidence=(
                seen("kernel module", nvidia.driver_proc),
                seen("libraries (NVML)", nvidia.driver_nvml),
            ),
            remedy=Remedy(
                text="Restart the container, then the host." if in_container else "Restart the machine.",
                commands=("sudo reboot",),
            ),
        ),
    )


def _no_driver(context: Context) -> tuple[Finding, ...]:
    facts, nvidia = context.facts, context.facts.nvidia
    if not wants_gpu(context) or _in_wsl(context) or not nvidia.pci_devices.value:
        return ()
    if driver(context) is not None or nodes(context) or facts.system.container.value:
        return ()
    if not nvidia.driver_proc.known:
        return (cannot_tell("CUD001", "whether the NVIDIA driver is loaded", nvidia.driver_proc),)
    return (
        Finding(
            id="CUD001",
            severity=gpu_severity(context),
            title="There is an NVIDIA GPU, but its driver is not loaded: TensorFlow will use the CPU",
            cause="The card is on the PCI bus and no NVIDIA kernel module answers. It is not installed, it "
            "was "
            "not built for the running kernel, secure boot refuses it, or 'nouveau' holds the card.",
            evidence=(
                seen("NVIDIA cards on the bus", nvidia.pci_devices),
                seen("kernel module", nvidia.driver_proc),
                seen("NVML", nvidia.driver_nvml),
            ),
            remedy=Remedy(
                text="Install the driver (on Ubuntu the first command, elsewhere your distribution's way), "
                "restart, and see whether nvidia-smi answers.",
                commands=("sudo ubuntu-drivers install", "sudo reboot", "nvidia-smi"),
            ),
        ),
    )


def _passed_in(context: Context) -> tuple[Finding, ...]:
    facts, nvidia = context.facts, context.facts.nvidia
    if not wants_gpu(context) or not facts.system.container.value or _in_wsl(context):
        return ()
    if nodes(context) or not (nvidia.pci_devices.value or driver(context)):
        return ()
    if not nvidia.device_nodes.known:
        return (cannot_tell("CTR002", "the device nodes of the GPU", nvidia.device_nodes),)
    return (
        Finding(
            id="CTR002",
            severity="fail" if gpu_severity(context) == "fail" else "info",
            title="The host's NVIDIA GPU is not passed into this container: TensorFlow will use the CPU",
            cause="A container sees a GPU only when it is started with it.",
            evidence=(
                seen("NVIDIA cards on the bus", nvidia.pci_devices),
                seen("kernel module", nvidia.driver_proc),
                seen("device nodes", nvidia.device_nodes),
                seen("container", facts.system.container),
            ),
            remedy=Remedy(text=f"Start the container with its GPUs. {_TOOLKIT}", commands=(_GPUS,)),
        ),
    )


def _device_nodes(context: Context) -> tuple[Finding, ...]:
    facts, nvidia = context.facts, context.facts.nvidia
    if not wants_gpu(context) or _in_wsl(context):
        return ()
    if not nvidia.device_nodes.known:
        what = "the device nodes of the GPU"
        return () if facts.system.container.value else (cannot_tell("CUD006", what, nvidia.device_nodes),)
    if not nodes(context):
        return _no_nodes(context) if driver(context) and not facts.system.container.value else ()
    if not nvidia.devices_usable.known:
        return (cannot_tell("CUD006", "whether the device nodes can be opened", nvidia.devices_usable),)
    if nvidia.devices_usable.value is not False:
        return ()
    return (
        Finding(
            id="CUD006",
            severity=gpu_severity(context),
            title="You may not open the GPU's device nodes: TensorFlow will use the CPU",
            cause="Your user lacks the right to read and write them, or the container or job system keeps "
            "them "
            "back.",
            evidence=(seen("device nodes", nvidia.device_nodes), seen("usable", nvidia.devices_usable)),
            remedy=Remedy(
                text="See which group owns them, join it, and log in again; in a container, "
                "start it with --gpus all.",
                commands=("ls -l /dev/nvidia*", 'sudo usermod -aG video,render "$USER"'),
            ),
        ),
    )


def _no_nodes(context: Context) -> tuple[Finding, ...]:
    nvidia = context.facts.nvidia
    return (
        Finding(
            id="CUD006",
            severity=gpu_severity(context),
            title="The NVIDIA driver is loaded, but there are no device nodes: TensorFlow will use the CPU",
            cause="/dev/nvidia0, /dev/nvidiactl and /dev/nvidia-uvm are missing; nvidia-modprobe makes them "
            "on "
            "first use.",
            evidence=(seen("kernel module", nvidia.driver_proc), seen("device nodes", nvidia.device_nodes)),
            remedy=Remedy(text="Have them made.", commands=("sudo nvidia-modprobe -u -c=0", "nvidia-smi")),
        ),
    )


CHECKS = (
    Check(
        id="CUD003",
        rung="device",
        tier="probe",
        summary="Driver and its libraries are of one version",
        run=_mismatch,
    ),
    Check(
        id="CUD001",
        rung="device",
        tier="probe",
        summary="An NVIDIA card has its driver",
        run=_no_driver,
        after=("CUD003",),
    ),
    Check(
        id="CTR002",
        rung="device",
        tier="probe",
        summary="A container is given the host's GPU",
        run=_passed_in,
        after=("CUD003", "CUD001"),
    ),
    Check(
        id="CUD006",
        rung="device",
        tier="probe",
        summary="The device nodes can be opened",
        run=_device_nodes,
        after=("CUD003", "CUD001", "CTR002"),
    ),
)
