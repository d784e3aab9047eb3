"""The ladder of checks and what a walk over it gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from tfenv.records import record
from tfenv.result import Finding

if TYPE_CHECKING:
    from tfenv.doctor.context import Context

#: From the ground up: what stands on a broken rung is not judged.
Rung = Literal["interpreter", "environment", "distributions", "native", "device", "import", "proof"]
#: What a check needs: facts that are read, facts that a driver tells, an import in a child, a proof.
Tier = Literal["static", "probe", "import", "proof"]
RungState = Literal["ok", "broken", "unknown", "skipped"]

RUNGS: dict[Rung, str] = {
    "interpreter": "Interpreter and architecture",
    "environment": "Environment",
    "distributions": "Distributions",
    "native": "System, CPU and resources",
    "device": "Driver and device",
    "import": "Import of TensorFlow",
    "proof": "Proof that it learns",
}

#: The rungs that each rung stands on. A wrong NumPy says nothing about the driver, so not simply all before.
STANDS_ON: dict[Rung, tuple[Rung, ...]] = {
    "interpreter": (),
    "environment": (),
    "distributions": ("interpreter",),
    "native": ("interpreter",),
    "device": ("interpreter", "native"),
    "import": ("interpreter", "environment", "distributions", "native"),
    "proof": ("interpreter", "environment", "distributions", "native", "device", "import"),
}


@record
class Check:
    """One question to a recorded or living machine."""

    id: str
    rung: Rung
    summary: str  # what is asked, as one line
    run: Callable[[Context], tuple[Finding, ...]]  # pure; no finding: all is well, or it does not apply
    tier: Tier = "static"
    after: tuple[str, ...] = ()  # ids of checks whose failure explains what this one finds


@record
class RungReport:
    """How one rung stands."""

    rung: Rung
    title: str
    state: RungState
    because: str = ""  # why it is broken, unknown or skipped


@record
class DoctorReport:
    """A walk over the whole ladder."""

    rungs: tuple[RungReport, ...]
    findings: tuple[Finding, ...]  # in the ladder's order
    checks: int  # how many were run
