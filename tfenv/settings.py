"""Where a setting's value comes from: flag, ``TFENV_*`` variable, project or user file, default."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Optional, Union

from tfenv.errors import UsageError
from tfenv.records import record
from tfenv.toml import parse_toml

Value = Union[str, int, bool, None]

#: Every setting, with its default. The type of the default (or ``str`` for None) is the setting's type.
DEFAULTS: Mapping[str, Value] = {
    "tf": None,
    "target": None,
    "python": None,
    "venv": None,
    "seed": 42,
    "deterministic": False,
    "smoke": "quick",
    "engine": "auto",
}
#: A settings file is a page at most; anything much larger is not one.
_MAX_BYTES = 1_000_000
_OFF = ("off", "none", "no", "false", "0")


@record
class Setting:
    """One value and where it came from."""

    value: Value
    origin: str  # "flag --tf", "TFENV_TF", "tfenv.toml", "pyproject.toml", "default"


@record
class Settings:
    """All settings by name."""

    values: Mapping[str, Setting]

    def text(self, name: str) -> Optional[str]:
        """The setting ``name`` as text; None if it is not set."""
        value = self.values[name].value
        return None if value is None else str(value)

    def number(self, name: str) -> Optional[int]:
        """The setting ``name`` as a number; None if it is switched off."""
        value = self.values[name].value
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def flag(self, name: str) -> bool:
        """The setting ``name`` as a switch."""
        return self.values[name].value is True

    def origin(self, name: str) -> str:
        """Where the setting's value came from."""
        return self.values[name].origin


def read_settings(
    flags: Mapping[str, Value], environ: Mapping[str, str], cwd: Path, user_file: Optional[Path] = None
) -> Settings:
    """Settings from ``flags`` (None: not given), ``TFENV_*`` in ``environ``, and the nearest file.

    The file is ``tfenv.toml`` or ``[tool.tfenv]`` of ``pyproject.toml`` in ``cwd``, else ``user_file``.

    Raises:
        UsageError: a file cannot be read, or holds an unknown name or a value of the wrong type.
    """
    origin, table = _file_table(cwd, user_file)
    values = {}
    for name, default in DEFAULTS.items():
        variable = f"TFENV_{name.upper()}"
        if flags.get(name) is not None:
            values[name] = Setting(value=_switch(name, flags[name]), origin=f"flag --{name}")
        elif environ.get(variable, "") != "":
            values[name] = Setting(value=_typed(name, environ[variable], variable), origin=variable)
        elif name in table:
            values[name] = Setting(value=_typed(name, table[name], origin), origin=origin)
        else:
            values[name] = Setting(value=default, origin="default")
    return Settings(values=values)


def _switch(name: str, value: Value) -> Value:
    """``--no-seed`` arrives as False."""
    return None if name == "seed" and value is False else value


def _typed(name: str, value: object, origin: str) -> Value:
    default = DEFAULTS[name]
    if isinstance(default, bool):
        if isinstance(value, bool):
            return value
        if isinstance(value, str):
            return value.lower() not in _OFF
    elif isinstance(default, int):
        if value is False or (isinstance(value, str) and value.lower() in ("off", "none", "false")):
            return None
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if isinstance(value, str) and value.isdecimal():
            return int(value)
    elif isinstance(value, str):
        return value
    kind = {bool: "true or false", int: "a whole number", str: "a string"}.get(type(default), "a string")
    raise UsageError(
        "bad-setting", f"{origin}: {name} must be {kind}, not {value!r}.", hint=f"Correct {origin}."
    )


def _file_table(cwd: Path, user_file: Optional[Path]) -> tuple[str, Mapping[str, object]]:
    project = cwd / "tfenv.toml"
    if project.is_file():
        return "tfenv.toml", _checked(_toml(project), "tfenv.toml")
    pyproject = cwd / "pyproject.toml"
    if pyproject.is_file():
        tool = _toml(pyproject).get("tool")
        table = tool.get("tfenv") if isinstance(tool, Mapping) else None
        if table is not None:
            return "pyproject.toml", _checked(table, "pyproject.toml [tool.tfenv]")
    if user_file is not None and user_file.is_file():
        return "user tfenv.toml", _checked(_toml(user_file), "user tfenv.toml")
    return "", {}


def _toml(path: Path) -> Mapping[str, object]:
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise UsageError("bad-settings-file", f"{path.name} is too large to be a settings file.")
        return parse_toml(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(
            "bad-settings-file", f"{path.name} cannot be read: {error}.", hint=f"Correct {path.name}."
        ) from error


def _checked(table: object, origin: str) -> Mapping[str, object]:
    if not isinstance(table, Mapping):
        raise UsageError("bad-settings-file", f"{origin} must be a table.", hint=f"Correct {origin}.")
    unknown = sorted(set(map(str, table)) - set(DEFAULTS))
    if unknown:
        raise UsageError(
            "bad-settings-file",
            f"{origin} has an unknown setting: {', '.join(unknown)}.",
            hint=f"The settings are: {', '.join(DEFAULTS)}.",
        )
    return table
