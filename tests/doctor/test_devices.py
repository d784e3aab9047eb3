"""The rung of driver and device: NVIDIA's chain, CUDA's versions, WSL, ARM, AMD, Windows, Apple."""

from __future__ import annotations

from dataclasses import replace

from doctor.cases import Case, holds, parametrized
from doctor.crafted import (
    change,
    found,
    lock_named,
    machine,
    one,
    state_of,
    with_lock,
    with_packages,
    with_variables,
)
from tfenv.facts.model import Facts, GpuFacts, unknown

CPU = machine("linux-cpu-py311")
DOCKER = machine("docker-no-gpu-py311")
CUDA = machine("linux-rtx4090-driver550-py311")
OLD_DRIVER = machine("linux-rtx4090-driver470-py311")
PASCAL = machine("linux-gtx1080-pascal-driver550-py311")
BLACKWELL = machine("linux-rtx5090-cc120-driver575-py312")
WSL = machine("wsl2-rtx3060-py311")
AARCH64 = machine("linux-aarch64-py312")
WINDOWS = machine("windows-py311")
COLAB = machine("colab-2026.07-gpu-py312")
KAGGLE = machine("kaggle-2xT4-py312")

LOCK = lock_named("linux-x86_64-cuda/tf2.19-py311")
TF = with_lock(CUDA, LOCK)
CPU_STATE = state_of(lock_named("linux-x86_64-cpu/tf2.19-py311"))


def nvidia(facts: Facts, **values: object) -> Facts:
    return change(facts, "nvidia", **values)


def silent(facts: Facts, *names: str, reason: str = "no answer within 4 s") -> Facts:
    facts_of_part = {name: unknown("NVML", reason) for name in names}
    return replace(facts, nvidia=replace(facts.nvidia, **facts_of_part))


def gpu(name: str, capability: str | None) -> GpuFacts:
    return GpuFacts(index=0, name=name, compute_capability=capability)


NO_DRIVER = nvidia(CPU, pci_devices=1)
DRIVER_ONLY = nvidia(CUDA, device_nodes=(), devices_usable=None, gpus=(), libcuda=None)
MISMATCH = silent(CUDA, "driver_nvml", "gpus", "cuda_version_nvml", reason="Driver/library version mismatch")
IN_DOCKER = nvidia(DOCKER, pci_devices=1, driver_proc="550.144.03")

