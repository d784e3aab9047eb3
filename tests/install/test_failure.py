"""What installers print when they fail, as one error each. The outputs are recorded from pip and uv."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from tfenv.install.failure import classify, not_written

RECORDED = [
    pytest.param(
        "uv",
        "error: Failed to install `six`\n  Caused by: Hash mismatch for `six==1.17.0`\n\nExpected:\n",
        "hash-mismatch",
        id="uv-hash",
    ),
    pytest.param(
        "pip",
        "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE. If you have updated",
        "hash-mismatch",
        id="pip-hash",
    ),
    pytest.param("uv", "  Caused by: No space left on device (os error 28)", "disk-full", id="uv-disk"),
    pytest.param("pip", "OSError: [Errno 28] No space left on device", "disk-full", id="pip-disk"),
    pytest.param("uv", "  Caused by: Read-only file system (os error 30)", "read-only", id="uv-read-only"),
    pytest.param("pip", "PermissionError: [Errno 13] Permission denied", "read-only", id="pip-permission"),
    pytest.param("uv", "  Caused by: invalid peer certificate: UnknownIssuer", "certificate", id="uv-tls"),
    pytest.param("uv", "  Caused by: dns error\n", "no-network", id="uv-dns"),
    pytest.param(
        "pip",
        "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError(...)'\n"
        "ERROR: Could not find a version that satisfies the requirement six==1.17.0 (from versions: none)",
        "no-network",
        id="pip-connection",
    ),
    pytest.param("pip", "/x/python: No module named pip", "no-pip", id="no-pip"),
    pytest.param(
        "pip",
        "ERROR: Could not find a version that satisfies the requirement six==9 (from versions: 1.0)\n"
        "ERROR: No matching distribution found for six==9",
        "missing-file",
        id="pip-missing",
    ),
]


@pytest.mark.parametrize(("engine", "output", "code"), RECORDED)
def test_known_failures(engine: str, output: str, code: str) -> None:
    error = classify(engine, output, 1)
    assert error.code == code
    assert error.exit_code == 4
    assert "\n" not in error.message
    assert error.hint


def test_an_unknown_failure_quotes_the_last_line() -> None:
    error = classify("uv", "resolving\nerror: the moon is full\n", 2)
    assert error.message == "uv failed with exit status 2: error: the moon is full"


def test_a_killed_installer() -> None:
    assert classify("pip", "", -9).message == "pip was killed by signal 9 during the installation."


def test_the_quoted_line_carries_no_secret() -> None:
    error = classify("uv", "error sending request for url (https://me:pw@host/simple/six/)", 1)
    assert "pw" not in error.message
    assert "https://***@host" in error.message


@pytest.mark.parametrize(
    ("number", "code"),
    [
        pytest.param(errno.ENOSPC, "disk-full", id="full"),
        pytest.param(errno.EROFS, "read-only", id="read-only"),
    ],
)
def test_files_of_our_own_that_cannot_be_written(number: int, code: str) -> None:
    assert not_written(Path("/env"), OSError(number, "no")).code == code
