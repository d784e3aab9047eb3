"""The interpreter and the architecture: whether any TensorFlow wheel exists for them."""

from __future__ import annotations

from tfenv.doctor.answers import cannot_tell, seen
from tfenv.doctor.context import Context
from tfenv.doctor.model import Check
from tfenv.locks.fit import python_minor
from tfenv.result import Evidence, Finding, Remedy
from tfenv.versions import version_key


def _implementation(context: Context) -> tuple[Finding, ...]:
    fact = context.facts.python.implementation
    if not fact.known:
        return (cannot_tell("PY002", "the implementation of this Python", fact),)
    if fact.value in ("cpython", None):
        return ()
    return (
        Finding(
            id="PY002",
            severity="fail",
            title=f"TensorFlow has no wheels for this Python: it is {fact.value}, not CPython",
            cause="TensorFlow's wheels use the binary interface of CPython.",
            evidence=(seen("implementation", fact), seen("interpreter", context.facts.python.executable)),
            remedy=_another_python(),
        ),
    )


def _build(context: Context) -> tuple[Finding, ...]:
    python = context.facts.python
    if python.free_threaded.value:
        return (
            Finding(
                id="PY013",
                severity="fail",
                title="TensorFlow has no wheels for a free-threaded Python",
                cause="This Python is built without the global interpreter lock, which is another binary "
                "interface.",
                evidence=(seen("free-threaded", python.free_threaded),),
                remedy=_another_python(),
            ),
        )
    if python.debug_build.value and context.facts.system.os.value == "windows":
        return (
            Finding(
                id="PY013",
                severity="fail",
                title="TensorFlow has no wheels for a debug build of Python",
                cause="On Windows a debug build has another binary interface.",
                evidence=(seen("debug build", python.debug_build),),
                remedy=_another_python(),
            ),
        )
    return ()


def _bits(context: Context) -> tuple[Finding, ...]:
    fact = context.facts.python.bits
    if not fact.known:
        return (cannot_tell("SYS005", "whether this Python is a 64-bit build", fact),)
    if fact.value in (64, None):
        return ()
    return (
        Finding(
            id="SYS005",
            severity="fail",
            title=f"TensorFlow has 64-bit wheels only, and this Python is a {fact.value}-bit build",
            cause="A 32-bit Python on a 64-bit system still needs 32-bit wheels.",
            evidence=(seen("bits", fact), seen("platform tag", context.facts.python.platform_tag)),
            remedy=_another_python("Install a 64-bit CPython and use it."),
        ),
    )


def _rosetta(context: Context) -> tuple[Finding, ...]:
    if context.facts.system.os.value != "macos" or _is_conda(context):
        return ()
    if not context.facts.system.rosetta.known:
        what = "whether this Python runs under Rosetta"
        return (cannot_tell("MAC002", what, context.facts.system.rosetta),)
    if not _translated(context):
        return ()
    python = "cpython-3.12-macos-aarch64-none"
    return (
        Finding(
            id="MAC002",
            severity="fail",
            title="This is an Intel Python under Rosetta on Apple Silicon: TensorFlow aborts in it",
            cause=_TRANSLATED,
            evidence=_architectures(context),
            remedy=Remedy(
                text="Make an environment with a Python for Apple Silicon. Check, too, that the terminal "
                "itself is not set to 'Open using Rosetta'.",
                commands=(f"uv venv --python {python} .venv", "tfenv bootstrap --venv .venv"),
            ),
        ),
    )


def _conda_subdir(context: Context) -> tuple[Finding, ...]:
    if context.facts.system.os.value != "macos" or not _is_conda(context) or not _translated(context):
        return ()
    return (
        Finding(
            id="MAC003",
            severity="fail",
            title="This conda environment is for Intel Macs (osx-64), and this Mac has an Apple chip",
            cause=_TRANSLATED,
            evidence=_architectures(context),
            remedy=Remedy(
                text="Make an environment of conda's packages for Apple Silicon and bootstrap it.",
                commands=(
                    "CONDA_SUBDIR=osx-arm64 conda create -n tf python=3.12",
                    "conda activate tf",
                    "conda config --env --set subdir osx-arm64",
                    "tfenv bootstrap",
                ),
            ),
        ),
    )


