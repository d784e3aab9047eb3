"""The times that matter, measured side by side in one run and kept as ratios in BENCHMARKS.md.

Run by ``nox -s bench``. Every row alternates its two sides and compares medians, so that whatever else the
machine does hits both. Bytecode is present on both sides; the package cache is warm.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks import write_table

from tfenv.facts.read import read_facts
from tfenv.install.engine import find_uv
from tfenv.records import record
from tfenv.version import __version__

ROOT = Path(__file__).parent.parent
INSTALL_ROUNDS = 9
LOCK = f"linux-x86_64-cpu/tf2.21-py{sys.version_info[0]}{sys.version_info[1]}"

BARE_TYPER = '''
import typer
app = typer.Typer()

@app.command()
def one(name: str = "x") -> None:
    """Do one thing."""

@app.command()
def two() -> None:
    """Do another."""

def version(value: bool) -> None:
    if value:
        print("bare 1.0")
        raise typer.Exit

@app.callback()
def main(v: bool = typer.Option(False, "--version", callback=version, is_eager=True)) -> None:
    pass

app()
'''


@record
class Row:
    """One comparison."""

    what: str
    against: str
    ratio: str
    bound: str
    held: bool


def main() -> int:
    """Measure everything and rewrite the table; the number of bounds that did not hold."""
    uv = find_uv(os.environ)
    assert uv is not None, "the bench needs uv"
    with tempfile.TemporaryDirectory(prefix="tfenv-bench-") as name:
        rows = measure(Path(name), uv)
    write(rows)
    for row in rows:
        print(f"{'ok  ' if row.held else 'MISS'} {row.what}: {row.ratio} ({row.bound})")
    return sum(not row.held for row in rows)


def measure(scratch: Path, uv: str) -> list[Row]:
    """All rows, in the order of the page."""
    bare = scratch / "bare.py"
    bare.write_text(BARE_TYPER)
    tfenv = [sys.executable, "-m", "tfenv"]
    bare_typer = [sys.executable, str(bare)]
    program = "a bare Typer program's"
    rows = [
        compare("`tfenv --version`", [*tfenv, "--version"], program, [*bare_typer, "--version"], 1.3, 21),
        compare("`tfenv --help`", [*tfenv, "--help"], program, [*bare_typer, "--help"], 1.5, 15),
    ]
    venv = scratch / "venv"
    run([*tfenv, "bootstrap", "--venv", str(venv), "--tf", "2.21", "--target", "linux-x86_64-cpu"])
    python = venv / "bin" / "python"
    again = [*tfenv, "bootstrap", "--venv", str(venv), "--tf", "2.21"]
    rows.append(
        compare("a second `tfenv bootstrap`", again, "`tfenv --version`", [*tfenv, "--version"], 3.0, 21)
    )
    rows.append(absolute("`tfenv doctor --quick`", [*tfenv, "doctor", "--quick", "--venv", str(venv)], 0.5))
    rows.append(absolute("`tfenv facts`", [*tfenv, "facts", "--venv", str(venv), "--json"], 0.5))
    smoke = [*tfenv, "smoke", "--venv", str(venv)]
    importing = [str(python), "-c", "import tensorflow"]
    rows.append(compare("quick proof (`tfenv smoke`)", smoke, "`import tensorflow`", importing, 2.0, 9))
    rows += installs(scratch, tfenv, uv)
    return rows


def installs(scratch: Path, tfenv: Sequence[str], uv: str) -> list[Row]:
    """Installing one lock into a fresh environment from a warm cache: tfenv, uv alone, pip alone."""
    lock = ROOT / "lockfiles" / f"{LOCK}.txt"
    target = scratch / "install"
    python = str(target / "bin" / "python")

    def fresh() -> None:
        shutil.rmtree(target, ignore_errors=True)
        run([sys.executable, "-m", "venv", str(target)])

    ours = [*tfenv, "bootstrap", "--python", python, "--tf", "2.21", "--target", "linux-x86_64-cpu",
            "--smoke", "none", "--engine", "uv", "--json"]  # fmt: skip
    theirs = [uv, "pip", "sync", "--quiet", "--python", python, "--require-hashes", str(lock)]
    by_pip = [python, "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes", "--no-compile"]
    steps, wholes, syncs = [], [], []
    for number in range(INSTALL_ROUNDS + 1):
        fresh()
        began = time.perf_counter()
        report = json.loads(run(ours).stdout)["data"]
        whole = time.perf_counter() - began
        fresh()
        sync = timed(theirs)
        if number:
            steps.append(report["install_seconds"])
            wholes.append(whole)
            syncs.append(sync)
    second = statistics.median(syncs)
    fresh()
    pip_ratio = timed([*by_pip, "-r", str(lock)]) / second
    step, whole = statistics.median(steps) / second, statistics.median(wholes) / second
    against = "`uv pip sync` of the same file"
    return [
        Row(
            what="installing a lock (snapshot, journal, uv)",
            against=against,
            ratio=f"{step:.2f}",
            bound="at most 1.1",
            held=step <= 1.1,
        ),
        Row(
            what="all of `tfenv bootstrap --smoke none`: facts, choice, plan, install, seed, state",
            against=against,
            ratio=f"{whole:.2f}",
            bound="for comparison",
            held=True,
        ),
        Row(
            what="the same lock by plain pip",
            against=against,
            ratio=f"{pip_ratio:.1f}",
            bound="for comparison",
            held=True,
        ),
    ]


def compare(
    what: str, command: Sequence[str], against: str, other: Sequence[str], bound: float, rounds: int
) -> Row:
    """A row of two commands."""
    first, second = alternate(command, other, rounds)
    ratio = first / second
    return Row(
        what=what, against=against, ratio=f"{ratio:.2f}", bound=f"at most {bound:g}", held=ratio <= bound
    )


def absolute(what: str, command: Sequence[str], bound: float) -> Row:
    """A row with a bound in seconds: the one place where those are promised."""
    run(command, check=False)
    seconds = statistics.median(timed(command, check=False) for _ in range(9))
    return Row(
        what=what,
        against="seconds",
        ratio=f"{seconds:.2f} s",
        bound=f"under {bound:g} s",
        held=seconds < bound,
    )


def alternate(first: Sequence[str], second: Sequence[str], rounds: int) -> tuple[float, float]:
    """Medians of both, run in turn, after one uncounted run of each."""
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(rounds + 1):
        for command, kept in zip((first, second), times):
            seconds = timed(command)
            if number:
                kept.append(seconds)
    return statistics.median(times[0]), statistics.median(times[1])


def timed(command: Sequence[str], *, check: bool = True) -> float:
    """Seconds that ``command`` takes."""
    begin = time.perf_counter()
    run(command, check=check)
    return time.perf_counter() - begin


def run(command: Sequence[str], *, check: bool = True) -> subprocess.CompletedProcess[bytes]:
    """Run ``command`` as on a user's machine: bytecode may be written, no environment is active."""
    dropped = ("PYTHONDONTWRITEBYTECODE", "VIRTUAL_ENV")
    environ = {name: value for name, value in os.environ.items() if name not in dropped}
    # A session of its own: the kernel shares the CPU between sessions, and so does tfenv with its children.
    return subprocess.run(command, env=environ, capture_output=True, check=check, start_new_session=True)


def write(rows: Sequence[Row]) -> None:
    """Replace the table in BENCHMARKS.md."""
    facts = read_facts(None, cwd=Path.cwd())
    machine = f"{facts.system.distribution.value}, {facts.cpu.model.value}, {facts.cpu.count.value} CPUs"
    lines = [
        f"tfenv {__version__}, Python {platform.python_version()}, {machine}. Written by `nox -s bench`.",
        "",
        "| what | against | ratio | bound | held |",
        "| --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        held = "yes" if row.held else "**no**"
        lines.append(f"| {row.what} | {row.against} | {row.ratio} | {row.bound} | {held} |")
    write_table("bench", "\n".join(lines))


if __name__ == "__main__":
    sys.exit(main())
