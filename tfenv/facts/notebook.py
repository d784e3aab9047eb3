"""The notebook host, its kernel and continuous integration.

Never decided by an importable module: images carry the modules of other hosts, and a child of the kernel has
none of them loaded.
"""

from __future__ import annotations

import re

from tfenv.facts.machine import Machine, exists, read_text, why
from tfenv.facts.model import Fact, NotebookFacts, known, unknown

#: Set in Kaggle's kernels only; KAGGLE_USERNAME and KAGGLE_KEY are a user's credentials on any machine.
_KAGGLE = (
    "KAGGLE_KERNEL_RUN_TYPE",
    "KAGGLE_URL_BASE",
    "KAGGLE_DATA_PROXY_TOKEN",
    "KAGGLE_KERNEL_INTEGRATIONS",
)
_OTHERS = (
    ("DATABRICKS_RUNTIME_VERSION", "databricks"),
    ("AZUREML_RUN_ID", "azureml"),
    ("SAGEMAKER_INTERNAL_IMAGE_URI", "sagemaker"),
    ("SM_CURRENT_HOST", "sagemaker"),
    ("PAPERSPACE_NOTEBOOK_REPO_ID", "paperspace"),
    ("CODESPACES", "codespaces"),
)
_LAUNCHERS = ("ipykernel_launcher", "colab_kernel_launcher")
_CI = (
    ("GITHUB_ACTIONS", "github-actions"),
    ("GITLAB_CI", "gitlab"),
    ("BUILDKITE", "buildkite"),
    ("CIRCLECI", "circleci"),
    ("JENKINS_URL", "jenkins"),
    ("TF_BUILD", "azure-pipelines"),
    ("CI", "ci"),
)
#: A chain of parents longer than this is a circle.
_MOST_PARENTS = 64


def notebook_facts(machine: Machine) -> NotebookFacts:
    """The facts about the notebook host."""
    kernel = kernel_pid(machine)
    found = host(machine, kernel)
    return NotebookFacts(host=found, release=release(machine, found), kernel_pid=kernel, ci=ci(machine))


def host(machine: Machine, kernel: Fact[int]) -> Fact[str]:
    """Kaggle before Colab, whose variables Kaggle's image inherits; then others; then any Jupyter kernel."""
    environ = machine.environ
    kaggle = next((name for name in _KAGGLE if name in environ), None)
    if kaggle is not None:
        return known("kaggle", kaggle)
    if exists(machine.path("/kaggle/working")):
        return known("kaggle", "/kaggle/working")
    if environ.get("VERTEX_PRODUCT") == "COLAB_ENTERPRISE":
        return known("colab-enterprise", "VERTEX_PRODUCT")
    if environ.get("COLAB_RELEASE_TAG"):
        return known("colab", "COLAB_RELEASE_TAG")
    if exists(machine.path("/var/colab/hostname")):
        return known("colab", "/var/colab/hostname")
    for variable, name in _OTHERS:
        if variable in environ:
            return known(name, variable)
    if kernel.value is not None:
        return known("jupyter", kernel.source)
    if "JPY_PARENT_PID" in environ:
        return known("jupyter", "JPY_PARENT_PID")
    return known(None, "environment variables, /kaggle/working, /var/colab/hostname")


def release(machine: Machine, found: Fact[str]) -> Fact[str]:
    """Colab's release tag, or the commit that Kaggle's image was built from."""
    if found.value == "kaggle":
        try:
            return known(read_text(machine, "/etc/git_commit").strip() or None, "/etc/git_commit")
        except FileNotFoundError:
            return known(None, "/etc/git_commit")
        except OSError as error:
            return unknown("/etc/git_commit", why(error))
    if found.value in ("colab", "colab-enterprise"):
        return known(machine.environ.get("COLAB_RELEASE_TAG") or None, "COLAB_RELEASE_TAG")
    return known(None, "the notebook host")


def kernel_pid(machine: Machine) -> Fact[int]:
    """The notebook kernel that is this process or one above it; ``None``: not under a kernel."""
    source = "this process and its parents in /proc"
    if machine.platform != "linux":
        name = {"darwin": "macOS", "win32": "Windows"}.get(machine.platform, machine.platform)
        return unknown(source, f"there is no /proc on {name}")
    pid = machine.pid
    for _ in range(_MOST_PARENTS):
        try:
            command = read_text(machine, f"/proc/{pid}/cmdline").split("\0")
            status = read_text(machine, f"/proc/{pid}/status")
        except OSError as error:
            return unknown(source, f"process {pid}: {why(error)}")
        if any(launcher in word for word in command[:6] for launcher in _LAUNCHERS):
            return known(pid, source)
        parent = re.search(r"^PPid:\s*(\d{1,10})$", status, re.MULTILINE)
        if parent is None:
            return unknown(source, f"process {pid}: its status names no parent")
        pid = int(parent[1])
        if pid == 0:
            return known(None, source)
    return unknown(source, f"more than {_MOST_PARENTS} parents")


def ci(machine: Machine) -> Fact[str]:
    """The continuous integration service, "ci" for one that does not say its name."""
    for variable, name in _CI:
        if machine.environ.get(variable, "").lower() not in ("", "0", "false"):
            return known(name, variable)
    return known(None, "environment variables")
