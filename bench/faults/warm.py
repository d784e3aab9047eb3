"""Runners for the bench: one whose processes stay for many proofs, one that starts them anew. Both count."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import tfenv.proof
from faults.catalogue import MARK
from tfenv.codec import encode
from tfenv.events import Listener
from tfenv.proof.protocol import ChildOutcome, ChildRequest, parse_event
from tfenv.proof.runner import SubprocessRunner, child_environment

ENTRY = Path(tfenv.proof.__file__).with_name("child") / "main.py"
WORKER = Path(__file__).with_name("worker.py")
_POLL = 0.02


class FreshRunner(SubprocessRunner):
    """The real runner; ``acted`` counts the processes in which the fault acted."""

    def __init__(self, env: Mapping[str, str]) -> None:
        super().__init__(env)
        self.acted = 0

    def run(
        self, python: Path, requests: Sequence[ChildRequest], listener: Listener
    ) -> tuple[ChildOutcome, ...]:
        """See :class:`~tfenv.proof.protocol.ChildRunner`."""
        outcomes = super().run(python, requests, listener)
        self.acted += sum(MARK in outcome.output for outcome in outcomes)
        return outcomes

    def close(self) -> None:
        """Nothing to end."""


class WarmRunner:
    """A :class:`~tfenv.proof.protocol.ChildRunner` that imports TensorFlow once for many proofs.

    There is one process for each of the three that a proof knows, so that what a fresh process switches on
    does not reach a first one. A process that ended is started anew with the next request.
    """

    def __init__(self, env: Mapping[str, str]) -> None:
        self.acted = 0  # how often the fault did
        self._env = child_environment(env)
        self._folder = Path(tempfile.mkdtemp(prefix="tfenv-faults-"))
        self._workers: dict[int, _Worker] = {}
        self._count = 0

    def run(
        self, python: Path, requests: Sequence[ChildRequest], listener: Listener
    ) -> tuple[ChildOutcome, ...]:
        """See :class:`~tfenv.proof.protocol.ChildRunner`."""
        asked = []
        for request in requests:
            worker = self._workers.get(request.process)
            if worker is None or not worker.is_alive():
                worker = _Worker(python, self._env, self._folder / f"output-{self._count}")
                self._workers[request.process] = worker
            self._count += 1
            asked.append((worker, worker.ask(request, self._folder / f"{self._count}")))
        return tuple(self._outcome(worker, folder) for worker, folder in asked)

    @contextlib.contextmanager
    def exchange(self) -> Iterator[Path]:
        """A folder for the processes of one proof."""
        with tempfile.TemporaryDirectory(dir=self._folder) as name:
            yield Path(name)

    def close(self) -> None:
        """End the processes and remove their files."""
        for worker in self._workers.values():
            worker.kill()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _outcome(self, worker: _Worker, folder: Path) -> ChildOutcome:
        outcome, acted = worker.answer(folder)
        self.acted += acted
        shutil.rmtree(folder, ignore_errors=True)
        return outcome


class _Worker:
    """One process that serves requests."""

    def __init__(self, python: Path, env: Mapping[str, str], output: Path) -> None:
        self._output = output
        self._read = 0  # characters of output that belong to earlier requests
        with output.open("wb") as file:
            self._process = subprocess.Popen(
                [python, WORKER, ENTRY],
                cwd=output.parent,
                env=env,
                stdin=subprocess.PIPE,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, request: ChildRequest, folder: Path) -> Path:
        """Begin to serve ``request``; the folder of its files."""
        folder.mkdir()
        document = encode(request)
        assert isinstance(document, dict)
        places = {"events": str(folder / "events"), "stacks": str(folder / "stacks"), "teardown": False}
        (folder / "request").write_text(json.dumps({**document, **places}), "utf-8")
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(os.fsencode(folder / "request") + b"\n")
            self._process.stdin.flush()
        return folder

    def answer(self, folder: Path) -> tuple[ChildOutcome, int]:
        """What became of the request, and how often the fault acted.

        The child ends itself when a stage hangs, so nothing has to be timed here.
        """
        done = folder / "request.done"
        while self.is_alive() and not done.exists():
            time.sleep(_POLL)
        served = done.exists()
        if not served:
            self.kill()
        text = self._output.read_text("utf-8", "replace")
        output, self._read = text[self._read :], len(text)
        stacks = _text(folder / "stacks")
        lines = _text(folder / "events").encode().split(b"\n")
        outcome = ChildOutcome(
            events=tuple(event for event in map(parse_event, lines) if event is not None),
            status=0 if served else self._process.returncode,
            hung="Timeout (" in stacks,
            output=output,
            stacks=stacks,
        )
        return outcome, json.loads(done.read_text())["acted"] if served else int(MARK in text)

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()


def _text(path: Path) -> str:
    return path.read_text("utf-8", "replace") if path.exists() else ""
