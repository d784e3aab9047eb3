"""The hook's files: written, read, replaced and removed as a whole, and nobody else's file is touched."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from tfenv.errors import InstallError, UsageError
from tfenv.seeding.install import FILES, PTH_NAME, read_seed, seed_off, seed_on
from tfenv.seeding.model import SeedState

ON = SeedState(installed=True, seed=42, deterministic=False, hook_version=1)
OFF = SeedState(installed=False)


def files(site: Path) -> Mapping[str, bytes]:
    return {path.name: path.read_bytes() for path in site.iterdir() if path.is_file()}


def test_on_off_and_reading(tmp_path: Path) -> None:
    assert read_seed(tmp_path) == OFF
    assert seed_on(tmp_path, 42) == ON == read_seed(tmp_path)
    assert sorted(files(tmp_path)) == sorted(FILES)
    assert seed_on(tmp_path, 2**32 - 1, deterministic=True) == SeedState(
        installed=True, seed=2**32 - 1, deterministic=True, hook_version=1
    )
    assert seed_off(tmp_path) == OFF == read_seed(tmp_path)
    assert seed_off(tmp_path) == OFF
    assert list(tmp_path.iterdir()) == []


def test_same_content_is_not_written_again(tmp_path: Path) -> None:
    seed_on(tmp_path, 42)
    before = {name: (tmp_path / name).stat() for name in FILES}
    seed_on(tmp_path, 42)
    assert {name: (tmp_path / name).stat().st_ino for name in FILES} == {
        n: s.st_ino for n, s in before.items()
    }
    seed_on(tmp_path, 43)
    changed = [name for name in FILES if (tmp_path / name).stat().st_ino != before[name].st_ino]
    assert changed == [PTH_NAME]


def test_other_users_can_read_it(tmp_path: Path) -> None:
    script = "import os, sys; from pathlib import Path; from tfenv.seeding.install import seed_on\n"
    script += "os.umask(0o022); seed_on(Path(sys.argv[1]), 1)"
    subprocess.run([sys.executable, "-c", script, tmp_path], check=True)
    assert {oct((tmp_path / name).stat().st_mode & 0o777) for name in FILES} == {"0o644"}


@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(-1, id="negative"),
        pytest.param(2**32, id="too-large"),
        pytest.param(True, id="bool"),
        pytest.param(1.0, id="float"),
        pytest.param("7", id="text"),
        pytest.param(None, id="none"),
    ],
)
def test_bad_seed(tmp_path: Path, seed: object) -> None:
    with pytest.raises(UsageError) as caught:
        seed_on(tmp_path, seed)  # type: ignore[arg-type]
    assert caught.value.message == f"The seed must be a whole number from 0 to 4294967295, not {seed!r}."
    assert files(tmp_path) == {}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    "act", [pytest.param(lambda p: seed_on(p, 1), id="on"), pytest.param(seed_off, id="off")]
)
def test_foreign_file_is_left_alone(tmp_path: Path, name: str, act: object) -> None:
    (tmp_path / name).write_text("print('mine')\n")
    with pytest.raises(InstallError) as caught:
        act(tmp_path)  # type: ignore[operator]
    assert (caught.value.code, caught.value.exit_code) == ("seed-foreign-file", 4)
    assert files(tmp_path) == {name: b"print('mine')\n"}
    state = read_seed(tmp_path)
    assert state == SeedState(
        installed=False, problem=f"{tmp_path / name} was not written by tfenv, so it is left alone."
    )


@pytest.mark.parametrize(
    ("edit", "state"),
    [
        pytest.param(
            {PTH_NAME: None},
            SeedState(
                installed=False, hook_version=1, problem=f"{PTH_NAME} is missing, so the hook does nothing."
            ),
            id="pth-lost",
        ),
        pytest.param(
            {"_tfenv_seed_work.py": None},
            SeedState(
                installed=True,
                seed=42,
                hook_version=1,
                problem="_tfenv_seed_work.py missing, so the hook does nothing.",
            ),
            id="module-lost",
        ),
        pytest.param(
            {PTH_NAME: b"# tfenv seed hook\nimport sys; raise SystemExit"},
            SeedState(installed=True, hook_version=1, problem=f"{PTH_NAME} is damaged."),
            id="pth-edited",
        ),
        pytest.param(
            {PTH_NAME: b""},
            SeedState(installed=True, hook_version=1, problem=f"{PTH_NAME} is damaged."),
            id="pth-empty",
        ),
        pytest.param(
            {PTH_NAME: b"# tfenv seed hook\n\xff\xfe\x00" * 1000},
            SeedState(installed=True, hook_version=1, problem=f"{PTH_NAME} is damaged."),
            id="pth-binary",
        ),
        pytest.param(
            {"_tfenv_seed.py": b'"""tfenv seed hook"""\nVERSION = 0\n'},
            SeedState(
                installed=True,
                seed=42,
                hook_version=0,
                problem="The hook is not the one of this tfenv: another version wrote it, or it was edited.",
            ),
            id="other-version",
        ),
    ],
)
def test_damage_is_told_and_mended(
    tmp_path: Path, edit: Mapping[str, bytes | None], state: SeedState
) -> None:
    seed_on(tmp_path, 42)
    for name, content in edit.items():
        if content is None:
            (tmp_path / name).unlink()
        else:
            (tmp_path / name).write_bytes(content)
    assert read_seed(tmp_path) == state
    assert seed_on(tmp_path, 42) == ON
    assert seed_off(tmp_path) == OFF


def test_no_such_directory(tmp_path: Path) -> None:
    with pytest.raises(InstallError) as caught:
        seed_on(tmp_path / "none", 1)
    assert caught.value.code == "seed-no-directory"
    (tmp_path / "file").touch()
    with pytest.raises(InstallError) as caught:
        seed_on(tmp_path / "file", 1)
    assert caught.value.code == "seed-no-directory"
    assert read_seed(tmp_path / "none") == read_seed(tmp_path / "file") == OFF


AS_NOBODY = """
import os, sys
from pathlib import Path
from tfenv.errors import InstallError
from tfenv.seeding import install
site = Path(sys.argv[1])
if os.getuid() == 0:
    os.setuid(65534)  # root may write everywhere
