"""``prove``: run the battery in the target interpreter and judge it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Optional

from tfenv.events import Listener, Silent
from tfenv.proof.child.registry import stages_of
from tfenv.proof.crash import explain
from tfenv.proof.judge import judge_stages, may_be_luck, overall, retry_seeds, settle
from tfenv.proof.model import Crash, Device, Level, ProofReport, Retry, StageResult
from tfenv.proof.protocol import ChildOutcome, ChildRequest, ChildRunner
from tfenv.proof.reference import References, shipped
from tfenv.proof.runner import SubprocessRunner
from tfenv.records import record

DEFAULT_SEED = 20250101


def prove(
    python: Path,
    *,
    level: Level = "quick",
    device: Device = "auto",
    seed: int = DEFAULT_SEED,
    timeout: Optional[float] = None,
    env: Optional[Mapping[str, str]] = None,
    listener: Listener = Silent(),  # noqa: B008 - stateless
    runner: Optional[ChildRunner] = None,
    references: Optional[References] = None,
) -> ProofReport:
    """Whether the stack of the interpreter ``python`` loads, computes and learns.

    Whatever the stack does (crash, hang, exception, wrong values) ends up in the report. ``seed`` is a
    non-negative integer; ``timeout`` caps every stage, in seconds, below the limit it has of its own; ``env``
    stands for ``os.environ``.

    Raises:
        UsageError: ``python`` cannot be started, or no temporary folder can be made.
    """
    began = time.monotonic()
    battery = _Battery(
        python=python,
        level=level,
        device=device,
        limit=timeout,
        listener=listener,
        runner=runner or SubprocessRunner(env),
        references=references or shipped(),
    )
    first = battery.run(seed, tuple(spec.id for spec in stages_of(level)))
    seeds, stages = _settled(battery, seed, first)
    events = first.outcome.events
    return ProofReport(
        verdict=overall(stages, first.crash),
        level=level,
        device=device,
        seed=seed,
        seeds=seeds,
        python=str(python),
        stack=next((event.stack for event in events if event.stack), None),
        stages=stages,
        crash=first.crash,
        seconds=round(time.monotonic() - began, 3),
        peak_memory=next((event.peak_memory for event in events if event.event == "end"), None),
    )


@record
class _Run:
    """One child, judged."""

    outcome: ChildOutcome
    crash: Optional[Crash]
    stages: tuple[StageResult, ...]


@record
class _Battery:
    """Everything about a proof but seed and stages."""

    python: Path
    level: Level
    device: Device
    limit: Optional[float]
    listener: Listener
    runner: ChildRunner
    references: References

    def run(self, seed: int, stages: tuple[str, ...]) -> _Run:
        """Run ``stages`` in one child."""
        request = ChildRequest(
            level=self.level,
            device=self.device,
            seed=seed,
            stages=stages,
            limit=self.limit,
            teardown=self.level != "quick",
        )
        outcome = self.runner.run(self.python, request, self.listener)
        crash = explain(outcome)
        judged = judge_stages(outcome, crash, stages, self.references, seed)
        return _Run(outcome=outcome, crash=crash, stages=judged)


def _settled(battery: _Battery, seed: int, first: _Run) -> tuple[tuple[int, ...], tuple[StageResult, ...]]:
    """All seeds used, and the stages, those that may have failed by bad luck settled by two more seeds."""
    seeds = [seed]
    retries: dict[str, tuple[Retry, ...]] = {
        stage.id: () for stage in first.stages if first.crash is None and may_be_luck(stage)
    }
    for other in retry_seeds(seed):
        undecided = [name for name, tries in retries.items() if all(retry.passed for retry in tries)]
        if not undecided:
            break
        battery.listener.note(f"{', '.join(undecided)} failed; running again with seed {other}")
        seeds.append(other)
        for stage in battery.run(other, tuple(dict.fromkeys(("S0", *undecided)))).stages:
            if stage.id in undecided:
                passed = stage.verdict == "pass"
                retries[stage.id] += (Retry(seed=other, passed=passed, checks=stage.checks),)
    stages = (settle(stage, retries[stage.id]) if stage.id in retries else stage for stage in first.stages)
    return tuple(seeds), tuple(stages)
