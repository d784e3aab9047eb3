"""Every error a user can foresee: what happened (message), what to do (hint), which exit code."""

from __future__ import annotations


class TfenvError(Exception):
    """Root of all foreseeable errors; anything else that escapes is a bug in tfenv (exit 70)."""

    exit_code = 1

    def __init__(self, code: str, message: str, *, hint: str = "") -> None:
        """``code`` is a stable kebab-case id, ``message`` one line, ``hint`` the next action."""
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint


class UsageError(TfenvError):
    """The request itself is wrong: a bad option, file, directory or interpreter."""

    exit_code = 2


class InstallError(TfenvError):
    """The installation failed; the environment is as it was."""

    exit_code = 4


class NoLockError(TfenvError):
    """No lock fits this machine and request."""

    exit_code = 5


class ProofError(TfenvError):
    """The stack does not load, does not learn or computes wrong values."""

    exit_code = 6


#: Exit codes that are outcomes of a :class:`tfenv.result.Result`, not errors.
EXIT_OK = 0
EXIT_CHECK_FAILED = 1
EXIT_USAGE = 2
EXIT_PENDING = 3
EXIT_INSTALL = 4
EXIT_NO_LOCK = 5
EXIT_PROOF = 6
EXIT_RESTART = 7
EXIT_BUG = 70
