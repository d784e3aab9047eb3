"""A proof as text: one line per stage, which fits."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tfenv.proof.model import Check, LossCurve, ProofReport, Retry, StageError, StageResult, StageVerdict
from tfenv.report.style import Style
from tfenv.report.text.page import Page
from tfenv.report.text.proof import sparkline, summary, write_proof

CHECK = Check(
    id="S1.matmul",
    stage="S1",
    title="matrix product",
    passed=True,
    statistic=None,
    low=None,
    high=None,
    chance=None,
    luck=False,
    rule="exact",
    n=48,
    seed=7,
    seconds=0.1,
    device="GPU:0",
    expected="as NumPy computes it",
    got="as NumPy computes it",
)
WRONG = replace(CHECK, passed=False, got="float16, traced: element [0, 3] is 12, expected 15")
MEMORISED = replace(CHECK, id="S5.correct", stage="S5", statistic=96.0, n=96, chance=1e-33)
CURVE = LossCurve(task="memorise", losses=tuple(2.0 / step for step in range(1, 41)))


def _stage(name: str, *checks: Check, verdict: StageVerdict = "pass") -> StageResult:
    return StageResult(id=name, title="a stage", verdict=verdict, checks=checks)


@pytest.mark.parametrize(
    ("stage", "text"),
    [
        (
            _stage("S1", CHECK, replace(CHECK, id="S1.sort"), replace(CHECK, id="S1.placement")),
            "2 operations exact, eager and traced, on GPU:0",
        ),
        (replace(_stage("S5", MEMORISED), losses=(CURVE,)), "96 of 96 right"),
        (_stage("S1", CHECK, WRONG, verdict="fail"), "1 of 2 checks failed"),
        (
            replace(
                _stage("S5", replace(MEMORISED, passed=False), verdict="warn"),
                retries=(Retry(seed=1, passed=True, checks=()), Retry(seed=2, passed=True, checks=())),
            ),
            "1 of 1 checks failed, again with 0 of 2 seeds",
        ),
        (
            replace(
                _stage("S6", verdict="fail"), error=StageError(type="NotFoundError", message="m", step="fit")
            ),
            "raises NotFoundError (fit)",
        ),
        (_stage("S6", verdict="fail"), "did not run to its end"),
        (_stage("S6", verdict="unknown"), "could not run to its end"),
        (_stage("S6", verdict="skip"), "not run"),
    ],
    ids=["operations", "answers", "failed", "flaky", "error", "crashed", "killed", "skipped"],
)
def test_what_became_of_a_stage(stage: StageResult, text: str) -> None:
    assert summary(stage) == text


def _text(style: Style, *stages: StageResult) -> list[str]:
    page = Page(style)
    report = ProofReport(
        verdict="pass",
        level="full",
        device="auto",
        seed=7,
        seeds=(7,),
        python="python",
        stack=None,
        stages=stages,
        seconds=3.0,
    )
    write_proof(page, report)
    return page.text().splitlines()


@pytest.mark.parametrize("columns", ["50", "80", "200"])
def test_a_line_per_stage_that_fits(columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    trained = replace(_stage("S5", MEMORISED), losses=(CURVE, CURVE))
    _, line, *failed = _text(Style(), trained, _stage("S1", WRONG, verdict="fail"))
    assert line.startswith("    ✓ S5  a stage      96 of 96 right")
    assert max(map(len, [line, *failed])) <= int(columns)
    assert line.count("█") == {"50": 0, "80": 1, "200": 2}[columns]


def test_without_unicode_and_colour_only_ascii_is_written() -> None:
    trained = replace(_stage("S5", MEMORISED), losses=(CURVE,))
    assert _text(Style(unicode=False), trained)[1] == "    ok S5  a stage      96 of 96 right"


@pytest.mark.parametrize(("width", "bars"), [(24, "█▃▂▂▂▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁"), (6, "█▂▁▁▁▁")], ids=["24", "6"])
def test_a_sparkline_is_no_wider_than_asked(width: int, bars: str) -> None:
    assert sparkline(CURVE.losses, width) == bars
