"""Operating system, kernel and C library."""

from __future__ import annotations

import re

from tfenv.facts import apple
from tfenv.facts.container import container
from tfenv.facts.interpreter import InterpreterProbe
from tfenv.facts.machine import Machine, exists, read_text, why
from tfenv.facts.model import Fact, SystemFacts, known, unknown

NOT_LINUX = "not Linux"
_OSRELEASE = "/proc/sys/kernel/osrelease"


def system_facts(probe: InterpreterProbe, machine: Machine) -> SystemFacts:
    """The facts about the operating system; the C library is the one of the target interpreter."""
    return SystemFacts(
        os=os_name(machine),
        os_version=os_version(machine),
        distribution=distribution(machine),
        kernel=known(machine.uname().release, "uname"),
        machine_arch=machine_arch(machine),
        rosetta=apple.rosetta(machine, probe.build_arch) if _mac(machine) else known(False, "not macOS"),
        libc=libc(probe, machine),
        libc_version=libc_version(probe, machine),
        wsl=wsl(machine),
        container=container(machine),
    )


def os_name(machine: Machine) -> Fact[str]:
    """ "linux", "macos", "windows", else what Python calls it."""
    names = {"darwin": "macos", "win32": "windows"}
    return known(names.get(machine.platform, machine.platform), "sys.platform")


def os_version(machine: Machine) -> Fact[str]:
    """The macOS product version, the Windows build, the version of a Linux distribution."""
    if _mac(machine):
        return apple.product_version(machine)
    if machine.platform != "linux":
        return known(machine.uname().release, "uname")
    release = _os_release(machine)
    if release.value is None:
        return unknown(release.source, release.reason)
    # Rolling distributions have no version.
    return known(release.value.get("VERSION_ID") or None, release.source)


def distribution(machine: Machine) -> Fact[str]:
    """ "debian 12"; just "arch" for a rolling one."""
    if machine.platform != "linux":
        return known(None, NOT_LINUX)
    release = _os_release(machine)
    if release.value is None:
        return unknown(release.source, release.reason)
    name, version = release.value.get("ID", "linux"), release.value.get("VERSION_ID", "")
    return known(f"{name} {version}".strip(), release.source)


def machine_arch(machine: Machine) -> Fact[str]:
    """What the machine is, not what the interpreter was built for."""
    if _mac(machine):
        return apple.machine_arch(machine)
    name = machine.uname().machine
    return known(name, "uname") if name else unknown("uname", "it names no architecture")


def libc(probe: InterpreterProbe, machine: Machine) -> Fact[str]:
    """ "glibc" or "musl"."""
    if machine.platform != "linux":
        return known(None, NOT_LINUX)
    if probe.libc is None:
        return unknown("confstr and sysconfig", "the interpreter names neither glibc nor musl")
    return known(probe.libc, "confstr CS_GNU_LIBC_VERSION" if probe.libc == "glibc" else "sysconfig")


def libc_version(probe: InterpreterProbe, machine: Machine) -> Fact[str]:
    """ "2.36"; musl has its version in its loader only, which prints it when run."""
    if machine.platform != "linux":
        return known(None, NOT_LINUX)
    if probe.libc_version is not None:
        return known(probe.libc_version, "confstr CS_GNU_LIBC_VERSION")
    if probe.libc != "musl":
        return unknown("confstr and sysconfig", "the interpreter names neither glibc nor musl")
    loader = f"/lib/ld-musl-{machine.uname().machine}.so.1"
    ran = machine.run([loader], limit=2.0)
    match = re.search(r"^Version (\d+(?:\.\d+)+)", ran.stderr, re.MULTILINE)
    return known(match[1], loader) if match else unknown(loader, ran.problem or "it prints no version")


def wsl(machine: Machine) -> Fact[str]:
    """ "WSL1", "WSL2" or ``None``; a container on Docker Desktop for Windows shows the same kernel."""
    if machine.platform != "linux":
        return known(None, NOT_LINUX)
    try:
        release = read_text(machine, _OSRELEASE).strip().lower()
    except OSError as error:
        return unknown(_OSRELEASE, why(error))
    if "microsoft" not in release:
        return known(None, _OSRELEASE)
    second = "microsoft-standard" in release or "wsl2" in release or exists(machine.path("/dev/dxg"))
    return known("WSL2" if second else "WSL1", _OSRELEASE)


def _mac(machine: Machine) -> bool:
    return machine.platform == "darwin"


def _os_release(machine: Machine) -> Fact[dict[str, str]]:
    problem = "no such file"
    for source in ("/etc/os-release", "/usr/lib/os-release"):
        try:
            text = read_text(machine, source)
        except OSError as error:
            problem = why(error)
            continue
        pairs = (line.split("=", 1) for line in text.splitlines() if "=" in line and not line.startswith("#"))
        return known({key.strip(): value.strip().strip("\"'") for key, value in pairs}, source)
    return unknown("/etc/os-release", problem)
