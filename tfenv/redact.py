"""What must not leave the machine in a report: secrets, home folders, terminal escapes."""

from __future__ import annotations

import os
import re

_USERINFO = re.compile(r"(?P<scheme>[a-zA-Z][a-zA-Z0-9+.-]*://)[^/\s@]+@")
_QUERY_SECRET = re.compile(r"(?i)([?&;](?:token|key|secret|password|passwd|auth|sig|signature)=)[^&\s]+")
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+[a-z0-9+/=._~-]{8,}")
#: CSI and OSC sequences, then every other control character but tab and newline.
_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\x00-\x08\x0b-\x1f\x7f-\x9f]"
)


def redact(text: str) -> str:
    """``text`` without URL credentials, tokens, the home folder's name and terminal escapes."""
    text = _ESCAPES.sub("", text)
    text = _USERINFO.sub(r"\g<scheme>***@", text)
    text = _QUERY_SECRET.sub(r"\1***", text)
    text = _BEARER.sub(r"\1 ***", text)
    return shorten_home(text)


def shorten_home(text: str) -> str:
    """``text`` with the user's home folder written as ``~``."""
    home = os.path.expanduser("~")  # noqa: PTH111  Path.home() raises where there is no home
    if len(home) <= 1 or home == "~":
        return text
    return re.sub(re.escape(home) + r"(?=[/\\]|$|[^\w.-])", "~", text)
