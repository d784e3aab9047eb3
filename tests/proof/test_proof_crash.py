from __future__ import annotations

from dataclasses import replace

import pytest
from proof.recorded import END, IMPORTED, START, broken_off, ended, finished, raised

from tfenv.proof.crash import explain
from tfenv.proof.exit_status import describe
from tfenv.proof.model import Crash
from tfenv.proof.protocol import ChildOutcome

TRAINING = (START, IMPORTED, broken_off("S5", "train Conv1D classifier, epoch 3"))
IMPORTING = (START, broken_off("S0", "import tensorflow"))
AVX = (
    "2026-01-01 F tensorflow/core/platform/cpu_feature_guard.cc:37] The TensorFlow library was compiled to "
    "use AVX instructions, but these aren't available on your machine.\n"
)


def test_a_child_that_ran_to_its_end_did_not_crash() -> None:
    assert explain(finished(IMPORTED)) is None


@pytest.mark.parametrize(
    ("free", "kind"),
    [(0, "disk-full"), (10**9, "sigsegv"), (None, "sigsegv")],
    ids=["none", "room", "unknown"],
)
def test_a_crash_on_a_full_disk_says_nothing_about_the_stack(free: int | None, kind: str) -> None:
    died = ended(-11, START, IMPORTED, broken_off("S8", "save weights"))
    crash = explain(replace(died, free=free))
    assert crash is not None
    assert (crash.kind, crash.conclusive) == (kind, kind == "sigsegv")


@pytest.mark.parametrize(
    ("outcome", "kind", "status", "conclusive"),
    [
        (ended(-4, *IMPORTING), "sigill", "signal 4 (SIGILL)", True),
        (ended(-5, *IMPORTING), "sigtrap", "signal 5 (SIGTRAP)", True),
        (ended(-6, *IMPORTING), "sigabrt", "signal 6 (SIGABRT)", True),
        (ended(-6, *IMPORTING, output=AVX), "sigill", "signal 6 (SIGABRT)", True),
        (ended(-6, *TRAINING, output="what():  std::bad_alloc"), "out-of-memory", "signal 6 (SIGABRT)", True),
        (ended(-7, *TRAINING), "sigbus", "signal 7 (SIGBUS)", True),
        (ended(-8, *TRAINING), "sigfpe", "signal 8 (SIGFPE)", True),
        (ended(-10, *TRAINING), "sigbus", "signal 10 (SIGBUS)", True),
        (ended(-11, *IMPORTING), "sigsegv", "signal 11 (SIGSEGV)", True),
        (ended(139, *IMPORTING), "sigsegv", "signal 11 (SIGSEGV)", True),
        (ended(-31, *IMPORTING), "sigsys", "signal 31 (SIGSYS)", True),
        (ended(-9, *TRAINING), "killed", "signal 9 (SIGKILL)", False),
        (ended(-9, *TRAINING, oom_kills=1), "out-of-memory", "signal 9 (SIGKILL)", True),
        (ended(137, *TRAINING, oom_kills=1), "out-of-memory", "signal 9 (SIGKILL)", True),
        (ended(-15, *TRAINING), "terminated", "signal 15 (SIGTERM)", False),
        (ended(-2, *TRAINING), "terminated", "signal 2 (SIGINT)", False),
        (ended(-40, *TRAINING), "exited", "signal 40", True),
        (ended(0xC0000005, *IMPORTING), "sigsegv", "status 0xC0000005 (access violation)", True),
        (ended(-1073741795, *IMPORTING), "sigill", "status 0xC000001D (illegal instruction)", True),
        (ended(0xC0000135, *IMPORTING), "dll", "status 0xC0000135 (DLL not found)", True),
        (ended(0xC000013A, *TRAINING), "terminated", "status 0xC000013A (Ctrl-C)", False),
        (ended(0, *IMPORTING), "exited", "exit 0", True),
        (ended(3, *TRAINING), "exited", "exit 3", True),
        (
            ended(1, *TRAINING, output="OSError: [Errno 28] No space left on device"),
            "disk-full",
            "exit 1",
            False,
        ),
        (ended(1), "startup", "exit 1", True),
        (ended(0), "startup", "exit 0", True),
        (ended(-11), "sigsegv", "signal 11 (SIGSEGV)", True),
        (ended(-6, START, IMPORTED, END), "teardown", "signal 6 (SIGABRT)", True),
    ],
    ids=lambda value: None if isinstance(value, ChildOutcome) else str(value),
)
def test_ends(outcome: ChildOutcome, kind: str, status: str, conclusive: bool) -> None:
    crash = explain(outcome)
    assert crash is not None
    assert (crash.kind, crash.status, crash.conclusive) == (kind, status, conclusive)


