"""The notebook hosts among the composed machines: Colab and Kaggle."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pieces import (
    GB,
    NO_NVIDIA,
    X86_64_V3,
    X86_64_V4,
    cpu,
    linux,
    linux_machine,
    nvidia,
    packages,
    resources,
    system_machine,
    variables,
)

from tfenv.facts.model import Facts, NotebookFacts, PackageFacts, SharedFolder, known
from tfenv.facts.recorded import recorded_from_freeze

HERE = Path(__file__).parent


def notebook_packages(freeze: str, location: str, **changed: str) -> PackageFacts:
    """The published list of an image, with ``changed`` versions; the two NCCL wheels share a folder."""
    listed = recorded_from_freeze((HERE / "freeze" / freeze).read_text(encoding="utf-8"))
    installed = tuple(
        replace(item, location=location, installer="pip", version=changed.get(item.name, item.version))
        for item in listed
    )
    names = {item.name for item in installed}
    nccl = tuple(name for name in ("nvidia-nccl-cu12", "nvidia-nccl-cu13") if name in names)
    shared = (SharedFolder(folder="nvidia/nccl", owners=nccl),) if len(nccl) > 1 else ()
    return packages(installed, shared)


def colab_machine(python_version: str, freeze: str, *, release: str, gpu: bool) -> Facts:
    """Google Colab: root, no venv, dist-packages; variables as read in its sources."""
    minor = python_version.rpartition(".")[0]
    purelib = f"/usr/local/lib/python{minor}/dist-packages"
    host = linux_machine(
        python_version,
        system=linux("ubuntu 22.04", "6.6.105+", libc=("glibc", "2.35"), container="docker"),
        processor=cpu("Intel(R) Xeon(R) CPU @ 2.20GHz", 2, X86_64_V3),
        memory=resources(12, 70, shm=int(5.7 * GB)),
        # The driver is not part of the image; this one was reported through 2025.
        gpus=nvidia("550.54.15", "12.4", ("Tesla T4", "7.5", 15360), libcuda="/usr/lib64-nvidia/libcuda.so.1")
        if gpu
        else NO_NVIDIA,
    )
    facts = system_machine(
        python_version,
        executable="/usr/bin/python3",
        prefix="/usr",
        purelib=purelib,
        base=host,
        pip="24.1.2",
        site_packages=(purelib, "/usr/lib/python3/dist-packages"),
        installed=notebook_packages(freeze, purelib),
        set_variables=variables(
            COLAB_BACKEND_VERSION="next",
            COLAB_GPU="1" if gpu else "",
            COLAB_JUPYTER_IP="172.28.0.12",
            COLAB_JUPYTER_TRANSPORT="ipc",
            COLAB_RELEASE_TAG=release,
            LD_LIBRARY_PATH="/usr/lib64-nvidia",
            PYTHONPATH="/env/python",
            TBE_CREDS_ADDR="***",
            TBE_RUNTIME_ADDR="172.28.0.1:8011",
            TF_FORCE_GPU_ALLOW_GROWTH="true",
        ),
    )
    notebook = NotebookFacts(
        host=known("colab", "COLAB_RELEASE_TAG"),
        release=known(release, "COLAB_RELEASE_TAG"),
        kernel_pid=known(1142, "this process and its parents in /proc"),
        ci=known(None, "environment variables"),
    )
    return replace(facts, notebook=notebook)


def kaggle_machine() -> Facts:
    """Kaggle with two T4: built on a Colab image, so Colab's release tag is there as well."""
    purelib = "/usr/local/lib/python3.12/dist-packages"
    host = linux_machine(
        "3.12.13",
        system=linux("ubuntu 22.04", "6.6.105+", libc=("glibc", "2.35"), container="docker"),
        processor=cpu("Intel(R) Xeon(R) CPU @ 2.00GHz", 4, X86_64_V4),
        memory=resources(31, 19, shm=14 * GB),
        gpus=nvidia(
            "560.35.03",
            "12.6",
            ("Tesla T4", "7.5", 15360),
            ("Tesla T4", "7.5", 15360),
            libcuda="/usr/local/nvidia/lib64/libcuda.so.1",
        ),
    )
    facts = system_machine(
        "3.12.13",
        executable="/usr/bin/python3",
        prefix="/usr",
        purelib=purelib,
        base=host,
        pip="24.1.2",
        site_packages=(purelib, "/usr/lib/python3/dist-packages"),
        installed=notebook_packages("colab-2026.04-gpu.txt", purelib, protobuf="5.29.5"),
        set_variables=variables(
            COLAB_RELEASE_TAG="release-colab-external-images_20260514-060047_RC00",
            CUDA_HOME="/usr/local/cuda",
            KAGGLE_DATA_PROXY_TOKEN="***",
            KAGGLE_KERNEL_INTEGRATIONS="",
            KAGGLE_KERNEL_RUN_TYPE="Interactive",
            LD_LIBRARY_PATH="/usr/local/nvidia/lib64:/usr/local/cuda/lib64",
            PYTHONUSERBASE="~/.local",
        ),
    )
    notebook = NotebookFacts(
        host=known("kaggle", "KAGGLE_KERNEL_RUN_TYPE"),
        release=known("78aaa43f", "/etc/git_commit"),
        kernel_pid=known(23, "this process and its parents in /proc"),
        ci=known(None, "environment variables"),
    )
    return replace(facts, notebook=notebook)
