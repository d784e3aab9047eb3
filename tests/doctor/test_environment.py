"""The rung of the environment, with its variables."""

from __future__ import annotations

from dataclasses import replace

from doctor.cases import Case, holds, parametrized
from doctor.crafted import (
    change,
    lock_named,
    machine,
    one,
    state_of,
    with_lock,
    with_packages,
    with_variables,
)
from tfenv.facts.model import Distribution, Facts, known, unknown

LINUX = machine("linux-cpu-py311")
LOCK = lock_named("linux-x86_64-cpu/tf2.19-py311")
TF = with_lock(LINUX, LOCK)
COLAB = machine("colab-2026.08-gpu-py313")
WINDOWS = machine("windows-py311")
DEBIAN = machine("debian-system-pep668-py311")
USER_SITE = "~/.local/lib/python3.11/site-packages"


def in_folder(facts: Facts, name: str, folder: str) -> Facts:
    """``facts`` with one distribution lying elsewhere."""
    moved = tuple(
        replace(item, location=folder) if item.name == name else item
        for item in facts.packages.distributions.value or ()
    )
    return replace(facts, packages=replace(facts.packages, distributions=known(moved, "crafted")))


def with_user_site(facts: Facts) -> Facts:
    return change(facts, "environment", user_site=USER_SITE)


