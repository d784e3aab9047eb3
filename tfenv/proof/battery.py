"""The battery: which child runs which stages, and what became of each stage."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Optional

from tfenv.events import Listener
from tfenv.proof.child.registry import stage as stage_spec
from tfenv.proof.child.registry import stages_in, stages_of
from tfenv.proof.crash import explain
from tfenv.proof.join import joined, repeated
from tfenv.proof.judge import judge_stages, may_be_luck, retry_seeds, settle
from tfenv.proof.model import Crash, Device, Level, Retry, StageResult
from tfenv.proof.protocol import ChildOutcome, ChildRequest, ChildRunner
from tfenv.proof.reference import References
from tfenv.records import record

#: How many more children get the stages behind a crash, so that the report says what else fails.
_RESTARTS = 2


@record
class Run:
    """One child, judged."""

    process: int  # 0: a first one; 1, 2: the fresh ones
    outcome: ChildOutcome
    crash: Optional[Crash]
    stages: tuple[StageResult, ...]


@record
class Battery:
    """Everything about a proof but its seed."""

    python: Path
    level: Level
    device: Device
    limit: Optional[float]
    listener: Listener
    runner: ChildRunner
    references: References

    def run(self, seed: int) -> tuple[tuple[Run, ...], tuple[StageResult, ...]]:
        """All processes of the battery, and its stages in order."""
        fresh = {process: stages_in(self.level, process) for process in (1, 2)}
        if not any(fresh.values()):
            runs = self._first(seed, "")
            return runs, self._in_order(seed, runs)
        with self.runner.exchange() as exchange:
            runs = self._first(seed, str(exchange))
            if _is_done(runs, "S0") and not _is_ended_from_outside(runs):
                requests = [
                    self._request(seed, stages, process, str(exchange))
                    for process, names in fresh.items()
                    if len(stages := tuple(name for name in names if _is_ready(runs, name))) > 1
                ]
                self.listener.step("proof: again in fresh processes")
                runs += self._run(seed, *requests)
        return runs, self._in_order(seed, runs)

    def settled(
        self, seed: int, stages: tuple[StageResult, ...]
    ) -> tuple[tuple[int, ...], tuple[StageResult, ...]]:
        """All seeds used, and ``stages``; what may have failed by bad luck is settled by two more seeds."""
        seeds = [seed]
        retries: dict[str, tuple[Retry, ...]] = {stage.id: () for stage in stages if may_be_luck(stage)}
        for other in retry_seeds(seed):
            undecided = [name for name, tries in retries.items() if all(retry.passed for retry in tries)]
            if not undecided:
                break
            self.listener.note(f"{', '.join(undecided)} failed; running again with seed {other}")
            seeds.append(other)
            (run,) = self._run(other, self._request(other, tuple(dict.fromkeys(("S0", *undecided)))))
            for stage in run.stages:
                if stage.id in undecided:
                    passed = stage.verdict == "pass"
                    retries[stage.id] += (Retry(seed=other, passed=passed, checks=stage.checks),)
        return tuple(seeds), tuple(
            settle(stage, retries[stage.id]) if stage.id in retries else stage for stage in stages
        )

    def _first(self, seed: int, exchange: str) -> tuple[Run, ...]:
        """The first process; after a crash, but not at quick level, another one for the stages behind it."""
        stages = stages_in(self.level, 0)
        runs = self._run(seed, self._request(seed, stages, exchange=exchange))
        while self.level != "quick" and len(runs) <= _RESTARTS and (crash := runs[-1].crash) is not None:
            behind = stages[stages.index(crash.stage) + 1 :] if crash.stage in stages[1:] else ()
            if not behind or _is_ended_from_outside(runs):
                break
            self.listener.note(f"{crash.stage} ended in {crash.status}; going on in another process")
            runs += self._run(seed, self._request(seed, ("S0", *behind), exchange=exchange))
        return runs

    def _run(self, seed: int, *requests: ChildRequest) -> tuple[Run, ...]:
        outcomes = self.runner.run(self.python, requests, self.listener)
        return tuple(self._judged(seed, *pair) for pair in zip(requests, outcomes))

    def _judged(self, seed: int, request: ChildRequest, outcome: ChildOutcome) -> Run:
        crash = explain(outcome)
        stages = judge_stages(outcome, crash, request.stages, self.references, seed)
        return Run(process=request.process, outcome=outcome, crash=crash, stages=stages)

    def _request(
        self, seed: int, stages: tuple[str, ...], process: int = 0, exchange: str = ""
    ) -> ChildRequest:
        return ChildRequest(
            level=self.level,
            device=self.device,
            seed=seed,
            stages=stages,
            limit=self.limit,
            teardown=self.level != "quick" and not process,
            process=process,
            exchange=exchange,
        )

    def _in_order(self, seed: int, runs: tuple[Run, ...]) -> tuple[StageResult, ...]:
        """Every stage of the level as the processes left it."""
        results = []
        for spec in stages_of(self.level):
            of_first, of_fresh = (
                [
                    stage
                    for run in runs
                    if bool(run.process) is fresh
                    for stage in run.stages
                    if stage.id == spec.id
                ]
                for fresh in (False, True)
            )
            # After a crash another process took over what the first one never reached.
            first = [stage for stage in of_first if stage.verdict != "skip"] or of_first
            if spec.essential:
                parts = first[:1]
            elif spec.twice:
                parts = [*repeated(of_fresh, seed)]
            else:
                parts = [*first[:1], *of_fresh]
            results.append(joined(spec.id, parts))
        return tuple(results)


def _is_ready(runs: Iterable[Run], name: str) -> bool:
    """Whether the first process left what the stage called ``name`` needs in a fresh one."""
    spec = stage_spec(name)
    return spec.essential or not spec.module or _is_done(runs, name)


def _is_done(runs: Iterable[Run], name: str) -> bool:
    return any(stage.id == name and stage.checks for run in runs for stage in run.stages)


def _is_ended_from_outside(runs: Iterable[Run]) -> bool:
    """Whether somebody wants the proof to end."""
    return any(run.crash is not None and not run.crash.conclusive for run in runs)
