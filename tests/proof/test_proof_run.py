from __future__ import annotations

from pathlib import Path

import pytest
from proof.recorded import (
    IMPORTED,
    STACK,
    START,
    Replay,
    at_least,
    broken_off,
    ended,
    equal,
    finished,
    raised,
    stage,
)

from tfenv.errors import UsageError
from tfenv.proof.crash import explain
from tfenv.proof.judge import judge_stages
from tfenv.proof.model import ProofReport, device_named, level_named
from tfenv.proof.protocol import ChildOutcome, ChildRequest
from tfenv.proof.reference import References
from tfenv.proof.run import prove

PYTHON = Path("python")
NONE = References(bands=())
GOOD_5 = stage("S5", at_least("S5.correct", 96, 80))
BAD_5 = stage("S5", at_least("S5.correct", 30, 80))
GOOD_6 = stage("S6", at_least("S6.images.groups", 32, 29, n=32, p=0.5))
BAD_6 = stage("S6", at_least("S6.images.groups", 15, 29, n=32, p=0.5))
GOOD = finished(IMPORTED, GOOD_5, GOOD_6)


class Notes:
    """A listener that keeps what it is told."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def step(self, title: str) -> None:
        self.notes.append(title)

    def note(self, text: str) -> None:
        self.notes.append(text)

    def progress(self, what: str, done: int, total: int) -> None:
        self.notes.append(what)


def _prove(*outcomes: ChildOutcome, seed: int = 7) -> tuple[ProofReport, Replay]:
    replay = Replay(*outcomes)
    return prove(PYTHON, seed=seed, runner=replay, references=NONE), replay


def test_a_healthy_stack_is_run_once() -> None:
    report, replay = _prove(GOOD)
    assert report == ProofReport(
        verdict="pass",
        level="quick",
        device="auto",
        seed=7,
        seeds=(7,),
        python="python",
        stack=STACK,
        stages=judge_stages(GOOD, None, ("S0", "S5", "S6"), NONE, 7),
        seconds=report.seconds,
        peak_memory=500_000_000,
    )
    assert replay.requests == [
        ChildRequest(level="quick", device="auto", seed=7, stages=("S0", "S5", "S6"), teardown=False)
    ]


def test_what_is_asked_of_the_child_at_full_level() -> None:
    replay = Replay(GOOD)
    prove(PYTHON, level="full", device="cpu", seed=3, timeout=5.0, runner=replay, references=NONE)
    assert replay.requests == [
        ChildRequest(level="full", device="cpu", seed=3, stages=("S0", "S5", "S6"), limit=5.0, teardown=True)
    ]


def test_a_failure_that_repeats_is_a_failure_without_a_third_run() -> None:
    report, replay = _prove(finished(IMPORTED, BAD_5, GOOD_6), finished(IMPORTED, BAD_5))
    assert (report.verdict, report.seeds) == ("fail", (7, 104729))
    assert [(s.verdict, [r.passed for r in s.retries]) for s in report.stages] == [
        ("pass", []),
        ("fail", [False]),
        ("pass", []),
    ]
    assert [request.stages for request in replay.requests] == [("S0", "S5", "S6"), ("S0", "S5")]
    assert [request.seed for request in replay.requests] == [7, 104729]


def test_one_failure_of_three_is_flaky() -> None:
    again = finished(IMPORTED, GOOD_5)
    report, _ = _prove(finished(IMPORTED, BAD_5, GOOD_6), again, again)
    assert (report.verdict, report.seeds) == ("warn", (7, 104729, 15485863))
    assert [s.verdict for s in report.stages] == ["pass", "warn", "pass"]


def test_two_failures_of_three_are_a_failure() -> None:
    report, _ = _prove(
        finished(IMPORTED, BAD_5, GOOD_6), finished(IMPORTED, GOOD_5), finished(IMPORTED, BAD_5)
    )
    assert (report.verdict, report.seeds) == ("fail", (7, 104729, 15485863))


def test_only_undecided_stages_are_run_a_third_time() -> None:
    report, replay = _prove(
        finished(IMPORTED, BAD_5, BAD_6), finished(IMPORTED, BAD_5, GOOD_6), finished(IMPORTED, GOOD_6)
    )
    assert [request.stages for request in replay.requests[1:]] == [("S0", "S5", "S6"), ("S0", "S6")]
    assert [s.verdict for s in report.stages] == ["pass", "fail", "warn"]


def test_a_crash_while_running_again_counts_as_a_failure() -> None:
    report, _ = _prove(
        finished(IMPORTED, BAD_5, GOOD_6), ended(-11, START, IMPORTED, broken_off("S5", "train"))
    )
    assert report.verdict == "fail"
    assert report.stages[1].retries[0].passed is False


def test_a_wrong_exact_value_fails_at_once() -> None:
    wrong = stage("S5", at_least("S5.correct", 96, 80), equal("S5.placement", "CPU", "GPU"))
    report, replay = _prove(finished(IMPORTED, wrong, GOOD_6))
    assert (report.verdict, len(replay.requests)) == ("fail", 1)


def test_an_exception_fails_at_once() -> None:
    broken = raised("S5", "train", "NotFoundError", "no kernel")
    report, replay = _prove(finished(IMPORTED, broken, GOOD_6))
    assert (report.verdict, len(replay.requests)) == ("fail", 1)


@pytest.mark.parametrize(
    ("status", "verdict"), [(-11, "fail"), (-15, "unknown")], ids=["segfault", "terminated"]
)
def test_after_a_crash_nothing_is_run_again(status: int, verdict: str) -> None:
    outcome = ended(status, START, IMPORTED, BAD_5, broken_off("S6", "fit"))
    report, replay = _prove(outcome)
    assert (report.crash, len(replay.requests)) == (explain(outcome), 1)
    assert [s.verdict for s in report.stages] == ["pass", "fail", verdict]
    assert report.verdict == "fail"


def test_a_child_killed_while_all_was_well_leaves_the_verdict_open() -> None:
    report, _ = _prove(ended(-15, START, IMPORTED, GOOD_5, broken_off("S6", "fit")))
    assert report.verdict == "unknown"


def test_retries_are_announced() -> None:
    notes = Notes()
    runner = Replay(finished(IMPORTED, BAD_5, GOOD_6), finished(IMPORTED, BAD_5))
    prove(PYTHON, seed=7, runner=runner, references=NONE, listener=notes)
    assert notes.notes == ["S5 failed; running again with seed 104729"]


def test_levels_and_devices_by_name() -> None:
    assert (level_named("full"), device_named("cpu")) == ("full", "cpu")


@pytest.mark.parametrize(
    ("call", "code", "hint"),
    [
        (lambda: level_named("slow"), "bad-level", "Choose one of: quick, full, long."),
        (lambda: device_named("tpu"), "bad-device", "Choose one of: auto, cpu, gpu."),
    ],
    ids=["level", "device"],
)
def test_unknown_names_are_refused(call, code: str, hint: str) -> None:
    with pytest.raises(UsageError) as refused:
        call()
    assert (refused.value.code, refused.value.hint) == (code, hint)
