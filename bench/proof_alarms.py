"""Healthy proofs in fresh processes; none may be flagged. Writes a table of BENCHMARKS.md.

Run by ``nox -s false_alarms``. Every lock of linux-x86_64-cpu whose Python is here gets an environment of its
own, one at a time, deleted after its runs. Seeds, thread counts (1, 2) and oneDNN (on, off) go round, two
proofs run at the same time. Every run is one JSON line in ``--log``; one that is there is not repeated, so a
bench that was stopped goes on. ``--print`` shows the table of the log and runs nothing.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Optional

from benchmarks import write_table

from tfenv.codec import decode, encode
from tfenv.facts.pythons import FoundPython, find_interpreters
from tfenv.install.engine import find_uv
from tfenv.locks.catalogue import load_catalogue
from tfenv.locks.model import Lock
from tfenv.proof.judge import binomial_tail
from tfenv.proof.model import Level, ProofReport
from tfenv.proof.run import prove
from tfenv.records import record

ROOT = Path(__file__).resolve().parents[1]
CATALOGUE = ROOT / "lockfiles"
TARGET = "linux-x86_64-cpu"
FIRST_SEED = 50_000
VARIANTS = tuple(itertools.product(("1", "2"), ("0", "1")))
LEVELS: tuple[Level, ...] = ("quick", "full")


@record
class Run:
    """One healthy proof."""

    lock: str
    level: str
    seed: int
    threads: str
    onednn: str
    tensorflow: str
    verdict: str
    failed: tuple[str, ...]  # check, what was got, what was expected
    seconds: float
    import_seconds: Optional[float]  # of TensorFlow, in the same process
    peak_memory: Optional[int]  # bytes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick-runs", type=int, default=1000, help="in total, over all locks")
    parser.add_argument("--full-runs", type=int, default=100, help="in total, over all locks")
    parser.add_argument("--locks", nargs="*", default=[], help="parts of lock ids, such as tf2.19 or py311")
    parser.add_argument("--jobs", type=int, default=2, help="proofs at the same time")
    parser.add_argument("--log", type=Path, default=ROOT / ".bench" / "alarms.jsonl")
    parser.add_argument("--print", action="store_true", help="run nothing")
    parser.add_argument("--write", action="store_true", help="put the table into BENCHMARKS.md")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what is on disk goes with it
    arguments.log.parent.mkdir(parents=True, exist_ok=True)
    runs = _read(arguments.log)
    if not arguments.print:
        totals = {"quick": arguments.quick_runs, "full": arguments.full_runs}
        for run in _all_runs(runs, totals, arguments.locks, arguments.jobs):
            runs.append(run)
            with arguments.log.open("a", encoding="utf-8") as log:
                log.write(json.dumps(encode(run)) + "\n")
    text = table(runs)
    print(text)
    if arguments.write:
        write_table("alarms", text)
    alarms = [run for run in runs if run.verdict != "pass"]
    for run in alarms:
        print(f"{run.lock} {run.level} seed {run.seed}: {run.verdict}: {'; '.join(run.failed)}")
    return len(alarms)


def table(runs: Sequence[Run]) -> str:
    """Runs and alarms by TensorFlow and level, the rate they allow, and what the runs took."""
    lines = [
        "| TensorFlow | level | runs | alarms | rate at most (95 %) | time / import | peak memory |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    minors = sorted({_minor(run) for run in runs}, key=lambda minor: [int(part) for part in minor.split(".")])
    for level in LEVELS:
        for minor in [*minors, "all"]:
            mine = [run for run in runs if run.level == level and minor in ("all", _minor(run))]
            if mine:
                lines.append(_line(minor, level, mine))
    return "\n".join(lines)


def upper_bound(alarms: int, runs: int) -> float:
    """The one-sided 95 % Clopper-Pearson bound of a rate: at it, so few alarms have probability 0.05."""
    if alarms >= runs:
        return 1.0
    low, high = alarms / runs, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        at_most = 1 - binomial_tail(runs, middle, alarms + 1) if alarms else (1 - middle) ** runs
        low, high = (middle, high) if at_most > 0.05 else (low, middle)
    return high


def _line(minor: str, level: str, runs: Sequence[Run]) -> str:
    alarms = sum(run.verdict != "pass" for run in runs)
    ratios = [run.seconds / run.import_seconds for run in runs if run.import_seconds]
    peaks = [run.peak_memory for run in runs if run.peak_memory]
    time = f"median {statistics.median(ratios):.2f}, most {max(ratios):.2f}" if ratios else "unknown"
    peak = f"{max(peaks) / 1e6:.0f} MB" if peaks else "unknown"
    bound = f"{upper_bound(alarms, len(runs)):.2%}"
    return f"| {minor} | {level} | {len(runs)} | {alarms} | {bound} | {time} | {peak} |"


def _minor(run: Run) -> str:
    """The TensorFlow minor that the lock's name states: a proof that failed early may not know."""
    return run.lock.rpartition("/")[2].partition("-")[0].removeprefix("tf")


