"""Environments to prove: over one that has TensorFlow (:mod:`faults.layer`), or with a stub in its place."""

from __future__ import annotations

from pathlib import Path

from faults.layer import layer, site_packages

__all__ = ["layer", "site_packages", "stub_tensorflow"]


def stub_tensorflow(python: Path, code: str) -> None:
    """Put a package called tensorflow that runs ``code`` when imported into the environment of ``python``."""
    folder = site_packages(python) / "tensorflow"
    folder.mkdir()
    (folder / "__init__.py").write_text(code, "utf-8")
