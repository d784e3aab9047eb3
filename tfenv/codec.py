"""Records to JSON and back, strictly: what does not match the record's types is refused by path."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from typing import Literal, TypeVar, Union, cast

JSON = Union[None, bool, int, float, str, Sequence["JSON"], Mapping[str, "JSON"]]

_T = TypeVar("_T")
#: Nesting beyond this is no document of ours; it guards the recursion against hostile input.
MAX_DEPTH = 40


class CodecError(ValueError):
    """A document does not have the shape of the record; the message names the path."""


def encode(value: object) -> JSON:
    """``value`` (records, tuples, mappings, scalars) as plain JSON data."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: encode(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): encode(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [encode(item) for item in value]
    raise CodecError(f"cannot encode a {type(value).__name__}")


def decode(cls: type[_T], document: object) -> _T:
    """A ``cls`` from JSON data. Unknown keys are ignored (they come from a newer tfenv).

    Raises:
        CodecError: a key is missing or a value has the wrong type; the message names its path.
    """
    return cast("_T", _decode(cls, document, "$", {}, 0))


def _decode(hint: object, value: object, path: str, bound: Mapping[object, object], depth: int) -> object:
    if depth > MAX_DEPTH:
        raise CodecError(f"{path}: nested too deeply")
    if isinstance(hint, TypeVar):
        hint = bound.get(hint, object)
    origin = typing.get_origin(hint)
    if origin is Union or (hasattr(types, "UnionType") and origin is types.UnionType):
        return _decode_union(typing.get_args(hint), value, path, bound, depth)
    if origin is Literal:
        if value in typing.get_args(hint) and isinstance(value, str):
            return value
        raise CodecError(f"{path}: {value!r} is not one of {', '.join(map(str, typing.get_args(hint)))}")
    if origin is tuple:
        return _decode_tuple(typing.get_args(hint), value, path, bound, depth)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        _, item_hint = typing.get_args(hint)
        if not isinstance(value, Mapping):
            raise CodecError(f"{path}: expected an object, got {type(value).__name__}")
        return {
            str(key): _decode(item_hint, item, f"{path}.{key}", bound, depth + 1)
            for key, item in value.items()
        }
    record_type = origin if isinstance(origin, type) else hint
    if isinstance(record_type, type) and is_dataclass(record_type):
        return _decode_record(record_type, typing.get_args(hint), value, path, depth)
    return _decode_scalar(hint, value, path)


def _decode_union(
    options: tuple[object, ...], value: object, path: str, bound: Mapping[object, object], depth: int
) -> object:
    if value is None and type(None) in options:
        return None
    problem = CodecError(f"{path}: no value")
    for option in options:
        if option is type(None):
            continue
        try:
            return _decode(option, value, path, bound, depth)
        except CodecError as error:
            problem = error
    raise problem


def _decode_tuple(
    items: tuple[object, ...], value: object, path: str, bound: Mapping[object, object], depth: int
) -> object:
    if not isinstance(value, (list, tuple)):
        raise CodecError(f"{path}: expected a list, got {type(value).__name__}")
    if len(items) == 2 and items[1] is Ellipsis:
        hints: Sequence[object] = [items[0]] * len(value)
    elif len(items) == len(value):
        hints = items
    else:
        raise CodecError(f"{path}: expected {len(items)} values, got {len(value)}")
    return tuple(
        _decode(hint, item, f"{path}[{index}]", bound, depth + 1)
        for index, (hint, item) in enumerate(zip(hints, value))
    )


def _decode_record(
    cls: type[object], arguments: tuple[object, ...], value: object, path: str, depth: int
) -> object:
    if not isinstance(value, Mapping):
        raise CodecError(f"{path}: expected an object, got {type(value).__name__}")
    parameters = getattr(cls, "__parameters__", ())
    bound = dict(zip(parameters, arguments))
    hints = hints_of(cls)
    arguments_found: dict[str, object] = {}
    assert is_dataclass(cls)
    for field in fields(cls):
        if field.name in value:
            arguments_found[field.name] = _decode(
                hints[field.name], value[field.name], f"{path}.{field.name}", bound, depth + 1
            )
        elif field.default is MISSING and field.default_factory is MISSING:
            raise CodecError(f"{path}.{field.name}: missing")
    return cls(**arguments_found)


def hints_of(cls: type[object]) -> Mapping[str, object]:
    """The evaluated type hints of a record, by field; evaluating them is what decoding spends its time on."""
    if cls not in _hints:
        _hints[cls] = typing.get_type_hints(cls)
    return _hints[cls]


_hints: dict[type[object], Mapping[str, object]] = {}


def _decode_scalar(hint: object, value: object, path: str) -> object:
    if hint is object:
        return value
    if hint is float and isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if hint is int and isinstance(value, int) and not isinstance(value, bool):
        return value
    if (hint is str and isinstance(value, str)) or (hint is bool and isinstance(value, bool)):
        return value
    name = getattr(hint, "__name__", str(hint))
    raise CodecError(f"{path}: expected {name}, got {type(value).__name__}")


__all__ = ["JSON", "CodecError", "decode", "encode", "hints_of"]
