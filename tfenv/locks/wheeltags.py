"""Which wheels a target can use, and what those wheels ask of the machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from packaging.tags import Tag, compatible_tags, cpython_tags, mac_platforms
from packaging.utils import InvalidWheelFilename, parse_wheel_filename

#: The newest platform whose wheels are locked. Newer machines use these wheels too.
GLIBC = (2, 31)
MACOS = (13, 0)
_LEGACY = {(2, 17): "manylinux2014", (2, 12): "manylinux2010", (2, 5): "manylinux1"}


@lru_cache(maxsize=64)
def usable_tags(target: str, python: str) -> frozenset[Tag]:
    """Every wheel tag that CPython ``python`` ("3.11") may install on ``target``."""
    major, minor = (int(part) for part in python.split("."))
    platforms = tuple(_platforms(target))
    interpreter = f"cp{major}{minor}"
    return frozenset(
        (
            *cpython_tags((major, minor), abis=[interpreter], platforms=platforms),
            *compatible_tags((major, minor), interpreter=interpreter, platforms=platforms),
        )
    )


def usable(filename: str, target: str, python: str) -> frozenset[Tag]:
    """The tags of the wheel ``filename`` that fit; empty if it is of no use there, or is no wheel."""
    try:
        tags = parse_wheel_filename(filename)[3]
    except InvalidWheelFilename:
        return frozenset()
    return tags & usable_tags(target, python)


def platform_floor(wheels: Iterable[frozenset[Tag]], family: str) -> tuple[int, int]:
    """The lowest glibc (``family`` "manylinux") or macOS ("macosx") on which one of ``wheels`` installs.

    Each item is the usable tags of one wheel. (0, 0) is no demand.
    """
    return min((_floor(tag, family) for tags in wheels for tag in tags), default=(0, 0))


def _floor(tag: Tag, family: str) -> tuple[int, int]:
    platform = tag.platform
    for version, legacy in _LEGACY.items():
        if platform.startswith(f"{legacy}_"):
            return version
    if not platform.startswith(f"{family}_"):
        return (0, 0)
    major, minor = platform.split("_")[1:3]
    return int(major), int(minor)


def _platforms(target: str) -> Iterator[str]:
    system, arch = target.split("-")[:2]
    if system == "windows":
        yield "win_amd64"
    elif system == "macos":
        yield from mac_platforms(MACOS, arch)
    else:
        for minor in range(GLIBC[1], 4, -1):
            yield f"manylinux_2_{minor}_{arch}"
            if (2, minor) in _LEGACY:
                yield f"{_LEGACY[2, minor]}_{arch}"