CHAIN = [
    Case(id="one-version", check="CUD003", facts=CUDA),
    Case(id="nvml-says-so", check="CUD003", facts=MISMATCH, severities=("fail",), says="sudo reboot"),
    Case(
        id="two-versions", check="CUD003", facts=nvidia(CUDA, driver_proc="535.183.01"), severities=("fail",)
    ),
    Case(id="no-card", check="CUD001", facts=CPU),
    Case(id="card-and-driver", check="CUD001", facts=CUDA),
    Case(
        id="card-without-driver", check="CUD001", facts=NO_DRIVER, severities=("warn",), says="ubuntu-drivers"
    ),
    Case(
        id="card-without-driver-for-a-cuda-stack",
        check="CUD001",
        facts=with_lock(NO_DRIVER, LOCK),
        severities=("fail",),
    ),
    Case(id="cpu-was-chosen", check="CUD001", facts=NO_DRIVER, options={"state": CPU_STATE}),
    Case(
        id="driver-unreadable",
        check="CUD001",
        facts=silent(NO_DRIVER, "driver_proc"),
        severities=("unknown",),
        says="no answer",
    ),
    Case(id="container-without-a-gpu-on-the-host", check="CTR002", facts=DOCKER),
    Case(id="gpu-not-passed-in", check="CTR002", facts=IN_DOCKER, severities=("info",), says="--gpus all"),
    Case(
        id="gpu-not-passed-in-for-a-cuda-stack",
        check="CTR002",
        facts=with_lock(IN_DOCKER, LOCK),
        severities=("fail",),
    ),
    Case(id="no-container", check="CTR002", facts=DRIVER_ONLY),
    Case(
        id="no-dev-in-a-container",
        check="CTR002",
        facts=silent(IN_DOCKER, "device_nodes"),
        severities=("unknown",),
        says="no answer",
    ),
    Case(id="colab-is-a-container-with-gpu", check="CTR002", facts=COLAB),
    Case(id="usable", check="CUD006", facts=CUDA),
    Case(id="no-nodes", check="CUD006", facts=DRIVER_ONLY, severities=("warn",), says="nvidia-modprobe"),
    Case(
        id="may-not-be-opened",
        check="CUD006",
        facts=nvidia(CUDA, devices_usable=False),
        severities=("fail",),
        says="usermod -aG video,render",
    ),
    Case(
        id="nobody-knows",
        check="CUD006",
        facts=silent(CUDA, "devices_usable"),
        severities=("unknown",),
        says="no answer",
    ),
    Case(
        id="no-dev",
        check="CUD006",
        facts=silent(CUDA, "device_nodes"),
        severities=("unknown",),
        says="no answer",
    ),
    Case(id="wsl-has-no-nodes", check="CUD006", facts=WSL),
    Case(id="uvm-is-there", check="CUD018", facts=CUDA),
    Case(
        id="uvm-is-missing",
        check="CUD018",
        facts=nvidia(CUDA, device_nodes=("/dev/nvidia0", "/dev/nvidiactl")),
        severities=("fail",),
    ),
    Case(id="smi-answers", check="CUD005", facts=CUDA),
    Case(
        id="smi-hangs",
        check="CUD005",
        facts=nvidia(CUDA, nvidia_smi="hung"),
        severities=("fail",),
        says="Xid",
    ),
    Case(
        id="smi-fails",
        check="CUD005",
        facts=nvidia(CUDA, nvidia_smi="failed (exit 255)"),
        severities=("warn",),
        says="exit 255",
    ),
    Case(id="smi-is-missing", check="CUD005", facts=nvidia(CUDA, nvidia_smi="missing")),
    Case(id="smi-hangs-without-gpu", check="CUD005", facts=nvidia(CPU, nvidia_smi="hung")),
    Case(id="nvml-answers", check="CUD020", facts=CUDA),
    Case(
        id="nvml-hangs",
        check="CUD020",
        facts=silent(CUDA, "gpus", "driver_nvml"),
        severities=("unknown",),
        says="no answer within 4 s",
    ),
    Case(id="libcuda", check="CUD004", facts=CUDA),
    Case(
        id="no-libcuda",
        check="CUD004",
        facts=nvidia(CUDA, libcuda=None),
        severities=("fail",),
        says="ldconfig",
    ),
    Case(
        id="no-libcuda-in-a-container",
        check="CUD004",
        facts=change(
            with_variables(nvidia(CUDA, libcuda=None), NVIDIA_DRIVER_CAPABILITIES="graphics"),
            "system",
            container="docker",
        ),
        severities=("fail",),
        says="NVIDIA_DRIVER_CAPABILITIES=compute,utility",
    ),
    Case(
        id="stub-of-libcuda",
        check="CUD004",
        facts=nvidia(CUDA, libcuda="/usr/local/cuda/lib64/stubs/libcuda.so.1"),
        severities=("fail",),
        says="stub",
    ),
    Case(
        id="libcuda-crashes",
        check="CUD004",
        facts=silent(CUDA, "libcuda", reason="the driver's library crashed (signal 11)"),
        severities=("unknown",),
        says="crashed",
    ),
    Case(id="no-driver-no-libcuda", check="CUD004", facts=CPU),
]

