from __future__ import annotations

import math
from fractions import Fraction

import pytest
from proof.recorded import (
    END,
    IMPORTED,
    START,
    at_least,
    at_most,
    broken_off,
    ended,
    equal,
    finished,
    in_band,
    raised,
    stage,
)

from tfenv.proof.judge import binomial_tail, judge, judge_stages, may_be_luck, overall, retry_seeds, settle
from tfenv.proof.model import Check, Crash, Digest, LossCurve, Retry, StageError, StageResult
from tfenv.proof.reference import Band, BandRow, References

NO_REFERENCES = References(bands=())
BAND = Band(low=0.1, high=0.2, source="200 runs")
CRASH = Crash(kind="sigsegv", title="t", cause="c", remedy="r", status="signal 11 (SIGSEGV)", stage="S5")
KILLED = Crash(kind="killed", title="t", cause="c", remedy="r", status="s", stage="S5", conclusive=False)


@pytest.mark.parametrize(
    ("n", "p", "low"),
    [(96, Fraction(1, 4), 80), (32, Fraction(1, 2), 29), (24, Fraction(1, 10), 18), (5, Fraction(1, 2), 0)],
    ids=["memorise", "images", "sequences", "certain"],
)
def test_binomial_tail_is_exact(n: int, p: Fraction, low: int) -> None:
    exact = sum(math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(low, n + 1))
    assert binomial_tail(n, float(p), low) == pytest.approx(float(exact), rel=1e-12)


def test_memorising_by_luck_is_rarer_than_1e_30() -> None:
    assert binomial_tail(96, 0.25, 80) < 1e-30


def test_a_count_is_judged_with_its_chance() -> None:
    assert judge(at_least("S5.correct", 80, 80), "S5", None, 7) == Check(
        id="S5.correct",
        stage="S5",
        title="answers",
        passed=True,
        statistic=80.0,
        low=80.0,
        high=None,
        chance=binomial_tail(96, 0.25, 80),
        luck=True,
        rule="labels are independent",
        n=96,
        seed=7,
        seconds=0.0,
        device="CPU:0",
        expected="at least 80 of 96",
        got="80",
    )


@pytest.mark.parametrize(
    ("measurement", "band", "passed", "expected"),
    [
        (at_least("S5.correct", 79, 80), None, False, "at least 80 of 96"),
        (at_most("S1.error", 0.5, 0.5), None, True, ""),
        (at_most("S1.error", 0.51, 0.5), None, False, ""),
        (equal("S0.version", "2.18.1", "2.18.1"), None, True, "2.18.1"),
        (equal("S0.version", "2.18.1", "2.17.0"), None, False, "2.17.0"),
        (in_band("S6.images.loss", 0.15), BAND, True, "0.1 to 0.2"),
        (in_band("S6.images.loss", 0.2), BAND, True, "0.1 to 0.2"),
        (in_band("S6.images.loss", 0.21), BAND, False, "0.1 to 0.2"),
        (in_band("S6.images.loss", 0.09), BAND, False, "0.1 to 0.2"),
        (in_band("S6.images.loss", 0.09), None, None, ""),
    ],
    ids=[
        "one-short",
        "tolerated",
        "above-tolerance",
        "same",
        "other",
        "inside",
        "edge",
        "above",
        "below",
        "no-reference",
    ],
)
def test_judge(measurement, band, passed, expected) -> None:
    check = judge(measurement, "S5", band, 1)
    assert (check.passed, check.expected) == (passed, expected)


def test_a_statistic_that_is_not_finite_fails() -> None:
    nan = in_band("S6.images.loss", 0.15)
    nan = type(nan)(id=nan.id, title=nan.title, rule=nan.rule, statistic=None, got="nan")
    assert judge(nan, "S6", BAND, 1).passed is False


def test_stages_as_the_child_left_them() -> None:
    outcome = finished(IMPORTED, stage("S5", at_least("S5.correct", 40, 80)))
    s0, s5, s6 = judge_stages(outcome, None, ("S0", "S5", "S6"), NO_REFERENCES, 7)
    assert (s0.verdict, s6.verdict) == ("pass", "skip")
    assert s5 == StageResult(
        id="S5",
        title="memorise",
        verdict="fail",
        seconds=2.0,
        checks=(judge(at_least("S5.correct", 40, 80), "S5", None, 7),),
        losses=(LossCurve(task="S5", losses=(2.0, 1.0)),),
        digests=(Digest(task="S5", value="abc"),),
    )


def test_a_check_without_reference_neither_passes_nor_fails_the_stage() -> None:
    outcome = finished(IMPORTED, stage("S6", in_band("S6.images.loss", 9.0)))
    assert judge_stages(outcome, None, ("S6",), NO_REFERENCES, 7)[0].verdict == "pass"


