"""The policy is read to the letter: a typing error in it is named by its path."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.policies import POLICY

from tfenv.errors import UsageError
from tfenv.locks.catalogue import place_of
from tfenv.locks.model import NoStack
from tfenv.locks.policy import load_policy, parse_policy
from tfenv.targets.model import TARGETS

SHIPPED = Path(__file__).parents[2] / "lockfiles" / "policy.toml"


def test_a_cell_has_the_rules_that_apply_to_it() -> None:
    cells = {(cell.target.name, cell.python): cell for cell in parse_policy(POLICY, Path("p.toml")).cells}
    assert sorted(cells) == [
        ("linux-x86_64-cpu", "3.11"),
        ("linux-x86_64-cpu", "3.12"),
        ("linux-x86_64-cuda", "3.11"),
        ("linux-x86_64-cuda", "3.12"),
    ]
    cpu, cuda = cells["linux-x86_64-cpu", "3.11"], cells["linux-x86_64-cuda", "3.12"]
    assert cpu.roots == ("tensorflow-cpu==2.20.0", "extra-tool~=1.0")
    assert cpu.constraints == ("keras==3.10.0", "setuptools<82")
    assert cpu.demands == ("tensorflow-cpu==2.20.0", "extra-tool~=1.0", "setuptools<82")
    assert cuda.roots == ("tensorflow[and-cuda]==2.20.0",)
    assert cuda.constraints == ("keras==3.10.0", "nvidia-cudnn-cu12==9.3.0.75", "setuptools<82")


def test_every_combination_of_a_none_entry_becomes_one() -> None:
    assert parse_policy(POLICY, Path("p.toml")).none == (
        NoStack(
            target="macos-arm64-metal", tensorflow="2.20", python="", reason="it does not load", source="s"
        ),
        NoStack(target="linux-x86_64-cpu", tensorflow="2.19", python="3.12", reason="no wheels", source="w"),
        NoStack(target="linux-x86_64-cpu", tensorflow="2.19", python="3.13", reason="no wheels", source="w"),
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        pytest.param("format = 1", "format = 2", "$.format: 2 is not a format this tfenv knows", id="format"),
        pytest.param("format = 1", "]", "(at line", id="not-toml"),
        pytest.param("released = ", "relaesed = ", "$.stack[0].released: missing", id="missing-key"),
        pytest.param("on_wish", "on_whish", "$.stack[0].on_whish: unknown key", id="unknown-key"),
        pytest.param('use = "pin"', 'use = "pins"', "$.stack[0].rule[0].use: 'pins' is not one of", id="use"),
        pytest.param('why = "cuDNN', 'wy = "cuDNN', "$.stack[0].rule[1].why: missing", id="why"),
        pytest.param('why = "cuDNN"', 'why = " "', "$.stack[0].rule[1].why: empty", id="empty-why"),
        pytest.param('"2.20.0"', '"two"', "$.stack[0].tensorflow: 'two' is no version", id="version"),
        pytest.param('"2025-10-15"', '"15.10.2025"', "$.stack[0].as_of: '15.10.2025' is no date", id="date"),
        pytest.param(
            '"2025-10-15"', '"2025-08-13"', "as_of: 2025-08-13 is not after the release", id="too-early"
        ),
        pytest.param('["3.11", "3.12"]', '["3.8"]', "$.stack[0].pythons: '3.8' is not one of", id="python"),
        pytest.param(
            '["3.11", "3.12"]', '["3.11", "3.11"]', "pythons: the same value twice", id="python-twice"
        ),
        pytest.param(
            '"linux-x86_64-cpu", "linux-x86_64-cuda"]',
            '"linux-cpu"]',
            "$.stack[0].targets: 'linux-cpu' is not one of",
            id="target",
        ),
        pytest.param(
            '"linux-x86_64-cpu", "linux-x86_64-cuda"]',
            '"linux-x86_64-cpu"]',
            "$.stack[0].cuda: belongs to stacks with a CUDA target",
            id="cuda-without-target",
        ),
        pytest.param('"setuptools<82"', '"setuptools<<82"', "$.rule[0].requirements[0]: ", id="requirement"),
        pytest.param(
            '"setuptools<82"', '"Setuptools<82"', "must be a canonical name with versions", id="name"
        ),
        pytest.param(
            '"setuptools<82"',
            '"setuptools @ https://x.org/y"',
            "must be a canonical name with versions",
            id="url",
        ),
        pytest.param(
            '"setuptools<82"', "\"setuptools<82 ; os_name == 'nt'\"", "must be a canonical name", id="marker"
        ),
        pytest.param(
            '"<2.21"', '"2.21"', "$.rule[0].tensorflow: '2.21' is no version specifier", id="tf-range"
        ),
        pytest.param(
            'name = "linux-x86_64-cpu"', 'name = "linux"', "$.target[0].name: 'linux' is", id="target-name"
        ),
        pytest.param(
            'tensorflow = ["2.19"]',
            'tensorflow = ["2.20"]',
            "$.none[1]: a stack says that there is a lock for linux-x86_64-cpu, TensorFlow 2.20, Python 3.12",
            id="contradiction",
        ),
        pytest.param("[[none]]", "[[stack]]", "$.stack[1].tensorflow: expected str", id="type"),
    ],
)
def test_a_mistake_is_named_by_its_path(old: str, new: str, message: str) -> None:
    assert old in POLICY
    with pytest.raises(UsageError) as caught:
        parse_policy(POLICY.replace(old, new, 1), Path("p.toml"))
    assert caught.value.code == "bad-policy"
    assert caught.value.message.startswith("The policy p.toml is wrong: ")
    assert message in caught.value.message


def test_two_stacks_for_one_place_are_refused() -> None:
    stack = POLICY[POLICY.index("[[stack]]") : POLICY.index("[[none]]")]
    with pytest.raises(
        UsageError, match=r"\$\.stack\[1\]: a second stack for linux-x86_64-cpu, TensorFlow 2\.20"
    ):
        parse_policy(POLICY.replace("[[none]]", f"{stack}[[none]]", 1), Path("p.toml"))


def test_a_policy_that_is_not_there_is_a_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        load_policy(tmp_path / "policy.toml")


def test_the_shipped_policy_has_every_stack_of_the_project() -> None:
    policy = load_policy(SHIPPED)
    last = ("2.15.1", "2.16.2", "2.17.1", "2.18.1", "2.19.1", "2.20.0", "2.21.0")
    pythons = {tf: ["3.9", "3.10", "3.11", "3.12"] for tf in last}
    pythons["2.15.1"] = ["3.9", "3.10", "3.11"]
    pythons["2.20.0"] = ["3.9", "3.10", "3.11", "3.12", "3.13"]
    pythons["2.21.0"] = ["3.10", "3.11", "3.12", "3.13"]
    wanted = {
        place_of(target, tf, python)
        for tf, minors in pythons.items()
        for target in TARGETS
        for python in minors
        if target != "macos-arm64-metal" and (target != "macos-x86_64-cpu" or tf in last[:2])
    }
    wanted |= {
        place_of("macos-arm64-metal", tf, python)
        for tf in ("2.15.0", "2.18.1", "2.19.1")
        for python in ("3.9", "3.10", "3.11", "3.12")
        if (tf, python) != ("2.15.0", "3.12")
    }
    cells = policy.cells
    assert {place_of(cell.target.name, cell.stack.tensorflow, cell.python) for cell in cells} == wanted
    assert {(c.target.name, c.stack.tensorflow) for c in cells if c.stack.on_wish} == {
        ("macos-arm64-metal", "2.15.0")
    }


def test_for_every_combination_there_is_a_lock_or_a_reason_why_not() -> None:
    policy = load_policy(SHIPPED)
    covered = {(c.target.name, ".".join(c.stack.tensorflow.split(".")[:2]), c.python) for c in policy.cells}
    for none in policy.none:
        for python in [none.python] if none.python else ["3.9", "3.10", "3.11", "3.12", "3.13"]:
            covered.add((none.target, none.tensorflow, python))
    missing = {
        (target, f"2.{minor}", f"3.{python}")
        for target in TARGETS
        for minor in range(15, 22)
        for python in range(9, 14)
    } - covered
    assert missing == set()


def test_every_reason_in_the_shipped_policy_has_a_source_and_names_no_url() -> None:
    policy = load_policy(SHIPPED)
    assert all(none.reason and none.source for none in policy.none)
    assert all(rule.source for cell in policy.cells for rule in cell.rules)
    assert "://" not in SHIPPED.read_text(encoding="utf-8")
