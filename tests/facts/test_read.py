"""The facts of this machine, whole."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tfenv.codec import decode, encode
from tfenv.errors import UsageError
from tfenv.facts.later import Later
from tfenv.facts.model import Fact, Facts
from tfenv.facts.read import read_facts


def all_facts(value: object, path: str = "") -> dict[str, Fact[object]]:
    """Every fact in a record, by its path."""
    if isinstance(value, Fact):
        return {path: value}
    names = getattr(type(value), "__annotations__", {})
    return {
        key: fact for name in names for key, fact in all_facts(getattr(value, name), f"{path}.{name}").items()
    }


def test_every_fact_has_a_source_and_every_gap_a_reason(tmp_path: Path) -> None:
    facts = all_facts(read_facts(None, cwd=tmp_path))
    assert len(facts) == 59
    assert [path for path, fact in facts.items() if not fact.source] == []
    assert [path for path, fact in facts.items() if not fact.known and not fact.reason] == []


def test_facts_round_trip_through_json_text(tmp_path: Path) -> None:
    facts = read_facts(None, cwd=tmp_path)
    assert decode(Facts, json.loads(json.dumps(encode(facts)))) == facts


def test_the_target_is_another_interpreter(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "env")], check=True)
    folder = "Scripts" if sys.platform == "win32" else "bin"
    python = tmp_path / "env" / folder / ("python.exe" if sys.platform == "win32" else "python")
    facts = read_facts(python, cwd=tmp_path)
    assert facts.environment.prefix.value == str(tmp_path / "env")
    assert facts.environment.kind.value == "venv"
    assert facts.packages.distributions.value == ()
    assert facts.python.pip_version.known
    assert facts.python.pip_version.value is None


def test_the_running_environment_is_complete(tmp_path: Path) -> None:
    import importlib.metadata

    facts = read_facts(None, cwd=tmp_path)
    found = {(item.name, item.version) for item in facts.packages.distributions.value or ()}
    assert ("pytest", importlib.metadata.version("pytest")) in found
    expected = {
        importlib.metadata.PathDistribution(path).version  # type: ignore[arg-type]
        for entry in sys.path
        for path in Path(entry or ".").glob("pytest-*.dist-info")
    }
    assert expected == {version for name, version in found if name == "pytest"}


def test_a_target_that_is_none_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        read_facts(tmp_path / "python", cwd=tmp_path)
    assert caught.value.code == "no-such-python"


def test_reading_imports_nothing_heavy() -> None:
    code = (
        "import sys; from pathlib import Path; from tfenv.facts.read import read_facts;"
        "read_facts(None, cwd=Path.cwd()); print(' '.join(sorted(sys.modules)))"
    )
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environ
    )
    loaded = set(done.stdout.split())
    heavy = {
        "numpy",
        "tensorflow",
        "keras",
        "rich",
        "typer",
        "packaging",
        "platformdirs",
        "importlib.metadata",
    }
    assert loaded & heavy == set()
    assert "tfenv.facts.read" in loaded


def test_later_hands_over_the_value_or_the_error() -> None:
    assert Later(lambda: 3).result() == 3
    with pytest.raises(ZeroDivisionError):
        Later(lambda: 1 // 0).result()
