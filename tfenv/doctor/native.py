"""C library, CPU and resources: what TensorFlow's compiled code and its data need."""

from __future__ import annotations

from typing import Optional

from tfenv.doctor.answers import cannot_tell, seen, size
from tfenv.doctor.context import Context
from tfenv.doctor.model import Check
from tfenv.doctor.stack import is_below
from tfenv.locks.model import Lock
from tfenv.result import Finding, Remedy
from tfenv.versions import minor_of

_X86 = ("x86_64", "amd64")
#: Resident memory of `import tensorflow` alone is 0.46 GB (2.18, Linux); below this, training is killed.
_LEAST_MEMORY = 2 * 10**9
#: NCCL exchanges through it; Docker gives 64 MB (DeepSpeed warns below this as well).
_SHM = "/dev/shm"  # noqa: S108  (a name to show)
_LEAST_SHM = 512 * 2**20
#: Room for checkpoints and caches.
_LEAST_DISK = 500 * 10**6
#: A lock unpacks to about twice its download (2.19.1 with CUDA: 2.3 GiB, 4.3 GiB); both are there at once.
_DISK_FACTOR = 3


def _musl(context: Context) -> tuple[Finding, ...]:
    libc = context.facts.system.libc
    if libc.value != "musl":
        return ()
    return (
        Finding(
            id="SYS003",
            severity="fail",
            title="TensorFlow has no wheels for musl libc (Alpine Linux)",
            cause="Its wheels are linked against glibc; pip answers 'from versions: none'.",
            evidence=(seen("C library", libc), seen("distribution", context.facts.system.distribution)),
            remedy=Remedy(
                text="Start from a Debian-based image.",
                commands=(f"FROM python:{_python_minor(context)}-slim",),
            ),
        ),
    )


def _glibc(context: Context) -> tuple[Finding, ...]:
    system = context.facts.system
    if system.os.value != "linux" or system.libc.value == "musl":
        return ()
    if not system.libc_version.known:
        return (cannot_tell("SYS002", "the version of the C library", system.libc_version),)
    if system.libc.value != "glibc":
        return ()
    floor = _floor_of_stack(context)
    have = system.libc_version.value
    if not is_below(have, floor):
        return ()
    tensorflow = context.stack.tensorflow
    what = f"TensorFlow {tensorflow.version}" if tensorflow else "every TensorFlow in the catalogue"
    older = sorted({lock.minor for lock in _near(context) if not is_below(have, lock.floors.glibc)})
    return (
        Finding(
            id="SYS002",
            severity="fail",
            title=f"glibc {have} is too old: {what} needs {floor}",
            cause=f"The wheel's libraries ask for functions of a newer C library ('GLIBC_{floor} not "
            "found').",
            evidence=(seen("glibc", system.libc_version), seen("distribution", system.distribution)),
            remedy=Remedy(
                text="Use a newer system or image, such as python:3.12-slim"
                + (f", or TensorFlow {older[-1]}." if older else "."),
                commands=(context.commands.bootstrap(tensorflow=older[-1]),) if older else (),
            ),
        ),
    )


def _near(context: Context) -> list[Lock]:
    names = (context.target.name, context.target.fallback) if context.target else ()
    return [lock for lock in context.locks if lock.target in names]


def _floor_of_stack(context: Context) -> str:
    """glibc for the installed TensorFlow; without one, the lowest that any lock is content with."""
    if context.stack.tensorflow is not None:
        return context.reference.floors.glibc if context.reference else ""
    floors = [lock.floors.glibc for lock in _near(context) if lock.floors.glibc]
    return min(floors, key=lambda floor: [int(part) for part in floor.split(".")], default="")


def _python_minor(context: Context) -> str:
    return minor_of(context.facts.python.version.value or "3.12")


def _emulation(context: Context) -> tuple[Finding, ...]:
    cpu = context.facts.cpu
    model = cpu.model.value or ""
    if not any(word in model for word in ("VirtualApple", "QEMU", "TCG")):
        return ()
    apple = "VirtualApple" in model
    broken = cpu.features.value is not None and "avx" not in cpu.features.value
    return (
        Finding(
            id="CPU002",
            severity="fail" if broken and _is_x86(context) else "warn",
            title="This CPU is emulated" + (": an amd64 image on Apple Silicon" if apple else f" ({model})"),
            cause="Emulation is many times slower and often lacks AVX, without which TensorFlow stops with "
            "'illegal instruction'.",
            evidence=(seen("CPU", cpu.model), seen("features", cpu.features)),
            remedy=Remedy(
                text="Run the image of the machine's own architecture."
                if apple
                else "Give the virtual machine the host's CPU (qemu: -cpu host).",
                commands=("docker run --platform linux/arm64 IMAGE",) if apple else (),
            ),
        ),
    )


def _avx(context: Context) -> tuple[Finding, ...]:
    cpu = context.facts.cpu
    if not _is_x86(context) or "asimd" in (cpu.features.value or ()):
        return ()  # an Intel Python that runs translated on ARM is MAC002's business
    if cpu.features.value is None:
        return (cannot_tell("CPU001", "what this CPU can do", cpu.features),)
    if "avx" not in cpu.features.value:
        return (
            Finding(
                id="CPU001",
                severity="fail",
                title="This CPU has no AVX, which TensorFlow's wheels need: the import stops the process",
                cause="All x86 wheels since TensorFlow 1.6 are compiled with AVX ('Illegal instruction', "
                "exit "
                "code 132 or -4).",
                evidence=(seen("CPU", cpu.model), seen("features", cpu.features)),
                remedy=Remedy(
                    text="Use another machine. In a virtual machine, let it see the host's CPU: qemu -cpu "
                    "host, "
                    "Proxmox CPU type 'host', VirtualBox without Hyper-V below it."
                ),
            ),
        )
    if "avx2" in cpu.features.value:
        return ()
    return (
        Finding(
            id="CPU001",
            severity="info",
            title="This CPU has no AVX2, so TensorFlow runs slower than usual",
            evidence=(seen("CPU", cpu.model), seen("features", cpu.features)),
        ),
    )


