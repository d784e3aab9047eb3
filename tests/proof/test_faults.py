"""The mutation bench: its counting and its matrix on plain values, its processes on a real TensorFlow."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from faults.arm import plant
from faults.catalogue import FAULTS, Fault
from faults.layer import layer, site_packages
from faults.matrix import Count, Row, count, matrix, missed, row_of
from faults.warm import WarmRunner
from proof.recorded import at_least

from tfenv.proof.judge import judge
from tfenv.proof.model import Crash, ProofReport, Stack, StageError, StageResult
from tfenv.proof.run import prove

ROW = Row(
    fault="conv-constant",
    level="full",
    python="/env/bin/python",
    seed=1,
    code="c0de",
    tensorflow="2.21.0",
    verdict="fail",
    stages={"S0": "pass", "S5": "fail", "S6": "warn"},
    failed={"S5.correct": "20"},
    crash="",
    acted=3,
    seconds=1.0,
)


def _fault(name: str, *, benign: bool = False) -> Fault:
    return Fault(name, "kernels", f"{name} is wrong.", lambda tf, hit: None, benign, {}, 60.0)


def test_what_a_row_keeps() -> None:
    check = judge(at_least("S5.correct", 20, 80), "S5", None, 1)
    error = StageError(type="NotFoundError", message="no kernel")
    report = ProofReport(
        verdict="fail",
        level="full",
        device="auto",
        seed=1,
        seeds=(1,),
        python="/env/bin/python",
        stack=None,
        stages=(
            StageResult(id="S0", title="import", verdict="pass", checks=(replace(check, passed=True),)),
            StageResult(id="S5", title="memorise", verdict="fail", checks=(check,)),
            StageResult(id="S6", title="smoke-train", verdict="fail", error=error),
        ),
        crash=Crash(
            kind="hang", title="", cause="", remedy="", status="signal 9 (SIGKILL)", stage="S6", step="fit"
        ),
        seconds=1.0,
    )
    assert row_of("conv-constant", "c0de", report, 3) == replace(
        ROW,
        tensorflow="",
        stages={"S0": "pass", "S5": "fail", "S6": "fail"},
        failed={"S5.correct": "20", "S6": "NotFoundError: no kernel"},
        crash="hang in S6: fit",
    )


def test_only_failures_are_counted() -> None:
    flaky = replace(ROW, seed=2, verdict="warn", stages={"S0": "pass", "S5": "pass", "S6": "warn"})
    idle = replace(ROW, seed=3, verdict="pass", stages={"S0": "pass", "S5": "pass", "S6": "pass"}, acted=0)
    assert count([ROW, flaky, idle]) == Count(proofs=3, acted=2, caught=1, stages={"S5": 1})


def test_the_matrix_tells_missed_from_idle_and_harmful_from_benign() -> None:
    faults = {
        name: _fault(name, benign=name == "harmless")
        for name in ("found", "missed", "idle", "unproven", "harmless")
    }
    found = replace(ROW, fault="found")
    unseen = {"verdict": "pass", "stages": {"S0": "pass", "S5": "pass"}}
    rows = [
        found,
        replace(found, level="quick"),
        replace(ROW, fault="missed", **unseen),
        replace(ROW, fault="idle", acted=0, **unseen),
        replace(ROW, fault="harmless", **unseen),
    ]
    lines = matrix(rows, faults).splitlines()
    stages = "| S0 | S5 | S6 |"
    assert [line for line in lines if line.startswith(("- ", "| "))] == [
        "- `quick`: 1 kinds of fault, 1 of them acted, 1 (100%) found with every seed",
        "- `full`: 3 kinds of fault, 2 of them acted, 1 (50%) found with every seed",
        "- benign changes flagged: 0 of 1 proofs",
        f"| fault | what {stages} quick | full |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        "| found | found is wrong. |  | 1 |  | 1/1 | 1/1 |",
        "| missed | missed is wrong. |  |  |  |  | 0/1 |",
        "| idle | idle is wrong. |  |  |  |  | - |",
        "| unproven | unproven is wrong. |  |  |  |  |  |",
        f"| fault | what {stages} quick | full |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        "| harmless | harmless is wrong. |  |  |  |  | 0/1 |",
    ]
    assert (missed(rows, "full", faults), missed(rows, "quick", faults)) == (["missed"], [])


def test_the_catalogue_covers_what_the_bench_promises() -> None:
    harmful = [fault for fault in FAULTS.values() if not fault.benign]
    assert len(harmful) >= 45
    assert {fault.category for fault in harmful} == {
        "gradients", "kernels", "traced", "random numbers", "optimizers", "pipeline", "metrics", "saving",
        "dtypes", "late", "process",
    }  # fmt: skip
    assert all(fault.says.endswith(".") for fault in FAULTS.values() if "Metal" not in fault.says)


@pytest.mark.tf
def test_a_warm_process_finds_what_a_fresh_one_finds(tf_python: Path, tmp_path: Path) -> None:
    python = layer(tmp_path / "env", tf_python, over=True)
    plant(site_packages(python), "conv-last-channel")
    runner = WarmRunner(os.environ)
    try:
        prove(python, seed=11, runner=runner)
        before = runner.acted
        warm = prove(python, seed=12, runner=runner)
        acted = runner.acted - before
    finally:
        runner.close()
    fresh = prove(python, seed=12)
    assert _bare(warm) == _bare(fresh)
    assert (fresh.verdict, acted > 0) == ("fail", True)


def _bare(report: ProofReport) -> tuple[Stack | None, list[StageResult]]:
    """What does not depend on time."""
    stack = replace(report.stack, import_seconds=0.0) if report.stack else None
    return stack, [
        replace(stage, seconds=0.0, retries=(), checks=tuple(replace(c, seconds=0.0) for c in stage.checks))
        for stage in report.stages
    ]
