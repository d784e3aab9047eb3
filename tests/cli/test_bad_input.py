"""Bad input: one line, a hint, the documented exit code, no traceback, and nothing changed."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from support.shelf import PYTHON, Ran, Shelf
from support.trees import tree

needs_root_powers = pytest.mark.skipif(
    os.name == "nt" or os.geteuid() != 0, reason="mounts a small filesystem"
)


def refused(ran: Ran, code: int, error: str) -> dict[str, object]:
    """The one error of a run that was refused; whole document but for the words."""
    assert ran.code == code, ran
    assert "Traceback" not in ran.out + ran.err
    document = dict(ran.document)
    errors = document.pop("errors")
    assert isinstance(errors, list)
    assert document == {
        "tfenv_result_version": 1,
        "command": document["command"],
        "status": "error",
        "exit_code": code,
        "data": {},
        "findings": [],
    }
    (only,) = errors
    assert only["code"] == error
    assert only["message"]
    assert "\n" not in only["message"]
    assert only["hint"]
    return dict(only)


@pytest.fixture
def filled(shelf: Shelf, filled_template: Path) -> Path:
    """An environment with TF 2.98 in it; the lock of 2.99 is there for the wish that goes wrong."""
    shelf.add_lock("2.98.0")
    shelf.add_lock("2.99.0")
    venv = shelf.folder / "env"
    shutil.copytree(filled_template, venv, symlinks=True)
    return venv


WISH = ("--smoke", "none", "--tf", "2.99", "--json")


@pytest.mark.parametrize(
    ("wish", "code", "error", "words"),
    [
        pytest.param("2.77", 5, "no-lock", "is not in the catalogue", id="unknown-minor"),
        pytest.param("2.99.5", 5, "no-lock", "which holds 2.99.0", id="unknown-patch"),
        pytest.param("banana", 2, "bad-version", "not a TensorFlow version", id="no-version"),
        pytest.param("2.99; rm -rf /", 2, "bad-version", "not a TensorFlow version", id="hostile"),
    ],
)
def test_a_version_that_is_not_there(shelf: Shelf, wish: str, code: int, error: str, words: str) -> None:
    shelf.add_lock("2.99.0")
    venv = shelf.folder / "env"
    only = refused(shelf.tfenv("bootstrap", "--venv", str(venv), "--tf", wish, "--json"), code, error)
    assert words in str(only["message"])
    assert not venv.exists()


def test_a_version_of_another_python_names_who_could_host_it(shelf: Shelf) -> None:
    shelf.add_lock("2.99.0", python="3.8")
    shelf.add_lock("2.98.0")
    venv = shelf.folder / "env"
    ran = shelf.tfenv("bootstrap", "--venv", str(venv), "--python", sys.executable, "--tf", "2.99", "--json")
    only = refused(ran, 5, "no-lock")
    assert only["message"] == (
        f"linux-x86_64-cpu has no lock of TensorFlow 2.99 for Python {PYTHON}; "
        "there are locks for Python 3.8."
    )
    assert "tfenv bootstrap --tf 2.98" in str(only["hint"])


def test_an_unreadable_lock_is_no_lock(shelf: Shelf) -> None:
    lock = shelf.add_lock("2.99.0")
    (shelf.catalogue / f"{lock.id}.txt").write_bytes(b"\x00\xff--index-url evil\n")
    ran = shelf.tfenv("bootstrap", "--venv", str(shelf.folder / "env"), "--tf", "2.99", "--json")
    refused(ran, 5, "no-lock")
    listed = shelf.tfenv("locks", "list", "--json")
    data = listed.document["data"]
    assert isinstance(data, dict)
    assert [entry["id"] for entry in data["unreadable"]] == [lock.id]


@pytest.mark.parametrize("engine", ["uv", "pip"])
def test_a_tampered_lock_installs_nothing(shelf: Shelf, filled: Path, engine: str) -> None:
    lock = shelf.catalogue / f"linux-x86_64-cpu/tf2.99-py{PYTHON.replace('.', '')}.txt"
    lines = lock.read_text().splitlines(keepends=True)
    last = max(index for index, line in enumerate(lines) if "--hash=sha256:" in line)
    lines[last] = "    --hash=sha256:" + "0" * 64 + "\n"
    lock.write_text("".join(lines))
    before = tree(filled)
    ran = shelf.tfenv("bootstrap", "--venv", str(filled), "--engine", engine, *WISH)
    refused(ran, 4, "hash-mismatch")
    assert tree(filled) == before


@pytest.mark.parametrize("engine", ["uv", "pip"])
def test_a_missing_file_installs_nothing(shelf: Shelf, filled: Path, engine: str) -> None:
    next(shelf.wheels.glob("companion-2.99.0*")).unlink()
    before = tree(filled)
    ran = shelf.tfenv("bootstrap", "--venv", str(filled), "--engine", engine, *WISH)
    refused(ran, 4, "missing-file")
    assert tree(filled) == before


@pytest.mark.parametrize("engine", ["uv", "pip"])
def test_no_network_installs_nothing(shelf: Shelf, filled: Path, engine: str) -> None:
    before = tree(filled)
    # Port 9 (discard) of this machine: nothing listens there.
    dead = "http://user:s3cret@127.0.0.1:9/simple"
    network = {
        "PIP_NO_INDEX": "0",
        "PIP_FIND_LINKS": "",
        "PIP_INDEX_URL": dead,
        "PIP_RETRIES": "1",
        "PIP_TIMEOUT": "2",
        "UV_NO_INDEX": "0",
        "UV_OFFLINE": "0",
        "UV_FIND_LINKS": "",
        "UV_DEFAULT_INDEX": dead,
        "UV_CACHE_DIR": str(shelf.folder / "cold-cache"),
    }
    ran = shelf.tfenv("bootstrap", "--venv", str(filled), "--engine", engine, *WISH, **network)
    only = refused(ran, 4, "no-network")
    assert "s3cret" not in ran.out + ran.err
    assert "PyPI" in str(only["message"])
    assert tree(filled) == before


def test_a_new_environment_that_failed_is_not_left_behind(shelf: Shelf) -> None:
    shelf.add_lock("2.99.0")
    shutil.rmtree(shelf.wheels)
    venv = shelf.folder / "env"
    ran = shelf.tfenv("bootstrap", "--venv", str(venv), *WISH)
    assert ran.code == 4
    assert not venv.exists()


def fill(path: Path) -> None:
    """Write until the disk is full."""
    with contextlib.suppress(OSError), path.open("wb", buffering=0) as stream:
        while True:
            stream.write(b"\0" * 65536)


@needs_root_powers
def test_a_full_disk_leaves_the_environment_as_it_was(shelf: Shelf) -> None:
    small = shelf.folder / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48m", "tmpfs", str(small)], check=False)
    if mounted.returncode != 0:
        pytest.skip("this machine does not let tests mount a filesystem")
    try:
        shelf.add_lock("2.98.0")
        venv = small / "env"
        assert shelf.tfenv("bootstrap", "--venv", str(venv), "--smoke", "none").code == 0
        shelf.add_lock("2.99.0")
        before = tree(venv)
        fill(small / "filler")
        ran = shelf.tfenv("bootstrap", "--venv", str(venv), *WISH)
        refused(ran, 4, "disk-full")
        assert tree(venv) == before
    finally:
        subprocess.run(["umount", str(small)], check=True)


@needs_root_powers
def test_a_read_only_environment_is_refused(shelf: Shelf, filled: Path) -> None:
    bound = subprocess.run(["mount", "--bind", str(filled), str(filled)], check=False)
    if bound.returncode != 0:
        pytest.skip("this machine does not let tests mount a filesystem")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", str(filled)], check=True)
        before = tree(filled)
        refused(shelf.tfenv("bootstrap", "--venv", str(filled), *WISH), 4, "read-only")
        assert tree(filled) == before
    finally:
        subprocess.run(["umount", str(filled)], check=True)


@pytest.mark.parametrize("kind", ["file", "full-folder"])
def test_a_directory_that_is_not_a_venv(shelf: Shelf, kind: str) -> None:
    shelf.add_lock("2.99.0")
    place = shelf.folder / "place"
    if kind == "file":
        place.write_text("mine")
    else:
        place.mkdir()
        (place / "thesis.txt").write_text("mine")
    before = tree(shelf.folder)
    refused(shelf.tfenv("bootstrap", "--venv", str(place), "--json"), 2, "not-a-venv")
    assert tree(shelf.folder) == before


def test_an_interpreter_that_is_not_python(shelf: Shelf) -> None:
    shelf.add_lock("2.99.0")
    refused(shelf.tfenv("bootstrap", "--python", "/bin/ls", "--json"), 2, "not-a-python")


def test_an_interpreter_that_is_not_there(shelf: Shelf) -> None:
    shelf.add_lock("2.99.0")
    refused(shelf.tfenv("bootstrap", "--python", "/no/such/python", "--json"), 2, "no-such-python")


def test_no_pip_and_no_uv(shelf: Shelf, blank_venv: Path) -> None:
    """tfenv itself runs from an environment without pip here, as under uvx."""
    shelf.add_lock("2.99.0")
    venv = shelf.folder / "env"
    shutil.copytree(blank_venv, venv, symlinks=True)
    own = shelf.folder / "own"
    shutil.copytree(blank_venv, own, symlinks=True)
    site = next(own.glob("lib/*/site-packages"))
    import tfenv

    paths = [str(Path(tfenv.__file__).parents[1])]
    # Everything that tfenv needs of this environment, without its pip.
    for installed in (Path(entry) for entry in sys.path if entry.endswith("site-packages")):
        for item in installed.iterdir():
            if not item.name.startswith(("pip", "_tfenv_seed")) and not (site / item.name).exists():
                (site / item.name).symlink_to(item)
    (site / "tfenv-tests.pth").write_text("\n".join(paths) + "\n")
    done = subprocess.run(
        [str(own / "bin" / "python"), "-m", "tfenv", "bootstrap", "--python", str(venv / "bin" / "python"),
         "--engine", "pip", "--smoke", "none", "--json"],
        env=shelf.environ(PATH="/nonexistent"), capture_output=True, text=True, check=False,
    )  # fmt: skip
    ran = Ran(code=done.returncode, out=done.stdout, err=done.stderr)
    refused(ran, 4, "no-pip")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        pytest.param(["bootstrap", "--nonsense"], "usage", id="unknown-option"),
        pytest.param(["bootstrap", "--smoke", "hard"], "bad-smoke", id="bad-level"),
        pytest.param(["bootstrap", "--engine", "conda"], "bad-engine", id="bad-engine"),
        pytest.param(["bootstrap", "--seed", "-1"], "bad-seed", id="bad-seed"),
        pytest.param(["bootstrap", "--target", "amiga"], "unknown-target", id="bad-target"),
        pytest.param(["doctor", "--facts", "/no/such/file"], "bad-facts", id="no-facts-file"),
        pytest.param(["doctor", "--only", "XYZ999"], "unknown-check", id="no-such-check"),
        pytest.param(["locks", "show", "../../etc/passwd"], "no-such-lock", id="traversal"),
        pytest.param(["init", "perl"], "unknown-template", id="no-such-template"),
        pytest.param(["status"], "not-bootstrapped", id="status-of-nothing"),
        pytest.param(["smoke", "--level", "hard"], "bad-level", id="bad-proof-level"),
    ],
)
def test_wrong_usage_is_exit_2(shelf: Shelf, arguments: list[str], error: str) -> None:
    shelf.add_lock("2.99.0")
    refused(shelf.tfenv(*arguments, "--json"), 2, error)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("tf = [", "cannot be read", id="not-toml"),
        pytest.param("tff = '2.99'", "unknown setting: tff", id="unknown-name"),
        pytest.param("seed = 'many'", "seed must be a whole number", id="wrong-type"),
    ],
)
def test_a_bad_settings_file_is_named(shelf: Shelf, text: str, words: str) -> None:
    shelf.add_lock("2.99.0")
    (shelf.home / "tfenv.toml").write_text(text)
    ran = shelf.tfenv("bootstrap", "--json")
    assert ran.code == 2
    assert words in str(ran.document["errors"])


def test_without_json_an_error_is_two_lines_on_stderr(shelf: Shelf) -> None:
    shelf.add_lock("2.99.0")
    ran = shelf.tfenv("bootstrap", "--venv", str(shelf.folder / "env"), "--tf", "2.77")
    assert (ran.code, ran.out) == (5, "")
    assert ran.err.splitlines() == [
        "✗ TensorFlow 2.77 is not in the catalogue for linux-x86_64-cpu, which holds 2.99.0.",
        "  The nearest that fits here is TensorFlow 2.99.0: tfenv bootstrap --tf 2.99.",
    ]


def test_a_file_with_wrong_permissions_is_no_interpreter(shelf: Shelf) -> None:
    shelf.add_lock("2.99.0")
    script = shelf.folder / "python"
    script.write_text("#!/bin/sh\nexit 3\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    refused(shelf.tfenv("bootstrap", "--python", str(script), "--json"), 2, "not-a-python")
