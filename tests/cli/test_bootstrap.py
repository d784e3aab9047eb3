"""``tfenv bootstrap`` over real installers and tiny wheels: plan, install, second run, change, removal."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.shelf import PYTHON, Shelf
from support.trees import tree
from support.wheels import make_wheel

ENGINES = [
    pytest.param("uv", id="uv", marks=pytest.mark.skipif(not shutil.which("uv"), reason="uv is not on PATH")),
    pytest.param("pip", id="pip"),
]


def versions(venv: Path) -> dict[str, str]:
    """What is installed, by the environment's own account."""
    code = (
        "import importlib.metadata as m\n"
        "print(*(d.metadata['Name'] + '==' + d.version for d in m.distributions()))"  # Python 3.9 has no name
    )
    out = subprocess.run(
        [str(venv / "bin" / "python"), "-c", code], capture_output=True, text=True, check=True
    ).stdout
    return dict(item.split("==") for item in out.split())


@pytest.mark.parametrize("engine", ENGINES)
def test_an_absent_venv_is_made_filled_and_remembered(shelf: Shelf, engine: str) -> None:
    lock = shelf.add_lock("2.99.0")
    venv = shelf.folder / "env"
    ran = shelf.tfenv("bootstrap", "--venv", str(venv), "--smoke", "none", "--engine", engine, "--json")
    assert (ran.code, ran.err) == (0, "")
    data = ran.document["data"]
    assert isinstance(data, dict)
    assert (data["made"], data["settled"], data["engine"], data["seed"]) == (True, False, engine, 42)
    assert data["lock"]["id"] == lock.id
    installed = versions(venv)
    assert installed.pop("pip")
    installed.pop("setuptools", None)
    assert installed == {"tensorflow-cpu": "2.99.0", "companion": "2.99.0"}
    status = shelf.tfenv("status", "--venv", str(venv), "--json")
    assert (status.code, status.document["status"]) == (0, "ok")


@pytest.fixture
def filled(shelf: Shelf, filled_template: Path) -> Path:
    """An environment of tfenv's own, with TF 2.98 in it."""
    shelf.add_lock("2.98.0")
    venv = shelf.folder / "env"
    shutil.copytree(filled_template, venv, symlinks=True)
    return venv


def test_a_second_run_does_nothing_and_needs_nothing(shelf: Shelf, filled: Path) -> None:
    arguments = ("bootstrap", "--venv", str(filled), "--smoke", "none")
    shutil.rmtree(shelf.wheels)
    before = tree(shelf.folder / "env")
    ran = shelf.tfenv(*arguments, "--json")
    assert ran.code == 0
    data = ran.document["data"]
    assert isinstance(data, dict)
    assert data["settled"] is True
    assert tree(shelf.folder / "env") == before


def test_a_wish_changes_an_environment_of_tfenvs_own(shelf: Shelf, filled: Path) -> None:
    shelf.add_lock("2.99.0")
    venv = filled
    assert versions(venv)["tensorflow-cpu"] == "2.98.0"
    ran = shelf.tfenv("bootstrap", "--venv", str(venv), "--smoke", "none", "--tf", "2.99", "--json")
    data = ran.document["data"]
    assert isinstance(data, dict)
    changes = [(step["name"], step["action"]) for step in data["plan"]["steps"] if step["action"] != "keep"]
    assert changes == [("companion", "change"), ("tensorflow-cpu", "change")]
    assert versions(venv)["tensorflow-cpu"] == "2.99.0"
    assert not list(venv.glob("lib/*/site-packages/.tfenv/trash*"))


def test_without_a_wish_the_environment_keeps_its_tensorflow(shelf: Shelf, filled: Path) -> None:
    venv = filled
    shelf.add_lock("2.99.0")  # a newer tfenv brings a newer lock
    assert shelf.tfenv("bootstrap", "--venv", str(venv), "--smoke", "none", "--seed", "7").code == 0
    assert versions(venv)["tensorflow-cpu"] == "2.98.0"


def test_what_is_not_locked_goes_from_tfenvs_own_environment(shelf: Shelf, filled: Path) -> None:
    venv = filled
    arguments = ("bootstrap", "--venv", str(venv), "--smoke", "none")
    make_wheel(shelf.wheels, "guest", "1.0")
    pip = [str(venv / "bin" / "python"), "-m", "pip", "install", "-q", "guest"]
    subprocess.run(pip, check=True, env=shelf.environ())
    status = shelf.tfenv("status", "--venv", str(venv), "--json")
    assert status.code == 3
    data = status.document["data"]
    assert isinstance(data, dict)
    assert data["differences"] == [{"kind": "extra", "name": "guest", "expected": "", "found": "1.0"}]
    assert shelf.tfenv(*arguments).code == 0
    assert "guest" not in versions(venv)


