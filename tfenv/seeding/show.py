"""``tfenv seed show``: the hook as installed, and what it really did in a fresh interpreter."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Optional

from tfenv.codec import CodecError, decode
from tfenv.seeding.install import read_seed
from tfenv.seeding.model import Observation, SeedShow, SeedState

_OBSERVER = Path(__file__).parent / "hook" / "observe.py"
_NOTES = (
    "PYTHONHASHSEED must exist before Python starts: `tfenv run -- CMD` sets it.",
    "In notebooks `random` starts anew at the first cell, also if a startup file had seeded it.",
    "Processes forked by multiprocessing get a fresh `random`; spawned ones all start from this same seed.",
    "tf.random.Generator and numpy.random.default_rng() objects are not seeded: give each a seed.",
)


def show(
    python: Path,
    site_packages: Path,
    *,
    imports: Sequence[str] = (),
    environ: Optional[Mapping[str, str]] = None,
    limit_s: float = 20.0,
) -> SeedShow:
    """What ``site_packages`` holds and what a fresh ``python`` reports of the hook; raises nothing.

    The fresh interpreter gets ``environ`` (default: this process's), imports nothing but ``imports``, and is
    killed after ``limit_s`` seconds. ``imports=("numpy", "tensorflow", "keras")`` also shows what happened
    there; give that a minute.
    """
    state = read_seed(site_packages)
    if not state.installed:
        return SeedShow(state=state, problem=state.problem)
    observed, problem = _observe(python, imports, os.environ if environ is None else environ, limit_s)
    if observed is not None:
        problem = state.problem or _judge(state, observed, site_packages)
    return SeedShow(state=state, observed=observed, problem=problem, notes=_NOTES)


def _observe(
    python: Path, imports: Sequence[str], environ: Mapping[str, str], limit_s: float
) -> tuple[Optional[Observation], str]:
    # A folder of its own: the user's may hold a random.py, and `-c` puts the working folder on sys.path.
    with tempfile.TemporaryDirectory(prefix="tfenv-seed-") as folder:
        report, log = Path(folder, "report.json"), Path(folder, "log.txt")
        command = [str(python), "-c", _OBSERVER.read_text(encoding="utf-8"), str(report), *imports]
        try:
            with log.open("wb") as output:
                code = subprocess.run(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    cwd=folder,
                    env=dict(environ),
                    timeout=limit_s,
                    check=False,
                ).returncode
            return decode(Observation, json.loads(report.read_text(encoding="utf-8"))), ""
        except subprocess.TimeoutExpired:
            return None, f"{python} did not answer within {limit_s:g} s."
        except FileNotFoundError as error:
            if error.filename != str(report):
                return None, f"There is no interpreter {python}."
            last = (log.read_text(encoding="utf-8", errors="replace").strip().splitlines() or ["no output"])[
                -1
            ]
            return None, f"{python} ended with exit code {code} before it could report: {last}"
        except (OSError, ValueError, CodecError) as error:
            return None, f"{python} could not be asked: {error}"


def _judge(state: SeedState, observed: Observation, site_packages: Path) -> str:
    if not observed.loaded:
        return f"The hook in {site_packages} did not start: {'; '.join(observed.problems)}."
    if observed.source == "off":
        return ""
    if observed.source == "installed" and observed.seed != state.seed:
        return f"Another copy of the hook was first: {observed.file} with seed {observed.seed}."
    if observed.problems:
        return f"Not everything worked: {'; '.join(observed.problems)}."
    if "random" not in observed.seeded:
        return "The hook started but seeded nothing: something removed it from sys.meta_path."
    return (
        "" if observed.random_seeded else "`random` was seeded, but then drawn from before the program began."
    )
