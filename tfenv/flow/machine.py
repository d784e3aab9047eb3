"""What must be the same for a proof to still count: the machine, in one short cheap string."""

from __future__ import annotations

import platform
from pathlib import Path

_NVIDIA_VERSION = Path("/proc/driver/nvidia/version")
_CPU = Path("/proc/cpuinfo")


def machine_key() -> str:
    """Architecture, CPU model, NVIDIA driver and devices; read from files only, in about a millisecond."""
    parts = [
        platform.system(),
        platform.machine(),
        _first(_CPU, "model name"),
        _first(_NVIDIA_VERSION, "NVRM"),
    ]
    devices = sorted(path.name for path in Path("/dev").glob("nvidia[0-9]*")) if Path("/dev").is_dir() else []
    if Path("/dev/dxg").exists():  # WSL2's GPU
        devices.append("dxg")
    return "|".join([*parts, *devices])


def _first(path: Path, prefix: str) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as stream:
            for line in stream:
                if line.startswith(prefix):
                    return " ".join(line.split(":", 1)[-1].split())
    except OSError:
        pass  # not Linux, or no such driver: an empty part
    return ""
