"""Show a command's result: the one place that writes to stdout."""

from __future__ import annotations

import json as json_format
import os
import sys

from tfenv.events import Listener, Silent
from tfenv.redact import masked
from tfenv.report.style import Style
from tfenv.result import D, Result


def present(result: Result[D], *, json: bool) -> int:
    """Write ``result`` as JSON or text to stdout (errors in text to stderr); returns its exit code."""
    if json:
        document = masked(result.as_json(), os.environ)
        sys.stdout.write(json_format.dumps(document, indent=2, ensure_ascii=False) + "\n")
        return result.exit_code
    from tfenv.report.text import render  # lazily: --json and --help need none of it

    text = render(result, Style.of(sys.stdout, os.environ))
    stream = sys.stderr if result.status == "error" else sys.stdout
    stream.write(text)
    return result.exit_code


def progress(*, json: bool) -> Listener:
    """The listener for a command: lines on stderr, or silence with ``--json``."""
    if json:
        return Silent()
    from tfenv.report.progress import Lines

    return Lines(sys.stderr, Style.of(sys.stderr, os.environ))


def on_terminal(*, json: bool) -> bool:
    """Whether an installer may draw its own bars: a real terminal, and not a notebook's imitation of one."""
    if json or os.name == "nt" or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        return False
    imitates = ("COLAB_RELEASE_TAG", "KAGGLE_KERNEL_RUN_TYPE", "JPY_PARENT_PID", "CI")
    if any(os.environ.get(name) for name in imitates):
        return False
    from tfenv.facts.machine import LocalMachine  # lazily: only a terminal needs to ask
    from tfenv.facts.notebook import kernel_pid

    # An editor that starts the kernel itself, without a Jupyter server, sets none of these variables.
    return kernel_pid(LocalMachine()).value is None
