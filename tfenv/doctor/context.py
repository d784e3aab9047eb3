"""Everything that the checks may look at, gathered before the first of them runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Optional

from tfenv.doctor.commands import Commands, commands_for
from tfenv.doctor.executed import Executed
from tfenv.doctor.stack import Stack, read_stack
from tfenv.errors import NoLockError
from tfenv.facts.model import Facts
from tfenv.install.markers import marker_environment
from tfenv.install.state import EnvState
from tfenv.locks.choose import Stacks, choose_lock
from tfenv.locks.fit import python_minor
from tfenv.locks.model import Lock
from tfenv.records import record
from tfenv.result import ErrorInfo, Remedy
from tfenv.targets.choose import choose_target
from tfenv.targets.model import Target
from tfenv.versions import minor_of


@record
class Context:
    """One machine and interpreter, the catalogue, and what an import and a proof showed, if they ran."""

    facts: Facts
    catalogue: Stacks
    target: Optional[Target]
    lock: Optional[Lock]  # what a bootstrap without wishes would choose
    refusal: Optional[ErrorInfo]  # why there is no target or no lock
    state: Optional[EnvState]  # None: not bootstrapped
    named: bool  # the interpreter was named by the user, so it need not be the activated one
    stack: Stack
    commands: Commands
    executed: Optional[Executed]  # None: nothing was run

    @property
    def locks(self) -> Sequence[Lock]:
        """Every lock of the catalogue."""
        return self.catalogue.locks

    @property
    def bootstrapped(self) -> Optional[EnvState]:
        """The state, if a lock was installed here."""
        return self.state if self.state is not None and self.state.lock else None

    @property
    def stock_notebook(self) -> bool:
        """Colab or Kaggle, whose images are what they are on purpose; also where nobody can tell."""
        host = self.facts.notebook.host
        return not host.known or host.value in ("colab", "colab-enterprise", "kaggle")

    @property
    def reference(self) -> Optional[Lock]:
        """The lock of exactly the installed TensorFlow: this target's and Python's if there is one."""
        tensorflow = self.stack.tensorflow
        python = python_minor(self.facts)
        of_version = [lock for lock in self.locks if tensorflow and lock.tensorflow == tensorflow.version]
        targets = (self.target.name, self.target.fallback) if self.target else ()
        here = [lock for lock in of_version if lock.target in targets]
        best = [lock for lock in here if lock.python == python] or here
        return min(best, key=lambda lock: targets.index(lock.target)) if best else None

    def variable(self, name: str) -> Optional[str]:
        """The value of an environment variable; None: not set, or not known."""
        return (self.facts.variables.value or {}).get(name)

    def repair(self, text: str, *requirements: str) -> Remedy:
        """How to get ``requirements``: from the lock where the environment has one, else one by one."""
        if self.bootstrapped is not None:
            wish = minor_of(self.bootstrapped.tensorflow)
            return Remedy(
                text="Put the locked versions back.", commands=(self.commands.bootstrap(tensorflow=wish),)
            )
        pinned = tuple(self._pinned(requirement) for requirement in requirements)
        return Remedy(text=text, commands=(self.commands.install(*pinned),))

    def _pinned(self, requirement: str) -> str:
        """``numpy<2`` as the version that the lock of this TensorFlow has."""
        from packaging.requirements import Requirement

        parsed = Requirement(requirement)
        reference = self.reference
        for pin in reference.pins if reference else ():
            if pin.name == parsed.name and parsed.specifier.contains(pin.version, prereleases=True):
                return f"{pin.name}=={pin.version}"
        return requirement


def prepare(
    facts: Facts,
    *,
    catalogue: Stacks,
    state: Optional[EnvState] = None,
    installer: Literal["uv", "pip"] = "pip",
    named: bool = False,
    executed: Optional[Executed] = None,
) -> Context:
    """The context of ``facts``; target and lock are chosen as ``tfenv bootstrap`` would.

    ``installer`` is what remedies are written for; ``named``: the user named the interpreter.
    """
    target: Optional[Target] = None
    lock: Optional[Lock] = None
    refusal: Optional[ErrorInfo] = None
    try:
        target = choose_target(facts)
        lock = choose_lock(catalogue, target=target, facts=facts)
    except NoLockError as error:
        refusal = ErrorInfo.of(error)
    near = [
        item
        for item in catalogue.locks
        if target is not None and item.target in (target.name, target.fallback)
    ]
    return Context(
        facts=facts,
        catalogue=catalogue,
        target=target,
        lock=lock,
        refusal=refusal,
        state=state,
        named=named,
        stack=read_stack(facts.packages.distributions.value or (), near, marker_environment(facts)),
        commands=commands_for(facts, installer),
        executed=executed,
    )
