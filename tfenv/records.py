"""The one dataclass flavour of tfenv: frozen, keyword-only and, where Python has them, slotted."""

from __future__ import annotations

import sys
from dataclasses import dataclass
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
        """Make ``cls`` a frozen dataclass (Python 3.9 knows neither ``slots`` nor ``kw_only``)."""
        return dataclass(frozen=True)(cls)


__all__ = ["record"]
