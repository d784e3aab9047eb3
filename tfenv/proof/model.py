"""What a proof is made of: measurements, judged checks, stages, and the report of a whole run."""

from __future__ import annotations

from typing import Literal, Optional, TypeVar

from tfenv.errors import UsageError
from tfenv.proof.key import Fingerprint
from tfenv.records import record

PROOF_VERSION = 1

Level = Literal["quick", "full", "long"]
#: ``auto``: whatever TensorFlow lists; ``cpu``: accelerators hidden; ``gpu``: no accelerator is a failure;
#: ``both``: one after the other, compared.
Device = Literal["auto", "cpu", "gpu", "both"]
LEVELS: tuple[Level, ...] = ("quick", "full", "long")
DEVICES: tuple[Device, ...] = ("auto", "cpu", "gpu", "both")
#: ``warn``: failed with one seed of three ("flaky"); ``unknown``: the proof itself was kept from running.
Verdict = Literal["pass", "fail", "warn", "unknown"]
StageVerdict = Literal["pass", "fail", "warn", "unknown", "skip"]


@record
class Rule:
    """How a measurement is to be judged, as the child states it."""

    kind: Literal["equal", "within", "band"]
    text: str = ""  # why a wrong result cannot look right
    low: Optional[float] = None  # within: what passes lies in [low, high]; None: open
    high: Optional[float] = None
    luck: bool = False  # whether a healthy stack may fail by bad luck, so that other seeds decide
    null_n: int = 0  # within: without learning, right answers are Binomial(null_n, null_p)
    null_p: float = 0.0


@record
class Measurement:
    """One number or text a stage observed."""

    id: str  # "S5.correct"
    title: str
    rule: Rule
    statistic: Optional[float] = None  # None: text, or a number that is not finite
    got: str
    expected: str = ""
    n: int = 1
    device: str = ""  # where the operations really ran, "GPU:0"
    seconds: float = 0.0


@record
class Check:
    """One judged measurement, with everything needed to doubt it."""

    id: str
    stage: str
    title: str
    passed: Optional[bool]  # None: there is nothing to compare with
    statistic: Optional[float]
    low: Optional[float]  # what passes lies in [low, high]; None: open
    high: Optional[float]
    chance: Optional[float]  # probability of passing without learning; None: the rule gives none
    luck: bool  # whether a healthy stack may fail by bad luck, so that other seeds decide
    rule: str
    n: int
    seed: int
    seconds: float
    device: str
    expected: str
    got: str


@record
class LossCurve:
    """The training loss of one task, step by step."""

    task: str
    losses: tuple[float, ...]


@record
class Digest:
    """The exact bits of the results of one task, shortened."""

    task: str
    value: str


@record
class StageError:
    """An exception that a stage ended in."""

    type: str
    message: str
    traceback: tuple[str, ...] = ()
    step: str = ""  # what was being done


@record
class Retry:
    """The same stage with another seed, after a failure."""

    seed: int
    passed: bool
    checks: tuple[Check, ...]


@record
class StageResult:
    """The outcome of one stage."""

    id: str
    title: str
    verdict: StageVerdict
    seconds: float = 0.0
    checks: tuple[Check, ...] = ()
    retries: tuple[Retry, ...] = ()
    losses: tuple[LossCurve, ...] = ()
    digests: tuple[Digest, ...] = ()
    error: Optional[StageError] = None


@record
class Stack:
    """What was proven, as it describes itself."""

    tensorflow: str
    keras: str
    keras_package: str  # "keras" or "tf_keras"
    numpy: str
    python: str
    devices: tuple[str, ...]  # all that TensorFlow lists
    devices_used: tuple[str, ...]
    import_seconds: float
    system: str = ""  # sys.platform there: "linux", "darwin"

    @property
    def accelerators(self) -> tuple[str, ...]:
        """The devices it computes on that are no CPU."""
        return tuple(name for name in self.devices_used if not name.startswith("CPU"))

    @property
    def is_metal(self) -> bool:
        """Whether it computes on the GPU of a Mac, which tensorflow-metal brings."""
        return self.system == "darwin" and bool(self.accelerators)


@record
class Crash:
    """Why the child ended before its end, or TensorFlow could not be used, in a person's words."""

    kind: str  # stable: "sigill", "hang", "out-of-memory", "tensorflow-missing", "numpy-abi", …
    title: str
    cause: str
    remedy: str
    status: str  # "signal 11 (SIGSEGV)", "exit 1"
    stage: str = ""
    step: str = ""
    conclusive: bool = True  # False: something outside ended the child, so nothing is known of the stack
    quotes: tuple[str, ...] = ()  # the lines of output that say it
    stacks: tuple[str, ...] = ()  # the child's Python stacks, innermost call first


@record
class ProofReport:
    """The outcome of one proof."""

    tfenv_proof_version: int = PROOF_VERSION
    verdict: Verdict
    level: Level
    device: Device
    seed: int
    seeds: tuple[int, ...]  # all that were used, the retries' included
    python: str
    stack: Optional[Stack]  # None: it did not get as far as telling
    stages: tuple[StageResult, ...]
    crash: Optional[Crash] = None
    more_crashes: tuple[Crash, ...] = ()  # those of the processes that went on after it, or ran beside it
    seconds: float = 0.0
    peak_memory: Optional[int] = None  # bytes; None: unknown
    fingerprint: Optional[Fingerprint] = None  # None: S9 did not run, or did not repeat
    fingerprint_before: Optional[Fingerprint] = None  # stored beside the environment, of the same key
    differential: Optional[Differential] = None  # with device "both", where there is an accelerator


@record
class Differential:
    """The proof of the accelerator beside that of the CPU."""

    outcome: Literal["agree", "differ", "accelerator-wrong", "cpu-wrong", "both-fail", "unknown"]
    sentence: str  # whose fault it is
    first: str = ""  # where they first differ, or both first fail
    cpu: ProofReport


def level_named(name: str) -> Level:
    """The level called ``name``; UsageError if there is none."""
    return _one_of("level", name, LEVELS)


def device_named(name: str) -> Device:
    """The device choice called ``name``; UsageError if there is none."""
    return _one_of("device", name, DEVICES)


_Choice = TypeVar("_Choice", bound=str)


def _one_of(what: str, name: str, choices: tuple[_Choice, ...]) -> _Choice:
    for choice in choices:
        if choice == name:
            return choice
    raise UsageError(
        f"bad-{what}", f"{name!r} is not a {what} of the proof.", hint=f"Choose one of: {', '.join(choices)}."
    )
