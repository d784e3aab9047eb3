"""A small catalogue, and recorded machines with one thing changed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from tfenv.doctor.context import Context, prepare
from tfenv.doctor.diagnose import diagnose
from tfenv.facts.model import Distribution, Facts, known
from tfenv.facts.recorded import load_facts
from tfenv.install.state import EnvState
from tfenv.locks.model import CudaBuild, Floors, Lock, NoStack, Pin
from tfenv.records import record

MACHINES = Path(__file__).parent.parent / "machines"

_AMPERE = ("sm_50", "sm_60", "sm_70", "sm_75", "compute_80")
_HOPPER = ("sm_60", "sm_70", "sm_80", "sm_89", "compute_90")
#: TF, Pythons, glibc, CUDA, cuDNN and what is demanded of it, architectures, lowest and highest compute
#: capability; NumPy, protobuf and Keras with what is demanded of them. Cut down from cuda-facts.
_STACKS = (
    ("2.15.1", "3.9 3.10 3.11", "2.17", "12.2", ("8.9.4.25", "==8.9.4.25"), _AMPERE, "5.0",
     ("1.26.4", ">=1.23.5,<2.0.0"), ("4.25.9", ">=3.20.3,<5"), ("2.15.0", ">=2.15.0,<2.16")),
    ("2.17.1", "3.9 3.10 3.11 3.12", "2.17", "12.3", ("8.9.7.29", "==8.9.7.29"), _HOPPER, "6.0",
     ("1.26.4", ">=1.23.5,<2.0.0"), ("4.25.9", ">=3.20.3,<5"), ("3.6.0", ">=3.2.0")),
    ("2.18.1", "3.9 3.10 3.11 3.12", "2.17", "12.5", ("9.3.0.75", "==9.3.0.75"), _HOPPER, "6.0",
     ("2.0.2", ">=1.26.0,<2.1.0"), ("5.29.6", ">=3.20.3,<6"), ("3.6.0", ">=3.5.0")),
    ("2.19.1", "3.9 3.10 3.11 3.12", "2.17", "12.5", ("9.3.0.75", "==9.3.0.75"), _HOPPER, "6.0",
     ("2.1.3", ">=1.26.0,<2.2.0"), ("5.29.6", ">=3.20.3,<6"), ("3.6.0", ">=3.5.0")),
    ("2.20.0", "3.9 3.10 3.11 3.12 3.13", "2.17", "12.5", ("9.3.0.75", ">=9.3.0.75,<10.0"), _HOPPER, "6.0",
     ("2.1.3", ">=1.26.0"), ("5.29.6", ">=5.28.0"), ("3.11.3", ">=3.10.0")),
    ("2.21.0", "3.10 3.11 3.12 3.13", "2.27", "12.5", ("9.24.0.43", ">=9.24,<10.0"), _HOPPER, "7.5",
     ("2.3.5", ">=1.26.0"), ("6.33.5", ">=6.31.1,<8"), ("3.12.1", ">=3.12.0")),
)  # fmt: skip
_HOLDERS = {"linux-x86_64-cpu": "tensorflow-cpu"}
_FLOORS = {
    "linux": Floors(cpu_features=("avx",)),
    "macos": Floors(macos="12.0"),
    "windows": Floors(cpu_features=("avx",)),
}
NONE = (
    NoStack(
        target="macos-arm64-metal",
        tensorflow="",
        python="3.13",
        reason="tensorflow-metal has no wheels for Python 3.13",
        source="the files of tensorflow-metal on PyPI",
    ),
)


def _locks() -> Iterable[Lock]:
    for tensorflow, pythons, glibc, cuda, cudnn, architectures, lowest, *rest in _STACKS:
        pins = tuple(
            pin(name, version, accepts)
            for name, (version, accepts) in zip(("numpy", "protobuf", "keras"), rest)
        )
        build = CudaBuild(
            cuda=cuda,
            cudnn=cudnn[0],
            architectures=architectures,
            min_compute_capability=lowest,
            max_compute_capability="9.0",
            source="build_info.py of the wheel",
        )
        nvidia = (
            pin("nvidia-cudnn-cu12", *cudnn, size=700_000_000),
            pin("nvidia-cublas-cu12", "12.5.3.2", ">=12.5.3.2,<13.0", size=400_000_000),
        )
        for python in pythons.split():
            for target in ("linux-x86_64-cpu", "linux-aarch64-cpu", "macos-arm64-cpu", "windows-x86_64-cpu"):
                yield lock(target, tensorflow, python, glibc, pins)
            yield lock("linux-x86_64-cuda", tensorflow, python, glibc, (*pins, *nvidia), build)
            if tensorflow in ("2.18.1", "2.19.1"):
                metal = pin("tensorflow-metal", "1.2.0", "")
                yield lock("macos-arm64-metal", tensorflow, python, glibc, (*pins, metal))
            if tensorflow == "2.15.1":
                yield lock("macos-x86_64-cpu", tensorflow, python, glibc, pins)


def pin(name: str, version: str, accepts: str, size: int = 20_000_000) -> Pin:
    return Pin(name=name, version=version, hashes=("0" * 64,), accepts=accepts, size=size)


def lock(
    target: str,
    tensorflow: str,
    python: str,
    glibc: str,
    pins: tuple[Pin, ...],
    build: CudaBuild | None = None,
) -> Lock:
    holder = _HOLDERS.get(target, "tensorflow")
    floors = _FLOORS[target.split("-")[0]]
    if target.startswith("linux"):
        floors = replace(floors, glibc=glibc, driver="525.60.13" if build else "")
    if "aarch64" in target:
        floors = replace(floors, cpu_features=())
    minor = tensorflow.rpartition(".")[0]
    return Lock(
        id=f"{target}/tf{minor}-py{python.replace('.', '')}",
        target=target,
        python=python,
        tensorflow=tensorflow,
        holder=holder,
        as_of="2026-01-01",
        floors=floors,
        cuda=build,
        evidence="released",
        digest="0" * 64,
        pins=(pin(holder, tensorflow, f"=={tensorflow}", size=250_000_000), *pins),
    )


@record
class Catalogue:
    locks: tuple[Lock, ...]
    none: tuple[NoStack, ...] = ()


LOCKS = tuple(_locks())
CATALOGUE = Catalogue(locks=LOCKS, none=NONE)


def machine(name: str) -> Facts:
    return load_facts(MACHINES / f"{name}.json")


def context(facts: Facts, **options: object) -> Context:
    return prepare(facts, **{"catalogue": CATALOGUE, **options})  # type: ignore[arg-type]


def found(facts: Facts, **options: object) -> list[tuple[str, str]]:
    """Every finding as (id, severity)."""
    return [(item.id, item.severity) for item in diagnose(context(facts, **options)).findings]


def one(facts: Facts, check: str, **options: object):
    """The findings of one check."""
    return diagnose(context(facts, **options), only=(check,)).findings


def with_packages(facts: Facts, *lines: str, **requires: tuple[str, ...]) -> Facts:
    """``facts`` with the distributions "name==version"; ``requires`` by name with "_" for "-"."""
    folder = facts.environment.purelib.value or ""
    added = tuple(
        Distribution(
            name=name,
            version=version,
            location=folder,
            installer="pip",
            requires=requires.get(name.replace("-", "_"), ()),
        )
        for name, _, version in (line.partition("==") for line in lines)
    )
    names = {item.name for item in added}
    kept = tuple(item for item in facts.packages.distributions.value or () if item.name not in names)
    return replace(
        facts, packages=replace(facts.packages, distributions=known((*kept, *added), "dist-info folders"))
    )


def with_lock(facts: Facts, chosen: Lock, *without: str) -> Facts:
    """``facts`` after a bootstrap with ``chosen``."""
    lines = [f"{item.name}=={item.version}" for item in chosen.pins if item.name not in without]
    return with_packages(facts, *lines)


def state_of(chosen: Lock) -> EnvState:
    return EnvState(
        tfenv="0.1",
        owned=True,
        lock=chosen.id,
        digest=chosen.digest,
        target=chosen.target,
        tensorflow=chosen.tensorflow,
        distributions={item.name: item.version for item in chosen.pins},
    )


def lock_named(lock_id: str) -> Lock:
    return next(item for item in LOCKS if item.id == lock_id)


def change(facts: Facts, part: str, **values: object) -> Facts:
    """``facts`` with other values in one part: ``change(facts, "system", libc="musl")``."""
    facts_of_part = {name: known(value, "crafted") for name, value in values.items()}
    return replace(facts, **{part: replace(getattr(facts, part), **facts_of_part)})


def with_variables(facts: Facts, **values: str) -> Facts:
    return replace(facts, variables=known({**(facts.variables.value or {}), **values}, "crafted"))
