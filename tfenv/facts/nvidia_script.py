"""Asks NVIDIA's libraries and device nodes, in a child process that may hang or crash.

Run as text with the paths of device nodes as arguments. Each stage prints one line of JSON when it is done,
so what came before a hang or crash is kept. Functions and structures: NVIDIA's NVML API reference.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from typing import Optional


def main() -> None:
    """Nodes, then libcuda, then NVML: from the harmless to the risky."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever the libraries print goes to stderr

    def report(stage: str, value: object) -> None:
        out.write(json.dumps({stage: value}) + "\n")
        out.flush()

    report("nodes", {path: _open_error(path) for path in sys.argv[1:]})
    report("libcuda", _libcuda())
    report("nvml", _nvml())


def _open_error(path: str) -> Optional[str]:
    try:
        os.close(os.open(path, os.O_RDWR))
    except OSError as error:
        return error.strerror or str(error)
    return None


def _libcuda() -> dict[str, object]:
    name = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    try:
        ctypes.CDLL(name)
    except OSError as error:
        return {"path": None, "problem": str(error)}
    return {"path": _mapped("libcuda.so") or name}


def _mapped(part: str) -> Optional[str]:
    """The file behind a loaded library."""
    try:
        with open("/proc/self/maps") as stream:  # noqa: PTH123  (pathlib is slow to import)
            paths = [line.split(maxsplit=5)[-1].strip() for line in stream]
    except OSError:
        return None
    return next((path for path in paths if part in path.rpartition("/")[2]), None)


def _nvml() -> dict[str, object]:
    try:
        library = ctypes.CDLL("nvml.dll" if sys.platform == "win32" else "libnvidia-ml.so.1")
    except OSError as error:
        return {"missing": str(error)}
    library.nvmlErrorString.restype = ctypes.c_char_p

    def problem(code: int) -> str:
        text = library.nvmlErrorString(code)
        return text.decode("ascii", "replace") if text else f"error {code}"

    code = library.nvmlInit_v2()
    if code:
        return {"code": code, "problem": problem(code)}
    text = ctypes.create_string_buffer(96)
    number = ctypes.c_int(0)
    answer: dict[str, object] = {}
    code = library.nvmlSystemGetDriverVersion(text, len(text))
    answer["driver"] = None if code else text.value.decode("ascii", "replace")
    code = library.nvmlSystemGetCudaDriverVersion_v2(ctypes.byref(number))
    answer["cuda"] = None if code else f"{number.value // 1000}.{number.value % 1000 // 10}"
    count = ctypes.c_uint(0)
    code = library.nvmlDeviceGetCount_v2(ctypes.byref(count))
    if code:
        return {**answer, "problem": problem(code)}
    gpus: list[object] = []
    for index in range(count.value):
        handle = ctypes.c_void_p()
        code = library.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(handle))
        gpus.append(_gpu(library, handle) if not code else {"problem": problem(code)})
    return {**answer, "gpus": gpus}


def _gpu(library: ctypes.CDLL, handle: ctypes.c_void_p) -> dict[str, object]:
    text = ctypes.create_string_buffer(96)
    major, minor = ctypes.c_int(0), ctypes.c_int(0)
    memory = (ctypes.c_ulonglong * 3)()  # total, free, used
    name_code = library.nvmlDeviceGetName(handle, text, len(text))
    capability_code = library.nvmlDeviceGetCudaComputeCapability(
        handle, ctypes.byref(major), ctypes.byref(minor)
    )
    memory_code = library.nvmlDeviceGetMemoryInfo(handle, memory)
    return {
        "name": None if name_code else text.value.decode("utf-8", "replace"),
        "compute_capability": None if capability_code else f"{major.value}.{minor.value}",
        "memory": None if memory_code else memory[0],
    }


if __name__ == "__main__":
    main()
