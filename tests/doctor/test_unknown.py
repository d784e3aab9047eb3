"""Facts that could not be read are never good and never bad."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import TypeVar

import pytest

from doctor.crafted import MACHINES, found, lock_named, machine, state_of, with_lock
from doctor.test_machines import EXPECTED
from tfenv.doctor.executed import Executed
from tfenv.facts.model import Fact, Facts, unknown

T = TypeVar("T")

NAMES = sorted(path.stem for path in MACHINES.glob("*.json"))
#: One Colab stands for the three.
RECORDED = {
    name: machine(name) for name in NAMES if name not in ("colab-2026.07-gpu-py312", "colab-2026.08-cpu")
}
TF = with_lock(machine("linux-cpu-py311"), lock_named("linux-x86_64-cpu/tf2.19-py311"))
PARTS = [
    (part.name, fact.name)
    for part in fields(Facts)
    if part.name not in ("tfenv_facts_version", "variables")
    for fact in fields(getattr(TF, part.name))
]


def unreadable(part: T) -> T:
    """``part`` with every fact in it unknown."""
    if isinstance(part, Fact):
        return unknown("nowhere", "no permission")  # type: ignore[return-value]
    changed = {
        field.name: unreadable(getattr(part, field.name))
        for field in fields(part)  # type: ignore[arg-type]
        if is_dataclass(getattr(part, field.name))
    }
    return replace(part, **changed)  # type: ignore[type-var]


@pytest.mark.parametrize("name", NAMES)
def test_a_machine_of_which_nothing_is_known_is_not_blamed(name: str) -> None:
    severities = {severity for _, severity in found(unreadable(machine(name)))}
    assert severities <= {"unknown", "info", "skip"}


@pytest.mark.parametrize(("part", "fact"), PARTS, ids=[f"{part}.{fact}" for part, fact in PARTS])
def test_one_fact_less_makes_nothing_worse(part: str, fact: str) -> None:
    for name, facts in RECORDED.items():
        holder = getattr(facts, part)
        less = replace(facts, **{part: replace(holder, **{fact: unknown("nowhere", "no permission")})})
        told = {check for check, severity in EXPECTED[name] if severity in ("fail", "warn")}
        worse = {check for check, severity in found(less) if severity in ("fail", "warn")} - told
        assert worse == set(), name


def test_a_healthy_stack_with_one_fact_less_is_not_blamed() -> None:
    state = state_of(lock_named("linux-x86_64-cpu/tf2.19-py311"))
    for part, fact in PARTS:
        holder = getattr(TF, part)
        less = replace(TF, **{part: replace(holder, **{fact: unknown("nowhere", "no permission")})})
        severities = {severity for _, severity in found(less, state=state, executed=Executed(loaded=True))}
        assert severities <= {"unknown", "info", "skip"}, fact
