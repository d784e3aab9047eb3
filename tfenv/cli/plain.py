"""Commands whose parameters need next to no conversion."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Optional, get_type_hints

from typer.core import TyperCommand, TyperGroup

if TYPE_CHECKING:
    from typer._click.core import Context, Parameter

#: How text becomes what a parameter of this type takes.
_OF_TEXT: dict[object, Callable[[str], object]] = {
    str: str,
    Optional[str]: str,
    Path: Path,
    Optional[Path]: Path,
}


class PlainCommand(TyperCommand):
    """A command that converts text, paths and flags itself.

    Recent Typer (seen in 0.29) converts every parameter by pydantic, even an absent one and ``--help``, and
    importing that takes longer than most of tfenv's commands. Numbers and lists go Typer's way.
    """

    def get_params(self, ctx: Context) -> list[Parameter]:
        """The command's parameters and ``--help``."""
        hints = get_type_hints(self.callback) if self.callback else {}
        return [_quick(parameter, hints) for parameter in super().get_params(ctx)]


class PlainGroup(TyperGroup):
    """A group of commands that does the same."""

    def get_params(self, ctx: Context) -> list[Parameter]:
        """The group's options and ``--help``."""
        return [_quick(parameter, {}) for parameter in super().get_params(ctx)]


def _quick(parameter: Parameter, hints: dict[str, object]) -> Parameter:
    """``parameter``, which from now on leaves to Typer only what needs it."""
    if "process_value" in vars(parameter):
        return parameter
    convert = parameter.process_value
    of_text = _OF_TEXT.get(hints.get(parameter.name or ""))

    def process_value(ctx: Context, value: object) -> object:
        if value in (None, (), False) and not parameter.required:
            return value  # the callbacks of --version and --help act on a true value only
        if parameter.callback is None and value is True:
            return value
        if parameter.callback is None and isinstance(value, str) and of_text is not None:
            return of_text(value)
        return convert(ctx, value)

    # Typer chooses the class of a parameter; the method is Click's, and documented.
    parameter.process_value = process_value  # type: ignore[method-assign]
    return parameter
