"""What two fingerprints must have in common to be comparable: whatever may change the bits of a result."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
import re
import sys

from .s0_import import DISTRIBUTIONS

_NVIDIA_DRIVER = "/proc/driver/nvidia/version"
_CPU_INFO = "/proc/cpuinfo"
#: The widest vector instructions decide how sums are grouped (Eigen, oneDNN): flags of Linux, widest first.
_VECTORS = (
    ("avx512 with bf16", "avx512_bf16"),
    ("avx512 with vnni", "avx512_vnni"),
    ("avx512", "avx512f"),
    ("avx2", "avx2"),
    ("avx", "avx"),
    ("sve", "sve"),
    ("neon", "asimd"),
)


def of(context, recipe):
    """The key as plain text values; "" is unknown or does not apply."""
    tf, keras = context.tf, context.keras
    return {
        "recipe": str(recipe),
        "seed": str(context.seed),
        "tensorflow": str(tf.__version__),
        "wheel": _wheel(),
        "keras": str(sys.modules[str(keras.__name__).partition(".")[0]].__version__),
        "numpy": str(context.np.__version__),
        "machine": f"{sys.platform} {platform.machine()}",
        "cpu": _vectors(),
        "threads": _threads(tf),
        "device": _device(context),
        "driver": _driver() if context.device != "CPU" else "",
        "onednn": _onednn(),
        "tf32": str(tf.config.experimental.tensor_float_32_execution_enabled())
        if context.device != "CPU"
        else "",
        "xla": f"{tf.config.optimizer.get_jit() or 'off'} {os.environ.get('TF_XLA_FLAGS', '')}".strip(),
        "dtype": _dtype_policy(keras),
    }


def _wheel():
    """A digest of the hashes that the wheel itself lists for its files; the same whoever installed it."""
    for name in DISTRIBUTIONS:
        try:
            record = importlib.metadata.distribution(name).read_text("RECORD")
        except importlib.metadata.PackageNotFoundError:
            continue
        lines = [
            line
            for line in (record or "").splitlines()
            if line.startswith("tensorflow/") and ",sha256=" in line
        ]
        hashed = "\n".join(sorted(line for line in lines if "__pycache__" not in line))
        if hashed:
            return f"{name} {hashlib.sha256(hashed.encode()).hexdigest()[:16]}"
    return ""


def _vectors():
    try:
        with open(_CPU_INFO, encoding="utf-8", errors="replace") as file:
            flags = re.search(r"^(?:flags|Features)\s*:(.*)$", file.read(), re.MULTILINE)
    except OSError:
        return ""
    names = flags.group(1).split() if flags else []
    return next((label for label, flag in _VECTORS if flag in names), "")


def _threads(tf):
    """How many threads share one operation: 0 stands for all cores, which TensorFlow counts by affinity."""
    asked = tf.config.threading.get_intra_op_parallelism_threads()
    if asked:
        return str(asked)
    affinity = getattr(os, "sched_getaffinity", None)
    return str(len(affinity(0)) if affinity else os.cpu_count())


def _device(context):
    """The kind of device, and the model of an accelerator."""
    if context.device == "CPU":
        return "CPU"
    first = context.tf.config.list_physical_devices(context.device)[0]
    try:
        details = context.tf.config.experimental.get_device_details(first)
    except Exception:  # a plugin need not know
        details = {}
    capability = ".".join(map(str, details.get("compute_capability", ())))
    return " ".join(
        part for part in (context.device, str(details.get("device_name", "")), capability) if part
    )


def _driver():
    """The major version of NVIDIA's kernel driver."""
    try:
        with open(_NVIDIA_DRIVER, encoding="utf-8", errors="replace") as file:
            found = re.search(r"\s(\d{3,})\.\d+", file.readline())
    except OSError:
        return ""
    return found.group(1) if found else ""


def _onednn():
    """Whether oneDNN is used, as TensorFlow decides from CPU and environment; else what was asked."""
    try:
        from tensorflow.python.util import _pywrap_util_port

        return "on" if _pywrap_util_port.IsMklEnabled() else "off"
    except (ImportError, AttributeError):
        return os.environ.get("TF_ENABLE_ONEDNN_OPTS", "")


def _dtype_policy(keras):
    """Keras' global dtype policy."""
    get = getattr(keras.mixed_precision, "dtype_policy", None) or keras.mixed_precision.global_policy
    return str(get().name)
