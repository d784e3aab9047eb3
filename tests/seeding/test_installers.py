"""pip and uv work as ever in an environment with the hook, and leave it where it is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.seeding.conftest import QUIET, Environment
from tests.support.wheels import make_wheel
from tfenv.seeding.install import read_seed, seed_on


def ok(*command: object, **variables: str) -> str:
    env = {name: value for name, value in os.environ.items() if name not in QUIET}
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, env={**env, **variables}, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_pip(here: Environment, tmp_path: Path) -> None:
    make_wheel(tmp_path, "pinned", "1.0")
    state = seed_on(here.site, 42)
    ok(here.python, "-m", "ensurepip")
    pip = (here.python, "-m", "pip", "--disable-pip-version-check")
    ok(*pip, "install", "--no-index", "--find-links", tmp_path, "pinned")
    assert "pinned==1.0" in ok(*pip, "freeze", "--all").split()
    assert ok(*pip, "check").strip() == "No broken requirements found."
    ok(*pip, "uninstall", "--yes", "pinned")
    assert read_seed(here.site) == state


@pytest.mark.skipif(shutil.which("uv") is None, reason="needs uv")
def test_uv(here: Environment, tmp_path: Path) -> None:
    make_wheel(tmp_path, "pinned", "1.0")
    (tmp_path / "pinned.txt").write_text("pinned==1.0\n")
    (tmp_path / "empty.txt").touch()
    state = seed_on(here.site, 42)
    at = ("--python", here.python, "--offline", "--no-index", "--find-links", tmp_path)
    ok("uv", "pip", "sync", *at, tmp_path / "pinned.txt")
    assert ok("uv", "pip", "freeze", "--python", here.python).split() == ["pinned==1.0"]
    ok("uv", "pip", "sync", "--allow-empty-requirements", *at, tmp_path / "empty.txt")
    assert ok("uv", "pip", "freeze", "--python", here.python) == ""
    assert read_seed(here.site) == state


def test_bytecode_compiler_accepts_the_hook(here: Environment) -> None:
    seed_on(here.site, 42)
    ok(sys.executable, "-m", "compileall", "-q", here.site)
    assert read_seed(here.site).problem == ""
