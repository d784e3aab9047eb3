"""Writes the recorded machines of this folder, or into another: ``python tests/machines/make.py [FOLDER]``.

Nobody recorded them on the hardware they show. They are composed here, by hand, from the public facts named
beside each value, in the shape that ``read_facts`` gives; only the distributions of the notebook images come
from lists published with those images (``freeze/``, of googlecolab/backend-info). The home folder is ``~``.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

from notebooks import colab_machine, kaggle_machine
from pieces import (
    NO_NOTEBOOK,
    NO_NVIDIA,
    X86_64_V3,
    X86_64_V4,
    cpu,
    desktop_resources,
    environment,
    linux,
    linux_machine,
    macos,
    nvidia,
    only_pip,
    packages,
    python,
    resources,
    system_machine,
    variables,
)

from tfenv.codec import encode
from tfenv.facts.model import (
    Distribution,
    Facts,
    NvidiaFacts,
    OtherGpuFacts,
    SystemFacts,
    known,
    unknown,
)

HERE = Path(__file__).parent


def mac_machine(
    python_version: str,
    *,
    chip: str,
    system: SystemFacts,
    build_arch: str,
    platform_tag: str,
    features: tuple[str, ...],
    count: int,
    memory_gb: int,
) -> Facts:
    minor = python_version.rpartition(".")[0]
    purelib = f"~/ml/.venv/lib/python{minor}/site-packages"
    arm = system.machine_arch.value == "arm64"
    gpu = known(chip, "machdep.cpu.brand_string") if arm else known(None, "hw.optional.arm64")
    no_nvidia = "no NVIDIA driver exists for this system"
    return Facts(
        python=python(python_version, "~/ml/.venv/bin/python", platform_tag, build_arch),
        system=system,
        cpu=cpu(chip, count, features, "sysctl"),
        resources=desktop_resources(memory_gb, 180, "hw.memsize"),
        nvidia=NvidiaFacts(
            pci_devices=unknown("the PCI bus", "not read on macOS"),
            driver_nvml=known(None, no_nvidia),
            cuda_version_nvml=known(None, no_nvidia),
            gpus=known((), no_nvidia),
            driver_proc=known(None, no_nvidia),
            device_nodes=known((), no_nvidia),
            devices_usable=known(None, no_nvidia),
            nvidia_smi=known("missing", no_nvidia),
            libcuda=known(None, no_nvidia),
        ),
        other_gpus=OtherGpuFacts(apple=gpu, amd=unknown("the PCI bus", "not read on macOS")),
        notebook=replace(
            NO_NOTEBOOK,
            kernel_pid=unknown("this process and its parents in /proc", "there is no /proc on macOS"),
        ),
        environment=environment("~/ml/.venv", purelib, activated="~/ml/.venv"),
        packages=only_pip(purelib),
        variables=known(variables(LANG="en_US.UTF-8", VIRTUAL_ENV="~/ml/.venv"), "the environment"),
    )


def windows_machine() -> Facts:
    purelib = "~\\ml\\.venv\\Lib\\site-packages"
    return Facts(
        python=python("3.11.9", "~\\ml\\.venv\\Scripts\\python.exe", "win-amd64", "AMD64"),
        system=SystemFacts(
            os=known("windows", "sys.platform"),
            os_version=known("10.0.22631", "sys.getwindowsversion()"),
            distribution=known(None, "not Linux"),
            kernel=known("10.0.22631", "sys.getwindowsversion()"),
            machine_arch=known("AMD64", "PROCESSOR_ARCHITECTURE"),
            rosetta=known(False, "not macOS"),
            libc=known(None, "not Linux"),
            libc_version=known(None, "not Linux"),
            wsl=known(None, "not Linux"),
            container=known(None, "not Linux"),
        ),
        cpu=cpu(
            "Intel64 Family 6 Model 151 Stepping 2, GenuineIntel",
            20,
            ("avx", "avx2"),
            "IsProcessorFeaturePresent (does not tell of FMA)",
        ),
        resources=desktop_resources(32, 250, "GlobalMemoryStatusEx"),
        nvidia=replace(
            NO_NVIDIA,
            pci_devices=unknown("the PCI bus", "not read on Windows"),
        ),
        other_gpus=OtherGpuFacts(
            apple=known(None, "not macOS"), amd=unknown("the PCI bus", "not read on Windows")
        ),
        notebook=replace(
            NO_NOTEBOOK,
            kernel_pid=unknown("this process and its parents in /proc", "there is no /proc on Windows"),
        ),
        environment=environment("~\\ml\\.venv", purelib, activated="~\\ml\\.venv"),
        packages=only_pip(purelib),
        variables=known(variables(VIRTUAL_ENV="~\\ml\\.venv"), "the environment"),
    )


def wsl_machine() -> Facts:
    """WSL 2 has no /proc/driver/nvidia and no /dev/nvidia*: the Windows driver serves /dev/dxg."""
    facts = linux_machine(
        "3.11.9",
        system=linux("ubuntu 22.04", "5.15.167.4-microsoft-standard-WSL2", wsl="WSL2"),
        processor=cpu("12th Gen Intel(R) Core(TM) i7-12700K", 20, X86_64_V3),
        memory=resources(15, 800),
        gpus=nvidia(
            "566.36",
            "12.7",
            ("NVIDIA GeForce RTX 3060", "8.6", 12288),
            libcuda="/usr/lib/wsl/lib/libcuda.so.1",
        ),
    )
    return replace(
        facts,
        nvidia=replace(
            facts.nvidia,
            pci_devices=known(0, "/sys/bus/pci/devices"),
            driver_proc=known(None, "/proc/driver/nvidia/version"),
            device_nodes=known(("/dev/dxg",), "/dev"),
        ),
    )


DEBIAN_MESSAGE = (
    "To install Python packages system-wide, try apt install python3-xyz, where xyz is the package you are "
    "trying to install."
)


def debian_system_machine() -> Facts:
    third_party = "/usr/lib/python3/dist-packages"
    installed = tuple(
        Distribution(name=name, version=version, location=third_party, installer=installer, requires=())
        for name, version, installer in (
            ("pip", "23.0.1", "debian"),
            ("setuptools", "66.1.1", None),
            ("wheel", "0.38.4", None),
        )
    )
    return system_machine(
        "3.11.2",
        executable="/usr/bin/python3",
        prefix="/usr",
        purelib="/usr/local/lib/python3.11/dist-packages",
        base=linux_machine(
            "3.11.2",
            system=linux("debian 12", "6.1.0-37-amd64", libc=("glibc", "2.36")),
            processor=cpu("Intel(R) Core(TM) i5-8250U CPU @ 1.60GHz", 8, X86_64_V3),
            memory=resources(16, 90),
        ),
        pip="23.0.1",
        externally_managed=DEBIAN_MESSAGE,
        site_packages=("/usr/local/lib/python3.11/dist-packages", third_party),
        installed=packages(installed),
        set_variables=variables(LANG="en_US.UTF-8"),
    )


def docker_machine() -> Facts:
    """``docker run`` of the official slim image with a memory limit, without ``--gpus``."""
    purelib = "/usr/local/lib/python3.11/site-packages"
    host = linux_machine(
        "3.11.13",
        system=linux("debian 12", "6.8.0-60-generic", libc=("glibc", "2.36"), container="docker"),
        processor=cpu("Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz", 16, X86_64_V4),
        memory=resources(123, 60, limit_gb=8, cpus=4.0, shm=64 * 1024**2),
    )
    return system_machine(
        "3.11.13",
        executable="/usr/local/bin/python3.11",
        prefix="/usr/local",
        purelib=purelib,
        base=host,
        pip="24.0",
        installed=only_pip(purelib),
        set_variables=variables(LANG="C.UTF-8"),
    )


def alpine_machine() -> Facts:
    """The official Alpine image: musl, for which no TensorFlow wheel exists."""
    purelib = "/usr/local/lib/python3.12/site-packages"
    host = linux_machine(
        "3.12.11",
        system=linux("alpine 3.22.1", "6.8.0-60-generic", libc=("musl", "1.2.5"), container="docker"),
        memory=resources(64, 60, shm=64 * 1024**2),
    )
    return system_machine(
        "3.12.11",
        executable="/usr/local/bin/python3.12",
        prefix="/usr/local",
        purelib=purelib,
        base=host,
        pip="25.0.1",
        installed=only_pip(purelib, "25.0.1"),
        set_variables=variables(LANG="C.UTF-8"),
    )


APPLE_FEATURES = ("asimd", "asimddp", "bf16", "i8mm")  # Apple M2: FEAT_BF16 and FEAT_I8MM present


def m2(python_version: str, **changed: str) -> Facts:
    return mac_machine(
        python_version,
        chip="Apple M2",
        system=macos("15.5", "24.5.0", rosetta=changed.get("build_arch") == "x86_64"),
        build_arch=changed.get("build_arch", "arm64"),
        platform_tag=changed.get("platform_tag", "macosx-11.0-arm64"),
        features=APPLE_FEATURES,
        count=8,
        memory_gb=16,
    )


def machines() -> dict[str, Facts]:
    """File name (without ``.json``) to facts."""
    rtx4090 = ("NVIDIA GeForce RTX 4090", "8.9", 24564)
    return {
        "mac-m2-py311": m2("3.11.9"),
        "mac-m2-py313": m2("3.13.5"),
        "mac-m2-rosetta": m2("3.11.9", build_arch="x86_64", platform_tag="macosx-10.9-x86_64"),
        "mac-intel-py311": mac_machine(
            "3.11.9",
            chip="Intel(R) Core(TM) i7-9750H CPU @ 2.60GHz",
            system=macos("14.7.6", "23.6.0", "x86_64"),
            build_arch="x86_64",
            platform_tag="macosx-10.9-universal2",
            features=X86_64_V3,
            count=12,
            memory_gb=16,
        ),
        "linux-rtx4090-driver550-py311": linux_machine("3.11.9", gpus=nvidia("550.144.03", "12.4", rtx4090)),
        # The 470 branch ended before this card; the pair stands for "driver below the floor".
        "linux-rtx4090-driver470-py311": linux_machine("3.11.9", gpus=nvidia("470.256.02", "11.4", rtx4090)),
        "linux-rtx5090-cc120-driver575-py312": linux_machine(
            "3.12.11", gpus=nvidia("575.64.03", "12.9", ("NVIDIA GeForce RTX 5090", "12.0", 32607))
        ),
        "linux-gtx1080-pascal-driver550-py311": linux_machine(
            "3.11.9",
            processor=cpu("Intel(R) Core(TM) i7-6700K CPU @ 4.00GHz", 8, X86_64_V3),
            memory=resources(32, 200),
            gpus=nvidia("550.144.03", "12.4", ("NVIDIA GeForce GTX 1080", "6.1", 8192)),
        ),
        "linux-cpu-py311": linux_machine("3.11.9", memory=resources(32, 200)),
        "linux-cpu-noavx-py311": linux_machine(
            "3.11.9",
            # Goldmont Plus: SSE4.2, no AVX.
            processor=cpu("Intel(R) Celeron(R) J4125 CPU @ 2.00GHz", 4, ("sse4_2",)),
            memory=resources(8, 100),
        ),
        "linux-aarch64-py312": linux_machine(
            "3.12.11",
            system=linux("ubuntu 24.04", "6.8.0-1029-aws", arch="aarch64", libc=("glibc", "2.39")),
            processor=cpu(
                "ARM (implementer 0x41, part 0xd40)", 4, ("asimd", "asimddp", "bf16", "i8mm", "sve")
            ),
            memory=resources(16, 40),
        ),
        "alpine-musl-py312": alpine_machine(),
        "windows-py311": windows_machine(),
        "wsl2-rtx3060-py311": wsl_machine(),
        "docker-no-gpu-py311": docker_machine(),
        "kaggle-2xT4-py312": kaggle_machine(),
        "colab-2026.07-gpu-py312": colab_machine(
            "3.12.13",
            "colab-2026.07-gpu.txt",
            release="release-colab-external_20260720-060059_RC00",
            gpu=True,
        ),
        "colab-2026.08-gpu-py313": colab_machine(
            "3.13.15",
            "colab-2026.08-gpu.txt",
            release="release-colab-external_20260818-060052_RC00",
            gpu=True,
        ),
        "colab-2026.08-cpu": colab_machine(
            "3.13.15",
            "colab-2026.08-cpu.txt",
            release="release-colab-external_20260818-060052_RC00",
            gpu=False,
        ),
        "debian-system-pep668-py311": debian_system_machine(),
    }


def text_of(facts: Facts) -> str:
    """The file content of one machine."""
    return json.dumps(encode(facts), indent=1, ensure_ascii=False, sort_keys=False) + "\n"


def main(folder: Path) -> None:
    for name, facts in machines().items():
        (folder / f"{name}.json").write_text(text_of(facts), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
