"""The PCI bus, from Linux' /sys: hardware that is there with or without a driver."""

from __future__ import annotations

from tfenv.facts.machine import Machine, read_text, why
from tfenv.facts.model import Fact, known, unknown

NVIDIA = "0x10de"
AMD = "0x1002"

_DEVICES = "/sys/bus/pci/devices"
#: Class 0x03: VGA (0x0300), 3D (0x0302) and other display controllers.
_DISPLAY = "0x03"


def display_controllers(machine: Machine, vendor: str) -> Fact[int]:
    """How many display controllers of ``vendor`` (as "0x10de") the bus has."""
    if machine.platform != "linux":
        return unknown("the PCI bus", f"not read on {_NAMES.get(machine.platform, machine.platform)}")
    try:
        addresses = sorted(item.name for item in machine.path(_DEVICES).iterdir())
    except FileNotFoundError:
        # Machines without the bus (some ARM boards, WSL 1) have no such folder.
        return known(0, _DEVICES)
    except OSError as error:
        return unknown(_DEVICES, why(error))
    return known(sum(_is_display(machine, address, vendor) for address in addresses), _DEVICES)


_NAMES = {"darwin": "macOS", "win32": "Windows"}


def _is_display(machine: Machine, address: str, vendor: str) -> bool:
    try:
        return read_text(machine, f"{_DEVICES}/{address}/vendor").strip() == vendor and read_text(
            machine, f"{_DEVICES}/{address}/class"
        ).startswith(_DISPLAY)
    except OSError:
        return False  # a device that went away while we looked