_TRANSLATED = (
    "An Intel (x86_64) Python runs translated on Apple Silicon. TensorFlow's Intel wheels use AVX "
    "instructions, which abort there ('illegal hardware instruction'), and Metal is out of reach."
)


def _translated(context: Context) -> bool:
    facts = context.facts
    intel_on_arm = facts.system.machine_arch.value == "arm64" and facts.python.build_arch.value == "x86_64"
    return bool(facts.system.rosetta.value or intel_on_arm)


def _is_conda(context: Context) -> bool:
    return (context.facts.environment.kind.value or "").startswith("conda")


def _architectures(context: Context) -> tuple[Evidence, ...]:
    return (
        seen("machine", context.facts.system.machine_arch),
        seen("Python built for", context.facts.python.build_arch),
        seen("interpreter", context.facts.python.executable),
    )


def _architecture(context: Context) -> tuple[Finding, ...]:
    facts, refusal = context.facts, context.refusal
    if context.target is not None or refusal is None or refusal.code != "unsupported-platform":
        return ()
    if facts.system.libc.value == "musl":
        return ()  # SYS003 says it
    if not facts.system.os.known:
        return (cannot_tell("SYS001", "the operating system", facts.system.os),)
    return (
        Finding(
            id="SYS001",
            severity="fail",
            title=refusal.message.rstrip("."),
            cause="TensorFlow publishes wheels for Linux (x86_64, aarch64), macOS and Windows (x86_64).",
            evidence=(
                seen("operating system", facts.system.os),
                seen("machine", facts.system.machine_arch),
                seen("Python built for", facts.python.build_arch),
            ),
            remedy=Remedy(text=refusal.hint),
        ),
    )


def _version(context: Context) -> tuple[Finding, ...]:
    fact = context.facts.python.version
    if not fact.known:
        return (cannot_tell("PY001", "the version of this Python", fact),)
    minor, target = python_minor(context.facts), context.target
    if target is None or minor is None or not context.locks or context.stack.tensorflow is not None:
        return ()  # a TensorFlow that is installed had a wheel for this Python
    served = {lock.python for lock in context.locks if lock.target in (target.name, target.fallback)}
    if minor in served or not served:
        return ()
    if not context.facts.system.machine_arch.known:
        return (cannot_tell("PY001", "the architecture of this machine", context.facts.system.machine_arch),)
    pythons = sorted(served, key=version_key)
    newer = version_key(minor) > version_key(pythons[-1])
    return (
        Finding(
            id="PY001",
            severity="fail",
            title=f"There is no TensorFlow for Python {minor} on this platform",
            cause=f"The wheels for {target.name} are for Python {', '.join(pythons)}. "
            + ("TensorFlow follows a new Python after many months." if newer else "This Python is too old."),
            evidence=(seen("Python", fact), seen("interpreter", context.facts.python.executable)),
            remedy=_another_python(f"Use Python {pythons[-1]} in an environment of its own.", pythons[-1]),
        ),
    )


def _another_python(
    text: str = "Use an ordinary 64-bit CPython in an environment of its own.", minor: str = "3.12"
) -> Remedy:
    return Remedy(
        text=text,
        commands=(f"uv venv --python {minor} .venv", "tfenv bootstrap --venv .venv"),
    )


CHECKS = (
    Check(id="PY002", rung="interpreter", summary="Python is CPython", run=_implementation),
    Check(id="PY013", rung="interpreter", summary="Python is no special build", run=_build),
    Check(id="SYS005", rung="interpreter", summary="Python is a 64-bit build", run=_bits),
    Check(id="MAC002", rung="interpreter", summary="Python is built for this Mac's chip", run=_rosetta),
    Check(
        id="MAC003", rung="interpreter", summary="conda's packages are for this Mac's chip", run=_conda_subdir
    ),
    Check(
        id="SYS001", rung="interpreter", summary="TensorFlow has wheels for this platform", run=_architecture
    ),
    Check(id="PY001", rung="interpreter", summary="TensorFlow has wheels for this Python", run=_version),
)
