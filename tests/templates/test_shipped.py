"""Lockfiles and templates are found the same from a checkout, a wheel and a throwaway environment."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UV = shutil.which("uv")
PLACES = ("lockfiles", "templates")
SHOW = (
    "from tfenv.paths import lockfiles_dir, templates_dir; print(lockfiles_dir(), templates_dir(), sep='\\n')"
)

pytestmark = [
    pytest.mark.network,  # the build backend and tfenv's requirements come from PyPI
    pytest.mark.skipif(UV is None, reason="uv is not on PATH"),
]


def run(*command: str, cwd: Path) -> str:
    """What ``command`` prints, away from the checkout and from any active environment."""
    kept = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH")}
    done = subprocess.run(command, cwd=cwd, env=kept, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def contents(folder: Path) -> Mapping[str, bytes]:
    """Every file below ``folder``."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    run(str(UV), "build", "--quiet", "--wheel", "--out-dir", str(folder), str(ROOT), cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_carries_every_lockfile_and_template(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        carried = {name: archive.read(name) for name in archive.namelist()}
    for place in PLACES:
        inside = f"tfenv/_data/{place}/"
        shipped = {name[len(inside) :]: data for name, data in carried.items() if name.startswith(inside)}
        assert shipped == contents(ROOT / place)


def test_an_installed_wheel_finds_its_own(wheel: Path, tmp_path: Path) -> None:
    python = tmp_path / "env" / "bin" / "python"
    run(str(UV), "venv", "--quiet", "--python", sys.executable, str(tmp_path / "env"), cwd=tmp_path)
    run(str(UV), "pip", "install", "--quiet", "--python", str(python), str(wheel), cwd=tmp_path)
    found = [Path(line) for line in run(str(python), "-c", SHOW, cwd=tmp_path).splitlines()]
    assert [tmp_path in path.parents for path in found] == [True, True]
    assert [contents(path) for path in found] == [contents(ROOT / place) for place in PLACES]


def test_a_throwaway_environment_finds_its_own(wheel: Path, tmp_path: Path) -> None:
    throwaway = (str(UV), "tool", "run", "--quiet", "--python", sys.executable, "--from", str(wheel))
    found = [Path(line) for line in run(*throwaway, "python", "-c", SHOW, cwd=tmp_path).splitlines()]
    assert [ROOT in path.parents for path in found] == [False, False]
    assert [contents(path) for path in found] == [contents(ROOT / place) for place in PLACES]
    run(*throwaway, "tfenv", "init", "dockerfile", cwd=tmp_path)
    assert (tmp_path / "Dockerfile").read_bytes() == (ROOT / "templates" / "Dockerfile").read_bytes()
