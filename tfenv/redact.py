"""Keeps secrets, personal data and terminal escapes out of whatever tfenv shows or stores."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from tfenv.codec import JSON

MASK = "***"

_SECRET_NAME = re.compile(r"token|secret|passw|passphrase|key|cred|auth|username", re.IGNORECASE)
#: "scheme://user:password@"; up to the last @, for passwords that hold one unescaped.
_URL_USER = re.compile(r"(?<=://)[^\s]*@")
#: "user:password@host" without a scheme, as proxies are sometimes given.
_BARE_USER = re.compile(r"(?<![^\s=,;\"'])[^\s/@:=]+:(?!//)[^\s@]*@")
#: "token=abc", "key: abc", also in JSON; not "google-auth==2.43".
_PARAMETER = re.compile(
    r"((?:token|secret|passw\w*|key|cred\w*|auth\w*|signature|sig)[\"']?\s*[=:](?!=)\s*[\"']?)[^\s&;,\"']+",
    re.IGNORECASE,
)
#: "Bearer abc", "Basic abc": before the parameters, which would take the scheme for the secret.
_SCHEME = re.compile(r"\b(bearer|basic)\s+[A-Za-z0-9+/=._~-]{8,}", re.IGNORECASE)
#: Tokens that announce themselves, whatever the name they come under.
_KNOWN_TOKEN = re.compile(
    r"\b(?:gh[pousr]_\w{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|hf_\w{16,}|pypi-[\w-]{16,}|AKIA[A-Z0-9]{12,}"
    r"|xox[abprs]-[\w-]{10,}|sk-[\w-]{16,}|AIza[\w-]{20,}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)"
)
_HOMES = re.compile(r"(?:(?<=[\s:;=\"'])|^|(?<=://))(?:/home|/Users|[A-Za-z]:[\\/]Users)[\\/][^\\/\s:;\"']+")
#: CSI and OSC sequences, then every other control character but tab and newline.
_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\x00-\x08\x0b-\x1f\x7f-\x9f]"
)
#: Names of accounts that tell nothing of a person.
_IMPERSONAL = frozenset(
    {"root", "user", "users", "admin", "python", "ubuntu", "debian", "jovyan", "app", "lib"}
)


def home_of(environ: Mapping[str, str]) -> str:
    """The home folder, "" where no variable names one."""
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""
    return home.rstrip("/\\")


def mask_text(text: str, environ: Mapping[str, str]) -> str:
    """``text`` without user names and passwords in URLs, tokens, the home folder and the user's name."""
    if "@" in text:
        text = _BARE_USER.sub(MASK + "@", _URL_USER.sub(MASK + "@", text))
    text = _SCHEME.sub(r"\1 " + MASK, text)
    text = _KNOWN_TOKEN.sub(MASK, _PARAMETER.sub(r"\1" + MASK, text))
    home = home_of(environ)
    if home:
        text = re.sub(r"(?<![\w.-])" + re.escape(home) + r"(?![\w.-])", "~", text)
    text = _HOMES.sub("~", text)
    user = environ.get("USER") or environ.get("USERNAME") or environ.get("LOGNAME") or ""
    if len(user) > 1 and user.lower() not in _IMPERSONAL:
        text = re.sub(r"(?<=[\\/])" + re.escape(user) + r"(?=[\\/:;]|$)", "~", text)
    return text


def mask_value(name: str, value: str, environ: Mapping[str, str]) -> str:
    """The value of the environment variable ``name`` as it may be shown."""
    if value and _SECRET_NAME.search(name):
        return MASK
    return mask_text(value, environ)


def redact(text: str) -> str:
    """``text`` as it may be shown here: masked, and without terminal escapes."""
    return mask_text(_ESCAPES.sub("", text), os.environ)


def masked(document: JSON, environ: Mapping[str, str]) -> JSON:
    """``document`` with every string masked. Paths with ``~`` in them serve people and shells."""
    if isinstance(document, str):
        return mask_text(document, environ)
    if isinstance(document, Mapping):
        return {key: masked(item, environ) for key, item in document.items()}
    if isinstance(document, (list, tuple)):
        return [masked(item, environ) for item in document]
    return document
