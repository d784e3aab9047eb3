"""Runs an installer as a child and reads why it failed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tfenv.events import Listener
from tfenv.install.failure import classify
from tfenv.locks.model import Pin

#: How much of an installer's output is kept for the error message, in characters.
_KEPT_OUTPUT = 64_000
#: Seconds between signs of life where no progress bar can be shown.
_HEARTBEAT = 15.0


def run_installer(
    engine: str,
    command: Sequence[str],
    pins: Sequence[Pin],
    environ: Mapping[str, str],
    listener: Listener,
    *,
    on_terminal: bool,
) -> None:
    """Run ``command`` with ``{requirements}`` replaced by a file of ``pins``; ``engine`` is its name.

    Raises:
        InstallError: it failed; the error is read from what the installer printed.
    """
    # In a private empty folder: the caller's may hold a pyproject.toml or uv.toml that changes the installer.
    with tempfile.TemporaryDirectory(prefix="tfenv-") as folder:
        requirements = Path(folder) / "requirements.txt"
        requirements.write_text(requirements_text(pins), encoding="utf-8")
        filled = [str(requirements) if part == "{requirements}" else part for part in command]
        if on_terminal:
            status, output = _run_on_terminal(filled, environ, folder)
        else:
            status, output = _run_quietly(filled, environ, folder, listener)
    if status != 0:
        raise classify(engine, output, status)


def requirements_text(pins: Sequence[Pin]) -> str:
    """``pins`` in the format of pip-tools."""
    lines = []
    for pin in pins:
        hashes = " \\\n".join(f"    --hash=sha256:{digest}" for digest in pin.hashes)
        lines.append(f"{pin.name}=={pin.version} \\\n{hashes}\n")
    return "".join(lines)


def _run_quietly(
    command: Sequence[str], environ: Mapping[str, str], folder: str, listener: Listener
) -> tuple[int, str]:
    kept: list[str] = []
    process = subprocess.Popen(
        command, env=dict(environ), cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, encoding="utf-8", errors="replace",
    )  # fmt: skip
    reader = threading.Thread(target=_collect, args=(process, kept), daemon=True)
    reader.start()
    started = time.monotonic()
    try:
        while True:
            try:
                status = process.wait(timeout=_HEARTBEAT)
                break
            except subprocess.TimeoutExpired:
                listener.note(f"still installing ({time.monotonic() - started:.0f} s)")
    except BaseException:
        process.kill()
        process.wait()
        raise
    reader.join(timeout=5)
    return status, "".join(kept)[-_KEPT_OUTPUT:]


def _collect(process: subprocess.Popen[str], kept: list[str]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        kept.append(line)
        if len(kept) > 5000:
            del kept[:1000]


def _run_on_terminal(command: Sequence[str], environ: Mapping[str, str], folder: str) -> tuple[int, str]:
    """Let the installer draw its own bars on a pseudo-terminal, and keep a copy of what it says."""
    import pty
    import shutil

    controller, terminal = pty.openpty()
    size = shutil.get_terminal_size()
    process = subprocess.Popen(
        command, env={**environ, "COLUMNS": str(size.columns), "LINES": str(size.lines)}, cwd=folder,
        stdin=subprocess.DEVNULL, stdout=terminal, stderr=terminal,
    )  # fmt: skip
    os.close(terminal)
    kept = b""
    try:
        while True:
            try:
                data = os.read(controller, 65536)
            except OSError:  # Linux reports the closed terminal as EIO
                break
            if not data:
                break
            kept = (kept + data)[-_KEPT_OUTPUT:]
            sys.stderr.buffer.write(data)
            sys.stderr.buffer.flush()
        status = process.wait()
    except BaseException:
        process.kill()
        process.wait()
        raise
    finally:
        os.close(controller)
    return status, kept.decode("utf-8", "replace").replace("\r", "\n")
