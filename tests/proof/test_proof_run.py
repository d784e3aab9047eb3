from __future__ import annotations

from dataclasses import replace
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
from tfenv.proof.child.registry import stages_in
from tfenv.proof.crash import explain
from tfenv.proof.judge import judge_stages
from tfenv.proof.key import FingerprintKey
from tfenv.proof.model import Digest, ProofReport, device_named, level_named
from tfenv.proof.protocol import ChildEvent, ChildOutcome, ChildRequest
from tfenv.proof.reference import References
from tfenv.proof.run import prove

PYTHON = Path("python")
NONE = References(bands=())
GOOD_5 = stage("S5", at_least("S5.correct", 96, 80))
BAD_5 = stage("S5", at_least("S5.correct", 30, 80))
GOOD_6 = stage("S6", at_least("S6.images.groups", 32, 29, n=32, p=0.5))
BAD_6 = stage("S6", at_least("S6.images.groups", 15, 29, n=32, p=0.5))
GOOD = finished(IMPORTED, GOOD_5, GOOD_6)
GOOD_8 = stage("S8", at_least("S8.trained", 24, 18, n=24, p=0.1))
GOOD_FULL = finished(IMPORTED, GOOD_5, GOOD_6, GOOD_8)
LOADED = stage("S8", equal("S8.keras", "as before", "as before"))
REPEATED = stage("S9", equal("S9.determinism", "True", "True"))
KEY = ChildEvent(
    event="key",
    key=FingerprintKey(
        recipe="1",
        seed="7",
        tensorflow="2.18.1",
        keras="3.6.0",
        numpy="1.26.4",
        machine="linux x86_64",
        device="CPU",
    ),
)
FRESH = (finished(IMPORTED, REPEATED, (KEY,), LOADED), finished(IMPORTED, REPEATED, (KEY,)))
QUICK, FULL = stages_in("quick", 0), stages_in("full", 0)


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


def _verdicts(report: ProofReport) -> dict[str, str]:
    """Of the stages that were recorded; those that were not are skipped."""
    return {stage.id: stage.verdict for stage in report.stages if stage.verdict != "skip"}


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
        stages=judge_stages(GOOD, None, QUICK, NONE, 7),
        seconds=report.seconds,
        peak_memory=500_000_000,
    )
    assert replay.requests == [
        ChildRequest(level="quick", device="auto", seed=7, stages=QUICK, teardown=False)
    ]


def test_what_is_asked_of_the_children_at_full_level() -> None:
    replay = Replay(GOOD_FULL, *FRESH)
    prove(PYTHON, level="full", device="cpu", seed=3, timeout=5.0, runner=replay, references=NONE)
    asked = ChildRequest(
        level="full", device="cpu", seed=3, stages=FULL, limit=5.0, teardown=True, exchange="exchange"
    )
    assert replay.requests == [
        asked,
        replace(asked, stages=("S0", "S9", "S8"), teardown=False, process=1),
        replace(asked, stages=("S0", "S9"), teardown=False, process=2),
    ]


def test_a_failure_that_repeats_is_a_failure_without_a_third_run() -> None:
    report, replay = _prove(finished(IMPORTED, BAD_5, GOOD_6), finished(IMPORTED, BAD_5))
    assert (report.verdict, report.seeds) == ("fail", (7, 104729))
    assert _verdicts(report) == {"S0": "pass", "S5": "fail", "S6": "pass"}
    assert {s.id: [r.passed for r in s.retries] for s in report.stages if s.retries} == {"S5": [False]}
    assert [request.stages for request in replay.requests] == [QUICK, ("S0", "S5")]
    assert [request.seed for request in replay.requests] == [7, 104729]


def test_one_failure_of_three_is_flaky() -> None:
    again = finished(IMPORTED, GOOD_5)
    report, _ = _prove(finished(IMPORTED, BAD_5, GOOD_6), again, again)
    assert (report.verdict, report.seeds) == ("warn", (7, 104729, 15485863))
    assert _verdicts(report) == {"S0": "pass", "S5": "warn", "S6": "pass"}


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
    assert _verdicts(report) == {"S0": "pass", "S5": "fail", "S6": "warn"}


def test_a_crash_while_running_again_counts_as_a_failure() -> None:
    report, _ = _prove(
        finished(IMPORTED, BAD_5, GOOD_6), ended(-11, START, IMPORTED, broken_off("S5", "train"))
    )
    assert report.verdict == "fail"
    assert [r.passed for s in report.stages for r in s.retries] == [False]


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
    assert _verdicts(report) == {"S0": "pass", "S5": "fail", "S6": verdict}
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
        (lambda: device_named("tpu"), "bad-device", "Choose one of: auto, cpu, gpu, both."),
    ],
    ids=["level", "device"],
)
def test_unknown_names_are_refused(call, code: str, hint: str) -> None:
    with pytest.raises(UsageError) as refused:
        call()
    assert (refused.value.code, refused.value.hint) == (code, hint)


