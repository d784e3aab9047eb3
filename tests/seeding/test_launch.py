"""``tfenv run``: the variables a command gets, and what becomes of the command."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.seeding.conftest import Environment
from tfenv.errors import UsageError
from tfenv.seeding.install import seed_on
from tfenv.seeding.launch import launch, run_as_child, run_environment

BIN, VENV = Path("/venv/bin"), Path("/venv")


@pytest.mark.parametrize(
    ("given", "venv", "seed", "expected"),
    [
        pytest.param(
            {"PATH": "/usr/bin", "HOME": "/h", "PYTHONHOME": "/wrong", "VIRTUAL_ENV": "/old"},
            VENV,
            42,
            {
                "PATH": f"/venv/bin{os.pathsep}/usr/bin",
                "HOME": "/h",
                "VIRTUAL_ENV": "/venv",
                "PYTHONHASHSEED": "42",
                "TFENV_SEED": "42",
            },
            id="venv",
        ),
        pytest.param(
            {"TFENV_SEED": "off", "PYTHONHASHSEED": "random"},
            None,
            2**32 - 1,
            {"PATH": "/venv/bin", "PYTHONHASHSEED": "4294967295", "TFENV_SEED": "4294967295"},
            id="no-path-no-venv",
        ),
        pytest.param(
            {"PATH": "", "TFENV_SEED": "off"},
            None,
            None,
            {"PATH": "/venv/bin", "TFENV_SEED": "off"},
            id="no-seed",
        ),
    ],
)
def test_environment(
    given: Mapping[str, str], venv: Path | None, seed: int | None, expected: Mapping[str, str]
) -> None:
    before = dict(given)
    assert run_environment(given, bin_dir=BIN, venv=venv, seed=seed) == expected
    assert given == before


def test_bad_seed() -> None:
    with pytest.raises(UsageError):
        run_environment({}, bin_dir=BIN, venv=None, seed=2**32)


def run(command: Sequence[str], **variables: str) -> subprocess.CompletedProcess[str]:
    """``launch`` in a process of its own, which it replaces."""
    code = (
        "import os, sys\nfrom tfenv.errors import UsageError\nfrom tfenv.seeding.launch import launch\n"
        "try: sys.exit(launch(sys.argv[1:], dict(os.environ)))\n"
        "except UsageError as error: print(error.code, error.message, error.hint, sep='|'); sys.exit(2)"
    )
    return subprocess.run(
        [sys.executable, "-c", code, *command],
        capture_output=True,
        text=True,
        env={**os.environ, **variables},
        timeout=60,
        check=False,
    )


def test_command_under_the_seed(here: Environment) -> None:
    seed_on(here.site, 1)
    code = "import os, random, sys; print(sys.prefix, os.getpid(), hash('a'), random.random()); sys.exit(5)"
    variables = run_environment(
        os.environ, bin_dir=here.python.parent, venv=here.python.parent.parent, seed=42
    )
    runs = [run(["python", "-c", code], **variables) for _ in range(2)]
    assert {done.returncode for done in runs} == {5}
    answers = [done.stdout.split() for done in runs]
    assert answers[0][0] == str(here.python.parent.parent)
    assert answers[0][2:] == answers[1][2:]
    assert answers[0][3] == str(random.Random(42).random())


def test_process_is_replaced() -> None:
    code = "import os; from tfenv.seeding.launch import launch; print(os.getpid(), flush=True); "
    code += "launch(['sh', '-c', 'echo $$'], dict(os.environ))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    first, second = done.stdout.split()
    assert first == second


@pytest.mark.parametrize(
    ("command", "said"),
    [
        pytest.param(
            [], "no-command|No command was given to run.|For example: tfenv run -- python train.py", id="none"
        ),
        pytest.param(
            ["pyhton"],
            "unknown-command|There is no command 'pyhton', neither in the environment nor on PATH."
            "|Check the spelling, or install the package that brings it into the environment.",
            id="misspelt",
        ),
        pytest.param(
            ["train.py", "--fast"],
            "unknown-command|There is no command 'train.py', neither in the environment nor on PATH."
            "|A script is run by its interpreter: tfenv run -- python train.py",
            id="script",
        ),
        pytest.param(
            ["./tool"],
            "command-not-runnable|./tool cannot be run: Exec format error."
            "|A script without a #! line is run by its interpreter: tfenv run -- python ./tool",
            id="no-program",
        ),
    ],
)
def test_commands_that_cannot_be_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Sequence[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tool").write_text("no program")
    Path("tool").chmod(0o755)
    done = run(command)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (2, said, "")


def test_empty_command_in_this_process() -> None:
    with pytest.raises(UsageError):
        launch([], {})


def test_child_of_windows_gives_its_exit_code() -> None:
    command = ["python", "-c", "import os, sys; sys.exit(int(os.environ['CODE']))"]
    assert run_as_child(sys.executable, command, {**os.environ, "CODE": "7"}) == 7


def test_interrupt_is_left_to_the_child() -> None:
    inner = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGINT, lambda *_: sys.exit(3))\nprint('up', flush=True); time.sleep(50)"
    )
    code = "import os, sys; from tfenv.seeding.launch import run_as_child; "
    code += "sys.exit(run_as_child(sys.executable, ['python', '-c', sys.argv[1]], dict(os.environ)))"
    with subprocess.Popen(
        [sys.executable, "-c", code, inner], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        time.sleep(0.1)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(timeout=30) == 3
