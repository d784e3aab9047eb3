"""The environment variables that an installer child gets."""

from __future__ import annotations

from collections.abc import Mapping

#: Index, proxy, certificate, cache and network settings: a company's machine needs them to reach PyPI at all.
_KEPT = frozenset(
    {
        "PIP_CACHE_DIR", "PIP_CERT", "PIP_CLIENT_CERT", "PIP_CONFIG_FILE", "PIP_DEFAULT_TIMEOUT",
        "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_INDEX_URL", "PIP_KEYRING_PROVIDER", "PIP_NO_CACHE_DIR",
        "PIP_NO_INDEX", "PIP_PROXY", "PIP_RETRIES", "PIP_TIMEOUT", "PIP_TRUSTED_HOST",
        "UV_CACHE_DIR", "UV_CONCURRENT_DOWNLOADS", "UV_CONCURRENT_INSTALLS", "UV_CONFIG_FILE",
        "UV_DEFAULT_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_HTTP_TIMEOUT", "UV_INDEX",
        "UV_INDEX_STRATEGY", "UV_INDEX_URL", "UV_INSECURE_HOST", "UV_KEYRING_PROVIDER", "UV_LINK_MODE",
        "UV_NATIVE_TLS", "UV_NO_CACHE", "UV_NO_INDEX", "UV_OFFLINE", "UV_REQUEST_TIMEOUT", "UV_SYSTEM_CERTS",
    }
)  # fmt: skip
#: Names an index's user and password by the index's own name: UV_INDEX_<NAME>_PASSWORD.
_KEPT_PREFIXES = ("UV_INDEX_",)
#: Would make the child another interpreter, or let a folder of the caller run inside it.
_DROPPED = frozenset(
    {"PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "VIRTUAL_ENV", "CONDA_PREFIX", "UV", "__PYVENV_LAUNCHER__"}
)


def installer_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """``environ`` without what would redirect or break an installation."""
    dropped = scrubbed(environ)
    return {name: value for name, value in environ.items() if name not in dropped and name not in _DROPPED}


def scrubbed(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The ``PIP_*`` and ``UV_*`` variables that are not passed on, for the report."""
    return tuple(
        sorted(
            name
            for name in environ
            if name.startswith(("PIP_", "UV_"))
            and name not in _KEPT
            and not name.startswith(_KEPT_PREFIXES)
            and name not in _HARMLESS
        )
    )


#: Passed over in silence: they change only what the installer prints.
_HARMLESS = frozenset(
    {
        "PIP_DISABLE_PIP_VERSION_CHECK",
        "PIP_NO_COLOR",
        "PIP_NO_INPUT",
        "PIP_PROGRESS_BAR",
        "PIP_QUIET",
        "UV_NO_PROGRESS",
    }
)
