"""The recorded machines are whole, and are what their script writes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tfenv.codec import encode
from tfenv.facts.recorded import load_facts

MACHINES = Path(__file__).parent.parent / "machines"
FILES = sorted(MACHINES.glob("*.json"))
NAMES = {
    "alpine-musl-py312",
    "colab-2026.07-gpu-py312",
    "colab-2026.08-cpu",
    "colab-2026.08-gpu-py313",
    "debian-system-pep668-py311",
    "docker-no-gpu-py311",
    "kaggle-2xT4-py312",
    "linux-aarch64-py312",
    "linux-cpu-noavx-py311",
    "linux-cpu-py311",
    "linux-gtx1080-pascal-driver550-py311",
    "linux-rtx4090-driver470-py311",
    "linux-rtx4090-driver550-py311",
    "linux-rtx5090-cc120-driver575-py312",
    "mac-intel-py311",
    "mac-m2-py311",
    "mac-m2-py313",
    "mac-m2-rosetta",
    "windows-py311",
    "wsl2-rtx3060-py311",
}


def test_every_machine_is_there() -> None:
    assert {path.stem for path in FILES} == NAMES


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in FILES])
def test_a_machine_round_trips(path: Path) -> None:
    assert encode(load_facts(path)) == json.loads(path.read_text(encoding="utf-8"))


def test_the_script_writes_these_very_files(tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(MACHINES / "make.py"), str(tmp_path)], check=True)
    written = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert written == {path.name: path.read_bytes() for path in FILES}
