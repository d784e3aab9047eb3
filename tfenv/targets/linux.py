"""Linux, in a container or not, and WSL2: CPU or CUDA."""

from __future__ import annotations

from tfenv.errors import NoLockError
from tfenv.facts.model import Facts
from tfenv.targets.model import Target


def choose(facts: Facts) -> Target:
    """The Linux target: CUDA where a driver *and* its device nodes are there, else CPU.

    Raises:
        NoLockError: musl libc, or an architecture for which TensorFlow has no wheels.
    """
    if facts.system.libc.value == "musl":
        raise NoLockError(
            "unsupported-platform",
            "TensorFlow has no wheels for musl libc (Alpine Linux).",
            hint="Use a glibc image, for example python:3.12-slim instead of python:3.12-alpine.",
        )
    arch = (facts.python.build_arch.value or facts.system.machine_arch.value or "").lower()
    if arch in ("aarch64", "arm64"):
        return _aarch64(facts)
    if arch in ("x86_64", "amd64"):
        return _x86_64(facts)
    raise NoLockError(
        "unsupported-platform",
        f"TensorFlow has no Linux wheels for {arch or 'this unknown architecture'}.",
        hint="Use an x86_64 or aarch64 machine.",
    )


def _aarch64(facts: Facts) -> Target:
    notes: tuple[str, ...] = ()
    if _nvidia_driver(facts) or facts.nvidia.device_nodes.value:
        notes = (
            "TensorFlow's aarch64 wheels are built without CUDA; for this GPU use NVIDIA's own container.",
        )
    return Target(name="linux-aarch64-cpu", reason="Linux on aarch64", notes=notes)


def _x86_64(facts: Facts) -> Target:
    cpu, nvidia = "linux-x86_64-cpu", facts.nvidia
    driver = _nvidia_driver(facts)
    if driver is None:
        if nvidia.pci_devices.value:
            note = (
                f"{nvidia.pci_devices.value} NVIDIA GPU(s) are on the PCI bus, but no driver answers: "
                "install the NVIDIA driver to use them."
            )
            return Target(name=cpu, reason="Linux on x86_64, no NVIDIA driver", notes=(note,))
        if facts.other_gpus.amd.value:
            note = "An AMD GPU is present; tfenv has no ROCm locks, so TensorFlow will use the CPU."
            return Target(name=cpu, reason="Linux on x86_64, no NVIDIA GPU", notes=(note,))
        return Target(name=cpu, reason="Linux on x86_64, no NVIDIA GPU")
    if not _has_device(facts):
        note = f"The host's NVIDIA driver {driver} is visible, but no GPU is passed in here" + (
            ": start the container with --gpus all." if facts.system.container.value else "."
        )
        return Target(name=cpu, reason="Linux on x86_64, no usable NVIDIA device", notes=(note,))
    notes = []
    if nvidia.devices_usable.value is False:
        notes.append("The NVIDIA device nodes exist, but this user may not open them.")
    return Target(
        name="linux-x86_64-cuda",
        reason=f"Linux on x86_64 with NVIDIA driver {driver}" + _gpu_names(facts),
        notes=tuple(notes),
        fallback=cpu,
    )


def _nvidia_driver(facts: Facts) -> str | None:
    return facts.nvidia.driver_nvml.value or facts.nvidia.driver_proc.value


def _has_device(facts: Facts) -> bool:
    """GPUs that NVML lists count too: WSL2 has no /dev/nvidia* nodes."""
    return bool(facts.nvidia.device_nodes.value or facts.nvidia.gpus.value)


def _gpu_names(facts: Facts) -> str:
    gpus = facts.nvidia.gpus.value or ()
    return " and " + ", ".join(gpu.name for gpu in gpus) if gpus else ""
