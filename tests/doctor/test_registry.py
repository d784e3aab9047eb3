"""The registry, and that every check has a case that fires and one that does not."""

from __future__ import annotations

import pytest

from doctor import (
    test_devices,
    test_distributions,
    test_environment,
    test_interpreter,
    test_native,
    test_running,
)
from doctor.cases import Case
from doctor.crafted import context
from tfenv.doctor.clashes import CLASHES, METAL_CLASHES, Clash
from tfenv.doctor.compatibility import clashes
from tfenv.doctor.model import RUNGS, STANDS_ON
from tfenv.doctor.registry import CHECKS
from tfenv.doctor.tables import COMPANIONS, STUBS

CASES: list[Case] = [
    *test_interpreter.CASES,
    *test_environment.CASES,
    *test_distributions.CASES,
    *test_native.CASES,
    *test_devices.CASES,
    *test_running.CASES,
]
IDS = [check.id for check in CHECKS]


def test_ids_are_unique() -> None:
    assert sorted(IDS) == sorted(set(IDS))


def test_checks_follow_the_ladder() -> None:
    order = list(RUNGS)
    assert [check.rung for check in CHECKS] == sorted((check.rung for check in CHECKS), key=order.index)
    assert all(order.index(below) < order.index(rung) for rung in order for below in STANDS_ON[rung])


def test_a_check_is_explained_by_earlier_ones_only() -> None:
    for check in CHECKS:
        earlier = IDS[: IDS.index(check.id)]
        assert [name for name in check.after if name not in earlier] == []


@pytest.mark.parametrize("check", IDS)
def test_every_check_has_a_case_that_fires_and_one_that_does_not(check: str) -> None:
    fires = {bool(case.severities) for case in CASES if case.check == check}
    assert fires == {True, False}


@pytest.mark.parametrize(
    "row", [*CLASHES, *METAL_CLASHES], ids=lambda row: f"{row.id}-{row.package}-{row.tensorflow}"
)
def test_every_known_clash_has_a_case(row: Clash) -> None:
    rows = METAL_CLASHES if row in METAL_CLASHES else CLASHES
    firing = [case for case in CASES if case.check == row.id and case.severities]
    assert any(row in clashes(context(case.facts), rows) for case in firing)


def test_every_row_names_its_source() -> None:
    assert all(row.source for row in (*CLASHES, *METAL_CLASHES, *COMPANIONS, *STUBS))
