"""GPUs that are not NVIDIA's."""

from __future__ import annotations

from tfenv.facts import apple, pci
from tfenv.facts.machine import Machine
from tfenv.facts.model import Fact, OtherGpuFacts, known, unknown


def other_gpu_facts(machine: Machine) -> OtherGpuFacts:
    """The GPU of an Apple chip, and how many AMD GPUs the PCI bus has."""
    return OtherGpuFacts(apple=apple_gpu(machine), amd=pci.display_controllers(machine, pci.AMD))


def apple_gpu(machine: Machine) -> Fact[str]:
    """The Apple chip that carries the GPU, "Apple M2"; ``None`` on Intel Macs and elsewhere."""
    if machine.platform != "darwin":
        return known(None, "not macOS")
    silicon = apple.apple_silicon(machine)
    if not silicon.known:
        return unknown(silicon.source, silicon.reason)
    return apple.chip(machine) if silicon.value else known(None, silicon.source)
