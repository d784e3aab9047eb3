"""Operating system and C library, from fixture trees of every platform."""

from __future__ import annotations

import plistlib
from pathlib import Path

import pytest
from facts.fakes import FakeMachine, probe

from tfenv.facts.machine import Ran
from tfenv.facts.model import SystemFacts, known, unknown
from tfenv.facts.system import libc, libc_version, os_version, system_facts, wsl

DEBIAN = 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\nVERSION_ID="12"\n# a comment = x\n'
NOT_LINUX = known(None, "not Linux")
PLIST = "/System/Library/CoreServices/SystemVersion.plist"


def plist(version: str) -> str:
    return plistlib.dumps({"ProductVersion": version, "ProductBuildVersion": "24F74"}).decode()


def test_a_debian_machine(tmp_path: Path) -> None:
    machine = FakeMachine(
        tmp_path, files={"/etc/os-release": DEBIAN, "/proc/sys/kernel/osrelease": "6.1.0-37-amd64\n"}
    )
    container = "environment variables, /.dockerenv, /run/.containerenv, /proc/1/cgroup"
    assert system_facts(probe(), machine) == SystemFacts(
        os=known("linux", "sys.platform"),
        os_version=known("12", "/etc/os-release"),
        distribution=known("debian 12", "/etc/os-release"),
        kernel=known("6.1.0", "uname"),
        machine_arch=known("x86_64", "uname"),
        rosetta=known(False, "not macOS"),
        libc=known("glibc", "confstr CS_GNU_LIBC_VERSION"),
        libc_version=known("2.36", "confstr CS_GNU_LIBC_VERSION"),
        wsl=known(None, "/proc/sys/kernel/osrelease"),
        container=known(None, container),
    )


def test_an_apple_silicon_mac_under_rosetta(tmp_path: Path) -> None:
    machine = FakeMachine(
        tmp_path,
        platform="darwin",
        files={PLIST: plist("15.5")},
        sysctls={"hw.optional.arm64": 1, "sysctl.proc_translated": 0},
        uname=("24.5.0", "arm64"),
    )
    assert system_facts(probe(build_arch="x86_64", libc=None, libc_version=None), machine) == SystemFacts(
        os=known("macos", "sys.platform"),
        os_version=known("15.5", PLIST),
        distribution=NOT_LINUX,
        kernel=known("24.5.0", "uname"),
        machine_arch=known("arm64", "hw.optional.arm64"),
        rosetta=known(True, "sysctl.proc_translated, hw.optional.arm64 and the interpreter"),
        libc=NOT_LINUX,
        libc_version=NOT_LINUX,
        wsl=NOT_LINUX,
        container=NOT_LINUX,
    )


@pytest.mark.parametrize(
    ("sysctls", "build_arch", "expected", "arch"),
    [
        pytest.param({"hw.optional.arm64": 1}, "arm64", False, "arm64", id="native"),
        pytest.param({"hw.optional.arm64": 1}, "x86_64", True, "arm64", id="translated"),
        pytest.param({"sysctl.proc_translated": 0}, "x86_64", False, "x86_64", id="intel"),
    ],
)
def test_rosetta_is_a_matter_of_the_interpreter(
    tmp_path: Path, sysctls: dict[str, int], build_arch: str, expected: bool, arch: str
) -> None:
    machine = FakeMachine(tmp_path, platform="darwin", sysctls=sysctls)
    facts = system_facts(probe(build_arch=build_arch), machine)
    assert (facts.rosetta.value, facts.machine_arch.value) == (expected, arch)


def test_a_windows_machine(tmp_path: Path) -> None:
    machine = FakeMachine(tmp_path, platform="win32", uname=("10.0.22631", "AMD64"))
    assert system_facts(probe(libc=None, libc_version=None), machine) == SystemFacts(
        os=known("windows", "sys.platform"),
        os_version=known("10.0.22631", "uname"),
        distribution=NOT_LINUX,
        kernel=known("10.0.22631", "uname"),
        machine_arch=known("AMD64", "uname"),
        rosetta=known(False, "not macOS"),
        libc=NOT_LINUX,
        libc_version=NOT_LINUX,
        wsl=NOT_LINUX,
        container=NOT_LINUX,
    )