try:
    print(getattr(install, sys.argv[2])(site, *map(int, sys.argv[3:])))
except InstallError as error:
    print(error.code, error.message, sep="|")
"""


def seen_by_nobody(path: Path) -> bool:
    return os.name == "posix" and all(parent.stat().st_mode & 0o001 for parent in path.resolve().parents)


@pytest.mark.skipif(not seen_by_nobody(Path(__file__)), reason="the checkout is private to its owner")
def test_read_only_directory_stays_as_it_is() -> None:
    with tempfile.TemporaryDirectory() as folder:  # pytest's own folders are private to their owner
        Path(folder).chmod(0o755)
        refuse_to_write(Path(folder) / "site")


def refuse_to_write(site: Path) -> None:
    site.mkdir()
    seed_on(site, 42)
    before = files(site)
    site.chmod(0o555)

    def attempt(*arguments: str) -> str:
        command = [sys.executable, "-c", AS_NOBODY, str(site), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    refused = f"seed-not-writable|The seed hook cannot be written to {site}: Permission denied."
    assert attempt("seed_on", "43") == refused
    assert attempt("seed_off") == refused
    assert attempt("seed_on", "42") == str(ON)  # nothing to write
    assert files(site) == before
    site.chmod(0o755)


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from tfenv.errors import InstallError
from tfenv.seeding.install import seed_on
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
try:
    seed_on(Path(sys.argv[1]), 43)
except InstallError as error:
    print(error.code, error.message, sep="|")
"""


@pytest.mark.skipif(os.name == "nt", reason="limits of POSIX")
@pytest.mark.parametrize("installed", [pytest.param(True, id="over-a-hook"), pytest.param(False, id="fresh")])
@pytest.mark.parametrize("limit", [pytest.param(10, id="first-file"), pytest.param(2500, id="a-later-file")])
def test_full_disk_leaves_all_as_it_was(tmp_path: Path, installed: bool, limit: int) -> None:
    if installed:
        seed_on(tmp_path, 42)
        for name in FILES:  # as another version of the hook, so that each file must be written
            (tmp_path / name).write_bytes(b"# tfenv seed hook, older\n")
    before = files(tmp_path)
    command = [sys.executable, "-c", FULL_DISK, str(tmp_path), str(limit)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    assert said == f"seed-not-writable|The seed hook cannot be written to {tmp_path}: File too large."
    assert files(tmp_path) == before


def test_bytecode_of_an_older_hook_goes(tmp_path: Path) -> None:
    cache = tmp_path / "__pycache__"
    cache.mkdir()
    for name in ("_tfenv_seed_work.cpython-311.pyc", "other.cpython-311.pyc"):
        (cache / name).touch()
    seed_on(tmp_path, 42)
    assert [path.name for path in cache.iterdir()] == ["other.cpython-311.pyc"]
