"""Bars are for real terminals; the imitation behind a notebook's `!` keeps every frame of them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

#: Starts, on a terminal, a child that says what it takes its stderr for.
PARENT = """
import pty, sys
code = "from tfenv.cli.present import on_terminal; print('bars' if on_terminal(json=False) else 'lines')"
sys.exit(pty.spawn([sys.executable, "-c", code]))
"""
ROOT = Path(__file__).parents[2]


def drawn(script: Path, environ: Mapping[str, str]) -> str:
    """What an installer would draw under ``script``, which stands for a shell or a notebook kernel."""
    script.write_text(PARENT, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "TERM": "xterm-color", **environ},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    return done.stdout.strip()


@pytest.mark.skipif(sys.platform != "linux", reason="the parents of a process are read in /proc")
@pytest.mark.parametrize(
    ("name", "environ", "expected"),
    [
        pytest.param("shell.py", {}, "bars", id="terminal"),
        pytest.param("shell.py", {"TERM": "dumb"}, "lines", id="dumb"),
        pytest.param("shell.py", {"CI": "true"}, "lines", id="ci"),
        pytest.param("shell.py", {"COLAB_RELEASE_TAG": "release-colab_20260801"}, "lines", id="colab"),
        pytest.param("shell.py", {"KAGGLE_KERNEL_RUN_TYPE": "Interactive"}, "lines", id="kaggle"),
        pytest.param("shell.py", {"JPY_PARENT_PID": "1"}, "lines", id="jupyter"),
        pytest.param("ipykernel_launcher.py", {}, "lines", id="kernel-of-an-editor"),
    ],
)
def test_bars_are_for_terminals(tmp_path: Path, name: str, environ: Mapping[str, str], expected: str) -> None:
    assert drawn(tmp_path / name, environ) == expected
