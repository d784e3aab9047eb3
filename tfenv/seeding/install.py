"""The seed hook in an environment: two files in its site directory that belong to no distribution."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import Optional

from tfenv.errors import InstallError
from tfenv.seeding.model import SEED_LIMIT, SeedState, check_seed

MODULE_NAME = "_tfenv_seed.py"
PTH_NAME = "_tfenv_seed.pth"
#: No plan may touch these.
FILES = (MODULE_NAME, PTH_NAME)

_MARK = "tfenv seed hook"
_SOURCE = Path(__file__).parent / "hook" / MODULE_NAME
# The seed stands in the .pth file itself: one file less to read at each start, and never stale.
_PTH = (
    "# tfenv seed hook: `tfenv seed off` removes it, TFENV_SEED=off skips it for one run.\n"
    'import sys; exec("try:\\n import _tfenv_seed\\n _tfenv_seed.start({seed}, {deterministic})\\n'
    'except Exception:\\n pass")\n'
)


def seed_on(site_packages: Path, seed: int, deterministic: bool = False) -> SeedState:
    """Make every later interpreter of the environment start from ``seed``; writes only what differs.

    ``site_packages`` is the environment's directory for pure Python packages (``purelib``).

    Raises:
        UsageError: the seed is no whole number from 0 to 2**32 - 1.
        InstallError: a foreign file has one of the two names, or the directory cannot be written to; the
            directory is as it was.
    """
    check_seed(seed)
    module, pth = site_packages / MODULE_NAME, site_packages / PTH_NAME
    pth_text = _PTH.format(seed=seed, deterministic=bool(deterministic)).encode("ascii")
    before = _own(module)
    _own(pth)
    try:
        if before != (source := _SOURCE.read_bytes()):
            _write(module, source)
            _drop_bytecode(module)
        if _own(pth) != pth_text:
            _write(pth, pth_text)
    except OSError as error:
        with contextlib.suppress(OSError):
            if before is None:
                module.unlink()
            elif module.read_bytes() != before:
                _write(module, before)
        raise _not_writable(site_packages, error) from error
    return read_seed(site_packages)


def seed_off(site_packages: Path) -> SeedState:
    """Remove the hook; nothing happens where there is none.

    Raises:
        InstallError: a foreign file has one of the two names, or the directory cannot be written to.
    """
    pth, module = site_packages / PTH_NAME, site_packages / MODULE_NAME
    found = [path for path in (pth, module) if _own(path) is not None]  # the .pth first: it names the module
    try:
        for path in found:
            path.unlink()
    except OSError as error:
        raise _not_writable(site_packages, error) from error
    _drop_bytecode(module)
    return read_seed(site_packages)


def read_seed(site_packages: Path) -> SeedState:
    """What the hook's files in ``site_packages`` say; damage and foreign files become the state's problem."""
    try:
        pth, module = _own(site_packages / PTH_NAME), _own(site_packages / MODULE_NAME)
    except InstallError as error:
        return SeedState(installed=False, problem=error.message)
    version = _version(module)
    if pth is None:
        problem = f"{MODULE_NAME} lies there without {PTH_NAME}, so it does nothing." if module else ""
        return SeedState(installed=False, hook_version=version, problem=problem)
    found = _pth_pattern().fullmatch(pth.decode("utf-8", "replace"))
    if found is None or int(found["seed"]) >= SEED_LIMIT:
        return SeedState(installed=True, hook_version=version, problem=f"{PTH_NAME} is damaged.")
    problem = ""
    if module is None:
        problem = f"{PTH_NAME} lies there without {MODULE_NAME}, so it does nothing."
    elif module != _SOURCE.read_bytes():
        problem = f"{MODULE_NAME} is not the one of this tfenv: another version wrote it, or it was edited."
    return SeedState(
        installed=True,
        seed=int(found["seed"]),
        deterministic=found["deterministic"] == "True",
        hook_version=version,
        problem=problem,
    )


def _pth_pattern() -> re.Pattern[str]:
    pattern = re.escape(_PTH)
    pattern = pattern.replace(re.escape("{seed}"), r"(?P<seed>\d{1,10})")
    return re.compile(pattern.replace(re.escape("{deterministic}"), "(?P<deterministic>True|False)"))


def _version(module: Optional[bytes]) -> Optional[int]:
    found = re.search(rb"^VERSION = (\d{1,6})$", module or b"", re.MULTILINE)
    return int(found[1]) if found else None


def _own(path: Path) -> Optional[bytes]:
    """The content of a file of the hook; None if there is none; an error if it is somebody else's."""
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise InstallError(
            "seed-file-unreadable",
            f"{path} cannot be read: {error.strerror or error}.",
            hint=f"Look at it: ls -ld {path}",
        ) from error
    first_line = content.partition(b"\n")[0]
    if content.strip() and _MARK.encode() not in first_line:
        raise InstallError(
            "seed-foreign-file",
            f"{path} was not written by tfenv, so it is left alone.",
            hint=f"If it is not needed, move it away (mv {path} {path}.old) and run the command again.",
        )
    return content


def _write(path: Path, content: bytes) -> None:
    # Not tempfile: its files are private to their owner, and other users run this environment too.
    fresh = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        fresh.write_bytes(content)
        fresh.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            fresh.unlink()
        raise


def _drop_bytecode(module: Path) -> None:
    for path in module.parent.glob(f"__pycache__/{module.stem}.*.pyc"):
        with contextlib.suppress(OSError):  # stale bytecode is found out by Python itself, or never read
            path.unlink()


def _not_writable(site_packages: Path, error: OSError) -> InstallError:
    if not site_packages.is_dir():
        return InstallError(
            "seed-no-directory",
            f"{site_packages} is not a directory, so the seed hook cannot go there.",
            hint="Name the environment's interpreter: tfenv seed on --python PATH",
        )
    return InstallError(
        "seed-not-writable",
        f"The seed hook cannot be written to {site_packages}: {error.strerror or error}.",
        hint="Run the command as the owner of the environment, or leave the hook out with --no-seed.",
    )
