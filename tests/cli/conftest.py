"""Fixtures of the command line's tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.shelf import Shelf


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    """An empty shelf."""
    return Shelf(tmp_path)


@pytest.fixture(scope="session")
def blank_venv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment without pip: made in a moment."""
    folder = tmp_path_factory.mktemp("blank") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    return folder
