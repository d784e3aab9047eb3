"""Why a child ended before its end: exit statuses, hangs and failed imports, decoded."""

from __future__ import annotations

import re
from typing import Optional

from tfenv.proof.cause import DISK_FULL, OUT_OF_MEMORY, REBUILD, Cause, is_disk_full
from tfenv.proof.exit_status import SIGILL, cause_of, describe, signal_of
from tfenv.proof.import_error import classify
from tfenv.proof.model import Crash
from tfenv.proof.protocol import ChildEvent, ChildOutcome

_NOT_PYTHON = Cause(
    kind="startup",
    title="the interpreter did not get as far as the proof's first line",
    cause="It is no Python 3.9 or newer, its standard library is damaged, or a start-up file "
    "(sitecustomize, a .pth file) ends or breaks it.",
    remedy="Try it by hand: PYTHON -c 'print(1)'.",
)
_TEARDOWN = Cause(
    kind="teardown",
    title="the interpreter crashed while it ended",
    cause="A library is torn down in the wrong order. Results are not affected; exit statuses are.",
    remedy=REBUILD,
)
_HANG = Cause(
    kind="hang",
    title="the proof hung",
    cause="It made no progress within its time limit. A traced function is compiled when it is first called: "
    "there graph optimizers and device plugins wait for ever, and a GPU may compile kernels for many "
    "minutes when the wheel has none for it. On a network file system an import may take that long.",
    remedy="The stack of the process shows where it waited. Hide the GPU to see whether that is it: "
    "tfenv smoke --device cpu. If that passes, take another driver, plugin or lock.",
)

#: Lines of the child's output worth showing: fatal checks, loaders, aborting runtimes.
_TELLING = re.compile(
    r": F |^F\d{4} |Check failed|terminate called|libc\+\+abi|what\(\):|Fatal |FATAL|LLVM ERROR"
    r"|pointer being freed|malloc\(|free\(\)|corrupted|stack smashing|[Ii]llegal instruction"
    r"|compiled to use .* instructions|CUDA_ERROR|[Oo]ut of memory|[Cc]annot allocate|No space left"
    r"|\w+Error: |_ARRAY_API|can't open file"
)
_MEMORY = re.compile(r"bad_alloc|MemoryError|[Cc]annot allocate memory|[Oo]ut of memory")
_NO_AVX = re.compile(r"compiled to use .* instructions")
#: A proof writes less than this. With less left any end of the child says nothing about the stack: HDF5, for
#: one, dies of a segmentation fault when it cannot flush a file (seen with h5py 3 on a full disk).
_LEAST_FREE = 1_000_000
_QUOTES, _QUOTE_LENGTH, _STACK_LINES = 8, 400, 60


def explain(outcome: ChildOutcome) -> Optional[Crash]:
    """Why the child did not run its battery to the end; None when it did, and ended well."""
    events = outcome.events
    failed_import = next((event for event in events if event.event == "error" and event.stage == "S0"), None)
    if failed_import is not None:
        return _import_failure(failed_import, outcome)
    if events and events[-1].event == "end" and not outcome.hung:
        return None if outcome.status == 0 else _crash(_TEARDOWN, outcome)
    if outcome.hung:
        return _crash(_HANG, outcome)
    if outcome.free is not None and outcome.free < _LEAST_FREE:
        return _crash(DISK_FULL, outcome)
    if not events and outcome.status >= 0 and signal_of(outcome.status) is None:
        return _crash(_NOT_PYTHON, outcome)
    return _crash(_cause(outcome), outcome)


def _cause(outcome: ChildOutcome) -> Cause:
    """The cause of the exit status, unless what was printed or the kernel's count says more."""
    number = signal_of(outcome.status)
    if number is None and is_disk_full(outcome.output):
        return DISK_FULL
    if number == 9 and outcome.oom_kills:
        return OUT_OF_MEMORY
    if number == 6 and _NO_AVX.search(outcome.output):
        return SIGILL  # TensorFlow looks at the CPU itself and aborts
    if number in (6, 11) and _MEMORY.search(outcome.output):
        return OUT_OF_MEMORY
    return cause_of(outcome.status)


def _import_failure(event: ChildEvent, outcome: ChildOutcome) -> Crash:
    cause = classify(event.type, event.message, "\n".join(event.traceback), outcome.output)
    return Crash(
        kind=cause.kind,
        title=cause.title,
        cause=cause.cause,
        remedy=cause.remedy,
        status=f"{event.type}: {event.message}".strip().splitlines()[0][:_QUOTE_LENGTH],
        stage="S0",
        step=_last_step(outcome),
        quotes=event.traceback[-_QUOTES:],
    )


def _crash(cause: Cause, outcome: ChildOutcome) -> Crash:
    return Crash(
        kind=cause.kind,
        title=cause.title,
        cause=cause.cause,
        remedy=cause.remedy,
        status=_time_limit(outcome) if outcome.hung else describe(outcome.status),
        stage=next((event.stage for event in reversed(outcome.events) if event.stage), ""),
        step=_last_step(outcome),
        conclusive=cause.conclusive,
        quotes=_quotes(outcome.output),
        stacks=_stacks(outcome.stacks),
    )


def _quotes(output: str) -> tuple[str, ...]:
    lines = [line.strip()[:_QUOTE_LENGTH] for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if _TELLING.search(line)]
    return tuple(telling[-_QUOTES:] or lines[-2:])


def _stacks(text: str) -> tuple[str, ...]:
    """The frames that faulthandler wrote, without those of the import system."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return tuple(line for line in lines if "importlib" not in line)[:_STACK_LINES]


def _time_limit(outcome: ChildOutcome) -> str:
    limit = next((event.limit for event in reversed(outcome.events) if event.limit), 0.0)
    return f"no end within {limit:g} s" if limit else "no first line within its time limit"


def _last_step(outcome: ChildOutcome) -> str:
    """The last thing announced, unless its stage was over."""
    for event in reversed(outcome.events):
        if event.event == "done":
            return ""
        if event.step:
            return event.step
    return ""
