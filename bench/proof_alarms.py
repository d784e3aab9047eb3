"""Healthy quick proofs in fresh processes; none may be flagged: ``python bench/proof_alarms.py PYTHON...``.

Seeds, threads (1, 2) and oneDNN (on, off) go round. Every run is one JSON line in ``--log`` (a run that is
already there is not repeated); the table of runs, alarms and the upper end of the 95 % Clopper-Pearson
interval is printed.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
from pathlib import Path

from tfenv.proof.run import prove

FIRST_SEED = 50_000
VARIANTS = tuple(itertools.product(("1", "2"), ("0", "1")))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=70, help="of each interpreter")
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("python", type=Path, nargs="+")
    arguments = parser.parse_args()
    done = _read(arguments.log)
    with arguments.log.open("a", encoding="utf-8") as log:
        for index in range(arguments.runs):
            for python in arguments.python:
                threads, onednn = VARIANTS[index % len(VARIANTS)]
                key = [str(python), FIRST_SEED + index, threads, onednn]
                if key not in [row["key"] for row in done]:
                    row = {"key": key, **_run(python, FIRST_SEED + index, threads, onednn)}
                    done.append(row)
                    log.write(json.dumps(row) + "\n")
                    log.flush()
    _print(done)


def _run(python: Path, seed: int, threads: str, onednn: str) -> dict[str, object]:
    env = {
        **os.environ,
        "TF_NUM_INTRAOP_THREADS": threads,
        "TF_NUM_INTEROP_THREADS": threads,
        "OMP_NUM_THREADS": threads,
        "TF_ENABLE_ONEDNN_OPTS": onednn,
    }
    report = prove(python, seed=seed, env=env)
    failed = [
        f"{check.id} {check.got} ({check.expected})"
        for stage in report.stages
        for check in stage.checks
        if check.passed is False
    ]
    version = report.stack.tensorflow if report.stack else "unknown"
    statistics = {
        check.id: check.statistic
        for stage in report.stages
        for check in stage.checks
        if check.statistic is not None
    }
    return {"tensorflow": version, "verdict": report.verdict, "failed": failed, "statistics": statistics}


def upper_bound(alarms: int, runs: int) -> float:
    """The upper limit of the 95 % Clopper-Pearson interval of a rate, by bisection of the binomial."""
    from tfenv.proof.judge import binomial_tail

    low, high = alarms / runs, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        at_most = 1 - binomial_tail(runs, middle, alarms + 1)
        low, high = (middle, high) if at_most > 0.025 else (low, middle)
    return high


def _print(rows: list[dict[str, object]]) -> None:
    versions = sorted({str(row["tensorflow"]) for row in rows})
    sys.stdout.write("| TensorFlow | runs | alarms | rate at most (95 %) |\n|---|---|---|---|\n")
    for version in (*versions, "all"):
        mine = [row for row in rows if version in ("all", row["tensorflow"])]
        alarms = [row for row in mine if row["verdict"] != "pass"]
        bound = upper_bound(len(alarms), len(mine))
        sys.stdout.write(f"| {version} | {len(mine)} | {len(alarms)} | {bound:.2%} |\n")
    for row in rows:
        if row["verdict"] != "pass":
            sys.stdout.write(f"{row['key']}: {row['verdict']}: {row['failed']}\n")


def _read(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


if __name__ == "__main__":
    main()
