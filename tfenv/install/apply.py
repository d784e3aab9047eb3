"""Carry out a plan inside a transaction."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from tfenv.errors import InstallError
from tfenv.events import Listener
from tfenv.facts.model import Distribution
from tfenv.install.engine import Engine
from tfenv.install.plan import Plan
from tfenv.install.site import Site
from tfenv.install.transaction import Transaction
from tfenv.locks.model import Lock
from tfenv.report.units import megabytes

#: Bytes on disk per byte of wheel. The TensorFlow wheel: 274 MB unpack to 1.0 GB (2.21.0, CPU). A whole CUDA
#: set: 2.3 GiB unpack to 4.3 GiB (2.19.1), so the rest about doubles.
_UNPACKED_HOLDER = 4.0
_UNPACKED_OTHER = 2.0


def apply_plan(
    plan: Plan,
    lock: Lock,
    installed: Sequence[Distribution],
    *,
    site: Site,
    engine: Engine,
    transaction: Transaction,
    listener: Listener,
) -> None:
    """Move aside what ``plan`` changes or removes, then install what it adds. Does not commit.

    Raises:
        InstallError: it failed; leaving the transaction puts the environment back.
    """
    check_space(plan, lock, shutil.disk_usage(site.purelib).free)
    outgoing = set(plan.names("change", "remove"))
    transaction.set_aside(
        distribution
        for distribution in installed
        if distribution.name in outgoing and _is_in(distribution, site)
    )
    incoming = set(plan.names("install", "change"))
    pins = [pin for pin in lock.pins if pin.name in incoming]
    if pins:
        listener.step(
            f"installing {len(pins)} distributions with {engine.name} "
            f"(at most {megabytes(plan.download)} to download)"
        )
        engine.install(site.python, pins, listener)


def space_needed(plan: Plan, lock: Lock) -> int:
    """Bytes that the unpacked distributions of ``plan`` will take, roughly."""
    return round(
        sum(
            step.size * (_UNPACKED_HOLDER if step.name == lock.holder else _UNPACKED_OTHER)
            for step in plan.steps
        )
    )


def check_space(plan: Plan, lock: Lock, free: int) -> None:
    """Refuse a plan that will not fit into ``free`` bytes.

    Raises:
        InstallError: there is not enough room.
    """
    needed = space_needed(plan, lock)
    if needed > free:
        raise InstallError(
            "disk-full",
            f"The environment needs about {megabytes(needed)}, and its disk has {megabytes(free)} free.",
            hint="Free some space, or put the environment on another disk with --venv DIR.",
        )


def _is_in(distribution: Distribution, site: Site) -> bool:
    """A copy elsewhere on the import path (the system's, the user's) is not ours to move."""
    location = Path(distribution.location).resolve()
    return location in (site.purelib.resolve(), site.platlib.resolve())
