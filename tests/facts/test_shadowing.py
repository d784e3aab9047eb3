"""Files that would be imported in place of the stack."""

from __future__ import annotations

from pathlib import Path

import pytest
from facts.fakes import FakeMachine, probe

from tfenv.facts.model import known, unknown
from tfenv.facts.shadowing import shadowing

SOURCE = "the working folder and PYTHONPATH"


def fill(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    return folder


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        pytest.param(("tensorflow.py", "random.py", "train.py"), ("random.py", "tensorflow.py"), id="files"),
        pytest.param(("keras/__init__.py", "numpy/__init__.py"), ("keras", "numpy"), id="packages"),
        pytest.param(("code/main.py", "logging/today.txt"), (), id="folders-without-init-shadow-nothing"),
        pytest.param(
            ("numpy.cpython-311-x86_64-linux-gnu.so", "queue.pyd"),
            ("numpy.cpython-311-x86_64-linux-gnu.so", "queue.pyd"),
            id="extensions",
        ),
        pytest.param(("tensorflow.pyc",), ("tensorflow.pyc",), id="bytecode-without-source"),
        pytest.param(("__pycache__/tensorflow.cpython-311.pyc",), (), id="cached-bytecode-is-not-imported"),
        pytest.param(("random.txt", "tensorflow.ipynb", "keras.json", "types"), (), id="other-files"),
        pytest.param(
            ("tensorflow/__init__.py", "tensorflow-2.19.1.dist-info/METADATA"), (), id="site-packages"
        ),
        pytest.param((), (), id="empty"),
    ],
)
def test_the_working_folder(tmp_path: Path, names: tuple[str, ...], expected: tuple[str, ...]) -> None:
    cwd = tmp_path / "cwd"
    cwd.mkdir()
    assert shadowing(probe(), fill(cwd, *names), FakeMachine(tmp_path)) == known(expected, SOURCE)


def test_the_standard_library_shadows_nothing(tmp_path: Path) -> None:
    here = probe(stdlib=str(tmp_path))
    fill(tmp_path, "random.py", "types.py")
    assert shadowing(here, tmp_path, FakeMachine(tmp_path)) == known((), SOURCE)


def test_folders_of_python_path_are_named_in_full(tmp_path: Path) -> None:
    cwd, extra = fill(tmp_path / "cwd", "random.py"), fill(tmp_path / "extra", "keras.py")
    fill(cwd / "src", "six.py")
    environ = {"PYTHONPATH": f"{extra}:src::{cwd}:/none"}
    assert shadowing(probe(), cwd, FakeMachine(tmp_path, environ=environ)) == known(
        ("random.py", str(extra / "keras.py"), str(cwd / "src" / "six.py")), SOURCE
    )


def test_a_working_folder_that_was_deleted(tmp_path: Path) -> None:
    assert shadowing(probe(), tmp_path / "gone", FakeMachine(tmp_path)) == unknown(
        "the working folder", "No such file or directory"
    )