def test_the_lie_of_macos_is_seen_through(tmp_path: Path) -> None:
    machine = FakeMachine(
        tmp_path,
        platform="darwin",
        files={PLIST: plist("10.16")},
        commands={"sw_vers": Ran(outcome="exited", stdout="14.7.6\n")},
        environ={"HOME": "/Users/x"},
    )
    assert os_version(machine) == known("14.7.6", "sw_vers with SYSTEM_VERSION_COMPAT=0")
    assert machine.run_environ == {"HOME": "/Users/x", "SYSTEM_VERSION_COMPAT": "0"}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param("", "not a property list: Invalid file", id="empty"),
        pytest.param("<plist><dict></dict></plist>", "no ProductVersion in it", id="no-version"),
        pytest.param("<plist><dict>", "not a property list: no element found", id="cut-off"),
    ],
)
def test_a_broken_version_file_is_unknown(tmp_path: Path, content: str, reason: str) -> None:
    machine = FakeMachine(tmp_path, platform="darwin", files={PLIST: content})
    fact = os_version(machine)
    assert (fact.source, fact.state) == (PLIST, "unknown")
    assert fact.reason.startswith(reason)


def test_a_mac_that_keeps_lying_is_unknown(tmp_path: Path) -> None:
    machine = FakeMachine(
        tmp_path,
        platform="darwin",
        files={PLIST: plist("10.16")},
        commands={"sw_vers": Ran(outcome="exited", stdout="10.16\n")},
    )
    assert os_version(machine) == unknown("sw_vers with SYSTEM_VERSION_COMPAT=0", "macOS answers '10.16'")


def test_a_distribution_without_version(tmp_path: Path) -> None:
    machine = FakeMachine(tmp_path, files={"/usr/lib/os-release": "ID=arch\nNAME='Arch Linux'\n"})
    facts = system_facts(probe(), machine)
    assert facts.distribution == known("arch", "/usr/lib/os-release")
    assert facts.os_version == known(None, "/usr/lib/os-release")


def test_a_linux_without_a_release_file(tmp_path: Path) -> None:
    facts = system_facts(probe(), FakeMachine(tmp_path))
    assert facts.distribution == unknown("/etc/os-release", "No such file or directory")
    assert facts.os_version == unknown("/etc/os-release", "No such file or directory")
    assert facts.wsl == unknown("/proc/sys/kernel/osrelease", "No such file or directory")


MUSL = "musl libc (x86_64)\nVersion 1.2.5\nDynamic Program Loader\nUsage: ld.so [options]\n"


def test_musl_tells_its_version_through_its_loader(tmp_path: Path) -> None:
    loader = Ran(outcome="exited", exit_code=1, stderr=MUSL)
    machine = FakeMachine(tmp_path, commands={"ld-musl-x86_64.so.1": loader})
    alpine = probe(libc="musl", libc_version=None)
    assert libc(alpine, machine) == known("musl", "sysconfig")
    assert libc_version(alpine, machine) == known("1.2.5", "/lib/ld-musl-x86_64.so.1")


def test_a_c_library_of_neither_kind_is_unknown(tmp_path: Path) -> None:
    machine = FakeMachine(tmp_path)
    neither = unknown("confstr and sysconfig", "the interpreter names neither glibc nor musl")
    assert libc(probe(libc=None, libc_version=None), machine) == neither
    assert libc_version(probe(libc=None, libc_version=None), machine) == neither


@pytest.mark.parametrize(
    ("release", "files", "expected"),
    [
        pytest.param("5.15.167.4-microsoft-standard-WSL2", {}, "WSL2", id="wsl2"),
        pytest.param("4.4.0-19041-Microsoft", {}, "WSL1", id="wsl1"),
        pytest.param("6.6.0-Microsoft-custom", {"/dev/dxg": ""}, "WSL2", id="custom-kernel"),
        pytest.param("6.8.0-60-generic", {}, None, id="plain-linux"),
    ],
)
def test_wsl(tmp_path: Path, release: str, files: dict[str, str], expected: str | None) -> None:
    machine = FakeMachine(tmp_path, files={"/proc/sys/kernel/osrelease": release + "\n", **files})
    assert wsl(machine) == known(expected, "/proc/sys/kernel/osrelease")
