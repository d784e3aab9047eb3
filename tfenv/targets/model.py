"""The platforms that locks exist for."""

from __future__ import annotations

from typing import Optional

from tfenv.records import record

TARGETS = (
    "linux-x86_64-cpu",
    "linux-x86_64-cuda",
    "linux-aarch64-cpu",
    "macos-arm64-metal",
    "macos-arm64-cpu",
    "macos-x86_64-cpu",
    "windows-x86_64-cpu",
)


@record
class Target:
    """The platform chosen for a machine, with the reason and what was ruled out on the way."""

    name: str  # one of TARGETS
    reason: str
    notes: tuple[str, ...] = ()  # e.g. "the driver is loaded, but /dev/nvidia0 cannot be opened"
    #: The target that serves when no lock of ``name`` fits, e.g. the CPU target beside Metal.
    fallback: Optional[str] = None
