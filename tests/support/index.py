"""A resolver and a reader of wheels that need no network: a small index in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Union

from tfenv.errors import TfenvError
from tfenv.locks.policy import Cell
from tfenv.locks.pylock import RemoteWheel
from tfenv.locks.wheelfile import WheelFacts


@dataclass
class Index:
    """What the resolver answers for every cell, and what the wheels hold; ``asked`` counts resolutions."""

    wheels: dict[str, tuple[str, WheelFacts]]  # filename to distribution name and facts
    answers: Mapping[str, Union[str, TfenvError]] = field(default_factory=dict)  # by Python, to override
    asked: list[Cell] = field(default_factory=list)

    def resolve(self, cell: Cell) -> str:
        """All wheels as a pylock.toml."""
        self.asked.append(cell)
        answer = self.answers.get(cell.python)
        if isinstance(answer, TfenvError):
            raise answer
        return answer if answer is not None else pylock(self.wheels)

    def read(self, wheel: RemoteWheel) -> WheelFacts:
        """The facts of the wheel by its file name."""
        return self.wheels[wheel.filename][1]


def pylock(wheels: Mapping[str, tuple[str, WheelFacts]]) -> str:
    """A pylock.toml with ``wheels``; sizes and hashes follow from the place in the list."""
    names = list(dict.fromkeys(name for name, _ in wheels.values()))
    text = 'lock-version = "1.0"\n'
    for name in names:
        files = [filename for filename, (owner, _) in wheels.items() if owner == name]
        version = files[0].split("-")[1]
        text += f'[[packages]]\nname = "{name}"\nversion = "{version}"\nwheels = [\n'
        for filename in files:
            number = list(wheels).index(filename) + 1
            text += (
                f'  {{ url = "https://index.example/{filename}", size = {number}, '
                f'hashes = {{ sha256 = "{number:064x}" }} }},\n'
            )
        text += "]\n"
    return text


def cpu_stack() -> dict[str, tuple[str, WheelFacts]]:
    """The wheels of a small, whole stack of TF 2.20.0 on Linux, CPython 3.11."""
    return {
        "tensorflow_cpu-2.20.0-cp311-cp311-manylinux_2_17_x86_64.whl": (
            "tensorflow-cpu",
            WheelFacts(
                requires=("numpy>=1.26.0", "keras>=3.10.0", 'windows-only ; sys_platform == "win32"'),
                folders=("tensorflow", "tensorflow_cpu.libs"),
                tensorflow_code=800_000_000,
            ),
        ),
        "numpy-2.2.6-cp311-cp311-manylinux_2_17_x86_64.whl": (
            "numpy",
            WheelFacts(requires=(), folders=("numpy",)),
        ),
        "numpy-2.2.6-cp311-cp311-manylinux_2_28_x86_64.whl": (
            "numpy",
            WheelFacts(requires=(), folders=("numpy",)),
        ),
        "numpy-2.2.6-cp311-cp311-musllinux_1_2_x86_64.whl": (
            "numpy",
            WheelFacts(requires=("musl-only",), folders=("numpy",)),
        ),
        "keras-3.10.0-py3-none-any.whl": (
            "keras",
            WheelFacts(requires=("numpy<2.3", "setuptools"), folders=("keras",)),
        ),
        "setuptools-80.9.0-py3-none-any.whl": (
            "setuptools",
            WheelFacts(requires=(), folders=("setuptools", "pkg_resources")),
        ),
        "extra_tool-1.2-py3-none-any.whl": ("extra-tool", WheelFacts(requires=(), folders=("extra_tool",))),
    }