def test_a_crash_names_stage_step_and_the_telling_lines() -> None:
    output = "I0000 chatter\n2026-01-01 00:00:00.1: F external/x.cc:7] Check failed: a == b\nmore chatter\n"
    crash = explain(ended(-6, *TRAINING, output=output))
    assert crash == Crash(
        kind="sigabrt",
        title="native code gave up on an inner check",
        cause="A check inside TensorFlow, protobuf, a device plugin or the memory allocator failed; "
        "its message is quoted if it left one.",
        remedy="Build a fresh environment from a lock (tfenv bootstrap --venv NEW) and prove that one; "
        "if it passes, the old environment holds files of two builds.",
        status="signal 6 (SIGABRT)",
        stage="S5",
        step="train Conv1D classifier, epoch 3",
        quotes=("2026-01-01 00:00:00.1: F external/x.cc:7] Check failed: a == b",),
    )


def test_without_telling_lines_the_last_two_are_quoted() -> None:
    crash = explain(ended(-11, *IMPORTING, output="one\n\ntwo\nthree\n"))
    assert crash is not None
    assert crash.quotes == ("two", "three")


def test_a_hang_shows_where_it_waited() -> None:
    stacks = (
        "Timeout (0:03:00)!\nThread 0x01 (most recent call first):\n"
        '  File "driver.py", line 3 in wait\n  File "<frozen importlib._bootstrap>", line 1 in _load\n'
    )
    crash = explain(ended(1, *IMPORTING, hung=True, stacks=stacks))
    assert crash is not None
    assert (crash.kind, crash.status, crash.stage, crash.step) == (
        "hang",
        "no end within 180 s",
        "S0",
        "import tensorflow",
    )
    assert crash.stacks == (
        "Timeout (0:03:00)!",
        "Thread 0x01 (most recent call first):",
        'File "driver.py", line 3 in wait',
    )


def test_an_interpreter_that_never_answers_hangs_too() -> None:
    crash = explain(ended(-9, hung=True))
    assert crash is not None
    assert (crash.kind, crash.status) == ("hang", "no first line within its time limit")


def test_a_crash_between_stages_blames_no_step() -> None:
    crash = explain(ended(-11, START, IMPORTED))
    assert crash is not None
    assert (crash.stage, crash.step) == ("S0", "")