def test_a_stage_in_further_processes_passes_when_all_of_them_do() -> None:
    replay = Replay(GOOD_FULL, *FRESH)
    report = prove(PYTHON, level="full", seed=7, runner=replay, references=NONE, lock="cpu/tf2.18 abc")
    assert report.verdict == "pass"
    by_id = {stage.id: stage for stage in report.stages}
    assert [check.id for check in by_id["S8"].checks] == ["S8.trained", "S8.keras"]
    assert [check.id for check in by_id["S9"].checks] == ["S9.determinism", "S9.S9"]
    assert report.fingerprint is not None
    assert report.fingerprint.key == replace(KEY.key, lock="cpu/tf2.18 abc") if KEY.key else False


def test_two_processes_that_differ_have_no_fingerprint() -> None:
    changed = tuple(
        replace(event, digests=(Digest(task="S9", value="def"),)) if event.event == "done" else event
        for event in REPEATED
    )
    fresh = (FRESH[0], finished(IMPORTED, changed, (KEY,)))
    report = prove(PYTHON, level="full", seed=7, runner=Replay(GOOD_FULL, *fresh), references=NONE)
    assert (report.verdict, report.fingerprint) == ("fail", None)
    assert [check.got for stage in report.stages for check in stage.checks if check.passed is False] == [
        "other bits"
    ]


def test_what_cannot_be_loaded_in_a_fresh_process_fails() -> None:
    lost = stage("S8", equal("S8.keras", "answer [0, 1] is 0.1, expected 0.9", "as before"))
    fresh = (finished(IMPORTED, REPEATED, (KEY,), lost), FRESH[1])
    report = prove(PYTHON, level="full", seed=7, runner=Replay(GOOD_FULL, *fresh), references=NONE)
    assert _verdicts(report) == {"S0": "pass", "S5": "pass", "S6": "pass", "S8": "fail", "S9": "pass"}


def test_nothing_is_loaded_that_could_not_be_saved() -> None:
    full = raised("S8", "save weights", "OSError", "[Errno 28] No space left on device")
    replay = Replay(finished(IMPORTED, GOOD_5, GOOD_6, full), *FRESH)
    report = prove(PYTHON, level="full", seed=7, runner=replay, references=NONE)
    assert [request.stages for request in replay.requests[1:]] == [("S0", "S9"), ("S0", "S9")]
    assert (report.verdict, _verdicts(report)["S8"]) == ("unknown", "unknown")


def test_a_crash_of_a_fresh_process_is_told() -> None:
    fresh = (FRESH[0], ended(-11, START, broken_off("S0", "import tensorflow")))
    report = prove(PYTHON, level="full", seed=7, runner=Replay(GOOD_FULL, *fresh), references=NONE)
    assert report.crash is not None
    assert (report.verdict, report.crash.kind, report.crash.stage) == ("fail", "sigsegv", "S0")
    assert _verdicts(report)["S8"] == "pass"


def test_after_a_crash_the_stages_behind_it_run_in_another_process() -> None:
    crashed = ended(-11, START, IMPORTED, broken_off("S5", "train"))
    replay = Replay(crashed, finished(IMPORTED, GOOD_6, GOOD_8), *FRESH)
    report = prove(PYTHON, level="full", seed=7, runner=replay, references=NONE)
    behind = FULL[FULL.index("S5") + 1 :]
    assert [request.stages for request in replay.requests[:2]] == [FULL, ("S0", *behind)]
    assert _verdicts(report) == {"S0": "pass", "S5": "fail", "S6": "pass", "S8": "pass", "S9": "pass"}
    assert (report.crash, report.more_crashes) == (explain(crashed), ())


def test_no_more_than_two_processes_go_on_after_crashes() -> None:
    crashes = [ended(-11, START, IMPORTED, broken_off(name, "train")) for name in ("S5", "S6", "S8")]
    replay = Replay(*crashes, FRESH[1], FRESH[1])
    report = prove(PYTHON, level="full", seed=7, runner=replay, references=NONE)
    assert [crash.stage for crash in (report.crash, *report.more_crashes) if crash] == ["S5", "S6", "S8"]


def test_after_being_killed_from_outside_nothing_goes_on() -> None:
    replay = Replay(ended(-15, START, IMPORTED, broken_off("S5", "train")))
    report = prove(PYTHON, level="full", seed=7, runner=replay, references=NONE)
    assert (report.verdict, len(replay.requests)) == ("unknown", 1)
