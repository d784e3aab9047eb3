"""What a failed ``import tensorflow`` means: the exception and what was printed, by class of cause.

The patterns are the words of CPython, the dynamic loaders, NumPy, protobuf and TensorFlow themselves. In a
cause, ``{0}`` stands for what the first group of its pattern matched.
"""

from __future__ import annotations

import re
from dataclasses import replace

from tfenv.proof.cause import DLL, OUT_OF_MEMORY, Cause

_FRESH = "Build a fresh environment from a lock: tfenv bootstrap --venv NEW."
_FIX = "Bring the environment back to its lock: tfenv bootstrap."

#: Tried in order; the first pattern found explains.
_RULES: tuple[tuple[str, Cause], ...] = (
    (
        r"No module named 'tensorflow'",
        Cause(
            kind="tensorflow-missing",
            title="TensorFlow is not installed in this environment",
            cause="The interpreter finds no package called tensorflow on its import path.",
            remedy="Install a stack that is known to work: tfenv bootstrap.",
        ),
    ),
    (
        (
            r"_ARRAY_API not found|compiled using NumPy 1\.x cannot be run in|numpy\.dtype size changed"
            r"|numpy\.core\.\w+ failed to import|module compiled against A[PB]I version"
        ),
        Cause(
            kind="numpy-abi",
            title="NumPy is of another generation than TensorFlow was built for",
            cause="TensorFlow up to 2.17 is built against NumPy 1.x and cannot run with NumPy 2 "
            "(or a compiled companion package cannot).",
            remedy=f"{_FIX} By hand: pip install 'numpy<2'.",
        ),
    ),
    (
        (
            r"Descriptors cannot (?:not )?be created directly|incompatible Protobuf Gencode/Runtime"
            r"|from 'google\.protobuf|has no attribute 'GetPrototype'|duplicate file name .*\.proto"
        ),
        Cause(
            kind="protobuf",
            title="protobuf does not fit this TensorFlow",
            cause="Another package brought a protobuf outside the range that this TensorFlow was generated "
            "for.",
            remedy=_FIX,
        ),
    ),
    (
        r"version [`'](GLIBC_[\d.]+|GLIBCXX_[\d.]+|CXXABI_[\d.]+)' not found",
        Cause(
            kind="libc-too-old",
            title="the system's C or C++ library is too old: it lacks {0}",
            cause="The wheel was built for a newer Linux, or an older libstdc++ (of conda, of a module) is "
            "found first on LD_LIBRARY_PATH.",
            remedy="Take LD_LIBRARY_PATH out of the environment and try again; "
            "else choose an older TensorFlow: tfenv locks list.",
        ),
    ),
    (
        r"cannot allocate memory in static TLS block",
        Cause(
            kind="static-tls",
            title="a library was loaded too late for its thread-local storage",
            cause="On aarch64 some libraries (libgomp, jemalloc) must be loaded before all others.",
            remedy="Import tensorflow before other packages, or preload the library named below: "
            "LD_PRELOAD=PATH.",
        ),
    ),
    (
        r"[Ss]ymbol not found|undefined symbol",
        Cause(
            kind="symbol-missing",
            title="two binary packages were not built for each other",
            cause="A plugin or companion package (tensorflow-metal, tensorflow-text, …) needs a function "
            "that this TensorFlow does not have.",
            remedy=f"Remove the package named below, or install the version made for this TensorFlow. {_FIX}",
        ),
    ),
    (r"DLL load failed", DLL),
    (
        r"incompatible architecture|wrong ELF class|invalid ELF header|not a mach-o file|file too short",
        Cause(
            kind="wrong-binary",
            title="a library in the environment is damaged or made for another kind of machine",
            cause="It was cut short by an interrupted installation or a full disk, or it comes from another "
            "machine (Intel and Apple Silicon mixed).",
            remedy=_FRESH,
        ),
    ),
    (
        r"(\S+): cannot open shared object file|Library not loaded: (?:\S*/)?(\S+)",
        Cause(
            kind="library-missing",
            title="the native library {0} is missing",
            cause="TensorFlow needs it and the system's loader does not find it.",
            remedy=f"{_FIX} If the library belongs to the system, install it there.",
        ),
    ),
    (
        r"partially initialized module|module 'tensorflow' has no attribute",
        Cause(
            kind="shadowed",
            title="what is imported as tensorflow is not TensorFlow",
            cause="A stub, an empty folder left by an uninstallation, or a file of the same name comes first "
            "on the import path.",
            remedy="See which it is: python -c 'import tensorflow; print(tensorflow.__path__)'. "
            "Remove it and install again: tfenv bootstrap.",
        ),
    ),
    (
        r"No module named 'tf_keras'",
        Cause(
            kind="legacy-keras-missing",
            title="TF_USE_LEGACY_KERAS is set, but tf_keras is not installed",
            cause="With this variable tf.keras means the separate package tf_keras.",
            remedy="Unset TF_USE_LEGACY_KERAS, or install the tf_keras of the same release as TensorFlow.",
        ),
    ),
    (
        r"No module named '(jax|torch|openvino)'",
        Cause(
            kind="keras-backend",
            title="Keras is set to compute with {0}, which is not installed",
            cause="KERAS_BACKEND, or the file keras.json in the user's .keras folder, chooses it.",
            remedy="Unset KERAS_BACKEND, or set it to tensorflow.",
        ),
    ),
    (
        r"No module named '([\w.]+)'",
        Cause(
            kind="module-missing",
            title="the module {0} is missing",
            cause="TensorFlow imports it: a requirement was not installed, or an installation was "
            "interrupted.",
            remedy=_FIX,
        ),
    ),
    (
        r"^SystemExit",
        Cause(
            kind="exited",
            title="a package ended the process while it was imported",
            cause="Something that TensorFlow imports calls sys.exit(); the traceback names it.",
            remedy=f"Remove or repair that package. {_FIX}",
        ),
    ),
    (r"^MemoryError|[Cc]annot allocate memory|failed to map segment", OUT_OF_MEMORY),
)


#: Words that hide another error, which the traceback may still tell: asked only when no rule fits anything.
_VAGUE: tuple[tuple[str, Cause], ...] = (
    (
        r"Keras cannot be imported",
        Cause(
            kind="module-missing",
            title="Keras is missing or broken",
            cause="tf.keras is the separate package keras, which TensorFlow could not import.",
            remedy=_FIX,
        ),
    ),
)


def classify(error_type: str, message: str, traceback: str, output: str) -> Cause:
    """The cause of an exception while TensorFlow was imported.

    The exception's own words are asked before the traceback, the traceback before what was printed.
    """
    texts = (f"{error_type}: {message}", traceback, output)
    for rules, text in [*((_RULES, text) for text in texts), *((_VAGUE, text) for text in texts)]:
        for pattern, cause in rules:
            match = re.search(pattern, text, re.MULTILINE)
            if match is not None:
                named = next((group for group in match.groups() if group), "")
                return replace(cause, title=cause.title.format(named))
    return Cause(
        kind="import-error",
        title=f"importing TensorFlow raises {error_type}",
        cause="None of the known causes fits; the traceback shows where it was raised.",
        remedy=_FRESH,
    )
