"""Child processes that cannot hang tfenv."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Optional

from tfenv.facts.machine import Ran, why

#: How long a killed process may take to go. A process stuck inside a driver ignores even SIGKILL.
_GRACE = 0.5


def run_limited(
    command: Sequence[str],
    *,
    limit: float,
    cwd: Optional[Path] = None,
    environ: Optional[Mapping[str, str]] = None,
) -> Ran:
    """Run ``command`` without input for at most ``limit`` seconds, then kill its whole process group.

    What it had printed until then is kept. A process that survives the kill is left behind, not waited for.
    """
    try:
        # Not a context manager: leaving that waits for the process, however long it takes.
        process = subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=None if environ is None else dict(environ),
            start_new_session=True,
        )
    except FileNotFoundError as error:
        return Ran(outcome="missing", problem=why(error))
    except (OSError, ValueError) as error:
        return Ran(outcome="refused", problem=why(error) if isinstance(error, OSError) else str(error))
    try:
        stdout, stderr = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired as expired:
        _kill(process)
        return Ran(outcome="hung", stdout=_text(expired.stdout), stderr=_text(expired.stderr))
    return Ran(outcome="exited", exit_code=process.returncode, stdout=_text(stdout), stderr=_text(stderr))


def _kill(process: subprocess.Popen[bytes]) -> None:
    if sys.platform == "win32":
        process.kill()
    else:
        with contextlib.suppress(ProcessLookupError):  # it may have ended by itself in this moment
            os.killpg(process.pid, signal.SIGKILL)
    try:
        process.wait(_GRACE)
    except subprocess.TimeoutExpired:
        # Popen warns about a process that outlives it; this one is beyond reach.
        process.returncode = -9
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def _text(output: Optional[bytes]) -> str:
    return (output or b"").decode("utf-8", "replace")