VERSIONS = [
    Case(id="driver-550", check="CUD002", facts=TF),
    Case(id="driver-470", check="CUD002", facts=OLD_DRIVER, severities=("fail",), says="525.60.13"),
    Case(
        id="driver-470-with-tensorflow",
        check="CUD002",
        facts=with_lock(OLD_DRIVER, LOCK),
        severities=("fail",),
        says="TensorFlow 2.19.1 (CUDA 12.5) needs 525.60.13",
    ),
    Case(
        id="driver-470-serves-cuda-11",
        check="CUD002",
        facts=with_packages(OLD_DRIVER, "tensorflow==2.14.1", "nvidia-cudnn-cu11==8.7.0.84"),
    ),
    Case(
        id="driver-440-is-below-cuda-11",
        check="CUD002",
        facts=with_packages(
            nvidia(CUDA, driver_nvml="440.33.01", driver_proc="440.33.01"), "tensorflow==2.14.1"
        ),
        severities=("fail",),
        says="450.80.02",
    ),
    Case(
        id="in-a-container-the-host-is-meant",
        check="CUD002",
        facts=change(OLD_DRIVER, "system", container="docker"),
        severities=("fail",),
        says="driver of the host",
    ),
    Case(id="cpu-was-chosen", check="CUD002", facts=OLD_DRIVER, options={"state": CPU_STATE}),
    Case(id="ada", check="CUD007", facts=TF),
    Case(
        id="blackwell-without-tensorflow",
        check="CUD007",
        facts=BLACKWELL,
        severities=("fail",),
        says="No TensorFlow wheel works on NVIDIA GeForce RTX 5090 (compute capability 12.0)",
    ),
    Case(
        id="blackwell-with-tensorflow",
        check="CUD007",
        facts=with_lock(BLACKWELL, lock_named("linux-x86_64-cuda/tf2.20-py312")),
        severities=("fail",),
        says="nvcr.io/nvidia/tensorflow",
    ),
    Case(id="pascal-has-a-stack", check="CUD007", facts=PASCAL),
    Case(
        id="maxwell-with-2.19",
        check="CUD007",
        facts=with_lock(nvidia(CUDA, gpus=(gpu("GeForce GTX 980", "5.2"),)), LOCK),
        severities=("fail",),
        says="tfenv bootstrap --tf 2.15",
    ),
    Case(
        id="kepler-has-none",
        check="CUD007",
        facts=nvidia(CUDA, gpus=(gpu("Tesla K80", "3.7"),)),
        severities=("fail",),
        says="dropped",
    ),
    Case(
        id="hopper-with-2.15-compiles-first",
        check="CUD007",
        facts=with_lock(
            nvidia(CUDA, gpus=(gpu("NVIDIA H100", "9.0"),)), lock_named("linux-x86_64-cuda/tf2.15-py311")
        ),
        severities=("info",),
        says="CUDA_CACHE_MAXSIZE",
    ),
    Case(
        id="every-gpu-counts",
        check="CUD007",
        facts=with_lock(nvidia(CUDA, gpus=(gpu("RTX 4090", "8.9"), gpu("Tesla K80", "3.7"))), LOCK),
        severities=("fail",),
        says="Tesla K80",
    ),
    Case(
        id="capability-not-told",
        check="CUD007",
        facts=with_lock(nvidia(CUDA, gpus=(gpu("RTX 4090", None),)), LOCK),
        severities=("unknown",),
        says="RTX 4090",
    ),
    Case(id="cudnn-9.3-serves-pascal", check="CUD019", facts=with_lock(PASCAL, LOCK)),
    Case(
        id="cudnn-9.28-does-not",
        check="CUD019",
        facts=with_packages(with_lock(PASCAL, LOCK), "nvidia-cudnn-cu12==9.28.0.42"),
        severities=("fail",),
        says="'nvidia-cudnn-cu12<9.11'",
    ),
    Case(
        id="cudnn-9.28-serves-turing",
        check="CUD019",
        facts=with_packages(with_lock(WSL, LOCK), "nvidia-cudnn-cu12==9.28.0.42"),
    ),
    Case(id="cuda-build", check="TFW002", facts=TF),
    Case(
        id="cpu-build-beside-a-gpu",
        check="TFW002",
        facts=with_packages(CUDA, "tensorflow-cpu==2.19.1"),
        severities=("info",),
        says="tfenv bootstrap --tf 2.19 --target linux-x86_64-cuda",
    ),
    Case(
        id="cpu-build-was-chosen",
        check="TFW002",
        facts=with_packages(CUDA, "tensorflow-cpu==2.19.1"),
        options={"state": CPU_STATE},
    ),
    Case(id="cpu-build-without-gpu", check="TFW002", facts=with_packages(CPU, "tensorflow-cpu==2.19.1")),
    Case(id="the-lock's-wheels", check="CUD008", facts=TF),
    Case(
        id="newer-of-the-generation",
        check="CUD008",
        facts=with_packages(TF, "nvidia-cudnn-cu12==9.10.2.21", "nvidia-cublas-cu12==12.8.4.1"),
    ),
    Case(
        id="torch-brought-an-older-cudnn",
        check="CUD008",
        facts=with_packages(TF, "nvidia-cudnn-cu12==9.1.0.70"),
        severities=("fail",),
        says="pip install nvidia-cudnn-cu12==9.3.0.75",
    ),
    Case(
        id="cudnn-8-of-another-tensorflow",
        check="CUD008",
        facts=with_packages(TF, "nvidia-cudnn-cu12==8.9.7.29"),
        severities=("fail",),
    ),
    Case(
        id="one-is-missing",
        check="CUD008",
        facts=with_lock(CUDA, LOCK, "nvidia-cublas-cu12"),
        severities=("fail",),
        says="nvidia-cublas-cu12 is missing",
    ),
    Case(
        id="only-those-of-cuda-13",
        check="CUD008",
        facts=with_packages(CUDA, "tensorflow==2.19.1", "nvidia-cudnn-cu13==9.12.0.46"),
        severities=("fail",),
    ),
    Case(
        id="none-at-all",
        check="CUD008",
        facts=with_packages(CUDA, "tensorflow==2.19.1"),
        severities=("warn",),
        says="tensorflow[and-cuda]==2.19.1",
    ),
    Case(
        id="none-but-cuda-of-the-system",
        check="CUD008",
        facts=with_variables(
            with_packages(CUDA, "tensorflow==2.19.1"), LD_LIBRARY_PATH="/usr/local/cuda/lib64"
        ),
    ),
    Case(id="kaggle-is-as-it-is", check="CUD008", facts=KAGGLE),
    Case(id="one-generation", check="CUD021", facts=TF),
    Case(
        id="two-generations",
        check="CUD021",
        facts=with_packages(TF, "nvidia-cudnn-cu11==8.7.0.84", "nvidia-nvtx-cu13==13.0.1"),
        severities=("warn",),
        says="pip uninstall -y nvidia-cudnn-cu11",
    ),
    Case(id="colab-has-nccl-twice", check="CUD021", facts=machine("colab-2026.08-gpu-py313")),
    Case(id="no-library-path", check="CUD009", facts=TF),
    Case(
        id="cuda-in-the-library-path",
        check="CUD009",
        facts=with_variables(TF, LD_LIBRARY_PATH="/usr/local/cuda-12.2/lib64:/opt/lib"),
        severities=("warn",),
        says="export LD_LIBRARY_PATH=/opt/lib",
    ),
    Case(
        id="only-cuda-in-the-library-path",
        check="CUD009",
        facts=with_variables(TF, LD_LIBRARY_PATH="/usr/local/cuda/lib64"),
        severities=("warn",),
        says="unset LD_LIBRARY_PATH",
    ),
    Case(
        id="the-driver's-folders",
        check="CUD009",
        facts=with_variables(TF, LD_LIBRARY_PATH="/usr/local/nvidia/lib:/usr/local/nvidia/lib64"),
    ),
    Case(
        id="the-wheels-own-folders",
        check="CUD009",
        facts=with_variables(TF, LD_LIBRARY_PATH="~/ml/.venv/lib/python3.11/site-packages/nvidia/cudnn/lib"),
    ),
    Case(
        id="kaggle-sets-it",
        check="CUD009",
        facts=KAGGLE,
    ),
    Case(id="nothing-hidden", check="CUD012", facts=with_variables(TF, CUDA_VISIBLE_DEVICES="0")),
    Case(
        id="all-hidden",
        check="CUD012",
        facts=with_variables(TF, CUDA_VISIBLE_DEVICES="-1"),
        severities=("warn",),
        says="unset CUDA_VISIBLE_DEVICES",
    ),
    Case(id="empty", check="CUD012", facts=with_variables(TF, CUDA_VISIBLE_DEVICES=""), severities=("warn",)),
    Case(
        id="a-gpu-that-is-not-there",
        check="CUD012",
        facts=with_variables(TF, CUDA_VISIBLE_DEVICES="1,0"),
        severities=("warn",),
        says="names GPU 1 first, and this machine has 1",
    ),
    Case(id="by-name", check="CUD012", facts=with_variables(TF, CUDA_VISIBLE_DEVICES="GPU-8f2e")),
]

