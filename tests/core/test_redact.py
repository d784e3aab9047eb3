"""Secrets, home folders and terminal escapes never leave the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfenv.redact import redact


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        pytest.param("https://user:s3cret@host/simple", "https://***@host/simple", id="user-and-password"),
        pytest.param("https://token@host/simple", "https://***@host/simple", id="token-as-user"),
        pytest.param("get https://host/x?token=abc&n=1", "get https://host/x?token=***&n=1", id="query"),
        pytest.param("Authorization: Bearer abcdefgh12345", "Authorization: *** ***", id="bearer"),
        pytest.param("a\x1b[31mb\x1b]0;t\x07c\x00d", "abcd", id="escapes"),
        pytest.param("mail me@host", "mail me@host", id="nothing-to-hide"),
    ],
)
def test_redact(text: str, clean: str) -> None:
    assert redact(text) == clean


def test_the_home_folder_is_a_tilde() -> None:
    home = str(Path.home())
    assert redact(f"{home}/env and {home}") == "~/env and ~"
    assert redact(f"{home}land/x") == f"{home}land/x"
