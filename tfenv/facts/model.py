"""The facts about one machine and one target interpreter, as plain data that round-trips through JSON.

A fact is *known* (with a value, or with ``None``: looked for and not there) or *unknown* (could not be
read, with the reason). "Unknown" is never treated as "absent".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, Literal, Optional, TypeVar

from tfenv.records import record

FACTS_VERSION = 1

T = TypeVar("T")


@record
class Fact(Generic[T]):
    """One observed value, where it was read, and, if it could not be read, why."""

    value: Optional[T] = None
    source: str
    state: Literal["known", "unknown"] = "known"
    reason: str = ""

    @property
    def known(self) -> bool:
        """Whether the fact could be read (its value may still be ``None``: not there)."""
        return self.state == "known"


def known(value: Optional[T], source: str) -> Fact[T]:
    """A fact that was read from ``source``; ``None`` means "looked for and not there"."""
    return Fact(value=value, source=source)


def unknown(source: str, reason: str) -> Fact[T]:
    """A fact that could not be read from ``source``."""
    return Fact(value=None, source=source, state="unknown", reason=reason)


@record
class PythonFacts:
    """The target interpreter."""

    executable: Fact[str]
    version: Fact[str]  # "3.11.7"
    implementation: Fact[str]  # "cpython", "pypy"
    bits: Fact[int]  # 64
    build_arch: Fact[str]  # what this Python was built for: "x86_64", "arm64", "aarch64", "AMD64"
    free_threaded: Fact[bool]
    debug_build: Fact[bool]
    platform_tag: Fact[str]  # sysconfig.get_platform()
    pip_version: Fact[str]  # None: no pip in this interpreter
    writes_bytecode: Fact[bool]


@record
class SystemFacts:
    """Operating system and C library."""

    os: Fact[str]  # "linux", "macos", "windows"
    os_version: Fact[str]  # macOS product version (never 10.16), distribution version, Windows build
    distribution: Fact[str]  # "debian 12", "ubuntu 22.04"; None outside Linux
    kernel: Fact[str]
    machine_arch: Fact[str]  # what the machine is: "x86_64", "arm64" even when Python is emulated
    rosetta: Fact[bool]
    libc: Fact[str]  # "glibc" or "musl"; None outside Linux
    libc_version: Fact[str]
    wsl: Fact[str]  # "WSL1", "WSL2" or None
    container: Fact[str]  # "docker", "podman", "kubernetes", "singularity", "container-like", … or None


@record
class CpuFacts:
    """The processor."""

    model: Fact[str]
    count: Fact[int]  # CPUs this process may use
    features: Fact[tuple[str, ...]]  # of avx, avx2, fma, avx512f, asimd, …: those present on every CPU


@record
class ResourceFacts:
    """Memory and storage, in bytes."""

    memory: Fact[int]
    cgroup_memory_limit: Fact[int]  # None: no limit
    cgroup_cpu_limit: Fact[float]  # CPUs, None: no limit
    env_disk_free: Fact[int]  # on the filesystem that holds the environment
    env_writable: Fact[bool]
    shm_size: Fact[int]


@record
class GpuFacts:
    """One GPU as its driver describes it."""

    index: int
    name: str
    compute_capability: Optional[str] = None  # "8.9"; None where the driver did not say
    memory: Optional[int] = None  # bytes


@record
class NvidiaFacts:
    """NVIDIA hardware, driver and devices, kept apart: a driver seen is not a device usable."""

    pci_devices: Fact[int]  # display controllers of vendor 0x10de
    driver_nvml: Fact[str]  # "550.54.15", from NVML
    cuda_version_nvml: Fact[str]  # the driver's ceiling, not a toolkit: "12.4"
    gpus: Fact[tuple[GpuFacts, ...]]  # from NVML, every GPU
    driver_proc: Fact[str]  # from /proc/driver/nvidia/version
    device_nodes: Fact[tuple[str, ...]]
    devices_usable: Fact[bool]  # the nodes can be opened for reading and writing
    nvidia_smi: Fact[str]  # "ok", "missing", "hung", "failed (exit 9)"
    libcuda: Fact[str]  # path of libcuda.so.1 the loader finds, None: not found


@record
class OtherGpuFacts:
    """GPUs that are not NVIDIA's."""

    apple: Fact[str]  # "Apple M2"; None: no Apple GPU
    amd: Fact[int]  # PCI display controllers of vendor 0x1002


@record
class NotebookFacts:
    """The notebook host this process runs under."""

    host: Fact[str]  # "kaggle", "colab", "colab-enterprise", "jupyter", … or None
    release: Fact[str]  # Colab's release tag, Kaggle's image commit
    kernel_pid: Fact[int]  # the kernel process among the ancestors
    ci: Fact[str]  # "github-actions", "gitlab", "ci" or None


@record
class EnvironmentFacts:
    """The environment that the target interpreter installs into."""

    prefix: Fact[str]
    kind: Fact[str]  # "venv", "conda", "conda-base", "system"
    externally_managed: Fact[str]  # the PEP 668 message, None: not marked
    user_site: Fact[str]  # the active user site directory that exists, None: none
    site_packages: Fact[tuple[str, ...]]  # import path entries that hold distributions, in order
    purelib: Fact[str]  # where an installer would put pure-Python code
    tfenv_owned: Fact[bool]  # created by tfenv (its marker is there)
    activated: Fact[str]  # VIRTUAL_ENV or CONDA_PREFIX, None: none
    leftovers: Fact[tuple[str, ...]]  # full paths of "~ensorflow" and other remains of interrupted installs


@record
class Distribution:
    """One installed distribution."""

    name: str  # canonical (PEP 503)
    version: str
    location: str  # the import path entry it lives in
    installer: Optional[str] = None  # "pip", "uv", "conda"
    requires: Optional[tuple[str, ...]] = None  # Requires-Dist lines; None: not read (a recorded list)


@record
class SharedFolder:
    """A top-level import folder that more than one distribution claims."""

    folder: str  # "tensorflow"
    owners: tuple[str, ...]  # canonical names


@record
class PackageFacts:
    """What is installed."""

    distributions: Fact[tuple[Distribution, ...]]  # in import order: of two with one name, the first counts
    shared_folders: Fact[tuple[SharedFolder, ...]]
    duplicates: Fact[tuple[str, ...]]  # names with more than one metadata folder in one place
    conda_and_pip: Fact[tuple[str, ...]]  # names installed by both conda and an installer
    shadowing: Fact[tuple[str, ...]]  # files in the working folder that would shadow, e.g. "random.py"


@record
class Facts:
    """Everything tfenv knows about one machine and one target interpreter."""

    tfenv_facts_version: int = FACTS_VERSION
    python: PythonFacts
    system: SystemFacts
    cpu: CpuFacts
    resources: ResourceFacts
    nvidia: NvidiaFacts
    other_gpus: OtherGpuFacts
    notebook: NotebookFacts
    environment: EnvironmentFacts
    packages: PackageFacts
    variables: Fact[Mapping[str, str]]  # the environment variables that matter, secrets masked
