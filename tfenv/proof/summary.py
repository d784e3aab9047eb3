"""A proof in one line, for evidence files, logs and the state of an environment."""

from __future__ import annotations

from tfenv.proof.model import ProofReport, StageResult


def summary(report: ProofReport) -> str:
    """The verdict of every stage with its first statistic: "S0 pass; S5 pass: 96 (at least 80 of 96); …"."""
    parts = [_stage(stage) for stage in report.stages]
    if report.crash is not None:
        parts.append(f"{report.crash.kind}: {report.crash.status}")
    return "; ".join(parts)


def _stage(stage: StageResult) -> str:
    numbers = [
        f"{check.got} ({check.expected})"
        for check in stage.checks
        if check.statistic is not None and check.chance is not None
    ]
    return f"{stage.id} {stage.verdict}" + (": " + ", ".join(numbers) if numbers else "")
