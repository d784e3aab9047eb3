"""The probe: real interpreters of this machine, and things that are none."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from facts.fakes import FakeMachine, probe

from tfenv.errors import UsageError
from tfenv.facts.interpreter import (
    probe_interpreter,
    python_facts,
    read_interpreter,
    this_interpreter,
)
from tfenv.facts.machine import LocalMachine, Ran
from tfenv.facts.model import Distribution, PythonFacts, known, unknown

PYENV = sorted(Path("~/.pyenv/versions").expanduser().glob("*/bin/python"))
posix_only = pytest.mark.skipif(sys.platform == "win32", reason="scripts with a #! line")


def script(path: Path, text: str, mode: int = 0o755) -> Path:
    path.write_text(text)
    path.chmod(mode)
    return path


@pytest.fixture
def venv(tmp_path: Path) -> Path:
    """The interpreter of a fresh virtual environment."""
    folder = tmp_path / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    return folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def test_a_probe_from_outside_equals_one_from_inside() -> None:
    outside = probe_interpreter(Path(sys.executable))
    inside = this_interpreter()
    # Import path entries that pytest and the working folder add belong to the process, not the environment.
    assert replace(inside, path=()) == replace(outside, path=())
    assert [entry for entry in inside.path if entry in outside.path] == [
        entry for entry in outside.path if entry in inside.path
    ]
    assert outside.purelib in inside.path


def test_a_venv_is_itself_and_not_its_base(venv: Path) -> None:
    found = probe_interpreter(venv)
    assert found.executable == str(venv)
    assert found.prefix == str(venv.parent.parent)
    assert found.base_prefix != found.prefix
    assert found.purelib in found.path
    assert found.user_site is None


@pytest.mark.skipif(not PYENV, reason="no pyenv here")
@pytest.mark.parametrize("python", [pytest.param(path, id=path.parts[-3]) for path in PYENV])
def test_every_python_of_this_machine_answers(python: Path) -> None:
    """Python 2.7 and 3.6 as well: too old is for others to say."""
    found = probe_interpreter(python)
    assert found.version == python.parts[-3]
    assert (found.implementation, found.bits, found.debug_build) == ("cpython", 64, False)
    assert found.prefix == found.base_prefix == str(python.parent.parent)
    assert found.purelib in found.path
    assert found.minor == ".".join(found.version.split(".")[:2])


def test_a_command_name_is_looked_up_on_path(venv: Path) -> None:
    machine = LocalMachine(environ={**os.environ, "PATH": str(venv.parent)})
    assert probe_interpreter(Path("python"), machine=machine).executable == str(venv)


def test_python_path_is_reported_as_a_normal_start_has_it(venv: Path, tmp_path: Path) -> None:
    extra = tmp_path / "extra"
    extra.mkdir()
    machine = LocalMachine(environ={**os.environ, "PYTHONPATH": str(extra)})
    assert str(extra) in probe_interpreter(venv, machine=machine).path


def test_the_user_site_is_reported_where_it_is_active(tmp_path: Path) -> None:
    base = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info[1]}"
    if not base.exists():
        pytest.skip("the base interpreter has another name")
    machine = LocalMachine(environ={"PYTHONUSERBASE": str(tmp_path), "HOME": str(tmp_path)})
    site = tmp_path / "lib" / f"python3.{sys.version_info[1]}" / "site-packages"
    site.mkdir(parents=True)
    found = probe_interpreter(base, machine=machine)
    assert found.user_site == str(site)
    assert str(site) in found.path
    silent = LocalMachine(environ={"HOME": str(tmp_path), "PYTHONNOUSERSITE": "1"})
    assert probe_interpreter(base, machine=silent).user_site is None


@pytest.mark.parametrize("hostile", ["json", "sysconfig", "struct", "platform"])
def test_hostile_files_are_not_run(
    venv: Path, tmp_path: Path, hostile: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "hostile"
    folder.mkdir()
    mark = tmp_path / "ran"
    (folder / f"{hostile}.py").write_text(f"open({str(mark)!r}, 'w').close()\n")
    monkeypatch.chdir(folder)
    # In the working folder, and named relatively and absolutely by PYTHONPATH.
    for listed in ("", ".", str(folder)):
        machine = LocalMachine(environ={**os.environ, "PYTHONPATH": listed})
        assert probe_interpreter(venv, machine=machine).prefix == str(venv.parent.parent)
    assert not mark.exists()


def test_what_the_interpreter_prints_at_start_does_no_harm(venv: Path) -> None:
    purelib = Path(probe_interpreter(venv).purelib)
    (purelib / "sitecustomize.py").write_text("print('{\"hello\": 1}')\n")
    assert probe_interpreter(venv).prefix == str(venv.parent.parent)


def test_bytecode_is_reported_as_the_environment_has_it(venv: Path) -> None:
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    assert probe_interpreter(venv, machine=LocalMachine(environ=plain)).writes_bytecode is True
    without = LocalMachine(environ={**plain, "PYTHONDONTWRITEBYTECODE": "1"})
    assert probe_interpreter(venv, machine=without).writes_bytecode is False


def refused(path: Path, **options: float) -> tuple[str, str]:
    with pytest.raises(UsageError) as caught:
        probe_interpreter(path, **options)
    assert caught.value.hint != ""
    assert "\n" not in caught.value.message
    assert caught.value.exit_code == 2
    return caught.value.code, caught.value.message.replace(str(path), "PATH")


@posix_only
@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(
            "#!/bin/sh\nexec true\n",
            "PATH: not a Python interpreter that works: it ran without answering (exit 0)",
            id="pretends",
        ),
        pytest.param(
            "#!/bin/sh\necho 'pyenv: python9: command not found' >&2\nexit 127\n",
            "PATH: a version shim with no Python behind it (exit 127)",
            id="shim",
        ),
        pytest.param(
            "#!/bin/sh\necho oh >&2\necho broken >&2\nexit 4\n",
            "PATH: not a Python interpreter that works: it ran without answering (exit 4: broken)",
            id="fails",
        ),
        pytest.param(
            "#!/bin/sh\nkill -9 $$\n",
            "PATH: not a Python interpreter that works: it was ended by signal 9",
            id="killed",
        ),
        pytest.param(
            '#!/bin/sh\necho \'{"version": 3}\' > "$3"\n',
            "PATH: not a Python interpreter that works: its answer makes no sense ($.executable: missing)",
            id="lies",
        ),
        pytest.param(
            "#!/nowhere/python\n",
            "PATH: not a Python interpreter that works: it cannot be run: No such file or directory",
            id="interpreter-of-the-script-is-gone",
        ),
        pytest.param(
            "MZ not for this machine",
            "PATH: not a Python interpreter that works: it cannot be run: Exec format error",
            id="other-format",
        ),
    ],
)
def test_scripts_that_pretend(tmp_path: Path, text: str, message: str) -> None:
    assert refused(script(tmp_path / "python", text)) == ("not-a-python", message)


@posix_only
@pytest.mark.parametrize("name", ["/bin/sh", "/bin/bash"])
def test_a_shell_runs_nothing_of_the_probe(name: str) -> None:
    if not Path(name).exists():
        pytest.skip(f"no {name}")
    assert refused(Path(name)) == (
        "not-a-python",
        "PATH: not a Python interpreter that works: it ran without answering (exit 2)",
    )


@posix_only
def test_a_program_that_is_no_python() -> None:
    code, message = refused(Path("/bin/ls"))
    assert code == "not-a-python"
    assert message.startswith("PATH: not a Python interpreter that works: it ran without answering (exit 2")


@posix_only
def test_an_interpreter_that_hangs(tmp_path: Path) -> None:
    hanging = script(tmp_path / "python", "#!/bin/sh\nsleep 60\n")
    assert refused(hanging, limit=0.5) == ("python-hangs", "PATH: did not answer within 0.5 s")


@posix_only
def test_a_file_without_permission_to_run(tmp_path: Path) -> None:
    assert refused(script(tmp_path / "python", "#!/bin/sh\n", 0o644)) == (
        "not-executable",
        "PATH: not executable",
    )


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    assert refused(tmp_path / "python") == ("no-such-python", "PATH: no such file")


def test_a_command_that_is_not_there() -> None:
    assert refused(Path("no-such-python-anywhere")) == (
        "no-such-python",
        "PATH: no such file, and no such command on PATH",
    )


@posix_only
def test_a_link_to_a_removed_python(tmp_path: Path) -> None:
    (tmp_path / "python").symlink_to("/gone/python3.11")
    assert refused(tmp_path / "python") == (
        "no-such-python",
        "PATH: a link to /gone/python3.11, which is gone",
    )


def test_a_folder(tmp_path: Path, venv: Path) -> None:
    assert refused(tmp_path) == ("not-a-python", "PATH: a folder, not an interpreter")
    with pytest.raises(UsageError) as caught:
        probe_interpreter(venv.parent.parent)
    assert caught.value.hint == f"Use --python {venv}"


def test_the_running_interpreter_is_read_without_starting_another(tmp_path: Path) -> None:
    nothing_runs = FakeMachine(tmp_path)
    assert read_interpreter(None, machine=nothing_runs) == this_interpreter()
    assert read_interpreter(Path(sys.executable), machine=nothing_runs) == this_interpreter()
    assert nothing_runs.ran == []


def test_a_venv_of_the_running_interpreter_is_another_interpreter(venv: Path) -> None:
    assert read_interpreter(venv).prefix == str(venv.parent.parent)


def test_the_probe_of_a_fake_machine_runs_in_an_empty_folder(tmp_path: Path) -> None:
    seen: list[list[str]] = []

    class Watching(FakeMachine):
        def run(
            self, command: object, *, limit: float, cwd: Path | None = None, environ: object = None
        ) -> Ran:
            assert cwd is not None
            seen.append([path.name for path in cwd.iterdir()])
            return Ran(outcome="hung")

    with pytest.raises(UsageError):
        probe_interpreter(Path(sys.executable), machine=Watching(tmp_path))
    assert seen == [[]]


PIP = Distribution(name="pip", version="24.0", location="/a")


@pytest.mark.parametrize(
    ("installed", "expected"),
    [
        pytest.param(
            known((PIP, replace(PIP, version="22.0")), "s"),
            known("24.0", "installed distributions"),
            id="first-counts",
        ),
        pytest.param(known((), "s"), known(None, "installed distributions"), id="none"),
        pytest.param(unknown("s", "why"), unknown("installed distributions", "why"), id="unknown"),
    ],
)
def test_pip_version(installed: object, expected: object) -> None:
    assert python_facts(probe(), installed).pip_version == expected  # type: ignore[arg-type]


def test_python_facts() -> None:
    source = "the interpreter itself"
    assert python_facts(probe(executable=None), known((PIP,), "s")) == PythonFacts(
        executable=unknown("sys.executable", "the interpreter does not know its own path"),
        version=known("3.11.7", source),
        implementation=known("cpython", source),
        bits=known(64, source),
        build_arch=known("x86_64", source),
        free_threaded=known(False, "sysconfig Py_GIL_DISABLED"),
        debug_build=known(False, source),
        platform_tag=known("linux-x86_64", "sysconfig.get_platform()"),
        pip_version=known("24.0", "installed distributions"),
        writes_bytecode=known(True, "sys.dont_write_bytecode"),
    )
