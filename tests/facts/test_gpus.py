"""GPUs of Apple and AMD, and the PCI bus."""

from __future__ import annotations

from pathlib import Path

from facts.fakes import FakeMachine

from tfenv.facts.gpus import other_gpu_facts
from tfenv.facts.model import OtherGpuFacts, known, unknown

BUS = "/sys/bus/pci/devices"


def test_amd_gpus_are_counted_not_amd_bridges(tmp_path: Path) -> None:
    files = {
        f"{BUS}/0000:03:00.0/vendor": "0x1002\n",
        f"{BUS}/0000:03:00.0/class": "0x030000\n",
        f"{BUS}/0000:04:00.0/vendor": "0x1002\n",
        f"{BUS}/0000:04:00.0/class": "0x038000\n",
        f"{BUS}/0000:03:00.1/vendor": "0x1002\n",
        f"{BUS}/0000:03:00.1/class": "0x040300\n",
        f"{BUS}/0000:00:00.0/vendor": "0x1022\n",
        f"{BUS}/0000:05:00.0/class": "0x030000\n",
    }
    assert other_gpu_facts(FakeMachine(tmp_path, files=files)) == OtherGpuFacts(
        apple=known(None, "not macOS"), amd=known(2, BUS)
    )


def test_a_machine_without_the_bus(tmp_path: Path) -> None:
    assert other_gpu_facts(FakeMachine(tmp_path)).amd == known(0, BUS)


def test_an_apple_chip(tmp_path: Path) -> None:
    mac = FakeMachine(
        tmp_path,
        platform="darwin",
        sysctls={"hw.optional.arm64": 1, "machdep.cpu.brand_string": b"Apple M2 Max"},
    )
    assert other_gpu_facts(mac) == OtherGpuFacts(
        apple=known("Apple M2 Max", "machdep.cpu.brand_string"),
        amd=unknown("the PCI bus", "not read on macOS"),
    )


def test_an_intel_mac_has_no_apple_gpu(tmp_path: Path) -> None:
    mac = FakeMachine(tmp_path, platform="darwin", sysctls={"machdep.cpu.brand_string": b"Intel"})
    assert other_gpu_facts(mac).apple == known(None, "hw.optional.arm64")


def test_a_mac_that_does_not_tell(tmp_path: Path) -> None:
    class Refusing(FakeMachine):
        def sysctl(self, name: str) -> bytes:
            raise PermissionError(1, "Operation not permitted")

    assert other_gpu_facts(Refusing(tmp_path, platform="darwin")).apple == unknown(
        "hw.optional.arm64", "Operation not permitted"
    )