def test_bands_are_those_of_the_stack_that_ran() -> None:
    row = BandRow(
        check="S6.images.loss",
        keras="3",
        tensorflow="2.18",
        device="CPU",
        low=0.0,
        high=1.0,
        runs=9,
        least=0.5,
        median=0.5,
        most=0.5,
    )
    outcome = finished(IMPORTED, stage("S6", in_band("S6.images.loss", 9.0)))
    assert judge_stages(outcome, None, ("S6",), References(bands=(row,)), 7)[0].verdict == "fail"


def test_an_exception_fails_its_stage_only() -> None:
    broken = raised("S5", "train", "NotFoundError", "no kernel", "File x", "NotFoundError: no kernel")
    outcome = finished(IMPORTED, broken, stage("S6", at_least("S6.images.groups", 32, 29, n=32)))
    _, s5, s6 = judge_stages(outcome, None, ("S0", "S5", "S6"), NO_REFERENCES, 7)
    error = StageError(
        type="NotFoundError",
        message="no kernel",
        traceback=("File x", "NotFoundError: no kernel"),
        step="train",
    )
    assert s5 == StageResult(id="S5", title="memorise", verdict="fail", seconds=1.0, error=error)
    assert s6.verdict == "pass"


@pytest.mark.parametrize(
    ("crash", "verdict"), [(CRASH, "fail"), (KILLED, "unknown")], ids=["own-fault", "killed-from-outside"]
)
def test_the_stage_a_crash_ended_in(crash: Crash, verdict: str) -> None:
    outcome = ended(-11, START, IMPORTED, broken_off("S5", "train"))
    stages = judge_stages(outcome, crash, ("S0", "S5", "S6"), NO_REFERENCES, 7)
    assert [(s.verdict, s.seconds) for s in stages] == [("pass", 2.0), (verdict, 0.5), ("skip", 0.0)]


def _judged(*measurements) -> StageResult:
    return judge_stages(finished(IMPORTED, stage("S5", *measurements)), None, ("S5",), NO_REFERENCES, 7)[0]


@pytest.mark.parametrize(
    ("result", "luck"),
    [
        (_judged(at_least("S5.correct", 79, 80)), True),
        (_judged(at_least("S5.correct", 80, 80)), False),
        (_judged(at_least("S5.correct", 79, 80), equal("S5.placement", "CPU", "GPU")), False),
        (_judged(at_most("S1.error", 0.51, 0.5)), False),
        (StageResult(id="S5", title="memorise", verdict="fail"), False),
    ],
    ids=["statistical", "passed", "exact-too", "tolerance", "no-checks"],
)
def test_only_a_purely_statistical_failure_may_be_luck(result: StageResult, luck: bool) -> None:
    assert may_be_luck(result) is luck


@pytest.mark.parametrize(
    ("tries", "verdict"),
    [((True, True), "warn"), ((False,), "fail"), ((True, False), "fail")],
    ids=["one-of-three-is-flaky", "two-of-two", "two-of-three"],
)
def test_settling_needs_two_failures_of_three(tries: tuple[bool, ...], verdict: str) -> None:
    first = _judged(at_least("S5.correct", 79, 80))
    retries = tuple(Retry(seed=index, passed=passed, checks=()) for index, passed in enumerate(tries))
    settled = settle(first, retries)
    assert (settled.verdict, settled.retries, settled.checks) == (verdict, retries, first.checks)


def test_retry_seeds_are_two_and_never_the_first() -> None:
    assert retry_seeds(7) == (104729, 15485863)
    assert retry_seeds(104729) == (15485863, 32452843)


def _stages(*verdicts: str) -> tuple[StageResult, ...]:
    return tuple(StageResult(id="S5", title="memorise", verdict=verdict) for verdict in verdicts)


@pytest.mark.parametrize(
    ("verdicts", "crash", "expected"),
    [
        (("pass", "pass"), None, "pass"),
        (("pass", "warn"), None, "warn"),
        (("warn", "fail"), None, "fail"),
        (("skip", "skip"), CRASH, "fail"),
        (("pass", "unknown", "skip"), KILLED, "unknown"),
        (("fail", "unknown"), KILLED, "fail"),
        (
            ("pass",),
            Crash(kind="teardown", title="t", cause="c", remedy="r", status="signal 6 (SIGABRT)"),
            "warn",
        ),
    ],
    ids=["pass", "flaky", "fail", "crash-at-start", "killed", "failed-and-killed", "teardown"],
)
def test_overall(verdicts, crash, expected) -> None:
    assert overall(_stages(*verdicts), (crash,) if crash else ()) == expected


def test_the_end_event_alone_makes_no_stage() -> None:
    assert judge_stages(ended(0, START, END), None, ("S0",), NO_REFERENCES, 1)[0].verdict == "skip"
