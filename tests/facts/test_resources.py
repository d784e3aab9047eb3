"""Memory, control groups and storage."""

from __future__ import annotations

from pathlib import Path

import pytest
from facts.fakes import GB, FakeMachine, probe

from tfenv.facts.cgroup import cpu_limit, memory_limit
from tfenv.facts.machine import Storage
from tfenv.facts.model import ResourceFacts, known, unknown
from tfenv.facts.resources import resource_facts

PURELIB = "/venv/lib/python3.11/site-packages"
V1 = "/sys/fs/cgroup/memory"


def test_a_linux_machine(tmp_path: Path) -> None:
    machine = FakeMachine(
        tmp_path,
        files={
            "/proc/meminfo": "MemTotal:       16384000 kB\nMemFree: 1 kB\n",
            "/proc/self/cgroup": "0::/user.slice\n",
            "/dev/shm/.x": "",
            "/venv/pyvenv.cfg": "",
        },
        storage=Storage(total=64 * 1024**2, free=5 * GB),
    )
    assert resource_facts(probe(), machine) == ResourceFacts(
        memory=known(16384000 * 1024, "/proc/meminfo"),
        cgroup_memory_limit=known(None, "memory limits in /sys/fs/cgroup"),
        cgroup_cpu_limit=known(None, "CPU quotas in /sys/fs/cgroup"),
        env_disk_free=known(5 * GB, f"filesystem of {PURELIB}"),
        env_writable=known(True, f"access to {PURELIB}"),
        shm_size=known(64 * 1024**2, "/dev/shm"),
    )


def test_what_cannot_be_read_is_unknown(tmp_path: Path) -> None:
    machine = FakeMachine(tmp_path, files={"/dev/shm/.x": ""})
    absent = "No such file or directory"
    assert resource_facts(probe(), machine) == ResourceFacts(
        memory=unknown("/proc/meminfo", absent),
        cgroup_memory_limit=unknown("/proc/self/cgroup", absent),
        cgroup_cpu_limit=unknown("/proc/self/cgroup", absent),
        env_disk_free=unknown(f"filesystem of {PURELIB}", "Permission denied"),
        env_writable=known(True, f"access to {PURELIB}"),
        shm_size=unknown("/dev/shm", "Permission denied"),
    )


def test_a_mac_has_neither_cgroups_nor_shared_memory_folder(tmp_path: Path) -> None:
    machine = FakeMachine(
        tmp_path, platform="darwin", sysctls={"hw.memsize": 16 * GB}, storage=Storage(total=1, free=2)
    )
    facts = resource_facts(probe(), machine)
    assert facts.memory == known(16 * GB, "hw.memsize")
    assert {facts.cgroup_memory_limit, facts.cgroup_cpu_limit, facts.shm_size} == {known(None, "not Linux")}


def test_windows_memory(tmp_path: Path) -> None:
    machine = FakeMachine(tmp_path, platform="win32", storage=Storage(total=1, free=2))
    assert resource_facts(probe(), machine).memory == known(32 * GB, "GlobalMemoryStatusEx")


def test_a_linux_without_shared_memory_folder(tmp_path: Path) -> None:
    assert resource_facts(probe(), FakeMachine(tmp_path)).shm_size == known(None, "/dev/shm")


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param(
            {
                "/proc/self/cgroup": "0::/user.slice/app.scope\n",
                "/sys/fs/cgroup/user.slice/app.scope/memory.max": "max\n",
                "/sys/fs/cgroup/user.slice/memory.max": f"{4 * GB}\n",
                "/sys/fs/cgroup/memory.max": f"{8 * GB}\n",
            },
            4 * GB,
            id="v2-least-of-all-above",
        ),
        pytest.param(
            {"/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/memory.max": f"{2 * GB}\n"},
            2 * GB,
            id="v2-inside-a-container",
        ),
        pytest.param(
            {
                "/proc/self/cgroup": "9:name=systemd:/\n4:memory:/docker/abc\n0::/\n",
                f"{V1}/memory.limit_in_bytes": f"{3 * GB}\n",
            },
            3 * GB,
            id="v1-path-of-the-host-inside-a-container",
        ),
        pytest.param(
            {
                "/proc/self/cgroup": "4:memory:/a/b\n",
                f"{V1}/a/b/memory.limit_in_bytes": "9223372036854771712\n",
                f"{V1}/a/memory.limit_in_bytes": f"{5 * GB}\n",
                f"{V1}/memory.limit_in_bytes": "9223372036854771712\n",
            },
            5 * GB,
            id="v1-limit-above",
        ),
        pytest.param(
            {
                "/proc/self/cgroup": "4:memory:/\n0::/\n",
                f"{V1}/memory.limit_in_bytes": "9223372036854771712\n",
            },
            None,
            id="v1-unlimited",
        ),
        pytest.param(
            {
                "/proc/self/cgroup": "0::/a\n",
                "/sys/fs/cgroup/unified/a/memory.max": f"{GB}\n",
            },
            GB,
            id="hybrid",
        ),
        pytest.param(
            {"/proc/self/cgroup": "0::/../x\n", "/sys/fs/cgroup/memory.max": f"{GB}\n"},
            GB,
            id="namespace-shows-a-group-outside",
        ),
        pytest.param({"/proc/self/cgroup": "nonsense\n"}, None, id="nonsense"),
    ],
)
def test_memory_limit(tmp_path: Path, files: dict[str, str], expected: int | None) -> None:
    machine = FakeMachine(tmp_path, files=files)
    assert memory_limit(machine) == known(expected, "memory limits in /sys/fs/cgroup")


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param(
            {
                "/proc/self/cgroup": "0::/a/b\n",
                "/sys/fs/cgroup/a/b/cpu.max": "max 100000\n",
                "/sys/fs/cgroup/a/cpu.max": "150000 100000\n",
                "/sys/fs/cgroup/cpu.max": "400000 100000\n",
            },
            1.5,
            id="v2",
        ),
        pytest.param(
            {
                "/proc/self/cgroup": "3:cpu,cpuacct:/docker/abc\n",
                "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "200000\n",
                "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
            },
            2.0,
            id="v1-joint-controllers",
        ),
        pytest.param(
            {
                "/proc/self/cgroup": "3:cpu:/\n",
                "/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
                "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            None,
            id="v1-unlimited",
        ),
    ],
)
def test_cpu_limit(tmp_path: Path, files: dict[str, str], expected: float | None) -> None:
    machine = FakeMachine(tmp_path, files=files)
    assert cpu_limit(machine) == known(expected, "CPU quotas in /sys/fs/cgroup")
