"""GPUs that TensorFlow's wheels reach in a special way, or not at all: WSL, aarch64, AMD, Windows."""

from __future__ import annotations

from tfenv.doctor.answers import seen
from tfenv.doctor.context import Context
from tfenv.doctor.model import Check
from tfenv.doctor.nvidia import cpu_by_choice, driver, gpu_severity
from tfenv.result import Finding, Remedy


def _wsl1(context: Context) -> tuple[Finding, ...]:
    fact = context.facts.system.wsl
    if fact.value != "WSL1" or cpu_by_choice(context):
        return ()
    return (
        Finding(
            id="WSL001",
            severity="info",
            title="This is WSL 1, which has no GPU",
            evidence=(seen("WSL", fact),),
            remedy=Remedy(
                text="If the machine has an NVIDIA GPU: change to WSL 2, from a Windows terminal.",
                commands=("wsl --set-version DISTRIBUTION 2",),
            ),
        ),
    )


def _wsl_driver(context: Context) -> tuple[Finding, ...]:
    facts, nvidia = context.facts, context.facts.nvidia
    path = nvidia.libcuda.value or ""
    if facts.system.wsl.value != "WSL2" or not path or path.startswith("/usr/lib/wsl/") or "/" not in path:
        return ()
    return (
        Finding(
            id="WSL004",
            severity=gpu_severity(context),
            title="A Linux NVIDIA driver is installed inside WSL and hides the one of Windows",
            cause="Under WSL the GPU belongs to the Windows driver, whose libcuda lies in /usr/lib/wsl/lib.",
            evidence=(seen("libcuda.so.1", nvidia.libcuda),),
            remedy=Remedy(
                text="Remove the Linux driver; keep only toolkits.",
                commands=("sudo apt-get purge 'libnvidia-compute-*' 'nvidia-driver-*'", "sudo ldconfig"),
            ),
        ),
    )


def _wsl_device(context: Context) -> tuple[Finding, ...]:
    facts, nodes = context.facts, context.facts.nvidia.device_nodes
    if facts.system.wsl.value != "WSL2" or cpu_by_choice(context) or not nodes.known:
        return ()
    expected = gpu_severity(context) == "fail"
    if "/dev/dxg" in (nodes.value or ()) or not (expected or driver(context)):
        return ()
    return (
        Finding(
            id="WSL002",
            severity=gpu_severity(context),
            title="WSL gives no GPU to Linux: /dev/dxg is missing",
            cause="Windows or its NVIDIA driver is too old, or .wslconfig says gpuSupport=false.",
            evidence=(seen("device nodes", nodes),),
            remedy=Remedy(
                text="Update the driver in Windows and WSL itself, then restart WSL (from a Windows "
                "terminal).",
                commands=("wsl --update", "wsl --shutdown"),
            ),
        ),
    )


def _aarch64(context: Context) -> tuple[Finding, ...]:
    facts, nvidia = context.facts, context.facts.nvidia
    arch = (facts.python.build_arch.value or facts.system.machine_arch.value or "").lower()
    if facts.system.os.value != "linux" or arch not in ("aarch64", "arm64") or cpu_by_choice(context):
        return ()
    if driver(context) is None and not nvidia.pci_devices.value and not nvidia.device_nodes.value:
        return ()
    return (
        Finding(
            id="CUD022",
            severity="info",
            title="TensorFlow's wheels for ARM are built without CUDA, so this GPU is not used",
            cause="That holds for every release up to 2.21 (Jetson, Grace Hopper, DGX Spark).",
            evidence=(seen("driver", nvidia.driver_nvml), seen("Python built for", facts.python.build_arch)),
            remedy=Remedy(text="For the GPU, use NVIDIA's own TensorFlow container or wheels."),
        ),
    )


def _amd(context: Context) -> tuple[Finding, ...]:
    facts, fact = context.facts, context.facts.other_gpus.amd
    if facts.system.os.value != "linux" or not fact.value or cpu_by_choice(context):
        return ()
    if facts.nvidia.pci_devices.value or facts.nvidia.gpus.value:
        return ()
    return (
        Finding(
            id="CUD017",
            severity="info",
            title="This machine has an AMD GPU, which TensorFlow's wheels do not use",
            evidence=(seen("AMD GPUs", fact),),
            remedy=Remedy(
                text="AMD publishes its own builds (tensorflow-rocm); tfenv has no locks for them."
            ),
        ),
    )


def _windows(context: Context) -> tuple[Finding, ...]:
    facts, nvidia = context.facts, context.facts.nvidia
    if facts.system.os.value != "windows" or not (nvidia.gpus.value or nvidia.driver_nvml.value):
        return ()
    return (
        Finding(
            id="WIN001",
            severity="info",
            title="On Windows TensorFlow does not use the NVIDIA GPU",
            cause="There is no CUDA build for Windows since TensorFlow 2.11. Inside WSL 2 the GPU works.",
            evidence=(seen("driver", nvidia.driver_nvml), seen("GPUs", nvidia.gpus)),
            remedy=Remedy(
                text="For the GPU, install WSL 2 and run tfenv inside it.", commands=("wsl --install",)
            ),
        ),
    )


CHECKS = (
    Check(id="WSL001", rung="device", summary="WSL is of version 2", run=_wsl1),
    Check(id="WSL002", rung="device", tier="probe", summary="WSL gives the GPU to Linux", run=_wsl_device),
    Check(id="WSL004", rung="device", tier="probe", summary="WSL uses the Windows driver", run=_wsl_driver),
    Check(id="CUD022", rung="device", tier="probe", summary="An ARM machine's GPU", run=_aarch64),
    Check(id="CUD017", rung="device", summary="An AMD GPU", run=_amd),
    Check(id="WIN001", rung="device", tier="probe", summary="A GPU under Windows", run=_windows),
)
