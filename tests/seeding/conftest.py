"""Environments of every CPython on this machine, with or without the seed hook."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

QUIET = ("TFENV_SEED", "PYTHONHASHSEED", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE")


@dataclass(frozen=True)
class Environment:
    python: Path
    site: Path

    def run(self, code: str, *flags: str, **env: str) -> subprocess.CompletedProcess[str]:
        variables = {name: value for name, value in os.environ.items() if name not in QUIET} | env
        return subprocess.run(
            [self.python, *flags, "-c", code],
            env=variables,
            cwd=self.site,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def answer(self, code: str, *flags: str, **env: str) -> object:
        """The JSON that ``code`` prints as its last line; nothing else may be printed by a good program."""
        done = self.run(code, *flags, **env)
        assert (done.returncode, done.stderr) == (0, "")
        return json.loads(done.stdout)


def make_environment(python: Path, folder: Path) -> Environment:
    subprocess.run([python, "-m", "venv", "--without-pip", folder], check=True)
    made = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = subprocess.run([made, "-c", code], check=True, capture_output=True, text=True).stdout.strip()
    return Environment(made, Path(site))


def interpreters() -> Mapping[str, Path]:
    """One CPython per minor version from 3.9 on: this one, and those of pyenv."""
    found = {}
    for python in sorted(Path.home().glob(".pyenv/versions/3.*/bin/python")):
        minor = int(python.parts[-3].split(".")[1])
        if minor >= 9:
            found[f"3.{minor}"] = python
    found[f"3.{sys.version_info.minor}"] = Path(sys.executable)
    return found


@pytest.fixture(
    scope="session", params=[pytest.param(path, id=name) for name, path in interpreters().items()]
)
def bare(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """A virtual environment of each CPython, made once; tests leave its site directory as they found it."""
    return make_environment(request.param, tmp_path_factory.mktemp("environment") / "venv")


@pytest.fixture
def here(tmp_path: Path) -> Environment:
    """A fresh virtual environment of the running Python."""
    return make_environment(Path(sys.executable), tmp_path / "venv")
