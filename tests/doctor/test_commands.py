"""Commands to copy, for each shell and installer."""

from __future__ import annotations

import pytest

from doctor.crafted import change, machine
from tfenv.doctor.commands import Commands, commands_for, quote

VENV = commands_for(machine("linux-cpu-py311"), "pip")
UV = commands_for(machine("linux-cpu-py311"), "uv")
WINDOWS = commands_for(machine("windows-py311"), "pip")
SPACED = commands_for(
    change(machine("windows-py311"), "python", executable="C:\\Program Files\\Python\\python.exe"), "pip"
)
COLAB = commands_for(machine("colab-2026.08-gpu-py313"), "pip")
DEBIAN = commands_for(machine("debian-system-pep668-py311"), "pip")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param(VENV.install("numpy<2"), "~/ml/.venv/bin/python -m pip install 'numpy<2'", id="pip"),
        pytest.param(
            UV.install("numpy<2"), "uv pip install --python ~/ml/.venv/bin/python 'numpy<2'", id="uv"
        ),
        pytest.param(
            VENV.reinstall("keras==3.6.0"),
            "~/ml/.venv/bin/python -m pip install --force-reinstall --no-deps keras==3.6.0",
            id="pip-reinstall",
        ),
        pytest.param(
            UV.reinstall("keras==3.6.0"),
            "uv pip install --python ~/ml/.venv/bin/python --reinstall --no-deps keras==3.6.0",
            id="uv-reinstall",
        ),
        pytest.param(
            VENV.uninstall("tensorflow", "keras"),
            "~/ml/.venv/bin/python -m pip uninstall -y tensorflow keras",
            id="pip-uninstall",
        ),
        pytest.param(
            UV.uninstall("keras"), "uv pip uninstall --python ~/ml/.venv/bin/python keras", id="uv-uninstall"
        ),
        pytest.param(
            WINDOWS.install("numpy<2"),
            '~\\ml\\.venv\\Scripts\\python.exe -m pip install "numpy<2"',
            id="windows",
        ),
        pytest.param(
            SPACED.install("numpy==2.0.2"),
            '& "C:\\Program Files\\Python\\python.exe" -m pip install numpy==2.0.2',
            id="windows-with-spaces",
        ),
        pytest.param(COLAB.install("numpy<2"), "!/usr/bin/python3 -m pip install 'numpy<2'", id="notebook"),
        pytest.param(
            COLAB.unset("PYTHONPATH"), 'import os; os.environ.pop("PYTHONPATH", None)', id="unset-notebook"
        ),
        pytest.param(COLAB.set("A", "1"), "%env A=1", id="set-notebook"),
        pytest.param(VENV.unset("PYTHONPATH"), "unset PYTHONPATH", id="unset"),
        pytest.param(VENV.set("A", "x y"), "export A='x y'", id="set"),
        pytest.param(WINDOWS.unset("PYTHONPATH"), "Remove-Item Env:PYTHONPATH", id="unset-windows"),
        pytest.param(WINDOWS.set("A", "1"), '$env:A = "1"', id="set-windows"),
        pytest.param(
            VENV.bootstrap(tensorflow="2.18", target="linux-x86_64-cpu"),
            "tfenv bootstrap --tf 2.18 --target linux-x86_64-cpu --python ~/ml/.venv/bin/python",
            id="bootstrap",
        ),
        pytest.param(
            DEBIAN.bootstrap(),
            "tfenv bootstrap --venv .venv --python /usr/bin/python3",
            id="bootstrap-beside",
        ),
        pytest.param(
            VENV.conda("remove", "--force", "numpy"), "conda remove -p ~/ml/.venv --force numpy", id="conda"
        ),
        pytest.param(VENV.remove("/a b"), "rm -r '/a b'", id="remove"),
        pytest.param(WINDOWS.remove("C:\\a b"), 'Remove-Item -Recurse "C:\\a b"', id="remove-windows"),
        pytest.param(VENV.proof(), "tfenv smoke --python ~/ml/.venv/bin/python", id="proof"),
    ],
)
def test_commands(line: str, expected: str) -> None:
    assert line == expected


@pytest.mark.parametrize(
    ("word", "windows", "expected"),
    [
        pytest.param("~/my venv/bin/python", False, "~/'my venv/bin/python'", id="home-with-space"),
        pytest.param("~tensorflow", False, "'~tensorflow'", id="tilde-that-is-no-home"),
        pytest.param("$(reboot)", False, "'$(reboot)'", id="substitution"),
        pytest.param("a;b", True, '"a;b"', id="windows-separator"),
        pytest.param("numpy==2.0", True, "numpy==2.0", id="windows-plain"),
    ],
)
def test_quote(word: str, windows: bool, expected: str) -> None:
    assert quote(word, windows=windows) == expected


def test_an_interpreter_that_is_unknown_is_called_python() -> None:
    facts = change(machine("linux-cpu-py311"), "python", executable=None)
    assert commands_for(facts, "pip") == Commands(
        python="python",
        prefix="~/ml/.venv",
        installer="pip",
        windows=False,
        notebook=False,
        has_pip=True,
        closed=False,
    )
