"""``tfenv smoke``: only the proof."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Optional

from tfenv.errors import EXIT_OK, EXIT_PROOF
from tfenv.events import Listener
from tfenv.flow.host import locate
from tfenv.proof.finding import findings_of
from tfenv.proof.model import ProofReport, device_named, level_named
from tfenv.proof.run import prove
from tfenv.result import Result, status_of
from tfenv.seeding.model import check_seed


def smoke_command(
    python: Optional[str],
    venv: Optional[Path],
    *,
    level: str,
    device: str,
    seed: int,
    listener: Listener,
) -> Result[ProofReport]:
    """``tfenv smoke``: exit 6 if the stack does not learn or computes wrong values."""
    site = locate(python, venv, os.environ)
    listener.step(f"proving that the stack of {site.python} loads and learns ({level})")
    report = prove(
        site.python,
        level=level_named(level),
        device=device_named(device),
        seed=check_seed(seed),
        listener=listener,
    )
    findings = findings_of(report)
    failed = report.verdict == "fail"
    return Result(
        command="smoke",
        status="fail" if failed else status_of(findings),
        exit_code=EXIT_PROOF if failed else EXIT_OK,
        data=report,
        findings=findings,
    )
