"""Small environments over one that has TensorFlow, so that a fault never touches the real one."""

from __future__ import annotations

import subprocess
from pathlib import Path


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
