"""Records survive the way to JSON and back, and what does not fit is refused by path."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Literal, Optional

import pytest

from tfenv.codec import CodecError, decode, encode
from tfenv.facts.model import Fact, GpuFacts, known, unknown
from tfenv.records import record


@record
class Inner:
    name: str = "x"
    size: int


@record
class Outer:
    inner: Inner
    many: tuple[Inner, ...] = ()
    pair: tuple[int, str] = (1, "a")
    maybe: Optional[str] = None
    choice: Literal["a", "b"] = "a"
    table: Mapping[str, float]
    fact: Fact[tuple[GpuFacts, ...]]
    flag: bool = False


OUTER = Outer(
    inner=Inner(size=3),
    many=(Inner(name="y", size=4),),
    table={"k": 1.5},
    fact=known((GpuFacts(index=0, name="T4", compute_capability="7.5"),), "nvml"),
)


def test_a_record_round_trips_through_json_text() -> None:
    assert decode(Outer, json.loads(json.dumps(encode(OUTER)))) == OUTER


def test_a_record_encodes_every_field() -> None:
    assert encode(Inner(size=3)) == {"name": "x", "size": 3}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param({"inner": {"name": "x"}}, "$.inner.size: missing", id="missing"),
        pytest.param({"inner": 3}, "$.inner: expected an object, got int", id="not-an-object"),
        pytest.param({"many": [{"size": True}]}, "$.many[0].size: expected int, got bool", id="bool-for-int"),
        pytest.param({"pair": [1]}, "$.pair: expected 2 values, got 1", id="tuple-length"),
        pytest.param({"choice": "c"}, "$.choice: 'c' is not one of a, b", id="literal"),
        pytest.param({"table": {"k": "v"}}, "$.table.k: expected float, got str", id="mapping-item"),
        pytest.param(
            {"fact": {"source": "s", "value": [{"index": "0", "name": "n"}]}},
            "$.fact.value[0].index: expected int, got str",
            id="inside-a-generic",
        ),
    ],
)
def test_a_wrong_document_is_refused_by_path(change: dict[str, object], message: str) -> None:
    encoded = encode(OUTER)
    assert isinstance(encoded, dict)
    with pytest.raises(CodecError) as caught:
        decode(Outer, {**encoded, **change})
    assert str(caught.value) == message


def test_unknown_keys_come_from_a_newer_tfenv_and_are_ignored() -> None:
    assert decode(Inner, {"size": 1, "new": {}}) == Inner(size=1)


@record
class Tree:
    children: tuple[Tree, ...] = ()


def test_hostile_nesting_is_refused() -> None:
    document: dict[str, object] = {}
    for _ in range(500):
        document = {"children": [document]}
    with pytest.raises(CodecError, match="nested too deeply"):
        decode(Tree, document)


def test_an_unknown_fact_keeps_its_reason() -> None:
    fact: Fact[str] = unknown("nvml", "timed out after 2 s")
    assert decode(Fact[str], encode(fact)) == fact


def test_records_are_keyword_only_and_frozen() -> None:
    with pytest.raises(TypeError):
        Inner("x", 3)  # type: ignore[misc]
    with pytest.raises(TypeError):
        Inner(name="x")  # type: ignore[call-arg]
    with pytest.raises(AttributeError):
        Inner(size=1).size = 2  # type: ignore[misc]
