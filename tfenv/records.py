"""The one dataclass flavour of tfenv: frozen, keyword-only and, where Python has them, slotted."""

from __future__ import annotations

import sys
from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING, TypeVar

_T = TypeVar("_T")

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform

    @dataclass_transform(frozen_default=True, kw_only_default=True)
    def record(cls: type[_T]) -> type[_T]: ...

elif sys.version_info >= (3, 10):

    def record(cls):
        """Make ``cls`` a frozen, slotted, keyword-only dataclass."""
        return dataclass(frozen=True, slots=True, kw_only=True)(cls)

else:

    def record(cls):
        """Make ``cls`` a frozen dataclass with keyword-only construction, which Python 3.9 lacks."""
        # A record may have no field at all, and then Python 3.9 gives it no __annotations__.
        names = tuple(cls.__dict__.get("__annotations__", ()))  # noqa: RUF063
        defaults = {name: cls.__dict__[name] for name in names if name in cls.__dict__}
        for name in names:
            # A default everywhere silences the "non-default after default" rule; __init__ checks instead.
            setattr(cls, name, defaults.get(name))

        def __init__(self, **values):  # noqa: N807
            missing = [name for name in names if name not in values and name not in defaults]
            unexpected = sorted(set(values) - set(names))
            if missing or unexpected:
                raise TypeError(f"{cls.__name__}: missing {missing}, unexpected {unexpected}")
            for name in names:
                object.__setattr__(self, name, values.get(name, defaults.get(name)))

        cls.__init__ = __init__
        made = dataclass(frozen=True, init=False)(cls)
        for field in fields(made):
            if field.name not in defaults:
                field.default = MISSING  # so that fields() tells the truth to the codec
        return made


__all__ = ["record"]