OTHERS = [
    Case(id="wsl-2", check="WSL001", facts=WSL),
    Case(id="wsl-1", check="WSL001", facts=change(CPU, "system", wsl="WSL1"), severities=("info",)),
    Case(id="wsl-gives-the-gpu", check="WSL002", facts=WSL),
    Case(id="wsl-keeps-it", check="WSL002", facts=nvidia(WSL, device_nodes=()), severities=("fail",)),
    Case(id="wsl-without-gpu", check="WSL002", facts=change(CPU, "system", wsl="WSL2")),
    Case(id="windows-driver", check="WSL004", facts=WSL),
    Case(
        id="linux-driver-inside",
        check="WSL004",
        facts=nvidia(WSL, libcuda="/usr/lib/x86_64-linux-gnu/libcuda.so.1"),
        severities=("fail",),
        says="apt-get purge",
    ),
    Case(id="arm-without-gpu", check="CUD022", facts=AARCH64),
    Case(
        id="arm-with-gpu",
        check="CUD022",
        facts=nvidia(AARCH64, driver_nvml="580.95.05", pci_devices=1),
        severities=("info",),
        says="container",
    ),
    Case(id="no-amd", check="CUD017", facts=CPU),
    Case(id="amd", check="CUD017", facts=change(CPU, "other_gpus", amd=1), severities=("info",)),
    Case(id="amd-beside-nvidia", check="CUD017", facts=change(CUDA, "other_gpus", amd=1)),
    Case(id="windows-without-gpu", check="WIN001", facts=WINDOWS),
    Case(
        id="windows-with-gpu",
        check="WIN001",
        facts=nvidia(WINDOWS, driver_nvml="566.36"),
        severities=("info",),
        says="wsl --install",
    ),
]

