"""``prove``: run the battery in the target interpreter and judge it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Optional

from tfenv.events import Listener, Silent
from tfenv.proof.battery import Battery
from tfenv.proof.differential import compared
from tfenv.proof.fingerprint import fingerprint_of
from tfenv.proof.judge import overall
from tfenv.proof.key import Fingerprint
from tfenv.proof.model import Device, Level, ProofReport
from tfenv.proof.protocol import ChildRunner
from tfenv.proof.reference import References, shipped
from tfenv.proof.runner import SubprocessRunner

DEFAULT_SEED = 20250101


def prove(
    python: Path,
    *,
    level: Level = "quick",
    device: Device = "auto",
    seed: int = DEFAULT_SEED,
    timeout: Optional[float] = None,
    env: Optional[Mapping[str, str]] = None,
    lock: str = "",
    stored: Optional[Fingerprint] = None,
    listener: Listener = Silent(),  # noqa: B008 - stateless
    runner: Optional[ChildRunner] = None,
    references: Optional[References] = None,
) -> ProofReport:
    """Whether the stack of the interpreter ``python`` loads, computes and learns.

    Whatever the stack does (crash, hang, exception, wrong values) ends up in the report. ``seed`` is a
    non-negative integer; ``timeout`` caps every stage, in seconds, below the limit it has of its own; ``env``
    stands for ``os.environ``; ``lock`` is the id and digest of the lock that the environment came from, and
    ``stored`` the fingerprint that was stored beside it.

    Raises:
        UsageError: ``python`` cannot be started, or no temporary folder can be made.
    """
    battery = Battery(
        python=python,
        level=level,
        device="gpu" if device == "both" else device,
        limit=timeout,
        listener=listener,
        runner=runner or SubprocessRunner(env),
        references=references or shipped(),
    )
    report = _run(battery, seed, lock)
    if stored is not None and report.fingerprint is not None and stored.key == report.fingerprint.key:
        report = replace(report, fingerprint_before=stored)
    if device != "both":
        return report
    if report.stack is not None and not report.stack.accelerators:
        return replace(report, device=device)  # it says that there is none
    listener.step("proof: the same on the CPU")
    return compared(report, _run(replace(battery, device="cpu"), seed, lock))


def _run(battery: Battery, seed: int, lock: str) -> ProofReport:
    began = time.monotonic()
    runs, stages = battery.run(seed)
    crashes = tuple(run.crash for run in runs if run.crash is not None)
    seeds: tuple[int, ...] = (seed,)
    if not crashes:
        seeds, stages = battery.settled(seed, stages)
    events = [event for run in runs for event in run.outcome.events]
    peaks = [event.peak_memory for event in events if event.peak_memory is not None]
    return ProofReport(
        verdict=overall(stages, crashes),
        level=battery.level,
        device=battery.device,
        seed=seed,
        seeds=seeds,
        python=str(battery.python),
        stack=next((event.stack for event in events if event.stack), None),
        stages=stages,
        crash=crashes[0] if crashes else None,
        more_crashes=crashes[1:],
        seconds=round(time.monotonic() - began, 3),
        peak_memory=max(peaks, default=None),
        fingerprint=fingerprint_of(stages, next((event.key for event in events if event.key), None), lock),
    )
