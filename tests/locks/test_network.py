"""With the real index and uv: the shipped locks come out again, byte for byte, and installers take them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tfenv.events import Silent
from tfenv.install.engine import find_uv
from tfenv.install.environ import installer_environment
from tfenv.locks.compile import uv_resolver
from tfenv.locks.refresh import refresh
from tfenv.locks.wheelfile import RemoteWheels

pytestmark = pytest.mark.network

SHIPPED = Path(__file__).parents[2] / "lockfiles"


@pytest.mark.parametrize(
    "lock_id",
    [
        pytest.param("linux-x86_64-cpu/tf2.19-py311", id="linux-cpu"),
        pytest.param("macos-arm64-metal/tf2.15-py311", id="metal-stub-and-holder"),
    ],
)
def test_a_refresh_gives_the_shipped_bytes_with_an_empty_cache_and_with_a_full_one(
    tmp_path: Path, lock_id: str
) -> None:
    texts = []
    for name in ("first", "second"):
        directory = tmp_path / name
        directory.mkdir()
        shutil.copy(SHIPPED / "policy.toml", directory)
        reader = RemoteWheels(tmp_path / "cache")
        report = refresh(directory, uv_resolver(os.environ), reader, only=[lock_id], listener=Silent())
        assert [change.kind for change in report.changes] == ["added"]
        texts.append((directory / f"{lock_id}.txt").read_bytes())
    assert texts == [(SHIPPED / f"{lock_id}.txt").read_bytes()] * 2


@pytest.fixture(scope="module")
def lockfile() -> Path:
    version = f"py3{sys.version_info.minor}"
    found = sorted((SHIPPED / "linux-x86_64-cpu").glob(f"*-{version}.txt"))
    if not found or not sys.platform.startswith("linux"):
        pytest.skip(f"no Linux CPU lock for {version}")
    return found[-1]


def test_uv_takes_a_lock_as_it_is(tmp_path: Path, lockfile: Path) -> None:
    uv = find_uv(os.environ)
    assert uv is not None
    environ, venv = installer_environment(os.environ), str(tmp_path / "venv")
    subprocess.run([uv, "venv", "-q", "--python", sys.executable, venv], env=environ, check=True)
    done = subprocess.run(
        [uv, "pip", "sync", "--dry-run", "--require-hashes", "--python", venv, str(lockfile)],
        env=environ, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "+ tensorflow-cpu==" in done.stderr


def test_pip_takes_a_lock_as_it_is(lockfile: Path, tmp_path: Path) -> None:
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    done = subprocess.run(
        [str(venv / "bin" / "python"), "-m", "pip", "install", "--dry-run", "--require-hashes", "--no-deps",
         "--only-binary", ":all:", "-r", str(lockfile)],
        env=installer_environment(os.environ), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert " tensorflow-cpu-" in done.stdout.split("Would install")[1].replace("_", "-")  # by version of pip
