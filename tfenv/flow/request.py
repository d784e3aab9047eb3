"""What the user wants of a bootstrap, and what comes of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, Optional

from tfenv.install.state import ProofState
from tfenv.locks.model import KnownFault, Lock
from tfenv.records import record
from tfenv.settings import Settings

if TYPE_CHECKING:  # a second bootstrap that has nothing to do must not pay for these
    from tfenv.install.engine import EngineName
    from tfenv.install.plan import Plan
    from tfenv.proof.model import ProofReport
    from tfenv.targets.model import Target

Smoke = Literal["none", "quick", "full"]


@record
class BootstrapRequest:
    """A wish, already resolved from flags, variables and files."""

    tf: Optional[str] = None  # a TF minor or exact version
    target: Optional[str] = None
    python: Optional[str] = None  # an interpreter's path or command
    venv: Optional[Path] = None
    seed: Optional[int] = 42  # None: no hook
    deterministic: bool = False
    smoke: Smoke = "quick"
    engine: EngineName = "auto"
    dry_run: bool = False


@record
class LockSummary:
    """The chosen lock without its pins."""

    id: str
    tensorflow: str
    python: str
    as_of: str
    digest: str
    evidence: str
    faults: tuple[KnownFault, ...] = ()

    @classmethod
    def of(cls, lock: Lock) -> LockSummary:
        """The summary of ``lock``."""
        return cls(
            id=lock.id,
            tensorflow=lock.tensorflow,
            python=lock.python,
            as_of=lock.as_of,
            digest=lock.digest,
            evidence=lock.evidence,
            faults=lock.faults,
        )


@record
class BootstrapReport:
    """The outcome of a bootstrap."""

    python: str  # the interpreter that now has the stack
    environment: str  # its prefix
    planned: bool = False  # only the plan was made (--dry-run)
    made: bool = False  # tfenv made the environment in this run
    settled: bool = False  # everything was as it should be: nothing was run
    target: Optional[Target] = None
    lock: LockSummary
    plan: Optional[Plan] = None
    engine: str = ""
    install_seconds: Optional[float] = None  # from the snapshot of the environment to the last file written
    seed: Optional[int] = None
    last_proof: Optional[ProofState] = None  # of an earlier run, where settled
    proof: Optional[ProofReport] = None
    undone: bool = False  # the proof failed and the environment is as it was
    scrubbed: tuple[str, ...] = ()  # PIP_*/UV_* variables that were not passed on
    settings: Optional[Settings] = None
