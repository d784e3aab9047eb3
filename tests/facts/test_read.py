"""The facts of this machine, whole."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from facts.fakes import FakeMachine, probe
from hypothesis import given, settings
from hypothesis import strategies as st

from tfenv.codec import decode, encode
from tfenv.errors import UsageError
from tfenv.facts.later import Later
from tfenv.facts.machine import Ran
from tfenv.facts.model import Fact, Facts
from tfenv.facts.read import facts_of, read_facts


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
        "import sys; from pathlib import Path; from tfenv.facts.read import facts_of, read_facts;"
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


#: Files a reader parses, whose content nobody promises.
PARSED = (
    "/etc/os-release",
    "/etc/git_commit",
    "/proc/1/cgroup",
    "/proc/100/cmdline",
    "/proc/100/status",
    "/proc/cpuinfo",
    "/proc/driver/nvidia/version",
    "/proc/meminfo",
    "/proc/mounts",
    "/proc/self/cgroup",
    "/proc/sys/kernel/osrelease",
    "/sys/bus/pci/devices/0/class",
    "/sys/bus/pci/devices/0/vendor",
    "/sys/fs/cgroup/cpu.max",
    "/sys/fs/cgroup/memory.max",
    "/System/Library/CoreServices/SystemVersion.plist",
    "/usr/lib/python3.11/EXTERNALLY-MANAGED",
    "/venv/conda-meta/a-1-0.json",
    "/venv/lib/python3.11/site-packages/a.dist-info/METADATA",
    "/venv/lib/python3.11/site-packages/keras.dist-info/RECORD",
)
#: Pieces of what such files hold, cut anywhere.
PIECES = (
    "PPid:", "0::", "memory", "cpu", ":", "/", "\n", "\n\n", "=", "MemTotal:", "processor", "flags",
    "Features", "CPU implementer", "max", "-1", " ", "overlay", "ID", "VERSION_ID", "[externally-managed]",
    "Error", "<plist>", "<dict>", "Name:", "Version:", "Requires-Dist:", "keras/", ",", "0x10de", "0x03",
    "%", "\0", "²", "12", "kB", "us",
)  # fmt: skip


@given(
    platform=st.sampled_from(["linux", "darwin", "win32", "freebsd14"]),
    stdout=st.sampled_from(
        ["", "{}", "[]", '{"nvml": {}}', '{"nvml": {"driver": 3, "gpus": [{}]}}', '{"nodes": 1}']
    ),
    files=st.dictionaries(
        st.sampled_from(PARSED),
        st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=8)), max_size=12).map("".join),
    ),
)
@settings(max_examples=60, deadline=None)
def test_no_content_of_a_file_stops_the_readers(platform: str, stdout: str, files: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        machine = FakeMachine(
            root,
            platform=platform,
            commands={"python": Ran(outcome="exited", stdout=stdout), "nvidia-smi": Ran(outcome="hung")},
            sysctls={"hw.optional.arm64": 1},
        )
        for absolute, text in files.items():
            machine.path(absolute).parent.mkdir(parents=True, exist_ok=True)
            machine.path(absolute).write_bytes(text.encode("utf-8", "surrogatepass"))
        here = probe(prefix="/venv", base_prefix="/venv")
        facts = facts_of(here, cwd=root, machine=machine)
        assert decode(Facts, json.loads(json.dumps(encode(facts)))) == facts
