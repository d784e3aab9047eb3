"""The processor: model, count and the instruction sets that TensorFlow's wheels ask for."""

from __future__ import annotations

from tfenv.facts import apple
from tfenv.facts.machine import Machine, read_text, why
from tfenv.facts.model import CpuFacts, Fact, known, unknown

_CPUINFO = "/proc/cpuinfo"
#: Of the hundred flags a CPU has, those that decide whether a wheel runs, how fast, or what it computes.
FEATURES = (
    "amx_bf16",
    "amx_tile",
    "asimd",
    "asimddp",
    "avx",
    "avx2",
    "avx512_bf16",
    "avx512_vnni",
    "avx512f",
    "avx_vnni",
    "bf16",
    "f16c",
    "fma",
    "i8mm",
    "sse4_2",
    "sve",
    "sve2",
)
#: sysctl of an Apple chip to Linux' name of the same feature.
_APPLE = {
    "hw.optional.AdvSIMD": "asimd",
    "hw.optional.arm.FEAT_DotProd": "asimddp",
    "hw.optional.arm.FEAT_BF16": "bf16",
    "hw.optional.arm.FEAT_I8MM": "i8mm",
}
#: Spelling in machdep.cpu.features and machdep.cpu.leaf7_features of Intel Macs.
_INTEL_MAC = {
    "AVX1.0": "avx",
    "AVX2": "avx2",
    "AVX512F": "avx512f",
    "AVX512VNNI": "avx512_vnni",
    "F16C": "f16c",
    "FMA": "fma",
    "SSE4.2": "sse4_2",
}
#: winnt.h, PF_AVX_INSTRUCTIONS_AVAILABLE and following; none of them tells of FMA.
_WINDOWS = {38: "sse4_2", 39: "avx", 40: "avx2", 41: "avx512f"}
_WINDOWS_SOURCE = "IsProcessorFeaturePresent (does not tell of FMA)"


def cpu_facts(machine: Machine) -> CpuFacts:
    """The facts about the processor."""
    return CpuFacts(
        model=model(machine),
        count=known(machine.usable_cpus(), "CPU affinity"),
        features=features(machine),
    )


def model(machine: Machine) -> Fact[str]:
    """The name of the processor."""
    if machine.platform == "darwin":
        return apple.chip(machine)
    if machine.platform == "win32":
        return known(machine.environ.get("PROCESSOR_IDENTIFIER"), "PROCESSOR_IDENTIFIER")
    blocks = _cpuinfo(machine)
    if blocks.value is None:
        return unknown(blocks.source, blocks.reason)
    first = blocks.value[0]
    if "model name" in first:
        return known(first["model name"], _CPUINFO)
    if "CPU implementer" in first:
        name = f"ARM (implementer {first['CPU implementer']}, part {first.get('CPU part', '?')})"
        return known(name, _CPUINFO)
    return unknown(_CPUINFO, "it names no model")


def features(machine: Machine) -> Fact[tuple[str, ...]]:
    """Those of :data:`FEATURES` that every CPU has, sorted."""
    if machine.platform == "darwin":
        return _mac_features(machine)
    if machine.platform == "win32":
        return _windows_features(machine)
    blocks = _cpuinfo(machine)
    if blocks.value is None:
        return unknown(blocks.source, blocks.reason)
    flags = [set((block.get("flags") or block.get("Features") or "").split()) for block in blocks.value]
    if not any(flags):
        return unknown(_CPUINFO, "it lists no flags")
    # Every one: a mixed or badly masked virtual machine may move a process to the lesser CPU.
    return known(tuple(sorted(set.intersection(set(FEATURES), *flags))), _CPUINFO)


def _cpuinfo(machine: Machine) -> Fact[tuple[dict[str, str], ...]]:
    """One mapping per processor."""
    try:
        text = read_text(machine, _CPUINFO)
    except OSError as error:
        return unknown(_CPUINFO, why(error))
    blocks = tuple(
        {
            key.strip(): value.strip()
            for key, colon, value in (line.partition(":") for line in block.splitlines())
            if colon
        }
        for block in text.split("\n\n")
    )
    # Some ARM kernels append a block about the board.
    processors = tuple(block for block in blocks if "processor" in block)
    return known(processors, _CPUINFO) if processors else unknown(_CPUINFO, "it lists no processor")


def _mac_features(machine: Machine) -> Fact[tuple[str, ...]]:
    silicon = apple.apple_silicon(machine)
    if not silicon.known:
        return unknown(silicon.source, silicon.reason)
    if silicon.value:
        present = [name for key, name in _APPLE.items() if apple.sysctl_number(machine, key).value == 1]
        return known(tuple(sorted(present)), "hw.optional")
    source = "machdep.cpu.features, machdep.cpu.leaf7_features"
    listed = [apple.sysctl_text(machine, key) for key in source.split(", ")]
    if listed[0].value is None:
        return unknown(source, listed[0].reason or "this Mac does not have them")
    words = " ".join(item.value or "" for item in listed).split()
    return known(tuple(sorted({_INTEL_MAC[word] for word in words if word in _INTEL_MAC})), source)


def _windows_features(machine: Machine) -> Fact[tuple[str, ...]]:
    try:
        present = [name for number, name in _WINDOWS.items() if machine.windows_cpu_has(number)]
    except OSError as error:
        return unknown(_WINDOWS_SOURCE, why(error))
    return known(tuple(sorted(present)), _WINDOWS_SOURCE)