def _is_x86(context: Context) -> bool:
    arch = context.facts.python.build_arch.value or context.facts.system.machine_arch.value or ""
    return arch.lower() in _X86


def _disk(context: Context) -> tuple[Finding, ...]:
    fact = context.facts.resources.env_disk_free
    if fact.value is None:
        return () if fact.known else (cannot_tell("RES005", "the free disk space", fact),)
    fresh = context.stack.tensorflow is None
    lock: Optional[Lock] = context.lock if fresh else None
    needed = _DISK_FACTOR * lock.size if lock is not None else 0
    if fact.value >= max(needed, _LEAST_DISK):
        return ()
    return (
        Finding(
            id="RES005",
            severity="fail" if needed else "warn",
            title=f"Only {size(fact.value)} of disk are free where the environment lies"
            + (f", and TensorFlow {lock.tensorflow} needs about {size(needed)}" if lock and needed else ""),
            cause="An installation that runs out of space leaves half a package behind."
            if needed
            else "Checkpoints and caches will not fit.",
            evidence=(seen("free", fact), seen("environment", context.facts.environment.prefix)),
            remedy=Remedy(text="Free some space, or make the environment on another disk (--venv DIR)."),
        ),
    )


def _writable(context: Context) -> tuple[Finding, ...]:
    fact = context.facts.resources.env_writable
    if fact.value is not False or context.stack.tensorflow is not None or context.commands.closed:
        return ()
    return (
        Finding(
            id="RES008",
            severity="warn",
            title="You may not write into this environment, so TensorFlow cannot be installed into it",
            evidence=(seen("writable", fact), seen("environment", context.facts.environment.prefix)),
            remedy=Remedy(text="Use an environment of your own.", commands=("tfenv bootstrap --venv .venv",)),
        ),
    )


def _memory(context: Context) -> tuple[Finding, ...]:
    resources = context.facts.resources
    known = [value for value in (resources.memory.value, resources.cgroup_memory_limit.value) if value]
    if not known:
        return () if resources.memory.known else (cannot_tell("RES001", "the memory", resources.memory),)
    if min(known) >= _LEAST_MEMORY:
        return ()
    limited = resources.cgroup_memory_limit.value == min(known)
    return (
        Finding(
            id="RES001",
            severity="warn",
            title=f"Only {size(min(known))} of memory"
            + (" are allowed here (container limit)" if limited else ""),
            cause="Importing TensorFlow takes about 0.5 GB; a training that needs more is killed without a "
            "message (exit code 137 or -9).",
            evidence=(seen("memory", resources.memory), seen("limit", resources.cgroup_memory_limit)),
            remedy=Remedy(text="Give it more memory." + (" With Docker: --memory 4g." if limited else "")),
        ),
    )


def _cpu_quota(context: Context) -> tuple[Finding, ...]:
    quota, count = context.facts.resources.cgroup_cpu_limit, context.facts.cpu.count
    if quota.value is None or count.value is None or quota.value >= count.value:
        return ()
    threads = str(max(1, int(quota.value)))
    return (
        Finding(
            id="RES003",
            severity="info",
            title=f"{quota.value:g} CPUs are allowed here, but TensorFlow will start threads for "
            f"{count.value}",
            cause="The container's limit is on time, not on CPUs; too many threads wait for each other.",
            evidence=(seen("allowed CPUs", quota), seen("visible CPUs", count)),
            remedy=Remedy(
                text="Tell TensorFlow how many.",
                commands=(context.commands.set("TF_NUM_INTRAOP_THREADS", threads),),
            ),
        ),
    )


def _shm(context: Context) -> tuple[Finding, ...]:
    fact = context.facts.resources.shm_size
    gpus = context.facts.nvidia.gpus.value or ()
    if fact.value is None or fact.value >= _LEAST_SHM or len(gpus) < 2:
        return ()
    return (
        Finding(
            id="RES004",
            severity="warn",
            title=f"{_SHM} holds only {size(fact.value)}, and {len(gpus)} GPUs exchange data through it",
            cause="Training on several GPUs uses shared memory (NCCL); Docker gives 64 MB unless told "
            "otherwise.",
            evidence=(seen(_SHM, fact),),
            remedy=Remedy(text="Start the container with more.", commands=("docker run --shm-size=1g …",)),
        ),
    )


CHECKS = (
    Check(id="SYS003", rung="native", summary="The C library is glibc", run=_musl),
    Check(id="SYS002", rung="native", summary="glibc is new enough", run=_glibc),
    Check(id="CPU002", rung="native", summary="The CPU is not emulated", run=_emulation),
    Check(id="CPU001", rung="native", summary="The CPU has AVX", run=_avx, after=("CPU002",)),
    Check(id="RES005", rung="native", summary="There is enough disk", run=_disk),
    Check(id="RES008", rung="native", summary="The environment can be written", run=_writable),
    Check(id="RES001", rung="native", summary="There is enough memory", run=_memory),
    Check(id="RES003", rung="native", summary="CPU limit and visible CPUs agree", run=_cpu_quota),
    Check(id="RES004", rung="native", summary="Shared memory is large enough for several GPUs", run=_shm),
)
