"""A file is written whole or not at all, and others may read it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tfenv.files import write_atomically


def test_the_old_file_is_replaced_and_nothing_else_stays(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    path.write_bytes(b"old")
    write_atomically(path, b"new\n")
    assert (path.read_bytes(), os.listdir(tmp_path)) == (b"new\n", ["state.json"])  # noqa: PTH208


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_it_is_as_readable_as_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"")
    write_atomically(tmp_path / "ours", b"")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        write_atomically(tmp_path / "folder", b"x")
    assert os.listdir(tmp_path) == ["folder"]  # noqa: PTH208
