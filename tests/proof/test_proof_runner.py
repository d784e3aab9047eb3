"""The watched child, really started, with a stub in TensorFlow's place: it crashes, hangs, exits."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from proof.envs import layer, site_packages, stub_tensorflow

from tfenv.errors import UsageError
from tfenv.events import Silent
from tfenv.proof.crash import explain
from tfenv.proof.model import ProofReport
from tfenv.proof.protocol import ChildOutcome, ChildRequest
from tfenv.proof.reference import References
from tfenv.proof.run import prove
from tfenv.proof.runner import SubprocessRunner, child_environment

pytestmark = pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
NONE = References(bands=())
REQUEST = ChildRequest(level="quick", device="auto", seed=1, stages=("S0",))


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files, to see that nothing stays in it."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """The interpreter of an empty environment."""
    return layer(tmp_path / "env", Path(sys.executable))


def _outcome(python: Path) -> ChildOutcome:
    (outcome,) = SubprocessRunner().run(python, (REQUEST,), Silent())
    return outcome


def _prove(python: Path, temporary: Path, timeout: float = 60.0) -> ProofReport:
    report = prove(python, timeout=timeout, references=NONE)
    assert list(temporary.iterdir()) == []
    assert report.crash is not None
    assert {stage.verdict for stage in report.stages[1:]} == {"skip"}
    return report


@pytest.mark.parametrize(
    ("code", "kind", "status", "verdict"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "sigsegv", "signal 11 (SIGSEGV)", "fail"),
        ("import os; os.abort()", "sigabrt", "signal 6 (SIGABRT)", "fail"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGILL)", "sigill", "signal 4 (SIGILL)", "fail"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGBUS)", "sigbus", "signal 7 (SIGBUS)", "fail"),
        (
            "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
            "killed",
            "signal 9 (SIGKILL)",
            "unknown",
        ),
        (
            "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
            "terminated",
            "signal 15 (SIGTERM)",
            "unknown",
        ),
        ("import os; os._exit(0)", "exited", "exit 0", "fail"),
        ("import sys; sys.exit(0)", "exited", "SystemExit: 0", "fail"),
        (
            "import resource\nresource.setrlimit(resource.RLIMIT_AS, (2**28, 2**28))\nx = bytearray(2**29)",
            "out-of-memory",
            "MemoryError:",
            "fail",
        ),
        (
            "raise ImportError('libx.so.1: cannot open shared object file: No such file or directory')",
            "library-missing",
            "ImportError: libx.so.1: cannot open shared object file: No such file or directory",
            "fail",
        ),
        (
            "import sys; print('Fatal: no AVX', file=sys.stderr); raise RuntimeError('x')",
            "import-error",
            "RuntimeError: x",
            "fail",
        ),
        ("import numpy_that_is_not_there", "module-missing", None, "fail"),
        ("", "module-missing", "ModuleNotFoundError: No module named 'numpy'", "fail"),
    ],
    ids=[
        "segfault",
        "abort",
        "illegal-instruction",
        "bus",
        "kill",
        "terminate",
        "os-exit",
        "sys-exit",
        "memory-limit",
        "library",
        "raises",
        "requirement",
        "empty-package",
    ],
)
def test_how_an_import_can_end(
    python: Path, temporary: Path, code: str, kind: str, status: str | None, verdict: str
) -> None:
    stub_tensorflow(python, code)
    report = _prove(python, temporary)
    crash = report.crash
    assert crash is not None
    assert (crash.kind, crash.stage, crash.step, report.verdict) == (kind, "S0", "import tensorflow", verdict)
    assert status is None or crash.status == status


def test_no_tensorflow(python: Path, temporary: Path) -> None:
    report = _prove(python, temporary)
    assert report.crash is not None
    assert (report.crash.kind, report.verdict) == ("tensorflow-missing", "fail")


def test_a_hang_ends_with_the_stacks_of_the_child(python: Path, temporary: Path) -> None:
    stub_tensorflow(
        python, "def waits_for_a_driver():\n    import time\n    time.sleep(600)\nwaits_for_a_driver()"
    )
    report = _prove(python, temporary, timeout=1.5)
    assert report.crash is not None
    assert (report.crash.kind, report.crash.status) == ("hang", "no end within 1.5 s")
    assert any("waits_for_a_driver" in line for line in report.crash.stacks)
    assert report.seconds < 10


def test_a_hang_that_blocks_everything_is_killed_from_outside(python: Path, temporary: Path) -> None:
    stop = "import faulthandler, os, signal\nfaulthandler.cancel_dump_traceback_later()\n"
    stub_tensorflow(python, stop + "os.kill(os.getpid(), signal.SIGSTOP)")
    report = _prove(python, temporary, timeout=1.0)
    assert report.crash is not None
    assert report.crash.kind == "hang"


def test_a_segfault_leaves_the_stack_of_the_child(python: Path, temporary: Path) -> None:
    stub_tensorflow(
        python,
        "def calls_the_plugin():\n    import os, signal\n    os.kill(os.getpid(), signal.SIGSEGV)\n"
        "calls_the_plugin()",
    )
    report = _prove(python, temporary)
    assert report.crash is not None
    assert any("calls_the_plugin" in line for line in report.crash.stacks)


def test_what_the_child_started_ends_with_it(python: Path, temporary: Path, tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    stub_tensorflow(
        python,
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(pid_file)!r}, 'w').write(str(child.pid))\nraise SystemExit(1)",
    )
    _prove(python, temporary)
    pid = int(pid_file.read_text())
    deadline = time.monotonic() + 5
    while _runs(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _runs(pid)


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_temporary_files_of_a_child_that_crashed_are_gone(python: Path, temporary: Path) -> None:
    stub_tensorflow(python, "import os, tempfile\ntempfile.mkstemp()\nos.abort()")
    _prove(python, temporary)


def test_endless_output_is_bounded(python: Path, temporary: Path) -> None:
    stub_tensorflow(
        python,
        "import sys\nprint('the first line', flush=True)\n"
        "for _ in range(20000): print('x' * 100)\nprint('the last line')\nraise ImportError('later')",
    )
    outcome = _outcome(python)
    assert "the first line" in outcome.output
    assert "the last line" in outcome.output
    assert len(outcome.output) < 100_000


def test_a_file_in_the_current_folder_does_not_shadow(
    python: Path, temporary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tensorflow.py").write_text("raise ImportError('shadow')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    report = _prove(python, temporary)
    assert report.crash is not None
    assert report.crash.kind == "tensorflow-missing"


def test_the_childs_own_files_shadow_nothing(python: Path, temporary: Path) -> None:
    stub_tensorflow(python, "import context")
    report = _prove(python, temporary)
    assert report.crash is not None
    assert report.crash.status == "ModuleNotFoundError: No module named 'context'"


def test_an_interpreter_that_is_too_old_or_no_python(temporary: Path) -> None:
    false = shutil.which("false")
    assert false is not None
    report = prove(Path(false), references=NONE)
    assert report.crash is not None
    assert (report.crash.kind, report.verdict) == ("startup", "fail")
    assert {stage.verdict for stage in report.stages} == {"skip"}


def test_a_start_up_file_that_ends_the_interpreter(python: Path, temporary: Path) -> None:
    (site_packages(python) / "sitecustomize.py").write_text("import os; os._exit(3)")
    report = prove(python, references=NONE)
    assert report.crash is not None
    assert (report.crash.kind, report.crash.status) == ("startup", "exit 3")


def test_an_interpreter_that_is_not_there(tmp_path: Path, temporary: Path) -> None:
    with pytest.raises(UsageError) as refused:
        prove(tmp_path / "python", references=NONE)
    assert refused.value.code == "interpreter-not-startable"
    assert list(temporary.iterdir()) == []


def test_an_interpreter_named_relatively(
    python: Path, temporary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    report = _prove(python.relative_to(tmp_path), temporary)
    assert report.crash is not None
    assert report.crash.kind == "tensorflow-missing"


def test_a_disk_that_fills_up(python: Path, temporary: Path) -> None:
    full = "import os, errno\ndef write(*_): raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))\n"
    stub_tensorflow(python, full + "os.write = write")
    report = _prove(python, temporary)
    assert report.crash is not None
    assert (report.crash.kind, report.verdict) == ("disk-full", "unknown")


def test_no_room_for_temporary_files(python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(UsageError) as refused:
        prove(python, references=NONE)
    assert refused.value.code == "no-temporary-folder"


def test_interrupting_tfenv_ends_the_child_and_leaves_nothing(python: Path, tmp_path: Path) -> None:
    pid_file, folder = tmp_path / "pid", tmp_path / "tmp"
    folder.mkdir()
    stub_tensorflow(
        python,
        f"import os, time\nopen({str(pid_file)!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)",
    )
    # A test run in the background has SIGINT ignored, and its children inherit that.
    script = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"from pathlib import Path; from tfenv.proof.run import prove; prove(Path({str(python)!r}))"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script], env={**os.environ, "TMPDIR": str(folder)}, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 30
    while not (pid_file.exists() and pid_file.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    parent.send_signal(signal.SIGINT)
    parent.wait(10)
    assert not _runs(int(pid_file.read_text()))
    assert list(folder.iterdir()) == []


def test_a_child_that_dies_without_its_interpreter_dying_first_is_explained(python: Path) -> None:
    stub_tensorflow(python, "import os\nos.close(1)\nos.close(2)\nos.abort()")
    crash = explain(_outcome(python))
    assert crash is not None
    assert crash.kind == "sigabrt"


def test_the_childs_environment() -> None:
    base = {
        "PATH": "/bin",
        "CUDA_VISIBLE_DEVICES": "1",
        "LD_LIBRARY_PATH": "/lib",
        "TF_USE_LEGACY_KERAS": "1",
        "PYTHONPATH": "/p",
        "PYTHONHOME": "/h",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "5",
        "TFENV_SEED": "42",
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    assert child_environment(base) == {
        "PATH": "/bin",
        "CUDA_VISIBLE_DEVICES": "1",
        "LD_LIBRARY_PATH": "/lib",
        "TF_USE_LEGACY_KERAS": "1",
        "PYTHONHASHSEED": "5",
        "TFENV_SEED": "off",
        "TF_CPP_MIN_LOG_LEVEL": "0",
        "TF_FORCE_GPU_ALLOW_GROWTH": "true",
    }


def test_the_child_writes_bytecode(python: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    stub_tensorflow(python, "raise ImportError('x')")
    _prove(python, temporary)
    cache = site_packages(python) / "tensorflow" / "__pycache__"
    assert [path.suffix for path in cache.iterdir()] == [".pyc"]
