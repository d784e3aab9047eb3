"""Every check of the project; `nox` runs those of the default list."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import nox

nox.options.default_venv_backend = "uv|virtualenv"
nox.options.sessions = ["lint", "types", "tests", "tests_tf"]
nox.options.reuse_existing_virtualenvs = True

TESTING = ["pytest>=8", "pytest-xdist>=3.5", "hypothesis>=6.100"]
PYTHONS = ["3.9", "3.10", "3.11", "3.12", "3.13"]

# pyenv's shims answer for every version and work for few: put the interpreters behind them first.
_BEHIND_SHIMS = sorted(Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob("versions/3.*/bin"))
os.environ["PATH"] = os.pathsep.join([*map(os.fspath, _BEHIND_SHIMS), os.environ["PATH"]])


@nox.session
def lint(session: nox.Session) -> None:
    """Style and common faults."""
    session.install("ruff>=0.6")
    session.run("ruff", "format", "--check", ".")
    session.run("ruff", "check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """Types, strictly."""
    session.install("-e", ".[dev]")
    session.run("mypy")


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """Everything that needs no TensorFlow, on every Python."""
    session.install("-e", ".[lock]", *TESTING)
    session.run("pytest", "-n", "2", "-m", "not tf and not network", *session.posargs)


@nox.session
def tests_tf(session: nox.Session) -> None:
    """The tests that need a real TensorFlow (the oldest and the newest of the catalogue) or the index."""
    session.install("-e", ".[lock]", *TESTING)
    # The children write bytecode once; without it every import of TensorFlow costs seconds.
    environ = {"PYTHONDONTWRITEBYTECODE": ""}
    interpreters = [_stack(session, "2.15", "3.11"), _stack(session, "2.21", "3.13")]
    environ["TFENV_TEST_TF_PYTHONS"] = os.pathsep.join(path for path in interpreters if path)
    session.run("pytest", "-n", "2", "-m", "tf or network", *session.posargs, env=environ)


@nox.session
def bench(session: nox.Session) -> None:
    """Times side by side, as ratios; writes BENCHMARKS.md."""
    session.install(".[lock]")
    session.run("python", "bench/run.py", *session.posargs, env={"PYTHONDONTWRITEBYTECODE": ""})


@nox.session
def faults(session: nox.Session) -> None:
    """Prove stacks with a fault each; writes bench/faults/matrix.md. Takes hours; options select."""
    session.install("-e", ".[lock]")
    interpreters = [_stack(session, "2.15", "3.11"), _stack(session, "2.21", "3.13")]
    wanted = session.posargs or ["--page", "bench/faults/matrix.md"]
    command = ["python", "bench/faults/run.py", *wanted, "--python", *filter(None, interpreters)]
    session.run(*command, env={"PYTHONDONTWRITEBYTECODE": ""})


@nox.session
def false_alarms(session: nox.Session) -> None:
    """Prove every CPU lock many times; none may be flagged. Takes hours; options select."""
    session.install("-e", ".[lock]")
    wanted = session.posargs or ["--write"]
    session.run("python", "bench/proof_alarms.py", *wanted, env={"PYTHONDONTWRITEBYTECODE": ""})


@nox.session
def locks(session: nox.Session) -> None:
    """Compile the catalogue anew from lockfiles/policy.toml, and check it."""
    session.install("-e", ".[lock]")
    session.run("tfenv", "locks", "refresh", *session.posargs, env={"TFENV_LOCKFILES": _lockfiles()})
    session.run("tfenv", "locks", "verify", env={"TFENV_LOCKFILES": _lockfiles()})


@nox.session
def prove_locks(session: nox.Session) -> None:
    """Bootstrap and prove every CPU lock whose Python is on this machine; writes lockfiles/evidence.toml."""
    session.install("-e", ".[lock]")
    session.run("python", "bench/prove_locks.py", *session.posargs, env={"PYTHONDONTWRITEBYTECODE": ""})


def _stack(session: nox.Session, tensorflow: str, python: str) -> str:
    """An environment with a TensorFlow, made once; its interpreter, or "" without that Python."""
    found = shutil.which(f"python{python}")
    if found is None:
        return ""
    folder = Path(session.create_tmp()).resolve() / f"tf{tensorflow}"
    wish = ["--venv", os.fspath(folder), "--tf", tensorflow, "--target", "linux-x86_64-cpu"]
    if not folder.exists():
        wish += ["--python", found]
    session.run(
        "tfenv", "bootstrap", *wish, "--smoke", "none", "--no-seed", env={"PYTHONDONTWRITEBYTECODE": ""}
    )
    return os.fspath(folder / "bin" / "python")


def _lockfiles() -> str:
    return os.fspath(Path(__file__).parent / "lockfiles")
