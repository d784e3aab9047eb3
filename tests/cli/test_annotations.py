"""The oldest Typer that is allowed must understand every command."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import pytest
import typer

from tfenv.cli.app import app


def commands(group: typer.Typer, path: str = "tfenv") -> Iterator[object]:
    """Every function that is a command or a group's callback, with its name as the parameter's id."""
    if group.registered_callback is not None:
        yield pytest.param(group.registered_callback.callback, id=path)
    for command in group.registered_commands:
        yield pytest.param(command.callback, id=f"{path} {command.name}")
    for inner in group.registered_groups:
        if inner.typer_instance is not None:
            yield from commands(inner.typer_instance, f"{path} {inner.name}")


@pytest.mark.parametrize("function", list(commands(app)))
def test_no_annotation_is_a_string(function: object) -> None:
    """On Python 3.9 Typer 0.12 to 0.19 drops the options whose annotations are strings."""
    assert callable(function)
    parameters = inspect.signature(function).parameters
    assert [name for name, parameter in parameters.items() if isinstance(parameter.annotation, str)] == []
