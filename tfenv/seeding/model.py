"""What is known about the seed of an environment."""

from __future__ import annotations

from typing import Literal, Optional

from tfenv.errors import UsageError
from tfenv.records import record

#: Seeds are below this: the limit of NumPy's legacy generator and of PYTHONHASHSEED.
SEED_LIMIT = 2**32


@record
class SeedState:
    """What the files of the hook in one site directory say."""

    installed: bool
    seed: Optional[int] = None
    deterministic: bool = False
    #: Of the module beside the ``.pth`` file; None when there is none or it cannot be read.
    hook_version: Optional[int] = None
    #: Why the hook cannot work as it lies there, in one line; empty if nothing is wrong.
    problem: str = ""


@record
class Observation:
    """What the hook really did in one fresh interpreter of the environment."""

    loaded: bool
    file: str
    version: int
    #: Where the seed came from: the environment, a variable of the process, or "off" for skipped by it.
    source: Literal["installed", "TFENV_SEED", "call", "off", ""]
    seed: Optional[int] = None
    deterministic: bool
    determinism_on: bool
    seeded: tuple[str, ...]
    waiting: tuple[str, ...]
    #: The state of ``random`` is the one that this seed gives.
    random_seeded: bool
    #: The number in PYTHONHASHSEED; None if strings are hashed at random.
    hash_seed: Optional[int] = None
    problems: tuple[str, ...] = ()


@record
class SeedShow:
    """The seed state of an environment: what is installed, what a fresh interpreter did, what is wrong."""

    state: SeedState
    observed: Optional[Observation] = None
    #: One line; empty if the seed is off or works.
    problem: str = ""
    notes: tuple[str, ...] = ()


@record
class SeedReport:
    """What :func:`tfenv.seed_everything` did in this process."""

    seed: int
    #: Libraries seeded now.
    seeded: tuple[str, ...]
    #: Libraries that will be seeded when they are first imported.
    armed: tuple[str, ...]
    #: "armed" until TensorFlow is imported; "on" has been verified.
    determinism: Literal["off", "armed", "on"]
    #: The number in PYTHONHASHSEED; None if this process hashes strings at random, which no call can change.
    hash_seed: Optional[int] = None


def check_seed(seed: object) -> int:
    """``seed`` itself if it is a whole number from 0 to 2**32 - 1.

    Raises:
        UsageError: it is anything else; numbers of NumPy and booleans are refused too.
    """
    if isinstance(seed, int) and not isinstance(seed, bool) and 0 <= seed < SEED_LIMIT:
        return seed
    raise UsageError(
        "bad-seed",
        f"The seed must be a whole number from 0 to {SEED_LIMIT - 1}, not {seed!r}.",
        hint="Take any number in that range, for example --seed 42.",
    )
