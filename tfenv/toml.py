"""TOML on every Python: the standard library's parser, or tomli below 3.11."""

from __future__ import annotations

import sys

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def parse_toml(text: str) -> dict[str, object]:
    """The tables of ``text``.

    Raises:
        ValueError: it is not TOML (both parsers' errors are ValueErrors).
    """
    tables: dict[str, object] = tomllib.loads(text)
    return tables
