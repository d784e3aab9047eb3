"""A refresh writes what changed, in whole files, and the same bytes from the same policy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from support.index import Index, cpu_stack
from support.policies import POLICY

from tfenv.errors import TfenvError, UsageError
from tfenv.events import Silent
from tfenv.locks.catalogue import read_lock
from tfenv.locks.policy import parse_policy
from tfenv.locks.refresh import Change, RefreshReport, refresh, select_cells

#: Only the CPU stack on one Python.
SMALL = (
    POLICY.replace('"linux-x86_64-cpu", "linux-x86_64-cuda"]', '"linux-x86_64-cpu"]')
    .replace('["3.11", "3.12"]', '["3.11"]')
    .replace(POLICY[POLICY.index("    [stack.cuda]") : POLICY.index("[[none]]")], "")
)
ID = "linux-x86_64-cpu/tf2.20-py311"


@pytest.fixture
def catalogue(tmp_path: Path) -> Path:
    (tmp_path / "policy.toml").write_text(SMALL, encoding="utf-8")
    return tmp_path


def run(catalogue: Path, index: Index, *only: str) -> RefreshReport:
    return refresh(catalogue, index, index, only=only, listener=Silent())


def contents(catalogue: Path) -> Mapping[str, bytes]:
    return {
        path.relative_to(catalogue).as_posix(): path.read_bytes()
        for path in catalogue.rglob("*")
        if path.is_file()
    }


def test_twice_is_byte_for_byte_the_same_and_the_second_time_nothing_is_written(catalogue: Path) -> None:
    first = run(catalogue, Index(cpu_stack()))
    before, written = contents(catalogue), (catalogue / f"{ID}.txt").stat().st_mtime_ns
    second = run(catalogue, Index(cpu_stack()))
    assert first == RefreshReport(changes=(Change(id=ID, kind="added"),), unchanged=0)
    assert second == RefreshReport(changes=(), unchanged=1)
    assert contents(catalogue) == before
    assert sorted(before) == [f"{ID}.txt", "policy.toml"]
    assert (catalogue / f"{ID}.txt").stat().st_mtime_ns == written
    assert read_lock(catalogue, ID).holder == "tensorflow-cpu"


def test_the_report_says_what_changed(catalogue: Path) -> None:
    run(catalogue, Index(cpu_stack()))
    wheels = {name.replace("80.9.0", "81.0.0"): wheel for name, wheel in cpu_stack().items()}
    assert run(catalogue, Index(wheels)) == RefreshReport(
        changes=(Change(id=ID, kind="changed", details=("setuptools 80.9.0 -> 81.0.0",)),), unchanged=0
    )


def test_a_change_of_the_header_only_is_said_too(catalogue: Path) -> None:
    run(catalogue, Index(cpu_stack()))
    (catalogue / "policy.toml").write_text(SMALL.replace("2025-10-15", "2025-10-16"), encoding="utf-8")
    assert run(catalogue, Index(cpu_stack())).changes == (
        Change(id=ID, kind="changed", details=("only hashes, bounds or the header",)),
    )


def test_a_damaged_lock_is_replaced(catalogue: Path) -> None:
    run(catalogue, Index(cpu_stack()))
    (catalogue / f"{ID}.txt").write_bytes(b"\xff")
    assert run(catalogue, Index(cpu_stack())).changes == (
        Change(id=ID, kind="changed", details=("the old file was damaged",)),
    )


def test_what_the_policy_no_longer_knows_is_removed_but_not_when_selecting(catalogue: Path) -> None:
    stranger = catalogue / "linux-x86_64-cpu" / "tf2.14-py311.txt"
    stranger.parent.mkdir()
    stranger.write_bytes(b"old")
    run(catalogue, Index(cpu_stack()), ID)
    assert stranger.exists()
    assert run(catalogue, Index(cpu_stack())) == RefreshReport(
        changes=(Change(id="linux-x86_64-cpu/tf2.14-py311", kind="removed"),), unchanged=1
    )
    assert not stranger.exists()


def test_what_fails_keeps_its_file_and_does_not_stop_the_others(catalogue: Path) -> None:
    (catalogue / "policy.toml").write_text(SMALL.replace('["3.11"]', '["3.11", "3.12"]', 1), encoding="utf-8")
    wheels = {name.replace("cp311-cp311", "cp38-abi3"): wheel for name, wheel in cpu_stack().items()}
    other = "linux-x86_64-cpu/tf2.20-py312"
    whole = Index({k: v for k, v in wheels.items() if v[0] != "extra-tool"})
    index = Index(wheels, answers={"3.12": whole.resolve(parse_policy(SMALL, Path("p")).cells[0])})
    run(catalogue, index)
    before = contents(catalogue)
    broken = replace_answers(index, TfenvError("x", "the index is away"))
    assert run(catalogue, broken) == RefreshReport(
        changes=(Change(id=other, kind="failed", details=("the index is away",)),), unchanged=1
    )
    assert contents(catalogue) == before


def replace_answers(index: Index, answer: TfenvError) -> Index:
    return Index(index.wheels, answers={"3.12": answer})


def test_where_nothing_can_be_written_the_error_says_so(catalogue: Path) -> None:
    (catalogue / "linux-x86_64-cpu").write_bytes(b"a file where a folder should be")
    with pytest.raises(UsageError, match="cannot be written") as caught:
        run(catalogue, Index(cpu_stack()), ID)
    assert caught.value.code == "lock-not-written"


CELLS = parse_policy(POLICY, Path("p.toml")).cells


@pytest.mark.parametrize(
    ("only", "expected"),
    [
        pytest.param([], [("cpu", "3.11"), ("cpu", "3.12"), ("cuda", "3.11"), ("cuda", "3.12")], id="all"),
        pytest.param([ID], [("cpu", "3.11")], id="id"),
        pytest.param(["linux-x86_64-cuda"], [("cuda", "3.11"), ("cuda", "3.12")], id="target"),
        pytest.param(["py312"], [("cpu", "3.12"), ("cuda", "3.12")], id="python"),
        pytest.param(["2.20", "py312", "linux-x86_64-cpu"], [("cpu", "3.12")], id="narrowed"),
        pytest.param(
            ["py311", "py312", "linux-x86_64-cpu"], [("cpu", "3.11"), ("cpu", "3.12")], id="widened"
        ),
    ],
)
def test_a_part_of_the_policy_can_be_selected(only: list[str], expected: list[tuple[str, str]]) -> None:
    chosen = select_cells(CELLS, only)
    assert [(cell.target.name.rpartition("-")[2], cell.python) for cell in chosen] == expected


@pytest.mark.parametrize(
    ("only", "named"),
    [
        pytest.param(["2.14"], "'2.14'", id="unknown"),
        pytest.param([ID, "py312"], f"'{ID} py312'", id="contradiction"),
    ],
)
def test_a_selection_of_nothing_is_a_wrong_usage(only: list[str], named: str) -> None:
    with pytest.raises(UsageError) as caught:
        select_cells(CELLS, only)
    assert caught.value.message == f"{named} selects no lock of the policy."
