"""``seed show`` tells what a fresh interpreter of the environment really did."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.seeding.conftest import QUIET, Environment
from tfenv.codec import decode, encode
from tfenv.seeding.install import PTH_NAME, seed_off, seed_on
from tfenv.seeding.model import Observation, SeedShow, SeedState
from tfenv.seeding.show import show

PLAIN = {name: value for name, value in os.environ.items() if name not in QUIET}
WAITING = ("numpy.random", "tensorflow", "keras", "tf_keras", "IPython.core.interactiveshell")
OTHER = "The hook is not the one of this tfenv: another version wrote it, or it was edited."


def shown(environment: Environment, *imports: str, **env: str) -> SeedShow:
    return show(environment.python, environment.site, imports=imports, environ=PLAIN | env)


def test_installed_and_working(bare: Environment) -> None:
    seed_on(bare.site, 42)
    result = shown(bare)
    assert decode(SeedShow, encode(result)) == result
    assert result == SeedShow(
        state=SeedState(installed=True, seed=42, hook_version=1),
        observed=Observation(
            loaded=True,
            file=f"{bare.site}/_tfenv_seed.py",
            version=1,
            source="installed",
            seed=42,
            deterministic=False,
            determinism_on=False,
            seeded=("random",),
            waiting=WAITING,
            random_seeded=True,
        ),
        notes=result.notes,
    )
    seed_off(bare.site)
    assert shown(bare) == SeedShow(state=SeedState(installed=False))


def test_variables_of_the_process(here: Environment) -> None:
    seed_on(here.site, 42, deterministic=True)
    off = shown(here, TFENV_SEED="off")
    assert off.problem == ""
    assert off.observed == Observation(
        loaded=True,
        file=f"{here.site}/_tfenv_seed.py",
        version=1,
        source="off",
        deterministic=False,
        determinism_on=False,
        seeded=(),
        waiting=(),
        random_seeded=False,
    )
    other = shown(here, TFENV_SEED="7", PYTHONHASHSEED="7")
    assert other.problem == ""
    assert other.observed == Observation(
        loaded=True,
        file=f"{here.site}/_tfenv_seed.py",
        version=1,
        source="TFENV_SEED",
        seed=7,
        deterministic=True,
        determinism_on=False,
        seeded=("random",),
        waiting=WAITING,
        random_seeded=True,
        hash_seed=7,
    )
    wrong = shown(here, TFENV_SEED="seven")
    assert wrong.problem == (
        "Not everything worked: TFENV_SEED: ignored: neither off nor a whole number from 0 to 4294967295."
    )


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        pytest.param(
            {"_tfenv_seed.py": "# tfenv seed hook\nraise ValueError('broken')\n"},
            OTHER,
            id="broken-start",
        ),
        pytest.param({"_tfenv_seed_work.py": "# tfenv seed hook\n1 / 0\n"}, OTHER, id="broken-work"),
        pytest.param(
            {"a.pth": "import random, sys; random.random()\n"},
            "`random` was seeded, but then drawn from before the program began.",
            id="drawn-from",
        ),
        pytest.param(
            {"z.pth": "import sys; m = sys.meta_path; m[:] = [f for f in m if 'tfenv' not in repr(f)]\n"},
            "The hook started but seeded nothing: something removed it from sys.meta_path.",
            id="removed",
        ),
        pytest.param(
            {"tensorflow.py": "x = 1"},
            "Not everything worked: tensorflow: TypeError: {site}/tensorflow.py is not TensorFlow.",
            id="not-tensorflow",
        ),
        pytest.param(
            {"tensorflow.py": "raise OSError('libcuda')"},
            "Not everything worked: import tensorflow: OSError: libcuda.",
            id="import-fails",
        ),
        pytest.param(
            {"sitecustomize.py": "import os; os._exit(3)"},
            "{python} ended with exit code 3 before it could report: no output",
            id="dies",
        ),
        pytest.param(
            {"sitecustomize.py": "import os; print('last words', flush=True); os.abort()"},
            "{python} ended with exit code -6 before it could report: last words",
            id="aborts",
        ),
    ],
)
def test_what_is_wrong_is_told(here: Environment, files: Mapping[str, str], problem: str) -> None:
    seed_on(here.site, 42)
    for name, text in files.items():
        (here.site / name).write_text(text)
    imports = ("tensorflow",) if "tensorflow.py" in files else ()
    assert shown(here, *imports).problem == problem.format(python=here.python, site=here.site)


def test_hook_that_does_not_start(here: Environment) -> None:
    seed_on(here.site, 42)
    result = shown(here, PYTHONSAFEPATH="")
    assert result.problem == ""
    (here.site / PTH_NAME).rename(here.site / "_tfenv_seed.pth.away")
    (here.site / PTH_NAME).symlink_to("_tfenv_seed.pth.away")
    assert shown(here).problem == ""  # a link is as good as a file
    foreign = show(Path(sys.executable), here.site, environ=PLAIN)
    assert foreign.observed is not None
    assert not foreign.observed.loaded
    assert foreign.problem.startswith(f"The hook in {here.site} did not start: ")


def test_another_environment_came_first(here: Environment, tmp_path: Path) -> None:
    seed_on(here.site, 42)
    (tmp_path / "other").mkdir()
    seed_on(tmp_path / "other", 1)
    (here.site / "_a.pth").write_text(f"import site; site.addsitedir({str(tmp_path / 'other')!r})\n")
    assert shown(here).problem == (
        f"Another copy of the hook was first: {tmp_path}/other/_tfenv_seed.py with seed 1."
    )


def test_interpreters_that_give_no_answer(here: Environment, tmp_path: Path) -> None:
    seed_on(here.site, 42)
    missing = show(tmp_path / "none", here.site)
    assert (missing.observed, missing.problem) == (None, f"There is no interpreter {tmp_path / 'none'}.")
    (here.site / "sitecustomize.py").write_text("import time; time.sleep(60)")
    hung = show(here.python, here.site, environ=PLAIN, limit_s=1)
    assert (hung.observed, hung.problem) == (None, f"{here.python} did not answer within 1 s.")
    (tmp_path / "text").write_text("no program")
    (tmp_path / "text").chmod(0o755)
    wrong = show(tmp_path / "text", here.site)
    assert wrong.problem.startswith(f"{tmp_path / 'text'} could not be asked: ")


def test_modules_of_the_working_folder_are_not_run(
    here: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed_on(here.site, 42)
    (tmp_path / "random.py").write_text("raise SystemExit(9)")
    monkeypatch.chdir(tmp_path)
    assert shown(here).problem == ""