MAC = machine("mac-m2-py311")
METAL_LOCK = lock_named("macos-arm64-metal/tf2.19-py311")
METAL = with_lock(MAC, METAL_LOCK)


def metal(tensorflow: str, plugin: str, keras: str = "3.6.0") -> Facts:
    return with_packages(MAC, f"tensorflow=={tensorflow}", f"tensorflow-metal=={plugin}", f"keras=={keras}")


APPLE = [
    Case(id="macos-15", check="MAC004", facts=METAL),
    Case(
        id="macos-11",
        check="MAC004",
        facts=change(MAC, "system", os_version="11.7.10"),
        severities=("fail",),
        says="needs 12.0",
    ),
    Case(
        id="macos-12.0-is-too-old-for-the-plugin",
        check="MAC004",
        facts=change(METAL, "system", os_version="12.0.1"),
        severities=("fail",),
        says="tensorflow-metal needs 12.1",
    ),
    Case(
        id="version-unreadable",
        check="MAC004",
        facts=replace(MAC, system=replace(MAC.system, os_version=unknown("plist", "not a property list"))),
        severities=("unknown",),
        says="not a property list",
    ),
    Case(id="the-clean-pair", check="MAC005", facts=METAL),
    Case(id="no-plugin", check="MAC005", facts=with_packages(MAC, "tensorflow==2.20.0")),
    Case(
        id="nothing-loads-with-2.20",
        check="MAC005",
        facts=metal("2.20.0", "1.2.0", "3.11.3"),
        severities=("fail",),
        says="pip uninstall -y tensorflow-metal",
    ),
    Case(
        id="1.1-with-2.18",
        check="MAC005",
        facts=metal("2.18.1", "1.1.0"),
        severities=("fail",),
        says="tensorflow-metal==1.2.0",
    ),
    Case(id="0.5-with-2.16", check="MAC005", facts=metal("2.16.2", "0.5.0"), severities=("fail",)),
    Case(
        id="1.1-with-2.16", check="MAC005", facts=metal("2.16.2", "1.1.0"), severities=("warn",), says="abort"
    ),
    Case(
        id="keras-3.7-meets-the-fault",
        check="MAC005",
        facts=metal("2.19.1", "1.2.0", "3.11.3"),
        severities=("warn",),
        says="keras==3.6.0",
    ),
    Case(
        id="keras-2-meets-the-fault",
        check="MAC005",
        facts=with_packages(MAC, "tensorflow-macos==2.15.0", "tensorflow-metal==1.1.0", "keras==2.15.0"),
        severities=("warn",),
        says="wrong values",
    ),
    Case(id="python-3.11-has-a-plugin", check="MAC018", facts=MAC),
    Case(
        id="python-3.13-has-none",
        check="MAC018",
        facts=machine("mac-m2-py313"),
        severities=("warn",),
        says="only for Python 3.9, 3.10, 3.11, 3.12",
    ),
    Case(
        id="cpu-was-chosen",
        check="MAC018",
        facts=machine("mac-m2-py313"),
        options={"state": state_of(lock_named("macos-arm64-cpu/tf2.20-py313"))},
    ),
    Case(id="intel-mac", check="MAC018", facts=machine("mac-intel-py311")),
    Case(id="real-mac", check="MAC007", facts=METAL),
    Case(
        id="virtual-mac",
        check="MAC007",
        facts=change(MAC, "other_gpus", apple="Apple M1 (Virtual)"),
        severities=("info",),
        says="--target macos-arm64-cpu",
    ),
    Case(
        id="virtual-mac-with-plugin",
        check="MAC007",
        facts=change(METAL, "other_gpus", apple="Apple M1 (Virtual)"),
        severities=("warn",),
        says="pip uninstall -y tensorflow-metal",
    ),
]

CASES = CHAIN + VERSIONS + OTHERS + APPLE


@parametrized(CASES)
def test_devices(case: Case) -> None:
    holds(case)


def test_the_first_broken_link_of_the_chain_explains_the_others() -> None:
    facts = with_lock(nvidia(MISMATCH, nvidia_smi="failed (exit 18)"), LOCK)
    assert found(facts) == [("CUD003", "fail"), ("CUD005", "skip")]


def test_the_driver_finding_shows_driver_and_floor() -> None:
    (finding,) = one(OLD_DRIVER, "CUD002")
    assert [(item.what, item.value) for item in finding.evidence] == [
        ("driver (NVML)", "470.256.02"),
        ("driver (kernel)", "470.256.02"),
        ("floor", "525.60.13"),
    ]
    assert finding.remedy.commands == (
        "tfenv bootstrap --target linux-x86_64-cpu --python ~/ml/.venv/bin/python",
    )
