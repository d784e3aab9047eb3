"""What a closure demands of each of its distributions: the versions that an adopted environment may have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Optional

from packaging.requirements import Requirement
from packaging.specifiers import Specifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

_SYSTEMS = {
    "linux": {"os_name": "posix", "sys_platform": "linux", "platform_system": "Linux"},
    "macos": {"os_name": "posix", "sys_platform": "darwin", "platform_system": "Darwin"},
    "windows": {"os_name": "nt", "sys_platform": "win32", "platform_system": "Windows"},
}


def marker_environment(target: str, python: str) -> Mapping[str, str]:
    """The values of all markers for CPython ``python`` ("3.11") on ``target``, those of the first patch."""
    system, arch = target.split("-")[:2]
    return {
        **_SYSTEMS[system],
        "platform_machine": "AMD64" if system == "windows" else arch,
        "platform_python_implementation": "CPython",
        "platform_release": "",
        "platform_version": "",
        "implementation_name": "cpython",
        "implementation_version": f"{python}.0",
        "python_version": python,
        "python_full_version": f"{python}.0",
    }


def demands(
    requires: Mapping[str, Sequence[str]], roots: Iterable[str], environment: Mapping[str, str]
) -> dict[str, SpecifierSet]:
    """For every distribution that the closure asks for, all demands on its version together.

    ``requires`` has the Requires-Dist lines of each distribution of the closure, by canonical name; ``roots``
    are the requirements that started it.
    """
    extras: dict[str, set[str]] = {name: {""} for name in requires}
    while True:
        found: dict[str, SpecifierSet] = {}
        before = sum(map(len, extras.values()))
        for requirement in _active(requires, roots, extras, environment):
            name = str(canonicalize_name(requirement.name))
            found[name] = found.get(name, SpecifierSet()) & requirement.specifier
            extras.setdefault(name, {""}).update(requirement.extras)
        if sum(map(len, extras.values())) == before:
            return found


def _active(
    requires: Mapping[str, Sequence[str]],
    roots: Iterable[str],
    extras: Mapping[str, set[str]],
    environment: Mapping[str, str],
) -> Iterator[Requirement]:
    yield from map(_requirement, roots)
    for name, lines in requires.items():
        wanted = sorted(extras[name])
        for line in lines:
            requirement = _requirement(line)
            marker = requirement.marker
            if marker is None or any(marker.evaluate({**environment, "extra": extra}) for extra in wanted):
                yield requirement


@lru_cache(maxsize=4096)
def _requirement(line: str) -> Requirement:
    return Requirement(line)


def simplify(specifiers: SpecifierSet) -> str:
    """The same versions in as few clauses as possible: ``>=1.26.0,<2.2.0``; "" is any version.

    ``~=2.19.0`` becomes ``>=2.19.0,==2.19.*``. Of several lower and upper bounds the tightest is kept, and
    exclusions outside of the bounds are left out. An exact version stands alone.
    """
    clauses = sorted({part for clause in specifiers for part in _plain(clause)})
    exact = [clause for clause in clauses if clause[0] == "==" and not clause[1].endswith(".*")]
    if exact:
        return ",".join(operator + version for operator, version in exact)
    lower = max(
        (
            (Version(version), operator == ">", operator)
            for operator, version in clauses
            if operator[0] == ">"
        ),
        default=None,
    )
    upper = min(
        (
            (Version(version), operator == "<=", operator)
            for operator, version in clauses
            if operator[0] == "<"
        ),
        default=None,
    )
    bounds = [f"{bound[2]}{bound[0]}" for bound in (lower, upper) if bound is not None]
    others = [
        operator + version
        for operator, version in clauses
        if operator == "==" or (operator == "!=" and _matters(version, lower, upper))
    ]
    return ",".join([*bounds, *others])


_Bound = Optional[tuple[Version, bool, str]]


def _matters(excluded: str, lower: _Bound, upper: _Bound) -> bool:
    version = Version(excluded[:-2] if excluded.endswith(".*") else excluded)
    if excluded.endswith(".*"):
        return upper is None or version < upper[0]
    return (lower is None or version >= lower[0]) and (upper is None or version <= upper[0])


def _plain(clause: Specifier) -> Iterator[tuple[str, str]]:
    operator, text = clause.operator, clause.version
    if operator == "===":
        yield "==", str(Version(text))
    elif operator == "~=":
        release = Version(text).release
        yield ">=", str(Version(text))
        yield "==", ".".join(map(str, release[:-1])) + ".*"
    elif text.endswith(".*"):
        yield operator, f"{Version(text[:-2])}.*"
    else:
        yield operator, str(Version(text))
