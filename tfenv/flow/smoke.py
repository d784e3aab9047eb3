"""``tfenv smoke``: only the proof."""

from __future__ import annotations

import contextlib
import os
from dataclasses import replace
from pathlib import Path
from typing import Optional

from tfenv.errors import EXIT_CHECK_FAILED, EXIT_OK, EXIT_PROOF, InstallError
from tfenv.events import Listener
from tfenv.flow.host import locate
from tfenv.install.state import lock_key, read_state, write_state
from tfenv.proof.finding import findings_of
from tfenv.proof.model import ProofReport, device_named, level_named
from tfenv.proof.run import prove
from tfenv.result import Result, Status, status_of
from tfenv.seeding.model import check_seed

#: A proof that was kept from running has not proven anything: not good, but no word against the stack.
_EXITS = {"fail": EXIT_PROOF, "unknown": EXIT_CHECK_FAILED}
_STATUSES: dict[str, Status] = {"fail": "fail", "unknown": "warn"}


def smoke_command(
    python: Optional[str],
    venv: Optional[Path],
    *,
    level: str,
    device: str,
    seed: int,
    listener: Listener,
) -> Result[ProofReport]:
    """``tfenv smoke``: exit 6 if the stack does not learn or computes wrong, 1 if that stays unknown."""
    site = locate(python, venv, os.environ)
    listener.step(f"proving that the stack of {site.python} loads and learns ({level})")
    state = read_state(site.folder)
    report = prove(
        site.python,
        level=level_named(level),
        device=device_named(device),
        seed=check_seed(seed),
        lock=lock_key(state.lock, state.digest) if state is not None else "",
        stored=state.fingerprint if state is not None else None,
        listener=listener,
    )
    if state is not None and report.fingerprint is not None and report.fingerprint_before is None:
        with contextlib.suppress(InstallError):  # an environment that cannot be written can still be proven
            write_state(site.folder, replace(state, fingerprint=report.fingerprint))
    findings = findings_of(report)
    return Result(
        command="smoke",
        status=_STATUSES.get(report.verdict) or status_of(findings),
        exit_code=_EXITS.get(report.verdict, EXIT_OK),
        data=report,
        findings=findings,
    )
