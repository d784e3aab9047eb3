"""Everything about the machine and the target interpreter, in one go."""

from __future__ import annotations

from pathlib import Path
from typing import Optional

from tfenv.facts import conda
from tfenv.facts.cpu import cpu_facts
from tfenv.facts.distributions import Inventory, duplicates, read_inventory
from tfenv.facts.environment import environment_facts
from tfenv.facts.gpus import other_gpu_facts
from tfenv.facts.interpreter import InterpreterProbe, python_facts, read_interpreter
from tfenv.facts.later import Later
from tfenv.facts.machine import LOCAL, Machine
from tfenv.facts.model import Facts, PackageFacts, known
from tfenv.facts.notebook import notebook_facts
from tfenv.facts.nvidia import nvidia_facts
from tfenv.facts.resources import resource_facts
from tfenv.facts.shadowing import shadowing
from tfenv.facts.shared import shared_folders
from tfenv.facts.system import system_facts
from tfenv.facts.variables import variables


def read_facts(target: Optional[Path], *, cwd: Path, machine: Machine = LOCAL) -> Facts:
    """The facts about ``machine`` and the interpreter ``target`` (``None``: the one that runs tfenv).

    ``cwd`` is the user's working folder. Nothing is imported, written or downloaded.

    Raises:
        UsageError: ``target`` is no interpreter that works, see ``probe_interpreter``.
    """
    probe = read_interpreter(target, machine=machine)
    return facts_of(probe, cwd=cwd, machine=machine)


def facts_of(probe: InterpreterProbe, *, cwd: Path, machine: Machine = LOCAL) -> Facts:
    """The facts about ``machine`` and the interpreter that gave ``probe``."""
    nvidia = Later(lambda: nvidia_facts(machine))  # it may wait for a driver
    inventory = read_inventory(probe.path, machine)
    packages = package_facts(probe, inventory, cwd, machine)
    return Facts(
        python=python_facts(probe, packages.distributions),
        system=system_facts(probe, machine),
        cpu=cpu_facts(machine),
        resources=resource_facts(probe, machine),
        other_gpus=other_gpu_facts(machine),
        notebook=notebook_facts(machine),
        environment=environment_facts(probe, inventory, machine),
        packages=packages,
        variables=variables(machine),
        nvidia=nvidia.result(),
    )


def package_facts(probe: InterpreterProbe, inventory: Inventory, cwd: Path, machine: Machine) -> PackageFacts:
    """The facts about what is installed."""
    source = "metadata folders on sys.path"
    installed = tuple(item.distribution for item in inventory.installed)
    by_conda = conda.conda_packages(probe.prefix, machine)
    recorded = by_conda.value or ()
    return PackageFacts(
        distributions=known(conda.with_conda(installed, recorded), source),
        shared_folders=known(shared_folders(inventory.installed), "RECORD files"),
        duplicates=known(duplicates(inventory.installed), source),
        conda_and_pip=known(conda.by_both(installed, recorded), by_conda.source),
        shadowing=shadowing(probe, cwd, machine),
    )
