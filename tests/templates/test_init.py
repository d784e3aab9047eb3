"""``tfenv init``: writes the shipped file, and nothing over a file of the user's."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from support.shelf import Shelf
from support.trees import tree

from tfenv.paths import templates_dir

TEMPLATES = [
    pytest.param("colab", "colab.ipynb", "tfenv-colab.ipynb", id="colab"),
    pytest.param("dockerfile", "Dockerfile", "Dockerfile", id="dockerfile"),
]


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    """A home folder to run in."""
    return Shelf(tmp_path)


@pytest.mark.parametrize(("name", "source", "default"), TEMPLATES)
def test_a_template_is_written_under_its_usual_name(
    shelf: Shelf, name: str, source: str, default: str
) -> None:
    ran = shelf.tfenv("init", name, "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.document == {
        "tfenv_result_version": 1,
        "command": "init",
        "status": "ok",
        "exit_code": 0,
        "data": {"template": name, "path": default},
        "findings": [],
        "errors": [],
    }
    assert (shelf.home / default).read_bytes() == (templates_dir() / source).read_bytes()
    assert [path.name for path in shelf.home.iterdir()] == [default]


def test_a_file_that_exists_is_kept_unless_forced(shelf: Shelf) -> None:
    mine = shelf.home / "Dockerfile"
    mine.write_text("mine\n")
    refused = shelf.tfenv("init", "dockerfile")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.splitlines() == [
        "✗ Dockerfile exists already.",
        "  Write elsewhere with -o FILE, or replace it with --force.",
    ]
    assert mine.read_text() == "mine\n"
    assert shelf.tfenv("init", "dockerfile", "--force").code == 0
    assert mine.read_bytes() == (templates_dir() / "Dockerfile").read_bytes()


def test_the_user_names_the_file(shelf: Shelf) -> None:
    ran = shelf.tfenv("init", "colab", "-o", str(shelf.folder / "first.ipynb"))
    assert (ran.code, ran.err) == (0, "")
    assert (shelf.folder / "first.ipynb").read_bytes() == (templates_dir() / "colab.ipynb").read_bytes()
    assert not any(shelf.home.iterdir())


@pytest.mark.parametrize("force", [pytest.param((), id="plain"), pytest.param(("--force",), id="forced")])
def test_a_folder_is_not_replaced(shelf: Shelf, force: tuple[str, ...]) -> None:
    (shelf.home / "Dockerfile").mkdir()
    before = tree(shelf.home)
    ran = shelf.tfenv("init", "dockerfile", *force, "--json")
    assert ran.code == 2
    assert "Traceback" not in ran.err
    assert tree(shelf.home) == before


def test_a_folder_that_is_not_there_is_not_made(shelf: Shelf) -> None:
    ran = shelf.tfenv("init", "dockerfile", "-o", "no/such/Dockerfile")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.splitlines() == [
        "✗ no/such/Dockerfile cannot be written: No such file or directory.",
        "  Choose another path with -o FILE.",
    ]
    assert not any(shelf.home.iterdir())


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="mounts a read-only folder")
def test_a_folder_that_cannot_be_written(shelf: Shelf) -> None:
    closed = shelf.folder / "closed"
    closed.mkdir()
    options = ["-t", "tmpfs", "-o", "ro,size=1m", "tmpfs"]
    if subprocess.run(["mount", *options, str(closed)], check=False).returncode != 0:
        pytest.skip("this machine does not let tests mount a filesystem")
    try:
        ran = shelf.tfenv("init", "colab", "-o", str(closed / "first.ipynb"))
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.splitlines() == [
            f"✗ {closed / 'first.ipynb'} cannot be written: Read-only file system.",
            "  Choose another path with -o FILE.",
        ]
    finally:
        subprocess.run(["umount", str(closed)], check=True)
