"""The environment: kinds, PEP 668, ownership, what the shell has activated."""

from __future__ import annotations

from pathlib import Path

import pytest
from facts.fakes import FakeMachine, probe

from tfenv.facts.distributions import Inventory
from tfenv.facts.environment import environment_facts, externally_managed, kind, tfenv_owned, user_site
from tfenv.facts.model import EnvironmentFacts, known
from tfenv.install.state import EnvState, write_state

SITE = "/venv/lib/python3.11/site-packages"
MARKER = "/usr/lib/python3.11/EXTERNALLY-MANAGED"
SYSTEM = probe(prefix="/usr", base_prefix="/usr", purelib="/usr/local/lib/python3.11/dist-packages")


def test_a_plain_venv(tmp_path: Path) -> None:
    inventory = Inventory(
        installed=(), broken=(f"{SITE}/a.dist-info",), interrupted=(f"{SITE}/~b",), holders=(SITE,)
    )
    machine = FakeMachine(tmp_path, environ={"VIRTUAL_ENV": "/other"}, files={MARKER: ""})
    assert environment_facts(probe(), inventory, machine) == EnvironmentFacts(
        prefix=known("/venv", "sys.prefix"),
        kind=known("venv", "sys.prefix differs from sys.base_prefix"),
        externally_managed=known(None, "a virtual environment"),
        user_site=known(None, "site.ENABLE_USER_SITE is off"),
        site_packages=known((SITE,), "sys.path"),
        purelib=known(SITE, "sysconfig.get_path('purelib')"),
        tfenv_owned=known(False, f"{SITE}/.tfenv"),
        activated=known("/other", "VIRTUAL_ENV"),
        leftovers=known((f"{SITE}/~b", f"{SITE}/a.dist-info"), "sys.path"),
    )


@pytest.mark.parametrize(
    ("files", "prefix", "expected"),
    [
        pytest.param({}, "/usr", "system", id="system"),
        pytest.param({"/c/conda-meta/numpy-1-0.json": ""}, "/c", "conda", id="conda"),
        pytest.param({"/c/conda-meta/conda-24.1-py311.json": ""}, "/c", "conda-base", id="conda-base"),
        pytest.param(
            {"/c/conda-meta/conda-libmamba-solver-1-0.json": ""}, "/c", "conda", id="not-conda-itself"
        ),
    ],
)
def test_kind(tmp_path: Path, files: dict[str, str], prefix: str, expected: str) -> None:
    here = probe(prefix=prefix, base_prefix=prefix)
    assert kind(here, FakeMachine(tmp_path, files=files)).value == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "[externally-managed]\nError=To install, use\n apt install 100%\n\nError-de=Nein\n",
            "To install, use\napt install 100%",
            id="message",
        ),
        pytest.param("", "This environment is externally managed.", id="empty"),
        pytest.param("not an ini file", "This environment is externally managed.", id="nonsense"),
        pytest.param(
            "[externally-managed]\nError-de=Nein\n",
            "This environment is externally managed.",
            id="other-language",
        ),
    ],
)
def test_the_message_of_an_externally_managed_python(tmp_path: Path, text: str, expected: str) -> None:
    machine = FakeMachine(tmp_path, files={MARKER: text})
    assert externally_managed(SYSTEM, machine) == known(expected, MARKER)


def test_a_python_without_the_marker(tmp_path: Path) -> None:
    assert externally_managed(SYSTEM, FakeMachine(tmp_path)) == known(None, MARKER)


@pytest.mark.parametrize(
    ("owned", "expected"), [pytest.param(True, True, id="made"), pytest.param(False, False, id="adopted")]
)
def test_an_environment_that_tfenv_made(tmp_path: Path, owned: bool, expected: bool) -> None:
    machine = FakeMachine(tmp_path, files={f"{SITE}/x.py": ""})
    write_state(machine.path(f"{SITE}/.tfenv"), EnvState(tfenv="0.1", owned=owned, distributions={}))
    assert tfenv_owned(probe(), machine) == known(expected, f"{SITE}/.tfenv")


def test_a_damaged_state_owns_nothing(tmp_path: Path) -> None:
    machine = FakeMachine(tmp_path, files={f"{SITE}/.tfenv/state.json": '{"owned": true}'})
    assert tfenv_owned(probe(), machine) == known(False, f"{SITE}/.tfenv")


def test_the_user_site_counts_only_if_it_exists(tmp_path: Path) -> None:
    here = probe(user_site="/home/me/.local/lib/python3.11/site-packages")
    source = "site.getusersitepackages()"
    assert user_site(here, FakeMachine(tmp_path)) == known(None, source)
    machine = FakeMachine(tmp_path, files={"/home/me/.local/lib/python3.11/site-packages/x.py": ""})
    assert user_site(here, machine) == known(here.user_site, source)


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        pytest.param({"CONDA_PREFIX": "/c"}, known("/c", "CONDA_PREFIX"), id="conda"),
        pytest.param(
            {"CONDA_PREFIX": "/c", "VIRTUAL_ENV": "/v"}, known("/v", "VIRTUAL_ENV"), id="venv-in-conda"
        ),
        pytest.param({"VIRTUAL_ENV": ""}, known(None, "VIRTUAL_ENV, CONDA_PREFIX"), id="none"),
    ],
)
def test_activated(tmp_path: Path, environ: dict[str, str], expected: object) -> None:
    inventory = Inventory(installed=(), broken=(), interrupted=(), holders=())
    assert environment_facts(probe(), inventory, FakeMachine(tmp_path, environ=environ)).activated == expected
