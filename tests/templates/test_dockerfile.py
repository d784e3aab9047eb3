"""The Dockerfile's steps, run by a real shell with tfenv itself; only Docker is missing."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from support.shelf import PYTHON, Shelf

from tfenv.codec import JSON
from tfenv.paths import templates_dir
from tfenv.records import record

DOCKERFILE = (templates_dir() / "Dockerfile").read_text(encoding="utf-8")
KNOWN = {"ARG", "FROM", "RUN", "ENV", "WORKDIR", "COPY", "CMD"}
MOUNT = re.compile(r"--mount=(\S+)\s+")


@record
class Step:
    """One instruction: its name, and the rest on one line."""

    name: str
    rest: str


def steps() -> list[Step]:
    """The instructions, with comments dropped and continued lines joined."""
    text = "\n".join(line for line in DOCKERFILE.splitlines() if not line.startswith("#"))
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    return [Step(name=line.split()[0], rest=line.split(None, 1)[1]) for line in lines if line]


STEPS = steps()
RUNS = [step.rest for step in STEPS if step.name == "RUN"]


def defaults() -> dict[str, str]:
    """Every build argument with its default."""
    return dict(step.rest.split("=", 1) for step in STEPS if step.name == "ARG")


@pytest.fixture
def image(tmp_path: Path) -> Image:
    """An image whose catalogue holds one lock."""
    shelf = Shelf(tmp_path)
    shelf.add_lock(defaults()["TF"] + ".0")
    return Image(shelf)


class Image:
    """A folder that stands for the image: `pip` writes down what it is asked for, `tfenv` only plans."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf
        self.asked = shelf.folder / "asked"
        self._command("pip", f'printf "%s\\n" "$@" >{self.asked}')
        self._command(
            "tfenv", f'exec {sys.executable} -m tfenv "$@" --python {sys.executable} --dry-run --json'
        )

    def run(self, line: str, **arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a RUN line with its build arguments, its mounts left out."""
        command = MOUNT.sub("", line).replace("/opt/tf", str(self.shelf.folder / "tf"))
        environ = self.shelf.environ(**{**defaults(), **arguments})
        environ["PATH"] = os.pathsep.join([str(self.shelf.folder / "bin"), environ["PATH"]])
        return subprocess.run(
            ["sh", "-c", command],
            env=environ,
            cwd=self.shelf.home,
            capture_output=True,
            text=True,
            check=False,
        )

    def _command(self, name: str, body: str) -> None:
        path = self.shelf.folder / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)


def test_every_instruction_is_one_that_docker_knows() -> None:
    assert {step.name for step in STEPS} == KNOWN
    assert [step.rest for step in STEPS if step.name == "FROM"] == [
        "scratch AS wheels",
        "python:${PYTHON}-slim",
    ]


def test_the_mounts_are_a_cache_and_the_wheels() -> None:
    cache = "type=cache,target=/root/.cache"
    assert [MOUNT.findall(line) for line in RUNS] == [
        [cache, "type=bind,from=wheels,target=/wheels"],
        [cache],
    ]


@pytest.mark.parametrize("wish", ["tfenv", "/wheels/tfenv-0.1.0-py3-none-any.whl", "tfenv[lock] >= 0.1"])
def test_the_first_step_installs_tfenv_and_uv(image: Image, wish: str) -> None:
    done = image.run(RUNS[0], TFENV=wish)
    assert (done.returncode, done.stderr) == (0, "")
    assert image.asked.read_text().splitlines() == ["install", "--root-user-action=ignore", wish, "uv"]


def test_the_second_step_plans_the_stack_that_was_asked_for(image: Image) -> None:
    done = image.run(RUNS[1], SEED="7")
    assert (done.returncode, done.stderr) == (3, "")
    planned = plan_of(done)
    assert planned["environment"] == str(image.shelf.folder / "tf")
    assert planned["seed"] == 7
    lock = planned["lock"]
    assert isinstance(lock, dict)
    minor, python = defaults()["TF"], PYTHON.replace(".", "")
    assert lock["id"] == f"linux-x86_64-cpu/tf{minor}-py{python}"


def test_a_wish_that_cannot_be_met_fails_the_build(image: Image) -> None:
    assert image.run(RUNS[1], TF="2.99").returncode == 5


def test_the_seed_of_the_hashes_is_the_seed_of_the_stack() -> None:
    (environ,) = (step.rest for step in STEPS if step.name == "ENV")
    assert environ == "PATH=/opt/tf/bin:$PATH VIRTUAL_ENV=/opt/tf PYTHONHASHSEED=${SEED}"


def test_the_defaults_are_a_lock_of_the_catalogue() -> None:
    python, minor = defaults()["PYTHON"].replace(".", ""), defaults()["TF"]
    lockfiles = templates_dir().parent / "lockfiles"
    for target in ("linux-x86_64-cpu", "linux-aarch64-cpu"):
        assert (lockfiles / target / f"tf{minor}-py{python}.txt").is_file()


def plan_of(done: subprocess.CompletedProcess[str]) -> Mapping[str, JSON]:
    """The data of the document that tfenv printed."""
    data: Mapping[str, JSON] = json.loads(done.stdout)["data"]
    return data
