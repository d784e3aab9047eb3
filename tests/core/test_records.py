"""Records: dataclasses that share their methods."""

from __future__ import annotations

import copy
from dataclasses import MISSING, fields, is_dataclass, replace
from typing import Generic, Optional, TypeVar

import pytest

from tfenv.records import record

T = TypeVar("T")


@record
class Box(Generic[T]):
    """A record of a parametrised type."""

    content: T
    label: str = "plain"
    note: Optional[str] = None


@record
class Nothing:
    """A record without fields."""


@record
class Twin:
    """The same fields as another record."""

    content: int
    label: str = "plain"
    note: Optional[str] = None


def test_a_record_is_a_dataclass_with_its_defaults() -> None:
    assert is_dataclass(Box)
    assert [(field.name, field.default) for field in fields(Box)] == [
        ("content", MISSING),
        ("label", "plain"),
        ("note", None),
    ]


def test_equality_hash_and_repr_follow_the_fields() -> None:
    box = Box(content=1, note="x")
    assert box == Box(content=1, label="plain", note="x")
    assert box != Box(content=1)
    assert box != Twin(content=1, note="x")
    assert len({box, Box(content=1, note="x"), Box(content=2)}) == 2
    assert repr(box) == "Box(content=1, label='plain', note='x')"
    assert repr(Nothing()) == "Nothing()"
    assert Nothing() == Nothing()


def test_copies_and_replacements() -> None:
    box = Box[int](content=1)
    assert copy.deepcopy(box) == copy.copy(box) == box
    assert replace(box, content=2, note="n") == Box(content=2, note="n")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, r"Box: missing \['content'\], unexpected \[\]"),
        ({"content": 1, "size": 2}, r"Box: missing \[\], unexpected \['size'\]"),
        ({"size": 2}, r"Box: missing \['content'\], unexpected \['size'\]"),
    ],
    ids=["missing", "unexpected", "both"],
)
def test_construction_is_strict(values: dict[str, int], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        Box(**values)  # type: ignore[arg-type]


def test_a_record_cannot_be_changed() -> None:
    box = Box(content=1)
    with pytest.raises(AttributeError, match="cannot assign to field 'content'"):
        box.content = 2  # type: ignore[misc]
    with pytest.raises(AttributeError, match="cannot delete field 'label'"):
        del box.label
    with pytest.raises(AttributeError, match="cannot assign to field 'size'"):
        box.size = 2  # type: ignore[attr-defined]
    assert box == Box(content=1)
