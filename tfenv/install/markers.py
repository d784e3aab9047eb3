"""The marker environment (PEP 508) of the target interpreter, from its facts."""

from __future__ import annotations

from tfenv.facts.model import Facts
from tfenv.versions import minor_of

_SYSTEMS = {
    "linux": ("posix", "linux", "Linux"),
    "macos": ("posix", "darwin", "Darwin"),
    "windows": ("nt", "win32", "Windows"),
}


def marker_environment(facts: Facts) -> dict[str, str]:
    """The variables that requirement markers are evaluated against."""
    version = facts.python.version.value or "3.11.0"
    os_name, sys_platform, system = _SYSTEMS.get(facts.system.os.value or "", ("posix", "linux", "Linux"))
    return {
        "implementation_name": facts.python.implementation.value or "cpython",
        "implementation_version": version,
        "os_name": os_name,
        "platform_machine": facts.python.build_arch.value or "",
        "platform_python_implementation": "CPython",
        "platform_release": facts.system.kernel.value or "",
        "platform_system": system,
        "platform_version": "",
        "python_full_version": version,
        "python_version": minor_of(version),
        "sys_platform": sys_platform,
    }
