"""The ``tfenv`` command: run it, and turn whatever happens into one result."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Sequence

import typer

from tfenv.cli.app import app
from tfenv.cli.present import present
from tfenv.errors import EXIT_USAGE, TfenvError, UsageError
from tfenv.result import crashed, failed

#: What the shell reports for a program that Ctrl-C ended.
_INTERRUPTED = 130
#: Click's classes, under whichever name the installed Typer carries them.
_BY_NAME = {cls.__name__: cls for cls in typer.BadParameter.__mro__}
_CLICK_USAGE, _CLICK_ERROR = _BY_NAME["UsageError"], _BY_NAME["ClickException"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``tfenv`` with ``arguments`` (default: the process's own); returns the exit code."""
    _obey_termination()
    given = list(sys.argv[1:] if arguments is None else arguments)
    command, json = _command(given), "--json" in _before_separator(given)
    try:
        outcome = app(args=given, prog_name="tfenv", standalone_mode=False)
    except TfenvError as error:
        return present(failed(command, error), json=json)
    except typer.Abort:
        return _INTERRUPTED
    except KeyboardInterrupt:
        sys.stderr.write("tfenv: interrupted\n")
        return _INTERRUPTED
    except BrokenPipeError:
        # The reader (head, less) went away: nobody is left to tell.
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
        return 1
    except Exception as error:  # the one place where a bug becomes exit 70 instead of a traceback
        if isinstance(error, _CLICK_USAGE):
            return _usage(command, error, json)
        if isinstance(error, _CLICK_ERROR):
            return present(failed(command, UsageError("usage", str(error))), json=json)
        if os.environ.get("TFENV_DEBUG"):
            raise
        return present(crashed(command, error), json=json)
    return outcome if isinstance(outcome, int) else 0


def _obey_termination() -> None:
    """SIGTERM (a CI's time limit, ``docker stop``) unwinds like Ctrl-C, so that nothing is left half done."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.default_int_handler)


def _usage(command: str, error: Exception, json: bool) -> int:
    if type(error).__name__ == "NoArgsIsHelpError":  # help was asked for by giving nothing
        sys.stdout.write(f"{error}\n")
        return EXIT_USAGE
    # Click words the message with the parameter's name only on request, and knows which command refused.
    worded = getattr(error, "format_message", None)
    message = str(worded() if callable(worded) else error) or "wrong usage"
    shown = getattr(getattr(error, "ctx", None), "command_path", None) or f"tfenv {command}".strip()
    refused = UsageError("usage", message.rstrip("."), hint=f"See: {shown} --help")
    return present(failed(command, refused), json=json)


def _command(arguments: Sequence[str]) -> str:
    """The command's name as the JSON document carries it: "locks list"."""
    words: list[str] = []
    for word in _before_separator(arguments):
        if word.startswith("-"):
            break
        words.append(word)
        if word not in ("locks", "seed") or len(words) == 2:
            break
    return " ".join(words)


def _before_separator(arguments: Sequence[str]) -> Sequence[str]:
    """What follows ``--`` belongs to the command that ``tfenv run`` starts."""
    return arguments[: list(arguments).index("--")] if "--" in arguments else arguments


def run() -> None:
    """The console script."""
    sys.exit(main())


if __name__ == "__main__":
    run()
