"""Parts of the composed machines: what ``read_facts`` says of one interpreter, system, CPU, GPU, ….

The sources are those that the readers name, in short.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tfenv.facts.model import (
    CpuFacts,
    Distribution,
    EnvironmentFacts,
    Facts,
    GpuFacts,
    NotebookFacts,
    NvidiaFacts,
    OtherGpuFacts,
    PackageFacts,
    PythonFacts,
    ResourceFacts,
    SharedFolder,
    SystemFacts,
    known,
)

GB = 1024**3

X86_64_V3 = ("avx", "avx2", "f16c", "fma", "sse4_2")
X86_64_V4 = ("avx", "avx2", "avx512_vnni", "avx512f", "f16c", "fma", "sse4_2")

PROBE = "the interpreter itself"


def python(
    version: str,
    executable: str,
    platform_tag: str,
    arch: str,
    *,
    pip: str | None = "24.0",
) -> PythonFacts:
    return PythonFacts(
        executable=known(executable, "sys.executable"),
        version=known(version, PROBE),
        implementation=known("cpython", PROBE),
        bits=known(64, PROBE),
        build_arch=known(arch, PROBE),
        free_threaded=known(False, "sysconfig Py_GIL_DISABLED"),
        debug_build=known(False, PROBE),
        platform_tag=known(platform_tag, "sysconfig.get_platform()"),
        pip_version=known(pip, "installed distributions"),
        writes_bytecode=known(True, "sys.dont_write_bytecode"),
    )


def environment(
    prefix: str,
    purelib: str,
    *,
    kind: str = "venv",
    activated: str | None = None,
    externally_managed: str | None = None,
    site_packages: tuple[str, ...] = (),
) -> EnvironmentFacts:
    return EnvironmentFacts(
        prefix=known(prefix, "sys.prefix"),
        kind=known(kind, "sys.prefix, sys.base_prefix and conda-meta"),
        externally_managed=known(externally_managed, "EXTERNALLY-MANAGED beside the standard library"),
        user_site=known(None, "site.getusersitepackages()"),
        site_packages=known(site_packages or (purelib,), "sys.path"),
        purelib=known(purelib, "sysconfig.get_path('purelib')"),
        tfenv_owned=known(False, f"{purelib}/.tfenv"),
        activated=known(activated, "VIRTUAL_ENV, CONDA_PREFIX"),
        leftovers=known((), "sys.path"),
    )


def packages(distributions: tuple[Distribution, ...], shared: tuple[SharedFolder, ...] = ()) -> PackageFacts:
    return PackageFacts(
        distributions=known(distributions, "metadata folders on sys.path"),
        shared_folders=known(shared, "RECORD files"),
        duplicates=known((), "metadata folders on sys.path"),
        conda_and_pip=known((), "conda-meta and INSTALLER"),
        shadowing=known((), "the working folder and PYTHONPATH"),
    )


def only_pip(purelib: str, version: str = "24.0") -> PackageFacts:
    """A fresh environment."""
    pip = Distribution(name="pip", version=version, location=purelib, installer="pip", requires=())
    return packages((pip,))


NO_NVIDIA = NvidiaFacts(
    pci_devices=known(0, "/sys/bus/pci/devices"),
    driver_nvml=known(None, "no sign of an NVIDIA device or driver"),
    cuda_version_nvml=known(None, "no sign of an NVIDIA device or driver"),
    gpus=known((), "no sign of an NVIDIA device or driver"),
    driver_proc=known(None, "/proc/driver/nvidia/version"),
    device_nodes=known((), "/dev"),
    devices_usable=known(None, "no sign of an NVIDIA device or driver"),
    nvidia_smi=known("missing", "PATH"),
    libcuda=known(None, "no sign of an NVIDIA device or driver"),
)
NO_OTHER_GPU = OtherGpuFacts(apple=known(None, "not macOS"), amd=known(0, "/sys/bus/pci/devices"))
NO_NOTEBOOK = NotebookFacts(
    host=known(None, "environment variables"),
    release=known(None, "the notebook host"),
    kernel_pid=known(None, "this process and its parents in /proc"),
    ci=known(None, "environment variables"),
)


def nvidia(
    driver: str,
    cuda: str,
    *gpus: tuple[str, str, int],
    libcuda: str = "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
    pci: bool = True,
) -> NvidiaFacts:
    """``gpus``: name, compute capability, memory in MiB as NVML reports it."""
    nodes = (*(f"/dev/nvidia{index}" for index in range(len(gpus))), "/dev/nvidia-uvm", "/dev/nvidiactl")
    return NvidiaFacts(
        pci_devices=known(len(gpus) if pci else 0, "/sys/bus/pci/devices"),
        driver_nvml=known(driver, "NVML"),
        cuda_version_nvml=known(cuda, "NVML"),
        gpus=known(
            tuple(
                GpuFacts(index=index, name=name, compute_capability=capability, memory=mebibytes * 1024**2)
                for index, (name, capability, mebibytes) in enumerate(gpus)
            ),
            "NVML",
        ),
        driver_proc=known(driver, "/proc/driver/nvidia/version"),
        device_nodes=known(tuple(sorted(nodes)), "/dev"),
        devices_usable=known(True, "opening the device nodes"),
        nvidia_smi=known("ok", "/usr/bin/nvidia-smi -L"),
        libcuda=known(libcuda, "the loader"),
    )


def linux(
    distribution: str,
    kernel: str,
    *,
    arch: str = "x86_64",
    libc: tuple[str, str] = ("glibc", "2.35"),
    wsl: str | None = None,
    container: str | None = None,
) -> SystemFacts:
    return SystemFacts(
        os=known("linux", "sys.platform"),
        os_version=known(distribution.split()[-1], "/etc/os-release"),
        distribution=known(distribution, "/etc/os-release"),
        kernel=known(kernel, "uname"),
        machine_arch=known(arch, "uname"),
        rosetta=known(False, "not macOS"),
        libc=known(libc[0], "confstr CS_GNU_LIBC_VERSION" if libc[0] == "glibc" else "sysconfig"),
        libc_version=known(
            libc[1], "confstr CS_GNU_LIBC_VERSION" if libc[0] == "glibc" else f"/lib/ld-musl-{arch}.so.1"
        ),
        wsl=known(wsl, "/proc/sys/kernel/osrelease"),
        container=known(container, "environment variables, /.dockerenv, /run/.containerenv, /proc/1/cgroup"),
    )


def macos(version: str, darwin: str, arch: str = "arm64", *, rosetta: bool = False) -> SystemFacts:
    return SystemFacts(
        os=known("macos", "sys.platform"),
        os_version=known(version, "/System/Library/CoreServices/SystemVersion.plist"),
        distribution=known(None, "not Linux"),
        kernel=known(darwin, "uname"),
        machine_arch=known(arch, "hw.optional.arm64"),
        rosetta=known(rosetta, "sysctl.proc_translated, hw.optional.arm64 and the interpreter"),
        libc=known(None, "not Linux"),
        libc_version=known(None, "not Linux"),
        wsl=known(None, "not Linux"),
        container=known(None, "not Linux"),
    )


def cpu(model: str, count: int, features: tuple[str, ...], source: str = "/proc/cpuinfo") -> CpuFacts:
    return CpuFacts(
        model=known(model, source),
        count=known(count, "CPU affinity"),
        features=known(features, source),
    )


def resources(
    memory_gb: int,
    disk_free_gb: int,
    *,
    limit_gb: int | None = None,
    cpus: float | None = None,
    shm: int | None = None,
) -> ResourceFacts:
    return ResourceFacts(
        memory=known(memory_gb * GB, "/proc/meminfo"),
        cgroup_memory_limit=known(limit_gb * GB if limit_gb else None, "memory limits in /sys/fs/cgroup"),
        cgroup_cpu_limit=known(cpus, "CPU quotas in /sys/fs/cgroup"),
        env_disk_free=known(disk_free_gb * GB, "filesystem of the environment"),
        env_writable=known(True, "access to the environment"),
        shm_size=known(memory_gb * GB // 2 if shm is None else shm, "/dev/shm"),
    )


def desktop_resources(memory_gb: int, disk_free_gb: int, source: str) -> ResourceFacts:
    """macOS and Windows: no cgroups, no /dev/shm."""
    return ResourceFacts(
        memory=known(memory_gb * GB, source),
        cgroup_memory_limit=known(None, "not Linux"),
        cgroup_cpu_limit=known(None, "not Linux"),
        env_disk_free=known(disk_free_gb * GB, "filesystem of the environment"),
        env_writable=known(True, "access to the environment"),
        shm_size=known(None, "not Linux"),
    )


def variables(**values: str) -> Mapping[str, str]:
    return dict(sorted(values.items()))


def linux_machine(
    python_version: str,
    *,
    system: SystemFacts | None = None,
    processor: CpuFacts | None = None,
    memory: ResourceFacts | None = None,
    gpus: NvidiaFacts = NO_NVIDIA,
) -> Facts:
    """A fresh, activated venv in the home folder of a Linux machine."""
    system = system or linux("ubuntu 22.04", "6.8.0-60-generic")
    arch = system.machine_arch.value or ""
    minor = python_version.rpartition(".")[0]
    purelib = f"~/ml/.venv/lib/python{minor}/site-packages"
    return Facts(
        python=python(python_version, "~/ml/.venv/bin/python", f"linux-{arch}", arch),
        system=system,
        cpu=processor or cpu("AMD Ryzen 9 7950X 16-Core Processor", 32, X86_64_V4),
        resources=memory or resources(64, 420),
        nvidia=gpus,
        other_gpus=NO_OTHER_GPU,
        notebook=NO_NOTEBOOK,
        environment=environment("~/ml/.venv", purelib, activated="~/ml/.venv"),
        packages=only_pip(purelib),
        variables=known(variables(LANG="en_US.UTF-8", VIRTUAL_ENV="~/ml/.venv"), "the environment"),
    )


def system_machine(
    python_version: str,
    *,
    executable: str,
    prefix: str,
    purelib: str,
    base: Facts,
    pip: str | None,
    externally_managed: str | None = None,
    site_packages: tuple[str, ...] = (),
    installed: PackageFacts,
    set_variables: Mapping[str, str],
) -> Facts:
    """The interpreter of the system itself, on the machine of ``base``."""
    arch = base.system.machine_arch.value or ""
    return replace(
        base,
        python=python(python_version, executable, f"linux-{arch}", arch, pip=pip),
        environment=environment(
            prefix,
            purelib,
            kind="system",
            externally_managed=externally_managed,
            site_packages=site_packages,
        ),
        packages=installed,
        variables=known(set_variables, "the environment"),
    )
