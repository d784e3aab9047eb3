"""exit" 2 # To a shell this line is the command "exit 2": whatever is no Python stops here.

What a Python interpreter knows of itself, as it is after a normal start. tfenv reads this file as text and
runs it in interpreters that do not have tfenv: standard library only, and the syntax of Python 2.7.
"""

# ruff: noqa: PTH120, PTH123  (Python 2.7 has no pathlib)

import os
import sys


def describe():  # type: () -> dict[str, object]
    """The facts of this interpreter, JSON-ready; see ``InterpreterProbe`` for their meaning."""
    import platform
    import site
    import struct
    import sysconfig

    libc, libc_version = _libc(sysconfig)
    return {
        "executable": sys.executable or None,
        "version": platform.python_version(),
        "implementation": platform.python_implementation().lower(),
        "bits": struct.calcsize("P") * 8,
        "build_arch": _build_arch(platform, sysconfig),
        "platform_tag": sysconfig.get_platform(),
        "free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
        "debug_build": hasattr(sys, "gettotalrefcount"),
        "writes_bytecode": not sys.dont_write_bytecode,
        "prefix": sys.prefix,
        # real_prefix: virtualenv before version 20.
        "base_prefix": getattr(sys, "real_prefix", None) or getattr(sys, "base_prefix", sys.prefix),
        "path": [entry for entry in sys.path if isinstance(entry, str) and entry],
        "user_site": site.getusersitepackages() if site.ENABLE_USER_SITE else None,
        "purelib": sysconfig.get_path("purelib"),
        "platlib": sysconfig.get_path("platlib"),
        "scripts": sysconfig.get_path("scripts"),
        "stdlib": sysconfig.get_path("stdlib"),
        "libc": libc,
        "libc_version": libc_version,
    }


def _build_arch(platform, sysconfig):  # type: (object, object) -> str
    if sys.platform == "win32":
        name = sysconfig.get_platform()  # type: ignore[attr-defined]
        return {"win-amd64": "AMD64", "win-arm64": "ARM64", "win32": "x86"}.get(name, name)
    if sys.platform == "darwin":
        # A universal build: what counts is the half that runs; under Rosetta the kernel says x86_64.
        return os.uname()[4]
    multiarch = getattr(getattr(sys, "implementation", None), "_multiarch", "")
    # A 32-bit build on a 64-bit kernel: only the multiarch name tells.
    return multiarch.split("-")[0] or os.uname()[4]


def _libc(sysconfig):  # type: (object) -> tuple[str | None, str | None]
    if not sys.platform.startswith("linux"):
        return None, None
    try:
        name, _, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
    except (AttributeError, OSError, ValueError):  # musl knows no such name
        name, version = "", ""
    if name and version:
        return name, version
    names = [sysconfig.get_config_var(key) for key in ("HOST_GNU_TYPE", "SOABI", "MULTIARCH")]  # type: ignore[attr-defined]
    return ("musl" if any("musl" in str(name) for name in names) else None), None


def _keep_to_standard_library():  # type: () -> None
    """So that no file of the user's (PYTHONPATH) is run in place of a module needed here."""
    library = os.path.dirname(os.__file__)
    homes = (os.path.dirname(library), getattr(sys, "base_prefix", sys.prefix))

    def standard(entry):  # type: (str) -> bool
        if entry == library or entry.startswith(library + os.sep):
            return not entry.rstrip(os.sep).endswith("-packages")
        return entry in homes or (entry.endswith((".zip", "DLLs")) and os.path.dirname(entry) in homes)

    sys.path[:] = [entry for entry in sys.path if standard(entry)]


if __name__ == "__main__":
    _path = list(sys.path)
    _writes_bytecode = not sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    _keep_to_standard_library()
    import json

    _facts = describe()
    _facts["path"] = [_entry for _entry in _path if _entry]
    _facts["writes_bytecode"] = _writes_bytecode
    with open(sys.argv[1], "w") as _stream:
        json.dump(_facts, _stream)
