"""The rung of the interpreter."""

from __future__ import annotations

from dataclasses import replace

from doctor.cases import Case, holds, parametrized
from doctor.crafted import change, machine, one, with_packages
from tfenv.doctor.context import prepare
from tfenv.doctor.diagnose import diagnose
from tfenv.facts.model import unknown

LINUX = machine("linux-cpu-py311")
MAC = machine("mac-m2-py311")
ROSETTA = machine("mac-m2-rosetta")
CONDA_ROSETTA = change(ROSETTA, "environment", kind="conda")
UNREADABLE = replace(LINUX, python=replace(LINUX.python, version=unknown("the interpreter", "no answer")))

CASES = [
    Case(id="cpython", check="PY002", facts=LINUX),
    Case(
        id="pypy",
        check="PY002",
        facts=change(LINUX, "python", implementation="pypy"),
        severities=("fail",),
        says="uv venv --python 3.12 .venv",
    ),
    Case(id="ordinary-build", check="PY013", facts=LINUX),
    Case(
        id="free-threaded",
        check="PY013",
        facts=change(LINUX, "python", free_threaded=True),
        severities=("fail",),
        says="free-threaded",
    ),
    Case(
        id="debug-build-on-linux-loads-wheels", check="PY013", facts=change(LINUX, "python", debug_build=True)
    ),
    Case(
        id="debug-build-on-windows",
        check="PY013",
        facts=change(machine("windows-py311"), "python", debug_build=True),
        severities=("fail",),
    ),
    Case(id="64-bit", check="SYS005", facts=LINUX),
    Case(
        id="32-bit",
        check="SYS005",
        facts=change(LINUX, "python", bits=32),
        severities=("fail",),
        says="32-bit",
    ),
    Case(id="arm-python-on-apple", check="MAC002", facts=MAC),
    Case(id="rosetta", check="MAC002", facts=ROSETTA, severities=("fail",), says="macos-aarch64"),
    Case(id="intel-mac", check="MAC002", facts=machine("mac-intel-py311")),
    Case(id="rosetta-in-conda-is-said-by-another", check="MAC002", facts=CONDA_ROSETTA),
    Case(
        id="conda-osx-64",
        check="MAC003",
        facts=CONDA_ROSETTA,
        severities=("fail",),
        says="CONDA_SUBDIR=osx-arm64",
    ),
    Case(id="conda-osx-arm64", check="MAC003", facts=change(MAC, "environment", kind="conda")),
    Case(id="x86_64", check="SYS001", facts=LINUX),
    Case(
        id="riscv",
        check="SYS001",
        facts=change(LINUX, "python", build_arch="riscv64"),
        severities=("fail",),
        says="riscv64",
    ),
    Case(id="freebsd", check="SYS001", facts=change(LINUX, "system", os="freebsd"), severities=("fail",)),
    Case(id="musl-is-said-by-another", check="SYS001", facts=machine("alpine-musl-py312")),
    Case(id="python-3.11", check="PY001", facts=LINUX),
    Case(
        id="python-3.14",
        check="PY001",
        facts=change(LINUX, "python", version="3.14.0"),
        severities=("fail",),
        says="for Python 3.9, 3.10, 3.11, 3.12, 3.13. TensorFlow follows a new Python",
    ),
    Case(
        id="python-3.8",
        check="PY001",
        facts=change(LINUX, "python", version="3.8.18"),
        severities=("fail",),
        says="too old",
    ),
    Case(
        id="python-3.14-with-a-tensorflow",
        check="PY001",
        facts=with_packages(change(LINUX, "python", version="3.14.0"), "tensorflow==2.22.0"),
    ),
    Case(id="no-metal-but-cpu-locks", check="PY001", facts=machine("mac-m2-py313")),
    Case(id="version-unreadable", check="PY001", facts=UNREADABLE, severities=("unknown",), says="no answer"),
]


@parametrized(CASES)
def test_interpreter(case: Case) -> None:
    holds(case)


def test_an_empty_catalogue_blames_no_python() -> None:
    from doctor.crafted import Catalogue

    context = prepare(LINUX, catalogue=Catalogue(locks=()))
    assert diagnose(context, only=("PY001",)).findings == ()


def test_the_finding_names_interpreter_and_pythons() -> None:
    (finding,) = one(change(LINUX, "python", version="3.14.0"), "PY001")
    assert [item.what for item in finding.evidence] == ["Python", "interpreter"]
    assert finding.remedy.commands == ("uv venv --python 3.13 .venv", "tfenv bootstrap --venv .venv")