CASES = [
    Case(id="activated-is-running", check="PY003", facts=LINUX),
    Case(
        id="another-is-activated",
        check="PY003",
        facts=change(LINUX, "environment", activated="~/other/.venv"),
        severities=("warn",),
        says="tfenv doctor --venv ~/other/.venv",
    ),
    Case(
        id="another-is-activated-but-this-was-named",
        check="PY003",
        facts=change(LINUX, "environment", activated="~/other/.venv"),
        options={"named": True},
    ),
    Case(
        id="the-same-through-macos-links",
        check="PY003",
        facts=change(LINUX, "environment", activated="/tmp/v/", prefix="/private/tmp/v"),
    ),
    Case(id="venv-may-be-changed", check="PY004", facts=LINUX),
    Case(
        id="pep-668",
        check="PY004",
        facts=DEBIAN,
        severities=("info",),
        says="--venv .venv --python /usr/bin/python3",
    ),
    Case(
        id="venv-of-a-managed-python",
        check="PY004",
        facts=change(DEBIAN, "environment", kind="venv"),
    ),
    Case(id="pip-is-there", check="PY014", facts=LINUX),
    Case(
        id="no-pip",
        check="PY014",
        facts=change(LINUX, "python", pip_version=None),
        severities=("info",),
        says="~/ml/.venv/bin/python -m ensurepip",
    ),
    Case(
        id="no-pip-but-uv",
        check="PY014",
        facts=change(LINUX, "python", pip_version=None),
        options={"installer": "uv"},
    ),
    Case(id="nothing-shadows", check="PY007", facts=LINUX),
    Case(
        id="random.py-in-the-working-folder",
        check="PY007",
        facts=change(LINUX, "packages", shadowing=("random.py",)),
        severities=("fail",),
        says="mv random.py my_random.py",
    ),
    Case(
        id="working-folder-left-out",
        check="PY007",
        facts=with_variables(change(LINUX, "packages", shadowing=("random.py",)), PYTHONSAFEPATH="1"),
    ),
    Case(
        id="in-a-folder-of-pythonpath",
        check="PY007",
        facts=with_variables(change(LINUX, "packages", shadowing=("~/lib/keras",)), PYTHONSAFEPATH="1"),
        severities=("fail",),
        says="mv ~/lib/keras ~/lib/my_keras",
    ),
    Case(
        id="unreadable-folder",
        check="PY007",
        facts=replace(
            LINUX,
            packages=replace(LINUX.packages, shadowing=unknown("the working folder", "permission denied")),
        ),
        severities=("unknown",),
        says="permission denied",
    ),
    Case(id="no-pythonpath", check="PY006", facts=TF),
    Case(
        id="pythonhome",
        check="PY006",
        facts=with_variables(LINUX, PYTHONHOME="/usr"),
        severities=("warn",),
        says="unset PYTHONHOME",
    ),
    Case(
        id="pythonpath-without-packages", check="PY006", facts=with_variables(TF, PYTHONPATH="~/project/src")
    ),
    Case(
        id="pythonpath-with-numpy",
        check="PY006",
        facts=with_variables(in_folder(TF, "numpy", "~/lib"), PYTHONPATH="~/src:~/lib/"),
        severities=("warn",),
        says="unset PYTHONPATH",
    ),
    Case(id="colab-has-a-pythonpath", check="PY006", facts=COLAB),
    Case(id="no-user-site", check="PY005", facts=TF),
    Case(id="user-site-with-other-things", check="PY005", facts=with_user_site(TF)),
    Case(
        id="numpy-of-the-user-site",
        check="PY005",
        facts=in_folder(with_user_site(TF), "numpy", USER_SITE),
        severities=("warn",),
        says="export PYTHONNOUSERSITE=1",
    ),
    Case(
        id="the-whole-stack-in-the-user-site",
        check="PY005",
        facts=in_folder(in_folder(with_user_site(TF), "numpy", USER_SITE), "tensorflow-cpu", USER_SITE),
    ),
    Case(id="no-leftovers", check="PKG005", facts=LINUX),
    Case(
        id="leftovers",
        check="PKG005",
        facts=change(
            LINUX, "environment", leftovers=("/venv/lib/~ensorflow", "/venv/lib/~umpy-2.0.2.dist-info")
        ),
        severities=("warn",),
        says="rm -r '/venv/lib/~ensorflow' '/venv/lib/~umpy-2.0.2.dist-info'",
    ),
    Case(
        id="leftovers-on-windows",
        check="PKG005",
        facts=change(WINDOWS, "environment", leftovers=("C:\\v\\Lib\\~ensorflow",)),
        severities=("warn",),
        says="Remove-Item -Recurse C:\\v\\Lib\\~ensorflow",
    ),
    Case(id="bytecode-is-kept", check="PY012", facts=TF),
    Case(
        id="no-bytecode-without-tensorflow",
        check="PY012",
        facts=change(LINUX, "python", writes_bytecode=False),
    ),
    Case(
        id="no-bytecode",
        check="PY012",
        facts=with_variables(change(TF, "python", writes_bytecode=False), PYTHONDONTWRITEBYTECODE="1"),
        severities=("info",),
        says="unset PYTHONDONTWRITEBYTECODE",
    ),
    Case(id="not-wsl", check="WSL006", facts=change(LINUX, "environment", prefix="/mnt/c/venv")),
    Case(
        id="venv-on-drive-c",
        check="WSL006",
        facts=change(machine("wsl2-rtx3060-py311"), "environment", prefix="/mnt/c/Users/me/venv"),
        severities=("warn",),
    ),
    Case(
        id="another-mount",
        check="WSL006",
        facts=change(machine("wsl2-rtx3060-py311"), "environment", prefix="/mnt/data/venv"),
    ),
    Case(id="colab-disk", check="COL006", facts=COLAB),
    Case(
        id="google-drive",
        check="COL006",
        facts=change(COLAB, "environment", prefix="/content/drive/MyDrive/venv"),
        severities=("warn",),
    ),
    Case(id="no-backend-set", check="TFW006", facts=TF),
    Case(id="tensorflow-backend", check="TFW006", facts=with_variables(TF, KERAS_BACKEND="tensorflow")),
    Case(
        id="torch-backend-is-there",
        check="TFW006",
        facts=with_packages(with_variables(TF, KERAS_BACKEND="torch"), "torch==2.5.0"),
        severities=("warn",),
        says="unset KERAS_BACKEND",
    ),
    Case(
        id="jax-backend-is-missing",
        check="TFW006",
        facts=with_variables(TF, KERAS_BACKEND="jax"),
        severities=("fail",),
        says="cannot be imported",
    ),
    Case(
        id="keras-2-knows-no-backend",
        check="TFW006",
        facts=with_packages(with_variables(TF, KERAS_BACKEND="jax"), "keras==2.15.0"),
    ),
    Case(id="no-legacy-keras-wanted", check="ENV001", facts=TF),
    Case(
        id="legacy-keras-missing",
        check="ENV001",
        facts=with_variables(TF, TF_USE_LEGACY_KERAS="1"),
        severities=("fail",),
        says="tf-keras~=2.19.0",
    ),
    Case(
        id="legacy-keras-is-there",
        check="ENV001",
        facts=with_packages(with_variables(TF, TF_USE_LEGACY_KERAS="True"), "tf-keras==2.19.0"),
    ),
    Case(
        id="legacy-keras-is-built-in",
        check="ENV001",
        facts=with_packages(with_variables(LINUX, TF_USE_LEGACY_KERAS="1"), "tensorflow-cpu==2.15.1"),
    ),
    Case(id="errors-are-shown", check="ENV002", facts=with_variables(TF, TF_CPP_MIN_LOG_LEVEL="1")),
    Case(
        id="errors-are-hidden",
        check="ENV002",
        facts=with_variables(TF, TF_CPP_MIN_LOG_LEVEL="3"),
        severities=("info",),
        says="warnings and errors",
    ),
    Case(id="compiled-protobuf", check="ENV003", facts=TF),
    Case(
        id="slow-protobuf",
        check="ENV003",
        facts=with_variables(TF, PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION="python"),
        severities=("info",),
    ),
]


@parametrized(CASES)
def test_environment(case: Case) -> None:
    holds(case)


def test_a_variable_in_a_notebook_is_taken_away_in_the_kernel() -> None:
    facts = with_variables(COLAB, KERAS_BACKEND="jax")
    (finding,) = one(facts, "TFW006")
    assert finding.remedy.commands == ('import os; os.environ.pop("KERAS_BACKEND", None)',)


def test_the_strangers_of_the_user_site_are_shown_with_version_and_folder() -> None:
    (finding,) = one(in_folder(with_user_site(TF), "numpy", USER_SITE), "PY005", state=state_of(LOCK))
    shown = [(item.what, item.value, item.source) for item in finding.evidence]
    assert shown == [("user folder", USER_SITE, "crafted"), ("numpy", "2.1.3", USER_SITE)]
    assert isinstance(TF.packages.distributions.value, tuple)
    assert all(isinstance(item, Distribution) for item in TF.packages.distributions.value)
