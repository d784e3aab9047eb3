"""What the exit status of a child says: signals of POSIX systems, NTSTATUS values of Windows."""

from __future__ import annotations

from typing import Optional

from tfenv.proof.cause import DLL, OUT_OF_MEMORY, REBUILD, Cause

SIGILL = Cause(
    kind="sigill",
    title="the CPU lacks an instruction that this TensorFlow was built for",
    cause="TensorFlow's x86 wheels need AVX. Old or emulated CPUs (Rosetta, QEMU, some virtual machines) "
    "do not have it.",
    remedy="Use a machine or VM type with AVX (on a Mac with Apple Silicon: an arm64 Python), "
    "or a TensorFlow built for this CPU.",
)
SIGSEGV = Cause(
    kind="sigsegv",
    title="native code read memory that is not there",
    cause="Mostly two builds that do not belong together: TensorFlow with another release's plugin, NumPy, "
    "protobuf or CUDA libraries, or files of two TensorFlow releases in one folder.",
    remedy=REBUILD,
)
SIGABRT = Cause(
    kind="sigabrt",
    title="native code gave up on an inner check",
    cause="A check inside TensorFlow, protobuf, a device plugin or the memory allocator failed; "
    "its message is quoted if it left one.",
    remedy=REBUILD,
)
SIGBUS = Cause(
    kind="sigbus",
    title="a mapped file was shorter than expected, or shared memory ran out",
    cause="A library cut short by an interrupted installation or a full disk, or /dev/shm too small in a "
    "container.",
    remedy="Check free disk space and /dev/shm (docker run --shm-size=1g), then install again: "
    "tfenv bootstrap.",
)
SIGTRAP = Cause(
    kind="sigtrap",
    title="native code stopped at a trap",
    cause="A runtime (macOS frameworks, Swift, a sanitizer) met a state it forbids, or an emulator met an "
    "instruction it does not know.",
    remedy=REBUILD,
)
SIGFPE = Cause(
    kind="sigfpe",
    title="native code divided an integer by zero",
    cause="A kernel or plugin met a size it does not expect.",
    remedy=REBUILD,
)
SIGSYS = Cause(
    kind="sigsys",
    title="a system call was forbidden",
    cause="The container's seccomp profile or another sandbox does not allow a call that TensorFlow makes.",
    remedy="Relax the sandbox (for a test: docker run --security-opt seccomp=unconfined).",
)
KILLED = Cause(
    kind="killed",
    title="something outside killed the proof",
    cause="SIGKILL without a trace of memory shortage: a person, a job scheduler or a supervisor; "
    "on macOS also a library whose code signature is broken.",
    remedy="Run it again: tfenv smoke. If it is killed again, look at the scheduler's limits and the "
    "system log.",
    conclusive=False,
)
TERMINATED = Cause(
    kind="terminated",
    title="something outside ended the proof",
    cause="The process was asked to stop by a signal from outside.",
    remedy="Run it again: tfenv smoke.",
    conclusive=False,
)
EXITED = Cause(
    kind="exited",
    title="the process exited in the middle of the proof",
    cause="A package, or a library that it loads, ended the process by itself (exit, os._exit).",
    remedy=REBUILD,
)

_SIGNALS = {
    1: ("SIGHUP", TERMINATED),
    2: ("SIGINT", TERMINATED),
    4: ("SIGILL", SIGILL),
    5: ("SIGTRAP", SIGTRAP),
    6: ("SIGABRT", SIGABRT),
    7: ("SIGBUS", SIGBUS),
    8: ("SIGFPE", SIGFPE),
    9: ("SIGKILL", KILLED),
    10: ("SIGBUS", SIGBUS),  # macOS
    11: ("SIGSEGV", SIGSEGV),
    15: ("SIGTERM", TERMINATED),
    24: ("SIGXCPU", TERMINATED),
    31: ("SIGSYS", SIGSYS),
}
#: NTSTATUS values, from Microsoft's [MS-ERREF] 2.3.1.
_NTSTATUS = {
    0xC0000005: ("access violation", SIGSEGV),
    0xC0000017: ("no memory", OUT_OF_MEMORY),
    0xC000001D: ("illegal instruction", SIGILL),
    0xC00000FD: ("stack overflow", SIGSEGV),
    0xC0000135: ("DLL not found", DLL),
    0xC0000138: ("ordinal not found in a DLL", DLL),
    0xC0000139: ("entry point not found in a DLL", DLL),
    0xC000013A: ("Ctrl-C", TERMINATED),
    0xC0000142: ("DLL initialisation failed", DLL),
    0xC0000374: ("heap corruption", SIGSEGV),
    0xC0000409: ("fast fail", SIGABRT),
}


def cause_of(status: int) -> Cause:
    """What ``status`` (as ``subprocess`` gives it) means when the child had not finished."""
    if status & 0xFFFFFFFF in _NTSTATUS:
        return _NTSTATUS[status & 0xFFFFFFFF][1]
    number = signal_of(status)
    return _SIGNALS[number][1] if number in _SIGNALS else EXITED


def describe(status: int) -> str:
    """``status`` in words: "signal 11 (SIGSEGV)", "status 0xC0000005 (access violation)", "exit 1"."""
    if status & 0xFFFFFFFF in _NTSTATUS:
        return f"status 0x{status & 0xFFFFFFFF:08X} ({_NTSTATUS[status & 0xFFFFFFFF][0]})"
    number = signal_of(status)
    if number is None:
        return f"exit {status}"
    return f"signal {number} ({_SIGNALS[number][0]})" if number in _SIGNALS else f"signal {number}"


def signal_of(status: int) -> Optional[int]:
    """The signal in ``status``: negative from the system, 128 + n from a shell wrapped around Python."""
    if -65 < status < 0:
        return -status
    return status - 128 if 128 < status < 128 + 65 else None
