"""The seed hook in an environment: three files in its site directory that belong to no distribution."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Optional

from tfenv.errors import InstallError
from tfenv.files import write_atomically
from tfenv.seeding.model import SEED_LIMIT, SeedState, check_seed

MODULES = ("_tfenv_seed.py", "_tfenv_seed_work.py")
PTH_NAME = "_tfenv_seed.pth"
#: No plan may touch these.
FILES = (*MODULES, PTH_NAME)

_MARK = "tfenv seed hook"
_SOURCES = Path(__file__).parent / "hook"
# The seed stands in the .pth file itself: one file less to read at each start, never stale. The first half is
# run by exec of its source: `import` takes 3 ms where bytecode is not kept (CPython's compile() builds all
# types of `ast` at its first call), exec below 1 ms everywhere. `sitedir` is a local of `site.addpackage`.
_PTH = (
    "# tfenv seed hook: `tfenv seed off` removes it, TFENV_SEED=off skips it for one run.\n"
    "import sys; '_tfenv_seed' in sys.modules or exec(\"try:\\n"
    " hook = type(sys)('_tfenv_seed'); hook.__file__ = sitedir + '/_tfenv_seed.py'\\n"
    " with open(hook.__file__, 'rb') as file: exec(file.read(), hook.__dict__)\\n"
    " hook.seed = {seed}; hook.deterministic = {deterministic}; hook.find_spec('')\\n"  # damaged: raises
    " sys.modules['_tfenv_seed'] = hook; sys.meta_path.insert(0, hook)\\n"
    " 'random' in sys.modules and hook.find_spec('random')\\n"
    'except Exception: pass")\n'
)


def seed_on(site_packages: Path, seed: int, deterministic: bool = False) -> SeedState:
    """Make every later interpreter of the environment start from ``seed``; writes only what differs.

    ``site_packages`` is the environment's directory for pure Python packages (``purelib``).

    Raises:
        UsageError: the seed is no whole number from 0 to 2**32 - 1.
        InstallError: a foreign file has one of the hook's names, or the directory cannot be written to; the
            directory is as it was.
    """
    check_seed(seed)
    pth = _PTH.format(seed=seed, deterministic=bool(deterministic)).encode("ascii")
    wanted = {**_modules(), PTH_NAME: pth}
    before = {name: _own(site_packages / name) for name in wanted}
    changed = [name for name, content in wanted.items() if before[name] != content]
    try:
        for name in changed:  # the .pth last: it names the modules
            _write(site_packages / name, wanted[name])
    except OSError as error:
        _restore(site_packages, {name: before[name] for name in changed})
        raise _not_writable(site_packages, error) from error
    return read_seed(site_packages)


def seed_off(site_packages: Path) -> SeedState:
    """Remove the hook; nothing happens where there is none.

    Raises:
        InstallError: a foreign file has one of the hook's names, or the directory cannot be written to; the
            directory is as it was.
    """
    before = {name: _own(site_packages / name) for name in reversed(FILES)}  # the .pth first
    found = {name: content for name, content in before.items() if content is not None}
    try:
        for name in found:
            (site_packages / name).unlink()
            _drop_bytecode(site_packages / name)
    except OSError as error:
        _restore(site_packages, found)
        raise _not_writable(site_packages, error) from error
    return read_seed(site_packages)


def read_seed(site_packages: Path) -> SeedState:
    """What the hook's files in ``site_packages`` say; damage and foreign files become the state's problem."""
    try:
        found = {name: _own(site_packages / name) for name in FILES}
    except InstallError as error:
        return SeedState(installed=False, problem=error.message)
    version = _version(found["_tfenv_seed.py"])
    missing = [name for name in FILES if found[name] is None]
    pth = found[PTH_NAME]
    if pth is None:
        problem = f"{PTH_NAME} is missing, so the hook does nothing." if len(missing) < len(FILES) else ""
        return SeedState(installed=False, hook_version=version, problem=problem)
    values = _pth_pattern().fullmatch(pth.decode("utf-8", "replace"))
    if values is None or int(values["seed"]) >= SEED_LIMIT:
        return SeedState(installed=True, hook_version=version, problem=f"{PTH_NAME} is damaged.")
    problem = ""
    if missing:
        problem = f"{' and '.join(missing)} missing, so the hook does nothing."
    elif {name: found[name] for name in MODULES} != _modules():
        problem = "The hook is not the one of this tfenv: another version wrote it, or it was edited."
    return SeedState(
        installed=True,
        seed=int(values["seed"]),
        deterministic=values["deterministic"] == "True",
        hook_version=version,
        problem=problem,
    )


def _modules() -> dict[str, bytes]:
    return {name: (_SOURCES / name).read_bytes() for name in MODULES}


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
    write_atomically(path, content)
    _drop_bytecode(path)


def _restore(site_packages: Path, before: Mapping[str, Optional[bytes]]) -> None:
    for name, content in before.items():
        with contextlib.suppress(OSError):  # what could not be written needs no undoing
            if content is None:
                (site_packages / name).unlink()
            else:
                _write(site_packages / name, content)


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
