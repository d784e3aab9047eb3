"""macOS: Metal on Apple Silicon, CPU on Intel."""

from __future__ import annotations

from tfenv.errors import NoLockError
from tfenv.facts.model import Facts
from tfenv.targets.model import Target


def choose(facts: Facts) -> Target:
    """The macOS target.

    Raises:
        NoLockError: an x86_64 Python under Rosetta (TensorFlow's AVX instructions abort there).
    """
    machine = facts.system.machine_arch.value
    build = facts.python.build_arch.value
    if machine == "arm64" and build == "x86_64":
        raise NoLockError(
            "rosetta",
            "This Python is an Intel (x86_64) build running under Rosetta on Apple Silicon; "
            "TensorFlow's AVX instructions abort there.",
            hint="Install an arm64 Python (`uv python install 3.12` or the installer from python.org) "
            "and name it with --python PATH.",
        )
    if machine == "arm64":
        chip = facts.other_gpus.apple.value or "Apple Silicon"
        return Target(
            name="macos-arm64-metal",
            reason=f"macOS {facts.system.os_version.value or ''} on {chip}".replace("  ", " "),
            fallback="macos-arm64-cpu",
        )
    return Target(name="macos-x86_64-cpu", reason="macOS on an Intel Mac")
