"""The plugin, compiled against the headers and libraries of an installed TensorFlow."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

SOURCES = Path(__file__).parent
#: The folder that TensorFlow looks for plugins in, beside the packages.
PLUGINS = "tensorflow-plugins"


#: Macros that make a variant, which needs no more than these sources.
VARIANTS = {
    "": ("device", "fault", "graph", "kernels", "recurrent"),
    "ACCELERATOR_MISSING_SYMBOL": ("device", "fault"),
}


def compiled(package: Path, cache: Path, *, variant: str = "") -> Path:
    """The shared library for the TensorFlow whose package is the folder ``package``, made once in ``cache``.

    It takes some 15 seconds, for the sake of TensorFlow's headers.
    """
    made = cache / f"libaccelerator-{_key(package, variant)}.so"
    if not made.exists():
        work = cache / f"work-{os.getpid()}"
        work.mkdir()
        try:
            _compile(package, work, variant)
            (work / "libaccelerator.so").replace(made)  # another test process may be at it too
        finally:
            shutil.rmtree(work)
    return made


def _compile(package: Path, work: Path, variant: str) -> None:
    flags = ["-std=c++17", "-O0", "-fPIC", "-w", f"-I{package / 'include'}"]
    # As tf.sysconfig.get_compile_flags() says for every wheel from 2.15 to 2.21.
    flags += ["-D_GLIBCXX_USE_CXX11_ABI=1", "-DEIGEN_MAX_ALIGN_BYTES=64"]
    flags += [f"-D{variant}"] if variant else []
    sources = [SOURCES / f"{name}.cc" for name in VARIANTS[variant]]
    running = [
        subprocess.Popen(["g++", *flags, "-c", source, "-o", work / f"{source.stem}.o"]) for source in sources
    ]
    failed = [process for process in running if process.wait() != 0]
    assert not failed, "the accelerator does not compile"
    libraries = ["-l:libtensorflow_framework.so.2", "-l:libtensorflow_cc.so.2"]
    objects = [work / f"{source.stem}.o" for source in sources]
    command = ["g++", "-shared", "-o", work / "libaccelerator.so", *objects, f"-L{package}", *libraries]
    subprocess.run(command, check=True)


def _key(package: Path, variant: str) -> str:
    library = (package / "libtensorflow_framework.so.2").stat()
    digest = hashlib.sha256(f"{package.resolve()} {library.st_size} {library.st_mtime_ns} {variant}".encode())
    for path in sorted(SOURCES.iterdir()):
        if path.suffix in (".cc", ".h", ".inc") or path.name == "build.py":
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