def _all_runs(
    done: Sequence[Run], totals: Mapping[str, int], parts: Sequence[str], jobs: int
) -> Iterator[Run]:
    """Every run that is not ``done``, lock by lock."""
    hosts = {host.minor: host for host in find_interpreters() if host.implementation == "cpython"}
    locks = [lock for lock in load_catalogue(CATALOGUE).locks if lock.target == TARGET]
    locks = [lock for lock in locks if lock.python in hosts]
    had = {(run.lock, run.level, run.seed) for run in done}
    for position, lock in enumerate(locks):
        wanted = [
            (level, FIRST_SEED + 1000 * position + index, VARIANTS[index % len(VARIANTS)])
            for level in LEVELS
            for index in range(math.ceil(totals[level] / len(locks)))
        ]
        wanted = [
            (level, seed, variant) for level, seed, variant in wanted if (lock.id, level, seed) not in had
        ]
        if wanted and all(part in lock.id for part in parts):
            with tempfile.TemporaryDirectory(prefix="tfenv-alarms-") as folder:
                python = _environment(lock, hosts[lock.python], Path(folder))
                _warm_up(python)
                with ThreadPoolExecutor(jobs) as pool:
                    yield from pool.map(lambda each: _run(lock, python, *each), wanted)  # noqa: B023


def _environment(lock: Lock, host: FoundPython, folder: Path) -> Path:
    """An environment that holds exactly the lock; its interpreter."""
    uv = find_uv(os.environ)
    assert uv is not None, "the bench needs uv"
    python = folder / "venv" / "bin" / "python"
    file = CATALOGUE / f"{lock.id}.txt"
    subprocess.run([uv, "venv", "--quiet", "--python", host.path, folder / "venv"], check=True)
    subprocess.run(
        [uv, "pip", "sync", "--quiet", "--python", python, "--require-hashes", "--compile-bytecode", file],
        check=True,
    )
    return python


def _warm_up(python: Path) -> None:
    """One import that nothing is measured of: it brings the files into memory."""
    subprocess.run([python, "-c", "import tensorflow"], capture_output=True, check=False)


def _run(lock: Lock, python: Path, level: Level, seed: int, variant: tuple[str, str]) -> Run:
    threads, onednn = variant
    env = {
        **os.environ,
        "TF_NUM_INTRAOP_THREADS": threads,
        "TF_NUM_INTEROP_THREADS": threads,
        "OMP_NUM_THREADS": threads,
        "TF_ENABLE_ONEDNN_OPTS": onednn,
    }
    env.pop("VIRTUAL_ENV", None)
    return run_of(lock.id, prove(python, level=level, seed=seed, env=env), threads, onednn)


def run_of(lock: str, report: ProofReport, threads: str, onednn: str) -> Run:
    """What is kept of ``report``."""
    failed = [
        f"{check.id} {check.got} ({check.expected})"
        for stage in report.stages
        for check in stage.checks
        if check.passed is False
    ]
    failed += [
        f"{stage.id} {stage.error.type}: {stage.error.message}" for stage in report.stages if stage.error
    ]
    failed += [f"{report.crash.kind} in {report.crash.stage}: {report.crash.step}"] if report.crash else []
    return Run(
        lock=lock,
        level=report.level,
        seed=report.seed,
        threads=threads,
        onednn=onednn,
        tensorflow=report.stack.tensorflow if report.stack else "",
        verdict=report.verdict,
        failed=tuple(failed),
        seconds=report.seconds,
        import_seconds=report.stack.import_seconds if report.stack else None,
        peak_memory=report.peak_memory,
    )


def _read(path: Path) -> list[Run]:
    text = path.read_text("utf-8") if path.exists() else ""
    return [decode(Run, json.loads(line)) for line in text.splitlines()]


if __name__ == "__main__":
    sys.exit(main())
