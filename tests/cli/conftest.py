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


@pytest.fixture(scope="session")
def filled_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that tfenv made with TF 2.98; tests copy it (the wheels of all shelves are equal)."""
    shelf = Shelf(tmp_path_factory.mktemp("filled"))
    shelf.add_lock("2.98.0")
    ran = shelf.tfenv("bootstrap", "--venv", str(shelf.folder / "env"), "--smoke", "none")
    assert ran.code == 0, ran
    return shelf.folder / "env"
