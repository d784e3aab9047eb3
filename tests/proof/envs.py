"""Small environments to prove: layered over one that has TensorFlow, or with a stub in TensorFlow's place.

A fault is a module named ``sitecustomize`` in the layer, so it is there before the proof's first line and the
proof itself knows nothing of it.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

HOOK = '''\
import importlib.abc, importlib.machinery, sys


class _After(importlib.abc.MetaPathFinder):
    """Calls fault(tensorflow) once TensorFlow has been imported."""

    def find_spec(self, name, path=None, target=None):
        if name != "tensorflow":
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            fault(module)

        spec.loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, _After())
'''


def layer(folder: Path, python: Path, *, over: bool = False) -> Path:
    """A virtual environment of ``python``'s interpreter in ``folder``; its interpreter.

    ``over``: it also sees what ``python``'s own environment holds, after its own packages.
    """
    subprocess.run([python, "-m", "venv", "--without-pip", folder], check=True)
    made = folder / "bin" / "python"
    if over:
        (site_packages(made) / "below.pth").write_text(f"{site_packages(python)}\n", "utf-8")
    return made


def site_packages(python: Path) -> Path:
    """Where the environment of ``python`` keeps its packages."""
    command = "import sysconfig; print(sysconfig.get_path('purelib'))"
    found = subprocess.run([python, "-c", command], check=True, capture_output=True, text=True)
    return Path(found.stdout.strip())


def stub_tensorflow(python: Path, code: str) -> None:
    """Put a package called tensorflow that runs ``code`` when imported into the environment of ``python``."""
    folder = site_packages(python) / "tensorflow"
    folder.mkdir()
    (folder / "__init__.py").write_text(code, "utf-8")


def inject(python: Path, fault: str) -> None:
    """Make every start of ``python`` carry ``fault``, the source of a function ``fault(tf)``."""
    (site_packages(python) / "sitecustomize.py").write_text(fault + "\n\n" + HOOK, "utf-8")