MISSING = "No module named 'tensorflow'"
IMPORT_FAILURES = [
    (
        "ModuleNotFoundError",
        MISSING,
        "",
        "tensorflow-missing",
        "TensorFlow is not installed in this environment",
    ),
    ("ModuleNotFoundError", "No module named 'wrapt'", "", "module-missing", "the module wrapt is missing"),
    (
        "ModuleNotFoundError",
        "No module named 'tensorflow.python'",
        "",
        "module-missing",
        "the module tensorflow.python is missing",
    ),
    (
        "ImportError",
        "numpy.core.umath failed to import",
        "AttributeError: _ARRAY_API not found",
        "numpy-abi",
        "NumPy is of another generation than TensorFlow was built for",
    ),
    (
        "ImportError",
        "initialization failed",
        "A module that was compiled using NumPy 1.x cannot be run in\nNumPy 2.1.0 as it may crash.",
        "numpy-abi",
        "NumPy is of another generation than TensorFlow was built for",
    ),
    (
        "TypeError",
        "Descriptors cannot be created directly.\nIf this call came from a _pb2.py file, ...",
        "",
        "protobuf",
        "protobuf does not fit this TensorFlow",
    ),
    (
        "ImportError",
        "cannot import name 'runtime_version' from 'google.protobuf' (/x/__init__.py)",
        "",
        "protobuf",
        "protobuf does not fit this TensorFlow",
    ),
    (
        "ImportError",
        "/lib64/libm.so.6: version `GLIBC_2.27' not found (required by /x/libtensorflow_framework.so.2)",
        "",
        "libc-too-old",
        "the system's C or C++ library is too old: it lacks GLIBC_2.27",
    ),
    (
        "ImportError",
        "/x/_errors.so: undefined symbol: _ZN10tensorflow6StatusC1Ev",
        "",
        "symbol-missing",
        "two binary packages were not built for each other",
    ),
    (
        "NotFoundError",
        "dlopen(/x/libmetal_plugin.dylib, 0x0006): Symbol not found: __ZN3tsl8internal10LogMessageC1EPKcii",
        "",
        "symbol-missing",
        "two binary packages were not built for each other",
    ),
    (
        "NotFoundError",
        "dlopen(/x/libmetal_plugin.dylib, 0x0006): Library not loaded: @rpath/_pywrap_tensorflow_internal.so",
        "",
        "library-missing",
        "the native library _pywrap_tensorflow_internal.so is missing",
    ),
    (
        "ImportError",
        "libcudart.so.12: cannot open shared object file: No such file or directory",
        "",
        "library-missing",
        "the native library libcudart.so.12 is missing",
    ),
    (
        "ImportError",
        "DLL load failed while importing _pywrap_tensorflow_internal: The specified module was not found.",
        "",
        "dll",
        "Windows could not load a library that TensorFlow needs",
    ),
    (
        "ImportError",
        "/x/_pywrap.so: file too short",
        "",
        "wrong-binary",
        "a library in the environment is damaged or made for another kind of machine",
    ),
    (
        "AttributeError",
        "module 'tensorflow' has no attribute '__version__'",
        "",
        "shadowed",
        "what is imported as tensorflow is not TensorFlow",
    ),
    (
        "ImportError",
        "/lib/libgomp.so.1: cannot allocate memory in static TLS block",
        "",
        "static-tls",
        "a library was loaded too late for its thread-local storage",
    ),
    (
        "ModuleNotFoundError",
        "No module named 'jax'",
        "",
        "keras-backend",
        "Keras is set to compute with jax, which is not installed",
    ),
    (
        "ModuleNotFoundError",
        "No module named 'tf_keras'",
        "",
        "legacy-keras-missing",
        "TF_USE_LEGACY_KERAS is set, but tf_keras is not installed",
    ),
    (
        "ImportError",
        "Keras cannot be imported. Check that it is installed.",
        "",
        "module-missing",
        "Keras is missing or broken",
    ),
    ("SystemExit", "0", "", "exited", "a package ended the process while it was imported"),
    ("MemoryError", "", "", "out-of-memory", "there was not enough memory for TensorFlow"),
    ("RuntimeError", "bad day", "", "import-error", "importing TensorFlow raises RuntimeError"),
]


@pytest.mark.parametrize(
    ("type_", "message", "output", "kind", "title"),
    IMPORT_FAILURES,
    ids=[f"{row[3]}-{index}" for index, row in enumerate(IMPORT_FAILURES)],
)
def test_failed_imports(type_: str, message: str, output: str, kind: str, title: str) -> None:
    events = raised("S0", "import tensorflow", type_, message)
    crash = explain(ended(0, START, events, END, output=output))
    assert crash is not None
    assert (crash.kind, crash.title, crash.stage, crash.step) == (kind, title, "S0", "import tensorflow")
    assert crash.status == f"{type_}: {message}".strip().splitlines()[0]


def test_the_exception_is_asked_before_what_was_printed() -> None:
    events = raised("S0", "import tensorflow", "ModuleNotFoundError", "No module named 'tensorflow'")
    crash = explain(ended(0, START, events, END, output="AttributeError: _ARRAY_API not found"))
    assert crash is not None
    assert crash.kind == "tensorflow-missing"


@pytest.mark.parametrize(
    ("status", "text"),
    [(0, "exit 0"), (2, "exit 2"), (134, "signal 6 (SIGABRT)"), (-64, "signal 64")],
    ids=str,
)
def test_describe_status(status: int, text: str) -> None:
    assert describe(status) == text
