"""The processor on every platform."""

from __future__ import annotations

from pathlib import Path

from facts.fakes import FakeMachine

from tfenv.facts.cpu import cpu_facts
from tfenv.facts.model import CpuFacts, known, unknown

COUNT = known(4, "CPU affinity")


def cpuinfo(*flags: str, key: str = "flags") -> str:
    return "\n\n".join(
        f"processor\t: {number}\nmodel name\t: AMD EPYC\n{key}\t\t: {each}"
        for number, each in enumerate(flags)
    )


def test_features_are_those_of_every_cpu(tmp_path: Path) -> None:
    text = cpuinfo("fpu avx avx2 fma sse4_2", "fpu avx fma sse4_2") + "\n\n"
    machine = FakeMachine(tmp_path, files={"/proc/cpuinfo": text})
    assert cpu_facts(machine) == CpuFacts(
        model=known("AMD EPYC", "/proc/cpuinfo"),
        count=COUNT,
        features=known(("avx", "fma", "sse4_2"), "/proc/cpuinfo"),
    )


def test_a_cpu_without_avx_is_known_to_have_none(tmp_path: Path) -> None:
    machine = FakeMachine(tmp_path, files={"/proc/cpuinfo": cpuinfo("fpu sse2")})
    assert cpu_facts(machine).features == known((), "/proc/cpuinfo")


def test_an_arm_server_names_implementer_and_part(tmp_path: Path) -> None:
    text = (
        "processor\t: 0\nFeatures\t: fp asimd asimddp sve bf16 i8mm\nCPU implementer\t: 0x41\n"
        "CPU part\t: 0xd40\n\nHardware\t: board\n"
    )
    machine = FakeMachine(tmp_path, files={"/proc/cpuinfo": text})
    assert cpu_facts(machine) == CpuFacts(
        model=known("ARM (implementer 0x41, part 0xd40)", "/proc/cpuinfo"),
        count=COUNT,
        features=known(("asimd", "asimddp", "bf16", "i8mm", "sve"), "/proc/cpuinfo"),
    )


def test_an_unreadable_cpuinfo_is_unknown_not_without_avx(tmp_path: Path) -> None:
    absent = unknown("/proc/cpuinfo", "No such file or directory")
    assert cpu_facts(FakeMachine(tmp_path)) == CpuFacts(model=absent, count=COUNT, features=absent)


def test_a_cpuinfo_without_flags_is_unknown(tmp_path: Path) -> None:
    machine = FakeMachine(tmp_path, files={"/proc/cpuinfo": "processor\t: 0\n"})
    assert cpu_facts(machine) == CpuFacts(
        model=unknown("/proc/cpuinfo", "it names no model"),
        count=COUNT,
        features=unknown("/proc/cpuinfo", "it lists no flags"),
    )


def test_an_apple_chip(tmp_path: Path) -> None:
    machine = FakeMachine(
        tmp_path,
        platform="darwin",
        sysctls={
            "hw.optional.arm64": 1,
            "machdep.cpu.brand_string": b"Apple M1",
            "hw.optional.AdvSIMD": 1,
            "hw.optional.arm.FEAT_DotProd": 1,
            "hw.optional.arm.FEAT_BF16": 0,
        },
    )
    assert cpu_facts(machine) == CpuFacts(
        model=known("Apple M1", "machdep.cpu.brand_string"),
        count=COUNT,
        features=known(("asimd", "asimddp"), "hw.optional"),
    )


def test_an_apple_chip_seen_through_rosetta(tmp_path: Path) -> None:
    machine = FakeMachine(
        tmp_path,
        platform="darwin",
        sysctls={"hw.optional.arm64": 1, "machdep.cpu.brand_string": b"VirtualApple @ 2.50GHz"},
    )
    assert cpu_facts(machine).model == known("Apple silicon", "machdep.cpu.brand_string (hidden by Rosetta)")


def test_an_intel_mac(tmp_path: Path) -> None:
    machine = FakeMachine(
        tmp_path,
        platform="darwin",
        sysctls={
            "machdep.cpu.brand_string": b"Intel(R) Core(TM) i7-9750H CPU @ 2.60GHz",
            "machdep.cpu.features": b"FPU SSE4.2 AVX1.0 FMA F16C",
            "machdep.cpu.leaf7_features": b"RDWRFSGS AVX2",
        },
    )
    assert cpu_facts(machine).features == known(
        ("avx", "avx2", "f16c", "fma", "sse4_2"), "machdep.cpu.features, machdep.cpu.leaf7_features"
    )


def test_a_mac_whose_sysctl_cannot_be_read(tmp_path: Path) -> None:
    class Refusing(FakeMachine):
        def sysctl(self, name: str) -> bytes:
            raise PermissionError(1, "Operation not permitted")

    facts = cpu_facts(Refusing(tmp_path, platform="darwin"))
    assert facts.features == unknown("hw.optional.arm64", "Operation not permitted")
    assert facts.model == unknown("machdep.cpu.brand_string", "Operation not permitted")


def test_a_windows_pc(tmp_path: Path) -> None:
    machine = FakeMachine(
        tmp_path,
        platform="win32",
        environ={"PROCESSOR_IDENTIFIER": "Intel64 Family 6 Model 151 Stepping 2, GenuineIntel"},
        windows_features=(38, 39, 40),
    )
    assert cpu_facts(machine) == CpuFacts(
        model=known("Intel64 Family 6 Model 151 Stepping 2, GenuineIntel", "PROCESSOR_IDENTIFIER"),
        count=COUNT,
        features=known(("avx", "avx2", "sse4_2"), "IsProcessorFeaturePresent (does not tell of FMA)"),
    )
