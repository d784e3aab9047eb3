"""Quick proof against ``import tensorflow`` alone, in alternation: ``python ratio.py --rounds 7 PYTHON...``.

Both are whole processes with bytecode present. The proof is timed as a user meets it: a Python process that
imports ``tfenv.proof.run``, proves, and exits. Medians, and the median of the ratios of neighbours.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from tfenv.proof.runner import child_environment

PROOF = (
    "import sys; from pathlib import Path; from tfenv.proof.run import prove; "
    "sys.exit(prove(Path(sys.argv[1])).verdict != 'pass')"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("python", type=Path, nargs="+")
    arguments = parser.parse_args()
    sys.stdout.write("| interpreter | import | quick proof | ratio |\n|---|---|---|---|\n")
    for python in arguments.python:
        imports, proofs = [], []
        for round_ in range(arguments.rounds + 1):
            imported = _seconds([str(python), "-c", "import tensorflow"], child_environment(os.environ))
            proven = _seconds([sys.executable, "-c", PROOF, str(python)], dict(os.environ))
            if round_:  # the first round writes bytecode
                imports.append(imported)
                proofs.append(proven)
        ratio = statistics.median(mine / bare for mine, bare in zip(proofs, imports))
        alone, proof = statistics.median(imports), statistics.median(proofs)
        sys.stdout.write(f"| {python} | {alone:.2f} s | {proof:.2f} s | {ratio:.2f} |\n")
        sys.stdout.flush()


def _seconds(command: list[str], env: dict[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
