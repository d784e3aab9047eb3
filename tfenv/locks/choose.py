"""Which lock: the newest that fits with the best evidence, or the one wished for, or why there is none."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Optional, Protocol

from tfenv.errors import UsageError
from tfenv.facts.model import Facts
from tfenv.facts.pythons import FoundPython
from tfenv.locks.fit import reasons_against
from tfenv.locks.model import EvidenceGrade, Lock, NoStack
from tfenv.locks.refusal import explain_none
from tfenv.targets.model import Target
from tfenv.versions import minor_of, version_key

_GRADES: dict[EvidenceGrade, int] = {"resolved": 0, "released": 1, "proven": 2}
_WISH = re.compile(r"[0-9]{1,3}\.[0-9]{1,3}(\.[0-9]{1,3})?")

#: Distributions that own the import folder ``tensorflow/``.
HOLDERS = ("tensorflow", "tensorflow-cpu", "tensorflow-macos", "tensorflow-intel", "tensorflow-cpu-aws")


class Stacks(Protocol):
    """A catalogue. What there is no lock for is read only for a refusal."""

    @property
    def locks(self) -> Sequence[Lock]:
        """Every lock."""

    @property
    def none(self) -> Sequence[NoStack]:
        """What policy says there is no lock for."""


def choose_lock(
    catalogue: Stacks,
    *,
    target: Target,
    facts: Facts,
    wish: Optional[str] = None,
    hosts: Callable[[], Sequence[FoundPython]] = tuple,
) -> Lock:
    """The lock for ``target``: ``wish`` is a TF minor ("2.18") or exact version ("2.18.1").

    Without a wish, a TensorFlow that is already installed keeps its version if a lock of it fits; else it
    is the newest lock with the best evidence. ``hosts`` is called only to compose the refusal.

    Raises:
        UsageError: ``wish`` is not a version.
        NoLockError: nothing fits; the message says why and the hint what would.
    """
    check_wish(wish)
    fitting = [lock for lock in catalogue.locks if not reasons_against(lock, target, facts)]
    if wish is not None:
        matching = [lock for lock in fitting if matches(lock, wish)]
    else:
        offered = [lock for lock in fitting if not lock.on_wish]
        matching = _of_installed(offered, facts) or offered
    if not matching:
        raise explain_none(
            catalogue.locks, catalogue.none, target=target, facts=facts, wish=wish, hosts=hosts
        )
    return max(matching, key=preference)


def check_wish(wish: Optional[str]) -> None:
    """Refuse a wish that is no TF version.

    Raises:
        UsageError: it is not of the form "2.18" or "2.18.1".
    """
    if wish is not None and not _WISH.fullmatch(wish):
        raise UsageError(
            "bad-version",
            f"{wish!r} is not a TensorFlow version.",
            hint="Give a minor or an exact version, for example --tf 2.18 or --tf 2.18.1.",
        )


def matches(lock: Lock, wish: str) -> bool:
    """Whether ``lock`` is of the TF minor or exact version ``wish``."""
    return wish in (lock.minor, lock.tensorflow)


def preference(lock: Lock) -> tuple[int, tuple[int, ...]]:
    """Sort key: better evidence first, then the newer TensorFlow."""
    return _GRADES[lock.evidence], version_key(lock.tensorflow)


def installed_tensorflow(facts: Facts) -> Optional[str]:
    """The version of the TensorFlow that is installed, whichever distribution holds it."""
    for distribution in facts.packages.distributions.value or ():
        if distribution.name in HOLDERS:
            return distribution.version
    return None


def _of_installed(offered: Sequence[Lock], facts: Facts) -> list[Lock]:
    """The locks of the TensorFlow that is installed: its exact version, else its minor."""
    version = installed_tensorflow(facts)
    if version is None:
        return []
    exact = [lock for lock in offered if lock.tensorflow == version]
    minor = minor_of(version)
    return exact or [lock for lock in offered if lock.minor == minor]
