"""The environment that the target interpreter installs into."""

from __future__ import annotations

from tfenv.facts import conda
from tfenv.facts.distributions import Inventory
from tfenv.facts.interpreter import InterpreterProbe
from tfenv.facts.machine import Machine, exists, read_text, why
from tfenv.facts.model import EnvironmentFacts, Fact, known, unknown
from tfenv.paths import ENV_FOLDER

_NO_MESSAGE = "This environment is externally managed."


def environment_facts(probe: InterpreterProbe, inventory: Inventory, machine: Machine) -> EnvironmentFacts:
    """The facts about the environment."""
    return EnvironmentFacts(
        prefix=known(probe.prefix, "sys.prefix"),
        kind=kind(probe, machine),
        externally_managed=externally_managed(probe, machine),
        user_site=user_site(probe, machine),
        site_packages=known(inventory.holders, "sys.path"),
        purelib=known(probe.purelib, "sysconfig.get_path('purelib')"),
        tfenv_owned=tfenv_owned(probe, machine),
        activated=activated(machine),
        leftovers=known((*inventory.interrupted, *inventory.broken), "sys.path"),
    )


def kind(probe: InterpreterProbe, machine: Machine) -> Fact[str]:
    """ "venv", "conda", "conda-base" (it holds conda itself) or "system"."""
    if probe.prefix != probe.base_prefix:
        return known("venv", "sys.prefix differs from sys.base_prefix")
    folder = f"{probe.prefix}/{conda.FOLDER}"
    if not exists(machine.path(folder)):
        return known("system", f"no virtual environment, no {folder}")
    packages = conda.conda_packages(probe.prefix, machine)
    base = any(item.name == "conda" for item in packages.value or ())
    return known("conda-base" if base else "conda", folder)


def externally_managed(probe: InterpreterProbe, machine: Machine) -> Fact[str]:
    """The message of PEP 668's marker; ``None``: not marked, or a virtual environment, where none counts."""
    marker = f"{probe.stdlib}/EXTERNALLY-MANAGED"
    if probe.prefix != probe.base_prefix:
        return known(None, "a virtual environment")
    try:
        text = read_text(machine, marker)
    except (FileNotFoundError, NotADirectoryError):
        return known(None, marker)
    except OSError as error:
        return unknown(marker, why(error))
    import configparser  # lazily: few interpreters are marked

    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(text)
        message = parser.get("externally-managed", "Error", fallback="")
    except configparser.Error:
        message = ""  # PEP 668: the file marks, whatever it holds
    return known(message.strip() or _NO_MESSAGE, marker)


def user_site(probe: InterpreterProbe, machine: Machine) -> Fact[str]:
    """The user's own site-packages, if it is active and exists."""
    source = "site.getusersitepackages()"
    if probe.user_site is None:
        return known(None, "site.ENABLE_USER_SITE is off")
    return known(probe.user_site if exists(machine.path(probe.user_site)) else None, source)


def tfenv_owned(probe: InterpreterProbe, machine: Machine) -> Fact[bool]:
    """Whether tfenv created this environment, so that it may remove from it what no lock names."""
    folder = f"{probe.purelib}/{ENV_FOLDER}"
    if not exists(machine.path(folder)):
        return known(False, folder)
    from tfenv.install.state import read_state  # lazily: most environments have no state

    state = read_state(machine.path(folder))
    return known(state is not None and state.owned, folder)


def activated(machine: Machine) -> Fact[str]:
    """The environment that the shell has activated, which need not be the one that runs."""
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        if machine.environ.get(name):
            return known(machine.environ[name], name)
    return known(None, "VIRTUAL_ENV, CONDA_PREFIX")
