"""What crosses the border to the child: one request, a stream of events, and how the process ended."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Optional, Protocol

from tfenv.codec import CodecError, decode
from tfenv.events import Listener
from tfenv.proof.key import FingerprintKey
from tfenv.proof.model import Device, Digest, Level, LossCurve, Measurement, Stack
from tfenv.records import record


@record
class ChildRequest:
    """What one child is to do."""

    level: Level
    device: Device
    seed: int
    stages: tuple[str, ...]
    limit: Optional[float] = None  # seconds that any one stage may take, below the registry's
    teardown: bool = False  # let the interpreter end in the ordinary way
    process: int = 0  # 0: the first process of a proof; 1, 2: the fresh ones, with op determinism on
    exchange: str = ""  # the folder where the first process leaves what the fresh ones read


@record
class ChildEvent:
    """One line of the child's event file; which fields are set depends on ``event``."""

    event: str  # start, stage, step, stack, key, done, error, end
    time: float = 0.0  # seconds since the epoch, the child's clock
    stage: str = ""
    step: str = ""
    limit: float = 0.0
    seconds: float = 0.0
    measurements: tuple[Measurement, ...] = ()
    losses: tuple[LossCurve, ...] = ()
    digests: tuple[Digest, ...] = ()
    type: str = ""
    message: str = ""
    traceback: tuple[str, ...] = ()
    stack: Optional[Stack] = None
    key: Optional[FingerprintKey] = None
    peak_memory: Optional[int] = None


@record
class ChildOutcome:
    """Everything known about one child after it ended."""

    events: tuple[ChildEvent, ...]
    status: int  # as subprocess gives it: -11 for SIGSEGV, an NTSTATUS on Windows
    hung: bool = False  # it ran into a time limit
    output: str = ""  # stdout and stderr together, bounded
    stacks: str = ""  # what faulthandler wrote
    oom_kills: Optional[int] = None  # processes the kernel killed for memory meanwhile; None: unreadable
    free: Optional[int] = None  # bytes left where it wrote, when it ended; None: unknown
    seconds: float = 0.0


class ChildRunner(Protocol):
    """Runs children to their end, whatever end that is."""

    def run(
        self, python: Path, requests: Sequence[ChildRequest], listener: Listener
    ) -> tuple[ChildOutcome, ...]:
        """Run ``requests`` at the same time, a child each, under the interpreter ``python``.

        Raises:
            UsageError: ``python`` cannot be started at all.
        """

    def exchange(self) -> AbstractContextManager[Path]:
        """A private folder for the children of one proof, gone when the context ends.

        Raises:
            UsageError: there is no room for temporary files.
        """


def parse_event(line: bytes) -> Optional[ChildEvent]:
    """The event of one line; None for a line cut off by the child's death."""
    try:
        return decode(ChildEvent, json.loads(line))
    except (ValueError, CodecError):
        return None
