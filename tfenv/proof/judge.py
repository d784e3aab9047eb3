"""From measurements to verdicts. Pure: what healthy stacks look like is passed in.

The policy on seeds: a stage that fails a statistical check is run again with two more shipped seeds. It has
failed when two of three fail; one of three is a warning, "flaky". A pass is never run again, so it is never
bought by retrying. A crash, a hang, an exception or a wrong exact value is not a matter of luck and fails at
once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Optional

from tfenv.proof.cause import is_disk_full
from tfenv.proof.child.registry import stage as stage_spec
from tfenv.proof.model import Check, Crash, Measurement, Retry, StageError, StageResult, Verdict
from tfenv.proof.protocol import ChildEvent, ChildOutcome
from tfenv.proof.reference import Band, References

#: Seeds for second and third attempts: primes, with no meaning beyond being fixed.
SHIPPED_SEEDS = (104729, 15485863, 32452843)


def retry_seeds(seed: int) -> tuple[int, ...]:
    """The two shipped seeds a failure with ``seed`` is run again with."""
    return tuple(other for other in SHIPPED_SEEDS if other != seed)[:2]


def judge_stages(
    outcome: ChildOutcome,
    crash: Optional[Crash],
    planned: Iterable[str],
    references: References,
    seed: int,
) -> tuple[StageResult, ...]:
    """The planned stages as one child left them; what it never reached is skipped.

    The stage that ``crash`` names has failed, or is unknown when something outside ended the child.
    """
    stack = next((event.stack for event in outcome.events if event.stack), None)
    results = []
    for stage_id in planned:
        events = [event for event in outcome.events if event.stage == stage_id]
        checks = tuple(
            judge(measurement, stage_id, references.band(measurement.id, stack), seed)
            for event in events
            for measurement in event.measurements
        )
        results.append(_stage_result(stage_id, events, checks, crash))
    return tuple(results)


def judge(measurement: Measurement, stage_id: str, band: Optional[Band], seed: int) -> Check:
    """The check that ``measurement`` amounts to."""
    rule, text = measurement.rule, measurement.rule.text
    low, high, chance = rule.low, rule.high, None
    passed: Optional[bool]
    expected = measurement.expected
    if rule.kind == "equal":
        passed = measurement.got == measurement.expected
    elif rule.kind == "within":
        passed = _lies_within(measurement.statistic, low, high)
        if low is not None and rule.null_n:
            chance = binomial_tail(rule.null_n, rule.null_p, math.ceil(low))
    elif band is None:
        passed, text = None, f"{text}; no reference for this stack yet"
    else:
        low, high = band.low, band.high
        passed = _lies_within(measurement.statistic, low, high)
        expected, text = f"{low:.4g} to {high:.4g}", f"{text} ({band.source})"
    return Check(
        id=measurement.id,
        stage=stage_id,
        title=measurement.title,
        passed=passed,
        statistic=measurement.statistic,
        low=low,
        high=high,
        chance=chance,
        luck=rule.luck,
        rule=text,
        n=measurement.n,
        seed=seed,
        seconds=measurement.seconds,
        device=measurement.device,
        expected=expected,
        got=measurement.got,
    )


def binomial_tail(n: int, p: float, at_least: int) -> float:
    """P(X >= ``at_least``) for X ~ Binomial(``n``, ``p``), summed exactly, smallest terms first."""
    return math.fsum(math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n, max(at_least, 0) - 1, -1))


def may_be_luck(stage: StageResult) -> bool:
    """Whether ``stage`` failed, and nothing but statistical checks failed in it."""
    failed = [check for check in stage.checks if check.passed is False]
    return bool(failed) and all(check.luck for check in failed)


def settle(first: StageResult, retries: tuple[Retry, ...]) -> StageResult:
    """``first``, whose checks failed, in the light of its retries: a failure, or flaky."""
    failures = 1 + sum(not retry.passed for retry in retries)
    return replace(first, verdict="fail" if failures >= 2 else "warn", retries=retries)


def overall(stages: Iterable[StageResult], crashes: Iterable[Crash]) -> Verdict:
    """The verdict of the whole proof: a proven failure, then what could not be found out, then flakiness."""
    crashes = tuple(crashes)
    verdicts = {stage.verdict for stage in stages}
    if "fail" in verdicts or any(crash.conclusive and crash.kind != "teardown" for crash in crashes):
        return "fail"
    if "unknown" in verdicts or not all(crash.conclusive for crash in crashes):
        return "unknown"
    return "warn" if "warn" in verdicts or crashes else "pass"


def _lies_within(statistic: Optional[float], low: Optional[float], high: Optional[float]) -> bool:
    """Whether ``statistic`` is a finite number in [``low``, ``high``]."""
    if statistic is None:
        return False
    return (low is None or statistic >= low) and (high is None or statistic <= high)


def _stage_result(
    stage_id: str, events: list[ChildEvent], checks: tuple[Check, ...], crash: Optional[Crash]
) -> StageResult:
    title = stage_spec(stage_id).title
    if not events:
        return StageResult(id=stage_id, title=title, verdict="skip")
    end = events[-1]
    if end.event == "done":
        failed = any(check.passed is False for check in checks)
        return StageResult(
            id=stage_id,
            title=title,
            verdict="fail" if failed else "pass",
            seconds=end.seconds,
            checks=checks,
            losses=end.losses,
            digests=end.digests,
        )
    error = None
    if end.event == "error":
        step = next((event.step for event in reversed(events) if event.step), "")
        error = StageError(type=end.type, message=end.message, traceback=end.traceback, step=step)
    outside = crash is not None and not crash.conclusive
    if error is not None and is_disk_full(error.message):
        outside = True
    return StageResult(
        id=stage_id,
        title=title,
        verdict="unknown" if outside else "fail",
        seconds=end.seconds or round(end.time - events[0].time, 4),
        error=error,
    )
