"""The policy: which stacks exist, what is pinned in them and why. For people; checked to the letter."""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from pathlib import Path
from typing import Literal, Optional

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from tfenv.codec import CodecError, decode, hints_of
from tfenv.errors import UsageError
from tfenv.locks.model import KnownFault, NoStack
from tfenv.records import record
from tfenv.targets.model import TARGETS
from tfenv.toml import parse_toml
from tfenv.versions import minor_of

PYTHONS = ("3.9", "3.10", "3.11", "3.12", "3.13")

#: ``require``: locked although TensorFlow does not ask for it. ``pin``: a choice for this era, other versions
#: work too. ``limit``: other versions are known to break, so an adopted environment must respect it as well.
Use = Literal["require", "pin", "limit"]


@record
class Rule:
    """Requirements that policy adds to what the wheels themselves demand, and why."""

    requirements: tuple[str, ...]
    use: Use
    why: str
    source: str = ""
    tensorflow: str = ""  # specifier of the TF versions it is for; "" = all (or those of its stack)
    targets: tuple[str, ...] = ()  # () = all
    pythons: tuple[str, ...] = ()  # () = all


@record
class TargetPolicy:
    """How the resolver is told about a target, and what is asked of it for TensorFlow."""

    name: str
    root: str  # the requirement, to which "==<version>" is added: "tensorflow[and-cuda]"
    platform: str  # uv's name of the oldest platform resolved for: "x86_64-manylinux_2_28"
    why: str
    cpu_features: tuple[str, ...] = ()
    source: str = ""


@record
class CudaPolicy:
    """What the release's GPU wheel was built for, and what drives it."""

    cuda: str
    architectures: tuple[str, ...]
    min_compute_capability: str
    max_compute_capability: str
    driver: str
    source: str


@record
class Stack:
    """One TensorFlow release on some targets and Pythons."""

    tensorflow: str  # exact
    released: str  # ISO date
    as_of: str  # ISO date: the resolver sees nothing that was uploaded on this day or later
    why: str
    targets: tuple[str, ...]
    pythons: tuple[str, ...]
    rule: tuple[Rule, ...] = ()
    cuda: Optional[CudaPolicy] = None
    on_wish: bool = False
    fault: tuple[KnownFault, ...] = ()


@record
class NoneEntry:
    """Combinations for which there is no lock."""

    targets: tuple[str, ...]  # may name platforms that are no target at all
    tensorflow: tuple[str, ...]  # minors
    pythons: tuple[str, ...] = ()  # () = every Python
    reason: str
    source: str


@record
class _Document:
    format: int
    target: tuple[TargetPolicy, ...]
    rule: tuple[Rule, ...]
    stack: tuple[Stack, ...]
    none: tuple[NoneEntry, ...]


@record
class Cell:
    """One lock to be: everything the resolver is asked."""

    target: TargetPolicy
    stack: Stack
    python: str
    rules: tuple[Rule, ...]  # those that apply here

    @property
    def roots(self) -> tuple[str, ...]:
        """What is asked for: TensorFlow itself, then what policy requires."""
        own = f"{self.target.root}=={self.stack.tensorflow}"
        return (own, *self._of("require"))

    @property
    def constraints(self) -> tuple[str, ...]:
        """What bounds the versions without asking for anything."""
        return (*self._of("pin"), *self._of("limit"))

    @property
    def demands(self) -> tuple[str, ...]:
        """What an adopted environment must respect as well as the lock's own pins."""
        return (*self.roots, *self._of("limit"))

    def _of(self, use: Use) -> Iterator[str]:
        return (text for rule in self.rules if rule.use == use for text in rule.requirements)


@record
class Policy:
    """A checked policy."""

    targets: tuple[TargetPolicy, ...]
    rules: tuple[Rule, ...]
    stacks: tuple[Stack, ...]
    none: tuple[NoStack, ...]

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Every lock that there has to be."""
        targets = {target.name: target for target in self.targets}
        return tuple(
            Cell(target=targets[name], stack=stack, python=python, rules=self._rules_for(stack, name, python))
            for stack in self.stacks
            for name in stack.targets
            for python in stack.pythons
        )

    def _rules_for(self, stack: Stack, target: str, python: str) -> tuple[Rule, ...]:
        return tuple(
            rule
            for rule in (*self.rules, *stack.rule)
            if (not rule.targets or target in rule.targets)
            and (not rule.pythons or python in rule.pythons)
            and SpecifierSet(rule.tensorflow).contains(stack.tensorflow)
        )


def load_policy(path: Path) -> Policy:
    """The policy in the file at ``path``.

    Raises:
        UsageError: it cannot be read, or a value in it is wrong; the message names its path in the file.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise _refusal(path, str(error)) from error
    return parse_policy(text, path)


def parse_policy(text: str, path: Path) -> Policy:
    """The policy in ``text``, which came from ``path``.

    Raises:
        UsageError: it is not TOML, or a value in it is wrong; the message names its path in the file.
    """
    try:
        tables = parse_toml(text)
        document = decode(_Document, tables)
        problems = [*_unknown_keys(_Document, tables, "$"), *_problems(document)]
    except (CodecError, ValueError) as error:
        raise _refusal(path, str(error)) from error
    if problems:
        raise _refusal(path, problems[0])
    return Policy(
        targets=document.target,
        rules=document.rule,
        stacks=document.stack,
        none=tuple(_expand(document.none)),
    )


