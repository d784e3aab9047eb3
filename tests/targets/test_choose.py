"""Every recorded machine gets the target a person would choose, with the reason."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tfenv.errors import NoLockError, UsageError
from tfenv.facts.model import Facts, known
from tfenv.facts.recorded import load_facts
from tfenv.targets.choose import choose_target
from tfenv.targets.model import Target

MACHINES = Path(__file__).parent.parent / "machines"


def machine(name: str) -> Facts:
    return load_facts(MACHINES / f"{name}.json")


@pytest.mark.parametrize(
    ("name", "target"),
    [
        pytest.param("mac-m2-py311", "macos-arm64-metal", id="mac-m2"),
        pytest.param("mac-m2-py313", "macos-arm64-metal", id="mac-m2-py313"),
        pytest.param("mac-intel-py311", "macos-x86_64-cpu", id="mac-intel"),
        pytest.param("linux-rtx4090-driver550-py311", "linux-x86_64-cuda", id="rtx4090"),
        pytest.param("linux-rtx4090-driver470-py311", "linux-x86_64-cuda", id="old-driver"),
        pytest.param("linux-rtx5090-cc120-driver575-py312", "linux-x86_64-cuda", id="blackwell"),
        pytest.param("linux-gtx1080-pascal-driver550-py311", "linux-x86_64-cuda", id="pascal"),
        pytest.param("linux-cpu-py311", "linux-x86_64-cpu", id="cpu"),
        pytest.param("linux-cpu-noavx-py311", "linux-x86_64-cpu", id="no-avx"),
        pytest.param("linux-aarch64-py312", "linux-aarch64-cpu", id="aarch64"),
        pytest.param("windows-py311", "windows-x86_64-cpu", id="windows"),
        pytest.param("wsl2-rtx3060-py311", "linux-x86_64-cuda", id="wsl2"),
        pytest.param("docker-no-gpu-py311", "linux-x86_64-cpu", id="docker-without-gpu"),
        pytest.param("kaggle-2xT4-py312", "linux-x86_64-cuda", id="kaggle"),
        pytest.param("colab-2026.07-gpu-py312", "linux-x86_64-cuda", id="colab-gpu"),
        pytest.param("colab-2026.08-cpu", "linux-x86_64-cpu", id="colab-cpu"),
    ],
)
def test_the_target_of_a_recorded_machine(name: str, target: str) -> None:
    assert choose_target(machine(name)).name == target


def test_the_reason_names_what_was_seen() -> None:
    assert choose_target(machine("linux-cpu-py311")) == Target(
        name="linux-x86_64-cpu", reason="Linux on x86_64, no NVIDIA GPU"
    )


def test_a_driver_without_a_device_is_no_cuda_machine() -> None:
    facts = machine("linux-rtx4090-driver550-py311")
    hidden = replace(
        facts,
        nvidia=replace(facts.nvidia, device_nodes=known((), "/dev"), gpus=known((), "nvml")),
        system=replace(facts.system, container=known("docker", "/.dockerenv")),
    )
    driver = facts.nvidia.driver_nvml.value
    assert choose_target(hidden) == Target(
        name="linux-x86_64-cpu",
        reason="Linux on x86_64, no usable NVIDIA device",
        notes=(
            (
                f"The host's NVIDIA driver {driver} is visible, but no GPU is passed in here: "
                "start the container with --gpus all."
            ),
        ),
    )


def test_a_wish_overrides_detection() -> None:
    assert choose_target(machine("mac-m2-py311"), "macos-arm64-cpu") == Target(
        name="macos-arm64-cpu", reason="asked for by name"
    )


def test_an_unknown_wish_is_refused() -> None:
    with pytest.raises(UsageError) as caught:
        choose_target(machine("mac-m2-py311"), "mac")
    assert caught.value.code == "unknown-target"


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        pytest.param("mac-m2-rosetta", "rosetta", "under Rosetta", id="rosetta"),
        pytest.param("alpine-musl-py312", "unsupported-platform", "musl", id="musl"),
    ],
)
def test_a_machine_without_wheels_is_told_why(name: str, code: str, words: str) -> None:
    with pytest.raises(NoLockError) as caught:
        choose_target(machine(name))
    assert caught.value.code == code
    assert words in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param({"implementation": known("pypy", "t")}, "pypy", id="pypy"),
        pytest.param({"free_threaded": known(True, "t")}, "free-threaded", id="free-threaded"),
        pytest.param({"bits": known(32, "t")}, "32-bit", id="32-bit"),
    ],
)
def test_an_interpreter_without_wheels_is_told_why(change: dict[str, object], words: str) -> None:
    facts = machine("linux-cpu-py311")
    with pytest.raises(NoLockError) as caught:
        choose_target(replace(facts, python=replace(facts.python, **change)))  # type: ignore[arg-type]
    assert caught.value.code == "unsupported-python"
    assert words in caught.value.message
