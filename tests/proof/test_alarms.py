"""The table of false alarms."""

from __future__ import annotations

from dataclasses import replace

import pytest
from proof_alarms import Run, table, upper_bound

RUN = Run(
    lock="linux-x86_64-cpu/tf2.9-py39",
    level="quick",
    seed=1,
    threads="1",
    onednn="0",
    tensorflow="2.9.0",
    verdict="pass",
    failed=(),
    seconds=6.0,
    import_seconds=4.0,
    peak_memory=700_000_000,
)


@pytest.mark.parametrize(
    ("alarms", "runs", "bound"),
    [(0, 1000, 0.0029912), (1, 20, 0.2161069), (2, 2, 1.0)],
    ids=["rule-of-three", "one", "all"],
)
def test_the_bound_is_clopper_and_pearson_s(alarms: int, runs: int, bound: float) -> None:
    # 1 - 0.05 ** (1 / 1000); the root of (1 - p) ** 20 + 20 p (1 - p) ** 19 = 0.05
    assert upper_bound(alarms, runs) == pytest.approx(bound, abs=1e-6)


def test_the_table_groups_by_level_and_minor() -> None:
    newer = replace(RUN, lock="linux-x86_64-cpu/tf2.15-py311", tensorflow="", seconds=5.0, peak_memory=None)
    runs = [RUN, newer, replace(newer, level="full", verdict="warn", import_seconds=None)]
    assert table(runs).splitlines()[2:] == [
        "| 2.9 | quick | 1 | 0 | 95.00% | median 1.50, most 1.50 | 700 MB |",
        "| 2.15 | quick | 1 | 0 | 95.00% | median 1.25, most 1.25 | unknown |",
        "| all | quick | 2 | 0 | 77.64% | median 1.38, most 1.50 | 700 MB |",
        "| 2.15 | full | 1 | 1 | 100.00% | unknown | unknown |",
        "| all | full | 1 | 1 | 100.00% | unknown | unknown |",
    ]
