"""Facts to target: which platform's locks this machine and interpreter can use, and why."""

from __future__ import annotations

from typing import Optional

from tfenv.errors import NoLockError, UsageError
from tfenv.facts.model import Facts
from tfenv.targets import linux, macos, windows
from tfenv.targets.model import TARGETS, Target


def choose_target(facts: Facts, wish: Optional[str] = None) -> Target:
    """The target for ``facts``, or the one wished for by name.

    Raises:
        UsageError: ``wish`` is not the name of a target.
        NoLockError: no TensorFlow wheel exists for this platform or interpreter.
    """
    _refuse_interpreter(facts)
    if wish is not None:
        return _wished(wish)
    system = facts.system.os.value
    if system == "linux":
        return linux.choose(facts)
    if system == "macos":
        return macos.choose(facts)
    if system == "windows":
        return windows.choose(facts)
    raise NoLockError(
        "unsupported-platform",
        f"TensorFlow has no wheels for this operating system ({system or 'unknown'}).",
        hint="Use Linux, macOS or Windows; `tfenv facts` shows what was detected.",
    )


def _wished(wish: str) -> Target:
    if wish not in TARGETS:
        raise UsageError(
            "unknown-target",
            f"There is no target named {wish!r}.",
            hint=f"Choose one of: {', '.join(TARGETS)}.",
        )
    return Target(name=wish, reason="asked for by name")


def _refuse_interpreter(facts: Facts) -> None:
    python = facts.python
    if python.implementation.known and python.implementation.value not in ("cpython", None):
        raise NoLockError(
            "unsupported-python",
            f"TensorFlow has wheels for CPython only, and this is {python.implementation.value}.",
            hint="Run tfenv with --python PATH of a CPython, or --venv DIR to have tfenv make one.",
        )
    if python.free_threaded.value:
        raise NoLockError(
            "unsupported-python",
            "TensorFlow has no wheels for a free-threaded Python.",
            hint="Run tfenv with --python PATH of an ordinary CPython build.",
        )
    if python.bits.known and python.bits.value not in (64, None):
        raise NoLockError(
            "unsupported-python",
            f"TensorFlow has 64-bit wheels only, and this Python is a {python.bits.value}-bit build.",
            hint="Install a 64-bit CPython and name it with --python PATH.",
        )
