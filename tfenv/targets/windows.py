"""Windows: CPU only; the GPU needs WSL2."""

from __future__ import annotations

from tfenv.errors import NoLockError
from tfenv.facts.model import Facts
from tfenv.targets.model import Target


def choose(facts: Facts) -> Target:
    """The Windows target.

    Raises:
        NoLockError: an ARM64 Python, for which TensorFlow has no wheels.
    """
    build = (facts.python.build_arch.value or facts.system.machine_arch.value or "").lower()
    if build not in ("amd64", "x86_64"):
        raise NoLockError(
            "unsupported-platform",
            f"TensorFlow has no Windows wheels for {build or 'this unknown architecture'}.",
            hint="Install the x86-64 build of Python and name it with --python PATH.",
        )
    notes: tuple[str, ...] = ()
    if facts.nvidia.driver_nvml.value or facts.nvidia.pci_devices.value:
        notes = ("TensorFlow has no CUDA build for Windows since 2.11: use WSL2 for this GPU.",)
    return Target(name="windows-x86_64-cpu", reason="Windows on x86_64", notes=notes)
