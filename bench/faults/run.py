"""Proves stacks with a fault each, and writes which stage found it: ``run.py --python PYTHON...``.

Run by ``nox -s faults``. Every proof is one JSON line in ``--log``; one that is there already, made by the
same code of proof and fault, is not repeated. ``--print`` shows the matrix of the log and runs nothing.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import hashlib
import json
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[0] = str(ROOT / "bench")

from faults.arm import plant  # noqa: E402
from faults.catalogue import FAULTS, Fault  # noqa: E402
from faults.layer import layer, site_packages  # noqa: E402
from faults.matrix import Row, matrix, missed, row_of  # noqa: E402
from faults.warm import ENTRY, FreshRunner, WarmRunner  # noqa: E402
from tfenv.codec import decode, encode  # noqa: E402
from tfenv.proof.model import Level  # noqa: E402
from tfenv.proof.run import prove  # noqa: E402

FIRST_SEED = 900_000
PAGE = ROOT / "bench" / "faults" / "matrix.md"


class Log:
    """The proofs made so far, one JSON line each."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        text = path.read_text("utf-8") if path.exists() else ""
        self.rows = [decode(Row, json.loads(line)) for line in text.splitlines()]

    def add(self, row: Row) -> None:
        with self._lock, self._path.open("a", encoding="utf-8") as file:
            self.rows.append(row)
            file.write(json.dumps(encode(row)) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--level", choices=("quick", "full", "both"), default="both")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--faults", nargs="*", default=[], help="names, or parts of names; all without")
    parser.add_argument("--jobs", type=int, default=2, help="faults proven at the same time")
    parser.add_argument("--log", type=Path, default=ROOT / ".bench" / "faults.jsonl")
    parser.add_argument("--any-code", action="store_true", help="keep results of other versions of the code")
    parser.add_argument("--print", action="store_true", help="run nothing")
    parser.add_argument("--page", type=Path, help=f"write the matrix here, such as {PAGE.relative_to(ROOT)}")
    parser.add_argument("--python", type=Path, nargs="*", default=[], help="interpreters with TensorFlow")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what is on disk goes with it
    arguments.log.parent.mkdir(parents=True, exist_ok=True)
    log = Log(arguments.log)
    chosen = [
        fault
        for fault in FAULTS.values()
        if not arguments.faults or any(part in fault.name for part in arguments.faults)
    ]
    levels: list[Level] = ["quick", "full"] if arguments.level == "both" else [arguments.level]
    if not arguments.print:
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            tasks = [
                pool.submit(_prove_seeds, fault, level, python, arguments, log)
                for python in arguments.python
                for fault in chosen
                for level in levels
            ]
            for task in concurrent.futures.as_completed(tasks):
                print(task.result(), flush=True)
    rows = [row for row in log.rows if arguments.any_code or row.code == _code(FAULTS[row.fault])]
    page = matrix(rows)
    if arguments.page:
        arguments.page.write_text(page, "utf-8")
    if arguments.print:
        print(page)
    for level in levels:
        print(f"missed by {level}: {', '.join(missed(rows, level)) or 'none'}")
    return len(missed(rows, "full"))


def _prove_seeds(fault: Fault, level: Level, python: Path, arguments: argparse.Namespace, log: Log) -> str:
    """Prove ``fault`` with every seed that is not in the log; what to print about it."""
    code = _code(fault)
    done = {
        row.seed
        for row in log.rows
        if (row.fault, row.level, row.python) == (fault.name, level, str(python))
        and (arguments.any_code or row.code == code)
    }
    seeds = [seed for seed in range(FIRST_SEED, FIRST_SEED + arguments.seeds) if seed not in done]
    with tempfile.TemporaryDirectory(prefix="tfenv-faults-") as folder:
        for row in _proofs(fault, level, python, seeds, Path(folder), code) if seeds else ():
            log.add(row)
    mine = [row for row in log.rows if (row.fault, row.level, row.python) == (fault.name, level, str(python))]
    new = [row for row in mine if row.seed in seeds][-len(seeds) :] if seeds else mine
    caught = sum(row.verdict == "fail" for row in new)
    acted = sum(row.acted > 0 for row in new)
    found = sorted({stage for row in new for stage, verdict in row.stages.items() if verdict == "fail"})
    return f"{fault.name} {level}: acted in {acted}, caught in {caught} of {len(new)} by {' '.join(found)}"


def _proofs(
    fault: Fault, level: Level, python: Path, seeds: list[int], folder: Path, code: str
) -> Iterator[Row]:
    faulty = layer(folder / "env", python, over=True)
    plant(site_packages(faulty), fault.name)
    env = {**os.environ, **fault.env}
    env.pop("VIRTUAL_ENV", None)
    runner = FreshRunner(env) if fault.category == "process" else WarmRunner(env)
    try:
        for seed in seeds:
            before = runner.acted
            report = prove(faulty, level=level, seed=seed, timeout=fault.seconds, runner=runner)
            row = row_of(fault.name, code, report, runner.acted - before + bool(fault.env))
            yield decode(Row, {**encode(row), "python": str(python)})
    finally:
        runner.close()


def _code(fault: Fault) -> str:
    """A digest of everything that decides whether ``fault`` is found."""
    state = hashlib.sha256()
    module = ROOT / "bench" / "faults" / "kinds" / (fault.category.replace(" ", "_") + ".py")
    parent = ENTRY.parents[1]
    for path in sorted([*ENTRY.parent.glob("*.py"), parent / "judge.py", parent / "reference.json", module]):
        state.update(path.read_bytes())
    return state.hexdigest()[:12]


if __name__ == "__main__":
    sys.exit(main())
