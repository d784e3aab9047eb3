"""A transaction leaves the old environment or the new one, never a third."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.wheels import make_wheel

from tfenv.errors import InstallError
from tfenv.facts.model import Distribution
from tfenv.install.journal import Journal
from tfenv.install.site import Site, site_of_venv
from tfenv.install.state import EnvState, read_state, write_state
from tfenv.install.transaction import Transaction, recover


def digest(site: Site) -> dict[str, str]:
    """Every file of the environment with its content, every folder, every link."""
    found = {}
    for path in sorted(site.prefix.rglob("*")):
        name = str(path.relative_to(site.prefix))
        if path.is_symlink():
            found[name] = f"-> {path.readlink()}"
        elif path.is_file():
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        else:
            found[name] = "folder"
    return found


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real venv with two wheels that share a folder, installed by real pip."""
    folder = tmp_path_factory.mktemp("template")
    subprocess.run([sys.executable, "-m", "venv", str(folder / "env")], check=True)
    made = site_of_venv(folder / "env")
    assert made is not None
    wheels = folder / "wheels"
    wheels.mkdir()
    make_wheel(wheels, "alpha", "1.0", {"shared/a.py": "A = 1\n", "alpha.py": "X = 1\n"})
    make_wheel(wheels, "beta", "1.0", {"shared/b.py": "B = 1\n"})
    command = [str(made.python), "-m", "pip", "install", "-q", "--no-index", "--find-links", str(wheels)]
    subprocess.run([*command, "alpha", "beta"], check=True)
    return folder / "env"


@pytest.fixture
def site(template: Path, tmp_path: Path) -> Site:
    """A copy of the template: nothing in it is run, so its old paths do not matter."""
    shutil.copytree(template, tmp_path / "env", symlinks=True)
    made = site_of_venv(tmp_path / "env")
    assert made is not None
    return made


def distribution(site: Site, name: str, version: str = "1.0") -> Distribution:
    return Distribution(name=name, version=version, location=str(site.purelib))


def test_without_commit_everything_comes_back(site: Site) -> None:
    before = digest(site)
    with Transaction(site) as transaction:
        transaction.set_aside([distribution(site, "alpha")])
        assert not (site.purelib / "alpha.py").exists()
        assert (site.purelib / "shared" / "b.py").exists()
        (site.purelib / "new" / "deep").mkdir(parents=True)
        (site.purelib / "new" / "deep" / "file.py").write_text("")
        (site.scripts / "tool").write_text("")
        (site.prefix / "share").mkdir()
        (site.prefix / "share" / "page").write_text("")
    assert digest(site) == before


@pytest.mark.parametrize(
    "error", [pytest.param(RuntimeError, id="error"), pytest.param(KeyboardInterrupt, id="ctrl-c")]
)
def test_an_exception_restores_and_goes_on(site: Site, error: type[BaseException]) -> None:
    before = digest(site)
    with pytest.raises(error), Transaction(site) as transaction:  # noqa: PT012
        transaction.set_aside([distribution(site, "alpha"), distribution(site, "beta")])
        assert not (site.purelib / "shared").exists()
        raise error
    assert digest(site) == before


def test_commit_keeps_the_new_state_and_no_trash(site: Site) -> None:
    with Transaction(site) as transaction:
        transaction.set_aside([distribution(site, "alpha")])
        (site.purelib / "alpha.py").write_text("X = 2\n")
        transaction.commit()
    assert (site.purelib / "alpha.py").read_text() == "X = 2\n"
    assert not (site.folder / "trash").exists()
    assert not list(site.purelib.glob("alpha-1.0.dist-info"))


def test_an_emptied_folder_does_not_stay_importable(site: Site) -> None:
    with Transaction(site) as transaction:
        transaction.set_aside([distribution(site, "alpha"), distribution(site, "beta")])
        transaction.commit()
    assert not (site.purelib / "shared").exists()


def test_a_record_that_points_outside_is_not_followed(site: Site, tmp_path: Path) -> None:
    precious = tmp_path / "precious.txt"
    precious.write_text("mine")
    record = site.purelib / "alpha-1.0.dist-info" / "RECORD"
    upwards = "../" * len(site.purelib.parts)
    record.write_text(record.read_text() + f"{upwards}{str(precious)[1:]},,\n{precious},,\n")
    with Transaction(site) as transaction:
        transaction.set_aside([distribution(site, "alpha")])
        transaction.commit()
    assert precious.read_text() == "mine"


def test_a_distribution_without_a_record_is_refused(site: Site) -> None:
    (site.purelib / "alpha-1.0.dist-info" / "RECORD").unlink()
    before = digest(site)
    with pytest.raises(InstallError) as caught, Transaction(site) as transaction:
        transaction.set_aside([distribution(site, "alpha")])
    assert caught.value.code == "no-record"
    assert digest(site) == before


KILLED = """
import os, pathlib, signal, sys
from tfenv.facts.model import Distribution
from tfenv.install.site import site_of_venv
from tfenv.install.state import EnvState, write_state
from tfenv.install.transaction import Transaction
site = site_of_venv(pathlib.Path(sys.argv[1]))
stage = sys.argv[2]
transaction = Transaction(site).__enter__()
alpha = Distribution(name="alpha", version="1.0", location=str(site.purelib))
if stage != "begun":
    transaction.set_aside([alpha])
    (site.purelib / "alpha.py").write_text("X = 2")
    write_state(site.folder, EnvState(tfenv="9", owned=True, lock="new", distributions={}))
if stage == "deciding":
    (site.folder / "trash").rename(site.folder / "trash.done")
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL")
@pytest.mark.parametrize(
    ("stage", "restored"),
    [
        pytest.param("begun", True, id="before-anything-moved"),
        pytest.param("moved", True, id="in-the-middle"),
        pytest.param("deciding", False, id="after-the-decision"),
    ],
)
def test_a_killed_run_is_put_right_by_the_next(site: Site, stage: str, restored: bool) -> None:
    write_state(site.folder, EnvState(tfenv="9", owned=True, lock="old", distributions={}))
    before = digest(site)
    done = subprocess.run([sys.executable, "-c", KILLED, str(site.prefix), stage], check=False)
    assert done.returncode == -signal.SIGKILL
    assert recover(site) is restored
    assert not (site.folder / "trash").exists()
    assert not (site.folder / "trash.done").exists()
    if restored:
        assert digest(site) == before
    else:
        assert (site.purelib / "alpha.py").read_text() == "X = 2"
        state = read_state(site.folder)
        assert state is not None
        assert state.lock == "new"


def test_a_forged_journal_moves_nothing_out(site: Site, tmp_path: Path) -> None:
    trash = site.folder / "trash"
    trash.mkdir(parents=True)
    journal = Journal(trash)
    journal.begin(str(path) for path in site.prefix.rglob("*"))
    (trash / "0").write_text("evil")
    journal.intend([("0", str(tmp_path / "outside.txt")), ("../state.json", str(site.purelib / "x.py"))])
    assert recover(site)
    assert not (tmp_path / "outside.txt").exists()
    assert not (site.purelib / "x.py").exists()
