"""The rung of system, CPU and resources."""

from __future__ import annotations

from dataclasses import replace

from doctor.cases import Case, holds, parametrized
from doctor.crafted import change, lock_named, machine, with_lock, with_packages
from tfenv.facts.model import Facts, GpuFacts, unknown

LINUX = machine("linux-cpu-py311")
DOCKER = machine("docker-no-gpu-py311")
TF = with_lock(LINUX, lock_named("linux-x86_64-cpu/tf2.19-py311"))
MAC = machine("mac-m2-py311")
MB = 10**6


def unreadable(facts: Facts, part: str, name: str) -> Facts:
    return replace(
        facts, **{part: replace(getattr(facts, part), **{name: unknown("/proc", "no permission")})}
    )


def gpus(facts: Facts, count: int) -> Facts:
    found = tuple(
        GpuFacts(index=index, name="Tesla T4", compute_capability="7.5", memory=16 * 10**9)
        for index in range(count)
    )
    return change(facts, "nvidia", gpus=found)


CASES = [
    Case(id="glibc", check="SYS003", facts=LINUX),
    Case(
        id="musl",
        check="SYS003",
        facts=machine("alpine-musl-py312"),
        severities=("fail",),
        says="FROM python:3.12-slim",
    ),
    Case(id="new-enough", check="SYS002", facts=LINUX),
    Case(
        id="2.16-is-below-every-wheel",
        check="SYS002",
        facts=change(LINUX, "system", libc_version="2.16"),
        severities=("fail",),
        says="every TensorFlow in the catalogue needs 2.17",
    ),
    Case(
        id="2.17-is-below-2.21",
        check="SYS002",
        facts=with_packages(change(LINUX, "system", libc_version="2.17"), "tensorflow-cpu==2.21.0"),
        severities=("fail",),
        says="tfenv bootstrap --tf 2.20",
    ),
    Case(id="2.17-serves-2.19", check="SYS002", facts=change(TF, "system", libc_version="2.17")),
    Case(id="2.17-serves-an-older-lock", check="SYS002", facts=change(LINUX, "system", libc_version="2.17")),
    Case(id="no-glibc-on-a-mac", check="SYS002", facts=MAC),
    Case(
        id="libc-unreadable",
        check="SYS002",
        facts=unreadable(LINUX, "system", "libc_version"),
        severities=("unknown",),
        says="no permission",
    ),
    Case(id="a-real-cpu", check="CPU002", facts=LINUX),
    Case(
        id="rosetta-for-linux",
        check="CPU002",
        facts=change(LINUX, "cpu", model="VirtualApple @ 2.50GHz processor", features=("avx", "avx2")),
        severities=("warn",),
        says="docker run --platform linux/arm64",
    ),
    Case(
        id="qemu-without-avx",
        check="CPU002",
        facts=change(LINUX, "cpu", model="QEMU Virtual CPU version 2.5+", features=("sse4_2",)),
        severities=("fail",),
        says="-cpu host",
    ),
    Case(id="avx-and-avx2", check="CPU001", facts=LINUX),
    Case(
        id="no-avx",
        check="CPU001",
        facts=machine("linux-cpu-noavx-py311"),
        severities=("fail",),
        says="Illegal instruction",
    ),
    Case(
        id="no-avx2",
        check="CPU001",
        facts=change(LINUX, "cpu", features=("avx", "sse4_2")),
        severities=("info",),
    ),
    Case(id="arm-has-no-avx-and-needs-none", check="CPU001", facts=machine("linux-aarch64-py312")),
    Case(
        id="features-unreadable",
        check="CPU001",
        facts=unreadable(LINUX, "cpu", "features"),
        severities=("unknown",),
        says="no permission",
    ),
    Case(id="room", check="RES005", facts=LINUX),
    Case(
        id="no-room-for-tensorflow",
        check="RES005",
        facts=change(LINUX, "resources", env_disk_free=700 * MB),
        severities=("fail",),
        says="Only 700 MB of disk are free",
    ),
    Case(
        id="room-for-nothing-else",
        check="RES005",
        facts=change(TF, "resources", env_disk_free=100 * MB),
        severities=("warn",),
        says="Checkpoints",
    ),
    Case(
        id="enough-for-one-that-is-there",
        check="RES005",
        facts=change(TF, "resources", env_disk_free=700 * MB),
    ),
    Case(
        id="disk-unreadable",
        check="RES005",
        facts=unreadable(LINUX, "resources", "env_disk_free"),
        severities=("unknown",),
        says="no permission",
    ),
    Case(id="writable", check="RES008", facts=LINUX),
    Case(
        id="read-only",
        check="RES008",
        facts=change(LINUX, "resources", env_writable=False),
        severities=("warn",),
        says="--venv .venv",
    ),
    Case(id="read-only-with-tensorflow", check="RES008", facts=change(TF, "resources", env_writable=False)),
    Case(id="memory", check="RES001", facts=DOCKER),
    Case(
        id="little-memory",
        check="RES001",
        facts=change(LINUX, "resources", memory=1_000 * MB),
        severities=("warn",),
        says="Only 1 GB of memory",
    ),
    Case(
        id="small-container",
        check="RES001",
        facts=change(DOCKER, "resources", cgroup_memory_limit=512 * MB),
        severities=("warn",),
        says="--memory 4g",
    ),
    Case(
        id="memory-unreadable",
        check="RES001",
        facts=unreadable(LINUX, "resources", "memory"),
        severities=("unknown",),
        says="no permission",
    ),
    Case(id="no-quota", check="RES003", facts=LINUX),
    Case(
        id="quota-of-4-of-16",
        check="RES003",
        facts=DOCKER,
        severities=("info",),
        says="export TF_NUM_INTRAOP_THREADS=4",
    ),
    Case(
        id="quota-below-one",
        check="RES003",
        facts=change(DOCKER, "resources", cgroup_cpu_limit=0.5),
        severities=("info",),
        says="export TF_NUM_INTRAOP_THREADS=1",
    ),
    Case(id="small-shm-without-gpus", check="RES004", facts=DOCKER),
    Case(id="small-shm-with-one-gpu", check="RES004", facts=gpus(DOCKER, 1)),
    Case(
        id="small-shm-with-two-gpus",
        check="RES004",
        facts=gpus(DOCKER, 2),
        severities=("warn",),
        says="--shm-size=1g",
    ),
    Case(id="kaggle-with-two-gpus", check="RES004", facts=machine("kaggle-2xT4-py312")),
]


@parametrized(CASES)
def test_native(case: Case) -> None:
    holds(case)