def test_a_shared_environment_keeps_everything_else(shelf: Shelf) -> None:
    shelf.add_lock("2.99.0")
    venv = shelf.folder / "env"
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    make_wheel(shelf.wheels, "guest", "1.0")
    make_wheel(shelf.wheels, "companion", "3.0")
    pip = [str(venv / "bin" / "python"), "-m", "pip", "install", "-q", "guest", "companion==3.0"]
    subprocess.run(pip, check=True, env=shelf.environ())
    ran = shelf.tfenv("bootstrap", "--venv", str(venv), "--smoke", "none", "--json")
    assert ran.code == 0
    installed = versions(venv)
    assert (installed["guest"], installed["companion"], installed["tensorflow-cpu"]) == (
        "1.0",
        "3.0",
        "2.99.0",
    )
    assert shelf.tfenv("status", "--venv", str(venv)).code == 0
    again = shelf.tfenv("bootstrap", "--venv", str(venv), "--smoke", "none", "--json").document["data"]
    assert isinstance(again, dict)
    assert again["settled"] is True


def test_a_dry_run_shows_the_plan_and_makes_nothing(shelf: Shelf) -> None:
    lock = shelf.add_lock("2.99.0")
    venv = shelf.folder / "env"
    ran = shelf.tfenv("bootstrap", "--venv", str(venv), "--dry-run", "--json")
    assert ran.code == 3
    assert not venv.exists()
    data = ran.document["data"]
    assert isinstance(data, dict)
    assert data["plan"] == {
        "lock": lock.id,
        "mode": "sync",
        "steps": [
            {
                "name": pin.name,
                "action": "install",
                "installed": None,
                "locked": "2.99.0",
                "reason": "",
                "size": pin.size,
            }
            for pin in lock.pins
        ],
        "breaks": [],
        "download": lock.size,
    }


def test_another_python_is_used_where_only_that_has_a_lock(shelf: Shelf) -> None:
    from tfenv.facts.pythons import find_interpreters

    others = [host for host in find_interpreters() if host.minor != PYTHON and host.version >= "3.9"]
    if not others:
        pytest.skip("there is only one Python on this machine")
    other = others[0]
    shelf.add_lock("2.99.0", python=other.minor)
    venv = shelf.folder / "env"
    # The pyenv of the machine is found through its variables, which a user's shell has too.
    ran = shelf.tfenv(
        "bootstrap", "--venv", str(venv), "--smoke", "none", "--json", PATH=str(Path(other.path).parent)
    )
    assert ran.code == 0, ran.out
    out = subprocess.run(
        [str(venv / "bin" / "python"), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert out.stdout.strip() == other.minor


@pytest.mark.parametrize("sent", ["SIGTERM", "SIGINT", "SIGKILL"])
def test_a_run_that_is_ended_leaves_the_old_or_the_new(shelf: Shelf, filled: Path, sent: str) -> None:
    shelf.add_lock("2.99.0")
    old = tree(filled)
    command = [sys.executable, "-m", "tfenv", "bootstrap", "--venv", str(filled), "--tf", "2.99"]
    process = subprocess.Popen(
        [*command, "--smoke", "none"], env=shelf.environ(), cwd=shelf.home, stderr=subprocess.DEVNULL
    )
    trash = next(filled.glob("lib/*/site-packages")) / ".tfenv" / "trash"
    while process.poll() is None and not trash.exists():
        time.sleep(0.001)
    process.send_signal(getattr(signal, sent))
    process.wait(timeout=60)
    if sent == "SIGKILL":
        # The next run puts things right before it does anything of its own.
        assert shelf.tfenv("bootstrap", "--venv", str(filled), "--tf", "2.98", "--smoke", "none").code == 0
        assert versions(filled)["tensorflow-cpu"] == "2.98.0"
        assert not trash.exists()
    elif process.returncode == 0:
        assert versions(filled)["tensorflow-cpu"] == "2.99.0"
    else:
        assert process.returncode == 130
        assert tree(filled) == old


def test_a_stack_that_does_not_prove_itself_is_undone(shelf: Shelf, filled: Path) -> None:
    """The TensorFlow of the shelf is a module of one line: it cannot learn anything."""
    shelf.add_lock("2.99.0")
    old = tree(filled)
    ran = shelf.tfenv("bootstrap", "--venv", str(filled), "--tf", "2.99", "--json")
    assert (ran.code, ran.document["status"]) == (6, "fail")
    data = ran.document["data"]
    assert isinstance(data, dict)
    assert (data["undone"], data["proof"]["verdict"]) == (True, "fail")
    assert ran.document["findings"]
    assert tree(filled) == old


def test_a_new_environment_that_does_not_prove_itself_goes(shelf: Shelf) -> None:
    shelf.add_lock("2.99.0")
    venv = shelf.folder / "env"
    venv.mkdir()
    ran = shelf.tfenv("bootstrap", "--venv", str(venv))
    assert ran.code == 6
    assert ran.out.splitlines()[-1] == (
        "✗ TensorFlow 2.99.0 did not prove itself here. The environment is as it was before."
    )
    assert list(venv.iterdir()) == []
