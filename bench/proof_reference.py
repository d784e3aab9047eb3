"""Makes ``tfenv/proof/reference.json`` from healthy runs: ``python bench/proof_reference.py PYTHON...``.

Every interpreter named must have a healthy TensorFlow of another minor, Keras or device. Their rows replace
those of the same stack; others stay. The rule: on a scale where the statistic is about normal (the logarithm
of a loss; minus the logarithm of one minus a share), the band reaches from the median twice as far as the
most extreme of the runs. For a normal variable and 200 runs that is 5.5 standard deviations, left with
probability 4e-8; one with an exponential tail leaves it once in 200 x 200 runs. What the tails really do is
for ``proof_alarms.py`` to say, because a few hundred runs cannot.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from tfenv.codec import encode
from tfenv.proof.reference import BandRow, References, shipped
from tfenv.proof.runner import child_environment

#: How many times as far as the most extreme run.
REACH = 2.0
FIRST_SEED = 1000
ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "tfenv" / "proof" / "reference.json"
SHARES = ("auc", "accuracy")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--recorded", type=Path, nargs="*", default=[], help="output of proof_seeds.py")
    parser.add_argument("python", type=Path, nargs="*")
    arguments = parser.parse_args()
    rows = [row for text in _outputs(arguments) for row in bands(text.splitlines())]
    new = {(row.check, row.keras, row.tensorflow, row.device) for row in rows}
    kept = [row for row in shipped().bands if (row.check, row.keras, row.tensorflow, row.device) not in new]
    ordered = sorted([*kept, *rows], key=lambda row: (row.check, row.keras, row.tensorflow, row.device))
    document = encode(References(bands=tuple(ordered)))
    REFERENCE.write_text(json.dumps(document, indent=1) + "\n", "utf-8")


def bands(lines: Iterable[str]) -> list[BandRow]:
    """The bands of one stack from the lines of ``proof_seeds.py``."""
    values: dict[str, list[float]] = defaultdict(list)
    sizes: dict[str, int] = {}
    stack: dict[str, str] = {}
    for line in lines:
        kind, _, data = line.partition(" ")
        if kind == "stack":
            stack = json.loads(data)
        elif kind == "row":
            row = json.loads(data)
            if row["kind"] == "band":
                values[row["check"]].append(row["statistic"])
                sizes[row["check"]] = row["n"]
    return [_band(check, stack, seen, sizes[check]) for check, seen in sorted(values.items())]


def _band(check: str, stack: dict[str, str], seen: list[float], n: int) -> BandRow:
    share = check.rpartition(".")[2] in SHARES
    half = 1 / (2 * n)  # a share of 1 says no more than that the rest is below half an example

    def forth(value: float) -> float:
        return -math.log(1 - value + half) if share else math.log(value)

    def back(value: float) -> float:
        return min(1.0, 1 + half - math.exp(-value)) if share else math.exp(value)

    scaled = [forth(value) for value in seen]
    median = statistics.median(scaled)
    low = back(median - REACH * (median - min(scaled)))
    high = 1.0 if share else back(median + REACH * (max(scaled) - median))  # no share is too good
    return BandRow(
        check=check,
        keras=stack["keras"].partition(".")[0],
        tensorflow=".".join(stack["tensorflow"].split(".")[:2]),
        device=stack["device"],
        low=_rounded(low),
        high=_rounded(high),
        runs=len(seen),
        least=_rounded(min(seen)),
        median=_rounded(statistics.median(seen)),
        most=_rounded(max(seen)),
    )


def _rounded(value: float) -> float:
    return float(f"{value:.5g}")


def _outputs(arguments: argparse.Namespace) -> Iterable[str]:
    for path in arguments.recorded:
        yield path.read_text("utf-8")
    for python in arguments.python:
        command = [
            str(python),
            str(Path(__file__).with_name("proof_seeds.py")),
            str(ROOT / "tfenv" / "proof" / "child"),
            str(FIRST_SEED),
            str(arguments.seeds),
        ]
        yield subprocess.run(
            command, env=child_environment(os.environ), stdout=subprocess.PIPE, text=True, check=True
        ).stdout


if __name__ == "__main__":
    main()
