"""Notebook hosts, kernels and continuous integration."""

from __future__ import annotations

from pathlib import Path

import pytest
from facts.fakes import FakeMachine

from tfenv.facts.model import NotebookFacts, known, unknown
from tfenv.facts.notebook import ci, kernel_pid, notebook_facts

PARENTS = "this process and its parents in /proc"
NO_VARIABLE = known(None, "environment variables")
TAG = "release-colab-external_20260818-060052_RC00"


def process(pid: int, parent: int, *command: str) -> dict[str, str]:
    return {
        f"/proc/{pid}/cmdline": "\0".join(command) + "\0",
        f"/proc/{pid}/status": f"Name:\tx\nPid:\t{pid}\nPPid:\t{parent}\n",
    }


UNDER_COLAB = {
    **process(100, 90, "python3", "/usr/local/bin/tfenv", "doctor"),
    **process(90, 50, "/bin/bash", "-c", "tfenv doctor"),
    **process(50, 7, "/usr/bin/python3", "-m", "colab_kernel_launcher", "-f", "/content/kernel-1.json"),
    **process(7, 1, "jupyter-server"),
    **process(1, 0, "/sbin/init"),
}
SHELL = {**process(100, 90, "tfenv"), **process(90, 1, "bash"), **process(1, 0, "init")}


def test_colab(tmp_path: Path) -> None:
    machine = FakeMachine(tmp_path, files=UNDER_COLAB, environ={"COLAB_RELEASE_TAG": TAG, "COLAB_GPU": "1"})
    assert notebook_facts(machine) == NotebookFacts(
        host=known("colab", "COLAB_RELEASE_TAG"),
        release=known(TAG, "COLAB_RELEASE_TAG"),
        kernel_pid=known(50, PARENTS),
        ci=NO_VARIABLE,
    )


def test_kaggle_comes_before_the_colab_it_is_built_on(tmp_path: Path) -> None:
    machine = FakeMachine(
        tmp_path,
        files={**SHELL, "/etc/git_commit": "78aaa43f\n"},
        environ={"COLAB_RELEASE_TAG": TAG, "KAGGLE_KERNEL_RUN_TYPE": "Batch"},
    )
    assert notebook_facts(machine) == NotebookFacts(
        host=known("kaggle", "KAGGLE_KERNEL_RUN_TYPE"),
        release=known("78aaa43f", "/etc/git_commit"),
        kernel_pid=known(None, PARENTS),
        ci=NO_VARIABLE,
    )


@pytest.mark.parametrize(
    ("environ", "files", "host"),
    [
        pytest.param({"KAGGLE_USERNAME": "me", "KAGGLE_KEY": "k"}, {}, None, id="kaggle-credentials-at-home"),
        pytest.param({"COLAB_RELEASE_TAG": TAG}, {"/kaggle/working/.x": ""}, "kaggle", id="kaggle-folder"),
        pytest.param({"KAGGLE_URL_BASE": "u"}, {}, "kaggle", id="kaggle-url"),
        pytest.param(
            {"VERTEX_PRODUCT": "COLAB_ENTERPRISE", "COLAB_RELEASE_TAG": TAG},
            {},
            "colab-enterprise",
            id="vertex",
        ),
        pytest.param({"VERTEX_PRODUCT": "WORKBENCH"}, {}, None, id="vertex-workbench"),
        pytest.param({"COLAB_RELEASE_TAG": ""}, {}, None, id="empty-tag"),
        pytest.param({}, {"/var/colab/hostname": "x"}, "colab", id="colab-file"),
        pytest.param({"DATABRICKS_RUNTIME_VERSION": "15"}, {}, "databricks", id="databricks"),
        pytest.param({"CODESPACES": "true"}, {}, "codespaces", id="codespaces"),
        pytest.param({"JPY_PARENT_PID": "7"}, {}, "jupyter", id="jupyter-variable"),
        pytest.param({}, {}, None, id="none"),
    ],
)
def test_host(tmp_path: Path, environ: dict[str, str], files: dict[str, str], host: str | None) -> None:
    machine = FakeMachine(tmp_path, files={**SHELL, **files}, environ=environ)
    assert notebook_facts(machine).host.value == host


def test_a_kernel_makes_any_other_host_a_jupyter(tmp_path: Path) -> None:
    files = {**process(100, 1, "python", "-m", "ipykernel_launcher", "-f", "k.json"), **process(1, 0, "init")}
    facts = notebook_facts(FakeMachine(tmp_path, files=files))
    assert (facts.host, facts.kernel_pid) == (known("jupyter", PARENTS), known(100, PARENTS))


def test_a_kaggle_image_without_its_commit(tmp_path: Path) -> None:
    machine = FakeMachine(tmp_path, files=SHELL, environ={"KAGGLE_KERNEL_RUN_TYPE": "Batch"})
    assert notebook_facts(machine).release == known(None, "/etc/git_commit")


@pytest.mark.parametrize(
    ("platform", "files", "expected"),
    [
        pytest.param("darwin", {}, unknown(PARENTS, "there is no /proc on macOS"), id="macos"),
        pytest.param("win32", {}, unknown(PARENTS, "there is no /proc on Windows"), id="windows"),
        pytest.param("linux", {}, unknown(PARENTS, "process 100: No such file or directory"), id="no-proc"),
        pytest.param(
            "linux",
            {**process(100, 99, "a"), **process(99, 100, "b")},
            unknown(PARENTS, "more than 64 parents"),
            id="circle",
        ),
    ],
)
def test_a_kernel_that_cannot_be_looked_for(
    tmp_path: Path, platform: str, files: dict[str, str], expected: object
) -> None:
    assert kernel_pid(FakeMachine(tmp_path, platform=platform, files=files)) == expected


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        pytest.param(
            {"CI": "true", "GITHUB_ACTIONS": "true"}, known("github-actions", "GITHUB_ACTIONS"), id="github"
        ),
        pytest.param({"CI": "1", "GITLAB_CI": "true"}, known("gitlab", "GITLAB_CI"), id="gitlab"),
        pytest.param({"CI": "1"}, known("ci", "CI"), id="unnamed"),
        pytest.param({"CI": "false"}, NO_VARIABLE, id="off"),
    ],
)
def test_ci(tmp_path: Path, environ: dict[str, str], expected: object) -> None:
    assert ci(FakeMachine(tmp_path, environ=environ)) == expected
