"""Flag beats variable beats file beats default, and each value says where it came from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tfenv.errors import UsageError
from tfenv.settings import DEFAULTS, Setting, Settings, Value, read_settings


def given(
    tmp_path: Path,
    flags: Mapping[str, Value] | None = None,
    environ: Mapping[str, str] | None = None,
    user: str | None = None,
) -> Settings:
    user_file = tmp_path / "user" / "tfenv.toml"
    if user is not None:
        user_file.parent.mkdir()
        user_file.write_text(user)
    return read_settings(flags or {}, environ or {}, tmp_path, user_file)


def test_defaults(tmp_path: Path) -> None:
    assert given(tmp_path) == Settings(
        values={name: Setting(value=value, origin="default") for name, value in DEFAULTS.items()}
    )


def test_the_order_of_origins(tmp_path: Path) -> None:
    (tmp_path / "tfenv.toml").write_text('tf = "2.16"\nseed = 1\nengine = "pip"\nsmoke = "full"\n')
    settings = given(tmp_path, {"tf": "2.18"}, {"TFENV_TF": "2.17", "TFENV_SEED": "2"}, user="target = 'x'")
    chosen = {name: settings.values[name] for name in ("tf", "seed", "engine", "smoke", "target")}
    assert chosen == {
        "tf": Setting(value="2.18", origin="flag --tf"),
        "seed": Setting(value=2, origin="TFENV_SEED"),
        "engine": Setting(value="pip", origin="tfenv.toml"),
        "smoke": Setting(value="full", origin="tfenv.toml"),
        "target": Setting(value=None, origin="default"),
    }


def test_pyproject_is_read_where_there_is_no_tfenv_toml(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.tfenv]\ndeterministic = true\n[tool.other]\nx = 1\n")
    assert given(tmp_path).values["deterministic"] == Setting(value=True, origin="pyproject.toml")


def test_the_users_own_file_comes_last(tmp_path: Path) -> None:
    assert given(tmp_path, user="seed = 7").values["seed"] == Setting(value=7, origin="user tfenv.toml")


@pytest.mark.parametrize(
    ("flags", "environ", "text"),
    [
        pytest.param({"seed": False}, {}, "", id="flag"),
        pytest.param({}, {"TFENV_SEED": "off"}, "", id="variable"),
        pytest.param({}, {}, "seed = false", id="file"),
    ],
)
def test_the_seed_can_be_switched_off(
    tmp_path: Path, flags: Mapping[str, Value], environ: Mapping[str, str], text: str
) -> None:
    (tmp_path / "tfenv.toml").write_text(text)
    assert given(tmp_path, flags, environ).number("seed") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("tf = 2.18", "tfenv.toml: tf must be a string, not 2.18.", id="number-for-string"),
        pytest.param("seed = true", "tfenv.toml: seed must be a whole number, not True.", id="bool"),
        pytest.param("typo = 1", "tfenv.toml has an unknown setting: typo.", id="unknown"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "tfenv.toml").write_text(text)
    with pytest.raises(UsageError) as caught:
        given(tmp_path)
    assert caught.value.message == message


def test_what_is_no_toml_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tfenv.toml").write_bytes(b"\xff\xfe = [")
    with pytest.raises(UsageError) as caught:
        given(tmp_path)
    assert caught.value.code == "bad-settings-file"


def test_a_variable_of_the_wrong_type_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        given(tmp_path, environ={"TFENV_SEED": "many"})
    assert caught.value.message == "TFENV_SEED: seed must be a whole number, not 'many'."
