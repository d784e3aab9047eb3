"""One cell of the policy to one lock: resolve, keep the usable wheels, look inside them, write down."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import NoReturn, Optional, Protocol

from packaging.specifiers import SpecifierSet
from packaging.tags import Tag

from tfenv.errors import TfenvError, UsageError
from tfenv.install.engine import find_uv
from tfenv.install.environ import installer_environment
from tfenv.locks.accepts import demands, marker_environment, simplify
from tfenv.locks.catalogue import place_of
from tfenv.locks.lockfile import digest_of, render_lock
from tfenv.locks.model import CudaBuild, EvidenceGrade, Floors, Lock, Pin
from tfenv.locks.policy import Cell
from tfenv.locks.pylock import RemoteWheel, Resolved, parse_pylock
from tfenv.locks.wheelfile import WheelFacts, WheelReader
from tfenv.locks.wheeltags import platform_floor, usable
from tfenv.records import record

_CUDNN = "nvidia-cudnn-cu12"
#: The folder of which a stack may have one owner only: two unpacked over each other do not import.
_FOLDER = "tensorflow"


class Resolver(Protocol):
    """Finds the versions for a cell; the tests have one that needs no network."""

    def resolve(self, cell: Cell) -> str:
        """The text of a pylock.toml (PEP 751) for ``cell``."""


class UvResolver:
    """Resolves with ``uv pip compile``, from wheels only, as of the stack's day."""

    def __init__(self, uv: str, environ: Mapping[str, str]) -> None:
        """``uv`` is its executable; ``environ`` what its child gets."""
        self._uv = uv
        self._environ = dict(environ)

    def resolve(self, cell: Cell) -> str:
        """The text of a pylock.toml for ``cell``.

        Raises:
            TfenvError: there is no consistent set of versions, or the index cannot be reached.
        """
        with tempfile.TemporaryDirectory(prefix="tfenv-lock-") as folder:
            (Path(folder) / "roots.in").write_text("\n".join(cell.roots) + "\n", encoding="utf-8")
            (Path(folder) / "bounds.txt").write_text("\n".join(cell.constraints) + "\n", encoding="utf-8")
            command = [
                self._uv, "pip", "compile", "--quiet", "--no-config", "--no-header", "--only-binary", ":all:",
                "--resolution", "highest", "--prerelease", "disallow", "--index-strategy", "first-index",
                "--python-version", cell.python, "--python-platform", cell.target.platform,
                "--exclude-newer", f"{cell.stack.as_of}T00:00:00Z",
                "--constraints", "bounds.txt", "--output-file", "pylock.toml", "roots.in",
            ]  # fmt: skip
            done = subprocess.run(
                command, cwd=folder, env=self._environ, capture_output=True, text=True, check=False
            )
            if done.returncode != 0:
                lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
                _refuse(cell, f"uv finds no consistent set of versions: {' '.join(lines)[:2000]}")
            return (Path(folder) / "pylock.toml").read_text(encoding="utf-8")


def uv_resolver(
    environ: Mapping[str, str], find: Callable[[Mapping[str, str]], Optional[str]] = find_uv
) -> UvResolver:
    """A resolver with the uv that ``find`` finds on this machine.

    Raises:
        UsageError: there is none.
    """
    uv = find(environ)
    if uv is None:
        raise UsageError(
            "no-uv",
            "Compiling locks needs uv, which was not found on PATH or beside tfenv.",
            hint="pip install 'tfenv[lock]'",
        )
    return UvResolver(uv, installer_environment(environ))


@record
class _Locked:
    """A resolved distribution with the wheels of use on the target."""

    name: str
    version: str
    wheels: tuple[RemoteWheel, ...]
    tags: tuple[frozenset[Tag], ...]  # of each wheel, those that fit
    facts: tuple[WheelFacts, ...]  # of each wheel


def compile_lock(cell: Cell, resolver: Resolver, reader: WheelReader, executor: Executor) -> Lock:
    """The lock for ``cell``. ``executor`` runs the reads of wheels side by side.

    Raises:
        TfenvError: it cannot be resolved, or what was resolved is not one whole TensorFlow.
    """
    environment = marker_environment(cell.target.name, cell.python)
    resolved = parse_pylock(resolver.resolve(cell), environment)
    locked = tuple(_locked(cell, resolved, reader, executor))
    wanted = _wanted(cell, locked, environment)
    pins = tuple(_pin(item, wanted) for item in locked)
    lock = Lock(
        id=place_of(cell.target.name, cell.stack.tensorflow, cell.python),
        target=cell.target.name,
        python=cell.python,
        tensorflow=cell.stack.tensorflow,
        holder=_holder(cell, locked),
        as_of=cell.stack.as_of,
        floors=_floors(cell, locked),
        cuda=_cuda(cell, pins),
        on_wish=cell.stack.on_wish,
        faults=cell.stack.fault,
        evidence=_grade(cell, pins),
        digest="",
        pins=pins,
    )
    return replace(lock, digest=digest_of(render_lock(lock).encode("utf-8")))


