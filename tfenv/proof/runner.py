"""Starts children in the target interpreter, follows their events, and ends them when they hang."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Optional

from tfenv.codec import encode
from tfenv.errors import UsageError
from tfenv.events import Listener
from tfenv.proof.child.registry import stage as stage_spec
from tfenv.proof.protocol import ChildEvent, ChildOutcome, ChildRequest, parse_event
from tfenv.records import record

_MAIN = Path(__file__).with_name("child") / "main.py"
#: Seconds the child gets to end itself, with its stacks written, before it is killed.
_GRACE = 3.0
#: Seconds until the interpreter must have reached the child's first line.
_START_LIMIT = 60.0
_POLL = 0.03
#: Characters of output kept from each end; a fatal message comes last, a loader's complaint first.
_OUTPUT_HEAD, _OUTPUT_TAIL = 16_384, 65_536

#: Hides the devices of CUDA and ROCm before their drivers are asked: one that hangs or crashes would
#: otherwise take a proof of the CPU with it.
_HIDDEN = {"CUDA_VISIBLE_DEVICES": "-1", "HIP_VISIBLE_DEVICES": "-1"}

#: Variables that would make the child another interpreter, load other code than the environment's, or stop it
#: from writing bytecode (without which every later import of TensorFlow costs seconds).
_SCRUBBED = frozenset(
    {
        "PYTHONDONTWRITEBYTECODE",
        "PYTHONHOME",
        "PYTHONINSPECT",
        "PYTHONPATH",
        "PYTHONPROFILEIMPORTTIME",
        "PYTHONSTARTUP",
        "PYTHONVERBOSE",
        "PYTHONWARNINGS",
        "__PYVENV_LAUNCHER__",
    }
)


def child_environment(base: Mapping[str, str]) -> dict[str, str]:
    """The child's variables: what chooses devices, libraries and options stays, redirections go."""
    kept = {name: value for name, value in base.items() if name not in _SCRUBBED}
    kept["TFENV_SEED"] = "off"  # the proof seeds itself and must not depend on the hook
    kept["TF_CPP_MIN_LOG_LEVEL"] = "0"  # what TensorFlow says is evidence
    kept.setdefault("PYTHONHASHSEED", "0")
    # A proof beside a running job must not take the whole GPU from it.
    kept.setdefault("TF_FORCE_GPU_ALLOW_GROWTH", "true")
    return kept


class SubprocessRunner:
    """The :class:`~tfenv.proof.protocol.ChildRunner` that really starts processes."""

    def __init__(self, env: Optional[Mapping[str, str]] = None) -> None:
        """``env`` stands for ``os.environ``."""
        self._env = child_environment(os.environ if env is None else env)

    def run(
        self, python: Path, requests: Sequence[ChildRequest], listener: Listener
    ) -> tuple[ChildOutcome, ...]:
        """Run ``requests`` at the same time; nothing is left behind, also on Ctrl-C.

        Raises:
            UsageError: ``python`` cannot be started, or there is no room for temporary files.
        """
        kills_before = _oom_kills()
        with contextlib.ExitStack() as stack:
            children = []
            for request in requests:
                files = stack.enter_context(_files(request))
                env = {**self._env, **_HIDDEN} if request.device == "cpu" else self._env
                children.append(_Child(_start(python, files, env), files, listener))
                stack.callback(children[-1].kill)
            while [child for child in children if child.is_running()]:
                time.sleep(_POLL)
            kills_after = _oom_kills()
            kills = None if kills_before is None or kills_after is None else kills_after - kills_before
            return tuple(child.outcome(kills) for child in children)

    @contextlib.contextmanager
    def exchange(self) -> Iterator[Path]:
        """A private folder for the children of one proof, gone when the context ends.

        Raises:
            UsageError: there is no room for temporary files.
        """
        folder = _temporary_folder()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


class _Child:
    """One child, followed until it ends or hangs."""

    def __init__(self, process: subprocess.Popen[bytes], files: _Files, listener: Listener) -> None:
        self._process = process
        self._files = files
        self._output = _Output(process.stdout)
        self._follower = _Follower(files.events, listener)
        self._began = time.monotonic()
        self._seconds: Optional[float] = None  # how long it ran; None: it still runs
        self._hung = False

    def is_running(self) -> bool:
        """Whether it still runs; reads its events, and ends it when it is past its time."""
        if self._seconds is None:
            ended = self._process.poll() is not None
            self._follower.read()
            self._hung = not ended and time.monotonic() > self._follower.deadline
            if ended or self._hung:
                self._seconds = time.monotonic() - self._began
                self.kill()
        return self._seconds is None

    def kill(self) -> None:
        """End it and whatever it started; harmless when all have ended."""
        _kill_group(self._process)
        self._process.wait()

    def outcome(self, oom_kills: Optional[int]) -> ChildOutcome:
        """Everything known about it, after it ended."""
        self._follower.read()
        text = self._output.text()
        stacks = self._files.stacks
        stack_text = stacks.read_text("utf-8", "replace") if stacks.exists() else ""
        return ChildOutcome(
            events=tuple(self._follower.events),
            status=self._process.returncode,
            hung=self._hung or "Timeout (" in stack_text,
            output=text,
            stacks=stack_text,
            oom_kills=oom_kills,
            free=_free(self._files.work),
            seconds=round(self._seconds or 0.0, 3),
        )


