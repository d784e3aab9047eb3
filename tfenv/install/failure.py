"""What an installer printed before it failed, as one error a person can act on."""

from __future__ import annotations

import errno
import re
from pathlib import Path
from typing import NamedTuple

from tfenv.errors import InstallError
from tfenv.redact import redact


class _Known(NamedTuple):
    """A failure that is recognised by the words pip and uv print."""

    code: str
    pattern: str  # searched in the lower-case output
    message: str
    hint: str


#: The first that matches wins.
_KNOWN = (
    _Known(
        "hash-mismatch",
        r"hash mismatch|do not match the hashes|hashes are required|no hash",
        "A downloaded file does not have the hash that the lock lists, so nothing was installed.",
        "The lock, the index or a cache is not what it was. Check the lock with `tfenv locks verify`, then "
        "try another index or an empty cache (`uv cache clean`, `pip cache purge`).",
    ),
    _Known(
        "disk-full",
        r"no space left on device|os error 28|errno 28|disk quota exceeded|os error 122",
        "The disk filled up during the installation.",
        "Free some space and run the command again; `tfenv bootstrap --dry-run` shows how much is needed.",
    ),
    _Known(
        "read-only",
        r"read-only file system|os error 30|errno 30|permission denied|os error 13|errno 13",
        "The environment cannot be written.",
        "Use an environment you may write to, for example: tfenv bootstrap --venv .venv",
    ),
    _Known(
        "certificate",
        r"certificate verify failed|invalid peer certificate|ssl.?error|unknownissuer",
        "The index's TLS certificate could not be verified.",
        "Behind a company proxy, point PIP_CERT and SSL_CERT_FILE at its CA bundle. Check the clock too.",
    ),
    _Known(
        "no-network",
        r"dns error|failed to lookup|name resolution|newconnectionerror|connection refused"
        r"|error sending request|network is unreachable|failed to fetch|could not connect|timed? ?out"
        r"|connection reset|os error 111|network was disabled|network connectivity is disabled"
        r"|tunnel connection failed|max retries exceeded",
        "PyPI, or the index that is configured, could not be reached.",
        "Check the network and the proxy settings (HTTPS_PROXY, PIP_INDEX_URL, UV_INDEX_URL), then run the "
        "command again.",
    ),
    _Known(
        "no-pip",
        r"no module named pip",
        "This interpreter has no pip, and uv was not found.",
        "Give it pip (`python -m ensurepip`), or put uv on PATH.",
    ),
    _Known(
        "no-network",
        r"from versions: none",
        "The index offers no version at all of what the lock lists: it could not be reached, or is empty.",
        "Check the network and the index settings (PIP_INDEX_URL, PIP_NO_INDEX), then run the command again.",
    ),
    _Known(
        "missing-file",
        r"no matching distribution|no solution found|not found in the (package|provided)",
        "The index does not offer a file that the lock lists.",
        "A mirror may lag behind PyPI or hold other files; try another index.",
    ),
)


def classify(engine: str, output: str, exit_status: int) -> InstallError:
    """The error behind ``output``, the last lines an installer printed before ``exit_status``."""
    text = output.lower()
    for known in _KNOWN:
        if re.search(known.pattern, text):
            return InstallError(
                known.code, f"{known.message}{_quote(output, known.pattern)}", hint=known.hint
            )
    if exit_status < 0:
        return InstallError(
            "installer-killed",
            f"{engine} was killed by signal {-exit_status} during the installation.",
            hint="The system kills what needs too much memory: give this machine or container more.",
        )
    return InstallError(
        "installer-failed",
        f"{engine} failed with exit status {exit_status}: {_last_line(output)}",
        hint="Run the command again with TFENV_DEBUG=1 to see everything the installer printed.",
    )


def not_written(place: Path, error: OSError) -> InstallError:
    """The error of a file in an environment that could not be written."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return InstallError(
            "disk-full", f"The disk of {place} is full.", hint="Free some space and run the command again."
        )
    return InstallError(
        "read-only",
        f"The environment at {place} cannot be written: {error.strerror or error}.",
        hint="Use an environment you may write to, for example: tfenv bootstrap --venv .venv",
    )


def _quote(output: str, pattern: str) -> str:
    """The installer's own line, for whoever searches for it."""
    for line in output.splitlines():
        if re.search(pattern, line.lower()):
            return f" ({_clean(line)})"
    return ""


def _last_line(output: str) -> str:
    lines = [line for line in output.splitlines() if line.strip()]
    return _clean(lines[-1]) if lines else "it printed nothing"


def _clean(line: str) -> str:
    """One printable line without secrets or URLs' credentials, cut to a readable length."""
    return redact(" ".join(line.split()))[:200]
