"""Children with a time limit: real processes of this machine."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from tfenv.facts.children import run_limited
from tfenv.facts.machine import Ran

needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX processes")


def run(code: str, *, limit: float = 20.0) -> Ran:
    return run_limited([sys.executable, "-I", "-S", "-c", code], limit=limit)


def test_a_command_that_ends() -> None:
    ran = run("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")
    assert ran == Ran(outcome="exited", exit_code=3, stdout="out\n", stderr="err\n")


def test_a_command_that_is_not_there(tmp_path: Path) -> None:
    ran = run_limited([str(tmp_path / "none")], limit=1.0)
    assert ran == Ran(outcome="missing", problem="No such file or directory")


@needs_posix
def test_a_file_that_is_no_program(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("not a program")
    (tmp_path / "text").chmod(0o755)
    assert run_limited([str(tmp_path / "text")], limit=1.0) == Ran(
        outcome="refused", problem="Exec format error"
    )


def test_a_command_with_a_null_byte_is_refused() -> None:
    assert run_limited(["a\0b"], limit=1.0) == Ran(outcome="refused", problem="embedded null byte")


@needs_posix
def test_a_crash_shows_its_signal() -> None:
    assert run("import os; os.kill(os.getpid(), 11)") == Ran(outcome="exited", exit_code=-11)


def test_a_hanging_command_is_ended_and_what_it_said_is_kept() -> None:
    before = time.monotonic()
    ran = run("import time; print('so far', flush=True); time.sleep(60)", limit=1.0)
    assert ran == Ran(outcome="hung", stdout="so far\n")
    assert time.monotonic() - before < 10


@needs_posix
def test_grandchildren_end_with_the_hanging_command(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    ran = run_limited(["/bin/sh", "-c", f"sleep 60 & echo $! > {pid_file}; wait"], limit=0.5)
    assert ran.outcome == "hung"
    grandchild = Path("/proc") / pid_file.read_text().strip()
    deadline = time.monotonic() + 5
    while _alive(grandchild) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _alive(grandchild)


def _alive(process: Path) -> bool:
    try:
        return ") Z " not in (process / "stat").read_text()
    except OSError:
        return False


def test_input_is_empty() -> None:
    assert run("print(repr(input()) if 0 else len(open(0).read()))").stdout == "0\n"
