"""Recorded children: event streams and ends of processes as plain values, and a runner that replays them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from tfenv.events import Listener
from tfenv.proof.model import Digest, LossCurve, Measurement, Rule, Stack
from tfenv.proof.protocol import ChildEvent, ChildOutcome, ChildRequest

STACK = Stack(
    tensorflow="2.18.1",
    keras="3.6.0",
    keras_package="keras",
    numpy="1.26.4",
    python="3.11.7",
    devices=("CPU:0",),
    devices_used=("CPU:0",),
    import_seconds=1.5,
)


class Replay:
    """A ChildRunner that gives prepared outcomes in turn and remembers what it was asked."""

    def __init__(self, *outcomes: ChildOutcome) -> None:
        self._outcomes = list(outcomes)
        self.requests: list[ChildRequest] = []

    def run(
        self, python: Path, requests: Sequence[ChildRequest], listener: Listener
    ) -> tuple[ChildOutcome, ...]:
        """The next prepared outcomes."""
        self.requests += requests
        return tuple(self._outcomes.pop(0) for _ in requests)

    @contextlib.contextmanager
    def exchange(self) -> Iterator[Path]:
        """A folder that nobody needs."""
        yield Path("exchange")


def at_least(check: str, value: float, low: float, *, n: int = 96, p: float = 0.25) -> Measurement:
    """A count of right answers."""
    rule = Rule(kind="within", low=low, luck=True, null_n=n, null_p=p, text="labels are independent")
    return Measurement(
        id=check,
        title="answers",
        rule=rule,
        statistic=value,
        got=f"{value:g}",
        expected=f"at least {low:g} of {n}",
        n=n,
        device="CPU:0",
    )


def equal(check: str, got: str, expected: str) -> Measurement:
    """A text that must be equal."""
    return Measurement(
        id=check, title="a value", rule=Rule(kind="equal", text="exact"), got=got, expected=expected
    )


def at_most(check: str, value: float, high: float) -> Measurement:
    """An error with a tolerance."""
    rule = Rule(kind="within", high=high, text="a stated tolerance")
    return Measurement(id=check, title="an error", rule=rule, statistic=value, got=f"{value:g}")


def in_band(check: str, value: float) -> Measurement:
    """A number with a reference band."""
    return Measurement(
        id=check,
        title="a loss",
        rule=Rule(kind="band", luck=True, text="healthy"),
        statistic=value,
        got=f"{value:g}",
    )


def stage(name: str, *measurements: Measurement, limit: float = 180.0) -> tuple[ChildEvent, ...]:
    """The events of a stage that ran to its end."""
    return (
        ChildEvent(event="stage", stage=name, time=10.0, limit=limit),
        ChildEvent(event="step", stage=name, step=f"work of {name}", time=10.5),
        ChildEvent(
            event="done",
            stage=name,
            time=12.0,
            seconds=2.0,
            measurements=measurements,
            losses=(LossCurve(task=name, losses=(2.0, 1.0)),),
            digests=(Digest(task=name, value="abc"),),
        ),
    )


def broken_off(name: str, step: str, limit: float = 180.0) -> tuple[ChildEvent, ...]:
    """The events of a stage in which the child ended."""
    return (
        ChildEvent(event="stage", stage=name, time=10.0, limit=limit),
        ChildEvent(event="step", stage=name, step=step, time=10.5),
    )


def raised(name: str, step: str, type_: str, message: str, *traceback: str) -> tuple[ChildEvent, ...]:
    """The events of a stage that ended in an exception."""
    error = ChildEvent(
        event="error",
        stage=name,
        time=11.0,
        seconds=1.0,
        type=type_,
        message=message,
        traceback=traceback,
    )
    return (*broken_off(name, step), error)


START = (ChildEvent(event="start", time=9.0),)
IMPORTED = (*stage("S0", equal("S0.version", "2.18.1", "2.18.1")), ChildEvent(event="stack", stack=STACK))
END = (ChildEvent(event="end", time=20.0, peak_memory=500_000_000),)


def finished(*events: Sequence[ChildEvent]) -> ChildOutcome:
    """A child that ran to its end."""
    return ChildOutcome(
        events=tuple(e for part in (START, *events, END) for e in part), status=0, seconds=5.0
    )


def ended(
    status: int,
    *events: Sequence[ChildEvent],
    hung: bool = False,
    output: str = "",
    stacks: str = "",
    oom_kills: int = 0,
) -> ChildOutcome:
    """A child that ended before its end."""
    return ChildOutcome(
        events=tuple(event for part in events for event in part),
        status=status,
        hung=hung,
        output=output,
        stacks=stacks,
        oom_kills=oom_kills,
        seconds=5.0,
    )