def _locked(
    cell: Cell, resolved: Sequence[Resolved], reader: WheelReader, executor: Executor
) -> Iterator[_Locked]:
    usable_wheels = []
    for item in resolved:
        found = [(wheel, usable(wheel.filename, cell.target.name, cell.python)) for wheel in item.wheels]
        kept = sorted(((w, tags) for w, tags in found if tags), key=lambda pair: pair[0].filename)
        if not kept:
            _refuse(cell, f"{item.name} {item.version} has no wheel for it")
        usable_wheels.append(kept)
    facts = executor.map(reader.read, [wheel for kept in usable_wheels for wheel, _ in kept])
    for item, kept in zip(resolved, usable_wheels):
        yield _Locked(
            name=item.name,
            version=item.version,
            wheels=tuple(wheel for wheel, _ in kept),
            tags=tuple(tags for _, tags in kept),
            facts=tuple(next(facts) for _ in kept),
        )


def _wanted(
    cell: Cell, locked: Sequence[_Locked], environment: Mapping[str, str]
) -> Mapping[str, SpecifierSet]:
    """What the closure demands of each of its distributions; it must be whole and consistent."""
    requires = {item.name: sorted({line for f in item.facts for line in f.requires}) for item in locked}
    versions = {item.name: item.version for item in locked}
    for name in demands(requires, cell.roots, environment):
        if name not in versions:
            _refuse(cell, f"the resolver left out {name}, which a wheel of the closure requires")
    wanted = demands(requires, cell.demands, environment)
    for name, specifiers in wanted.items():
        if name in versions and not specifiers.contains(versions[name], prereleases=True):
            _refuse(cell, f"{name} {versions[name]} does not satisfy {specifiers}, which the closure demands")
    return wanted


def _holder(cell: Cell, locked: Sequence[_Locked]) -> str:
    """The distribution whose wheels hold TensorFlow; nothing else may put files into its folder."""
    owners = [item for item in locked if any(_FOLDER in facts.folders for facts in item.facts)]
    if len(owners) != 1:
        names = ", ".join(item.name for item in owners) or "no distribution"
        _refuse(cell, f"{names} would own the folder {_FOLDER}/, and it must be exactly one")
    holder = owners[0]
    if not all(facts.holds_tensorflow for facts in holder.facts):
        _refuse(cell, f"{holder.name} {holder.version} is a stub without TensorFlow's code")
    if holder.version != cell.stack.tensorflow:
        _refuse(cell, f"{holder.name} is {holder.version} instead of {cell.stack.tensorflow}")
    return holder.name


def _pin(item: _Locked, wanted: Mapping[str, SpecifierSet]) -> Pin:
    return Pin(
        name=item.name,
        version=item.version,
        hashes=tuple(sorted(wheel.sha256 for wheel in item.wheels)),
        accepts=simplify(wanted.get(item.name, SpecifierSet())),
        size=max(wheel.size for wheel in item.wheels),
    )


def _floors(cell: Cell, locked: Iterable[_Locked]) -> Floors:
    family = {"linux": "manylinux", "macos": "macosx"}.get(cell.target.name.split("-")[0], "")
    floor = max((platform_floor(item.tags, family) for item in locked), default=(0, 0)) if family else (0, 0)
    dotted = f"{floor[0]}.{floor[1]}" if floor > (0, 0) else ""
    return Floors(
        glibc=dotted if family == "manylinux" else "",
        macos=dotted if family == "macosx" else "",
        cpu_features=cell.target.cpu_features,
        driver=cell.stack.cuda.driver if cell.stack.cuda and _is_cuda(cell) else "",
        source="; ".join(filter(None, ("tags of the locked wheels" if dotted else "", cell.target.source))),
    )


def _cuda(cell: Cell, pins: Iterable[Pin]) -> Optional[CudaBuild]:
    built = cell.stack.cuda
    if built is None or not _is_cuda(cell):
        return None
    cudnn = next((pin.version for pin in pins if pin.name == _CUDNN), None)
    if cudnn is None:
        _refuse(cell, f"{_CUDNN} is not in the closure")
    return CudaBuild(
        cuda=built.cuda,
        cudnn=cudnn,
        architectures=built.architectures,
        min_compute_capability=built.min_compute_capability,
        max_compute_capability=built.max_compute_capability,
        source=built.source,
    )


def _grade(cell: Cell, pins: Iterable[Pin]) -> EvidenceGrade:
    accelerator = [pin for pin in pins if pin.name.startswith("nvidia-")]
    exact = all(pin.accepts == f"=={pin.version}" for pin in accelerator)
    return "released" if _is_cuda(cell) and accelerator and exact else "resolved"


def _is_cuda(cell: Cell) -> bool:
    return cell.target.name.endswith("-cuda")


def _refuse(cell: Cell, why: str) -> NoReturn:
    raise TfenvError(
        "not-compiled",
        f"{place_of(cell.target.name, cell.stack.tensorflow, cell.python)}: {why}.",
        hint="Check the stack in lockfiles/policy.toml: its day, its pins, its Pythons.",
    )