def _expand(entries: tuple[NoneEntry, ...]) -> Iterator[NoStack]:
    for entry in entries:
        for target in entry.targets:
            for tensorflow in entry.tensorflow:
                for python in entry.pythons or ("",):
                    yield NoStack(
                        target=target,
                        tensorflow=tensorflow,
                        python=python,
                        reason=entry.reason,
                        source=entry.source,
                    )


def _unknown_keys(cls: object, table: object, path: str) -> Iterator[str]:
    """The codec ignores unknown keys, for newer documents; in a policy they are typing errors."""
    assert isinstance(cls, type)
    assert is_dataclass(cls)
    if not isinstance(table, Mapping):
        return
    hints = hints_of(cls)
    names = {field.name for field in fields(cls)}
    for key, value in table.items():
        if key not in names:
            yield f"{path}.{key}: unknown key"
            continue
        inner = next((item for item in typing.get_args(hints[key]) if is_dataclass(item)), None)
        if inner is None:
            continue
        if isinstance(value, list):
            for index, item in enumerate(value):
                yield from _unknown_keys(inner, item, f"{path}.{key}[{index}]")
        else:
            yield from _unknown_keys(inner, value, f"{path}.{key}")


def _problems(document: _Document) -> Iterator[str]:
    if document.format != 1:
        yield f"$.format: {document.format} is not a format this tfenv knows"
    for index, target in enumerate(document.target):
        yield from _names(f"$.target[{index}].name", (target.name,), TARGETS)
    if sorted(target.name for target in document.target) != sorted(TARGETS):
        yield f"$.target: each of {', '.join(TARGETS)} must be there once"
    for index, rule in enumerate(document.rule):
        yield from _rule_problems(f"$.rule[{index}]", rule)
    seen: set[tuple[str, str, str]] = set()
    for index, stack in enumerate(document.stack):
        yield from _stack_problems(f"$.stack[{index}]", stack, seen)
    for index, entry in enumerate(document.none):
        yield from _names(f"$.none[{index}].pythons", entry.pythons, PYTHONS)
        for target_name in entry.targets:
            for minor in entry.tensorflow:
                for python in entry.pythons or PYTHONS:
                    if (target_name, minor, python) in seen:
                        what = f"{target_name}, TensorFlow {minor}, Python {python}"
                        yield f"$.none[{index}]: a stack says that there is a lock for {what}"


def _stack_problems(path: str, stack: Stack, seen: set[tuple[str, str, str]]) -> Iterator[str]:
    try:
        Version(stack.tensorflow)
    except InvalidVersion:
        yield f"{path}.tensorflow: {stack.tensorflow!r} is no version"
        return
    yield from _names(f"{path}.targets", stack.targets, TARGETS)
    yield from _names(f"{path}.pythons", stack.pythons, PYTHONS)
    for name, value in (("released", stack.released), ("as_of", stack.as_of)):
        try:
            date.fromisoformat(value)
        except ValueError:
            yield f"{path}.{name}: {value!r} is no date of the form 2025-10-15"
            return
    if stack.as_of <= stack.released:
        yield f"{path}.as_of: {stack.as_of} is not after the release on {stack.released}"
    for index, rule in enumerate(stack.rule):
        yield from _rule_problems(f"{path}.rule[{index}]", rule)
    if (stack.cuda is not None) != any(target.endswith("-cuda") for target in stack.targets):
        yield f"{path}.cuda: belongs to stacks with a CUDA target, and only there"
    minor = minor_of(stack.tensorflow)
    for target in stack.targets:
        for python in stack.pythons:
            if (target, minor, python) in seen:
                yield f"{path}: a second stack for {target}, TensorFlow {minor}, Python {python}"
            seen.add((target, minor, python))


def _rule_problems(path: str, rule: Rule) -> Iterator[str]:
    for number, text in enumerate(rule.requirements):
        try:
            requirement = Requirement(text)
        except InvalidRequirement as error:
            yield f"{path}.requirements[{number}]: {text!r}: {error}"
            continue
        if requirement.url or requirement.marker or requirement.name != canonicalize_name(requirement.name):
            yield f"{path}.requirements[{number}]: {text!r} must be a canonical name with versions, no more"
    try:
        SpecifierSet(rule.tensorflow)
    except InvalidSpecifier:
        yield f"{path}.tensorflow: {rule.tensorflow!r} is no version specifier"
    if not rule.why.strip():
        yield f"{path}.why: empty"
    yield from _names(f"{path}.targets", rule.targets, TARGETS)
    yield from _names(f"{path}.pythons", rule.pythons, PYTHONS)


def _names(path: str, values: tuple[str, ...], known: tuple[str, ...]) -> Iterator[str]:
    for value in values:
        if value not in known:
            yield f"{path}: {value!r} is not one of {', '.join(known)}"
    if len(set(values)) != len(values):
        yield f"{path}: the same value twice"


def _refusal(path: Path, why: str) -> UsageError:
    return UsageError(
        "bad-policy",
        f"The policy {path} is wrong: {why}.",
        hint="Correct that value in the file; CONTRIBUTING.md says how a lock is added.",
    )