class _Follower:
    """Reads the events as they come and keeps the deadline of the stage that runs."""

    def __init__(self, path: Path, listener: Listener) -> None:
        self.events: list[ChildEvent] = []
        self.deadline = time.monotonic() + _START_LIMIT
        self._path = path
        self._listener = listener
        self._rest = b""
        self._position = 0

    def read(self) -> None:
        with contextlib.suppress(FileNotFoundError), self._path.open("rb") as file:
            file.seek(self._position)
            data = file.read()
            self._position += len(data)
            *lines, self._rest = (self._rest + data).split(b"\n")
            for event in map(parse_event, lines):
                if event is not None:
                    self._take(event)

    def _take(self, event: ChildEvent) -> None:
        self.events.append(event)
        if event.event == "stage":
            self.deadline = time.monotonic() + event.limit + _GRACE
            self._listener.step(f"proof: {stage_spec(event.stage).title}")
        elif event.event in ("start", "done", "error", "end"):
            self.deadline = time.monotonic() + _START_LIMIT


class _Output:
    """The two ends of what the child prints, read by a thread so that a full pipe never blocks it."""

    def __init__(self, pipe: Optional[IO[bytes]]) -> None:
        assert pipe is not None
        self._pipe = pipe
        self._head = bytearray()
        self._tail = bytearray()
        self._cut = False
        self._thread = threading.Thread(target=self._drain, daemon=True)
        self._thread.start()

    def text(self) -> str:
        """What was kept, after the process ended; a grandchild that holds the pipe is not waited for."""
        self._thread.join(1.0)
        middle = b"\n[... output cut by tfenv ...]\n" if self._cut else b""
        return (bytes(self._head) + middle + bytes(self._tail)).decode("utf-8", "replace")

    def _drain(self) -> None:
        with self._pipe:
            while chunk := os.read(self._pipe.fileno(), 65_536):
                room = _OUTPUT_HEAD - len(self._head)
                self._head += chunk[:room] if room > 0 else b""
                self._tail += chunk[max(room, 0) :]
                if len(self._tail) > _OUTPUT_TAIL:
                    self._cut = True
                    del self._tail[:-_OUTPUT_TAIL]


@record
class _Files:
    """What parent and child share, in a private temporary folder."""

    request: Path
    events: Path
    stacks: Path
    work: Path  # an empty folder: the child's current one, where nothing can shadow a module
    temporary: Path  # the child's folder for temporary files, which a crash would leave lying about


@contextlib.contextmanager
def _files(request: ChildRequest) -> Iterator[_Files]:
    folder = _temporary_folder()
    try:
        files = _Files(
            request=folder / "request.json",
            events=folder / "events.jsonl",
            stacks=folder / "stacks.txt",
            work=folder / "work",
            temporary=folder / "tmp",
        )
        document = encode(request)
        assert isinstance(document, dict)
        places = {"events": str(files.events), "stacks": str(files.stacks)}
        try:
            files.work.mkdir()
            files.temporary.mkdir()
            files.request.write_text(json.dumps({**document, **places}), "utf-8")
        except OSError as error:
            raise _no_room(error) from None
        yield files
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _temporary_folder() -> Path:
    try:
        return Path(tempfile.mkdtemp(prefix="tfenv-proof-"))
    except OSError as error:
        raise _no_room(error) from None


def _no_room(error: OSError) -> UsageError:
    return UsageError(
        "no-temporary-folder",
        f"cannot write temporary files: {error}",
        hint="Free disk space, or point TMPDIR to a folder that can be written.",
    )


def _start(python: Path, files: _Files, env: dict[str, str]) -> subprocess.Popen[bytes]:
    # The child has another current folder; a bare name is looked up on PATH.
    program = os.path.abspath(python) if python.name != str(python) else str(python)  # noqa: PTH100 - no resolve
    try:
        return subprocess.Popen(
            [program, str(_MAIN), str(files.request)],
            cwd=files.work,
            env={**env, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(files.temporary))},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=sys.platform != "win32",
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
    except (OSError, ValueError) as error:
        raise UsageError(
            "interpreter-not-startable",
            f"{python} cannot be started: {error}",
            hint="Name a Python interpreter: --python PATH, or --venv DIR.",
        ) from None


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """End the child and whatever it started; harmless when all have ended."""
    if sys.platform == "win32":
        process.kill()
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _free(folder: Path) -> Optional[int]:
    """Bytes that can still be written to the disk of ``folder``."""
    with contextlib.suppress(OSError):
        return shutil.disk_usage(folder).free
    return None


def _oom_kills() -> Optional[int]:
    """How many processes the kernel has killed for memory: in this control group and on this machine."""
    counts = []
    for path in _memory_event_files():
        with contextlib.suppress(OSError, ValueError):
            for line in path.read_text("ascii").splitlines():
                name, _, value = line.partition(" ")
                if name == "oom_kill":
                    counts.append(int(value))
    return sum(counts) if counts else None


def _memory_event_files() -> list[Path]:
    """Where the kernel counts: the machine, and this control group in version 2 or 1 of the interface."""
    files = [Path("/proc/vmstat")]
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text("ascii").splitlines():
            hierarchy, controllers, group = line.split(":", 2)
            if hierarchy == "0":
                files.append(Path("/sys/fs/cgroup" + group) / "memory.events")
            elif controllers == "memory":
                files.append(Path("/sys/fs/cgroup/memory" + group) / "memory.oom_control")
    return files
