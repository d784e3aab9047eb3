"""The one dataclass flavour of tfenv: frozen, keyword-only, and quick to define.

``dataclass`` writes and compiles the source of six methods for every class, which takes longer than most of
tfenv's commands do anything else. Records share theirs; ``fields``, ``replace`` and ``is_dataclass`` work as
on any dataclass.
"""

from __future__ import annotations

from dataclasses import MISSING, FrozenInstanceError, dataclass, fields
from typing import TYPE_CHECKING, TypeVar

_T = TypeVar("_T")

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform

    @dataclass_transform(frozen_default=True, kw_only_default=True)
    def record(cls: type[_T]) -> type[_T]: ...

else:

    def record(cls):
        """Make ``cls`` a frozen dataclass with keyword-only construction."""
        # A record may have no field at all, and then Python 3.9 gives it no __annotations__.
        names = tuple(cls.__dict__.get("__annotations__", ()))  # noqa: RUF063
        defaults = {name: cls.__dict__[name] for name in names if name in cls.__dict__}
        for name in names:
            # A default everywhere silences the "non-default after default" rule; __init__ checks instead.
            setattr(cls, name, defaults.get(name))
        made = dataclass(init=False, repr=False, eq=False)(cls)
        for field in fields(made):
            if field.name not in defaults:
                field.default = MISSING  # so that fields() tells the truth to the codec
                delattr(cls, field.name)
        made._record = (frozenset(names), defaults)
        made.__init__, made.__eq__, made.__hash__, made.__repr__ = _init, _eq, _hash, _repr
        made.__setattr__, made.__delattr__ = _setattr, _delattr
        return made

    def _init(self, **values):
        names, defaults = self._record
        content = self.__dict__
        content.update(defaults)
        content.update(values)
        if len(content) != len(names) or not names.issuperset(values):
            missing, unexpected = sorted(names - set(content)), sorted(set(values) - names)
            raise TypeError(f"{type(self).__name__}: missing {missing}, unexpected {unexpected}")

    def _eq(self, other):
        return self.__dict__ == other.__dict__ if type(other) is type(self) else NotImplemented

    def _hash(self):
        return hash(tuple(getattr(self, field.name) for field in fields(self)))

    def _repr(self):
        content = ", ".join(f"{field.name}={getattr(self, field.name)!r}" for field in fields(self))
        return f"{type(self).__qualname__}({content})"

    def _setattr(self, name, value):
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def _delattr(self, name):
        raise FrozenInstanceError(f"cannot delete field {name!r}")


__all__ = ["record"]
