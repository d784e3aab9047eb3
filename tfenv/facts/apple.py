"""What only macOS has: the chip, Rosetta, the true product version."""

from __future__ import annotations

from tfenv.facts.machine import Machine, why
from tfenv.facts.model import Fact, known, unknown

_VERSION_FILE = "/System/Library/CoreServices/SystemVersion.plist"
#: What macOS 11 and later tell a program that was built against an older SDK.
_THE_LIE = "10.16"


def sysctl_text(machine: Machine, name: str) -> Fact[str]:
    """The text of a sysctl; ``None``: this Mac does not have it."""
    try:
        raw = machine.sysctl(name)
    except FileNotFoundError:  # ENOENT: no such name
        return known(None, name)
    except OSError as error:
        return unknown(name, why(error))
    return known(raw.split(b"\0")[0].decode("utf-8", "replace"), name)


def sysctl_number(machine: Machine, name: str) -> Fact[int]:
    """The number in a sysctl; ``None``: this Mac does not have it."""
    try:
        raw = machine.sysctl(name)
    except FileNotFoundError:
        return known(None, name)
    except OSError as error:
        return unknown(name, why(error))
    return known(int.from_bytes(raw, "little"), name)


def apple_silicon(machine: Machine) -> Fact[bool]:
    """Whether the machine has Apple's own chip: 1 also in a translated process, absent on Intel."""
    value = sysctl_number(machine, "hw.optional.arm64")
    return known(value.value == 1, value.source) if value.known else unknown(value.source, value.reason)


def machine_arch(machine: Machine) -> Fact[str]:
    """What the Mac is, whatever this process and the target interpreter were built for."""
    silicon = apple_silicon(machine)
    if not silicon.known:
        return unknown(silicon.source, silicon.reason)
    return known("arm64" if silicon.value else "x86_64", silicon.source)


def rosetta(machine: Machine, build_arch: str) -> Fact[bool]:
    """Whether the interpreter, built for ``build_arch``, runs translated."""
    source = "sysctl.proc_translated, hw.optional.arm64 and the interpreter"
    if build_arch != "x86_64":
        return known(False, source)
    silicon = apple_silicon(machine)
    # Of this process, which may be another one than the target: a yes counts, a no does not.
    translated = sysctl_number(machine, "sysctl.proc_translated")
    if silicon.value or translated.value == 1:
        return known(True, source)
    return known(False, source) if silicon.known else unknown(source, silicon.reason)


def product_version(machine: Machine) -> Fact[str]:
    """The version a person would name, "14.5"; never the 10.16 that old programs are told."""
    import plistlib
    from xml.parsers.expat import ExpatError

    try:
        with machine.path(_VERSION_FILE).open("rb") as stream:
            version = plistlib.load(stream).get("ProductVersion")
    except OSError as error:
        return unknown(_VERSION_FILE, why(error))
    except (ValueError, ExpatError, AttributeError) as error:
        return unknown(_VERSION_FILE, f"not a property list: {error}")
    if not isinstance(version, str) or not version:
        return unknown(_VERSION_FILE, "no ProductVersion in it")
    return known(version, _VERSION_FILE) if version != _THE_LIE else _version_from_child(machine)


def _version_from_child(machine: Machine) -> Fact[str]:
    """Asked without the compatibility mode of this process (packaging.tags does the same)."""
    source = "sw_vers with SYSTEM_VERSION_COMPAT=0"
    ran = machine.run(
        ["/usr/bin/sw_vers", "-productVersion"],
        limit=2.0,
        environ={**machine.environ, "SYSTEM_VERSION_COMPAT": "0"},
    )
    version = ran.stdout.strip()
    if ran.outcome != "exited" or ran.exit_code != 0 or not version or version == _THE_LIE:
        return unknown(source, f"macOS answers {version or ran.problem or ran.outcome!r}")
    return known(version, source)


def chip(machine: Machine) -> Fact[str]:
    """The chip, "Apple M2" or an Intel name."""
    name = sysctl_text(machine, "machdep.cpu.brand_string")
    if name.value and name.value.startswith("VirtualApple"):
        # What a translated process is told in place of the chip.
        return known("Apple silicon", f"{name.source} (hidden by Rosetta)")
    return name
