"""What a closure accepts: the intersection of its own wheels' demands, no more and no less."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from tfenv.locks.accepts import demands, marker_environment, simplify

#: Requires-Dist of every wheel of tensorflow[and-cuda] 2.20.0 on CPython 3.12, from the wheels' metadata.
RECORDED = json.loads(
    (Path(__file__).parent / "recorded" / "requires-tf2.20-cuda-py312.json").read_text(encoding="utf-8")
)
CUDA = marker_environment("linux-x86_64-cuda", "3.12")


def accepted(roots: list[str]) -> dict[str, str]:
    return {name: simplify(found) for name, found in demands(RECORDED, roots, CUDA).items()}


def test_the_recorded_closure_accepts_what_its_wheels_say() -> None:
    found = accepted(["tensorflow[and-cuda]==2.20.0", "setuptools<82"])
    assert found.keys() == RECORDED.keys()
    assert {name: found[name] for name in sorted(found) if not name.startswith("nvidia-")} == {
        "absl-py": ">=1.0.0",
        "astunparse": ">=1.6.0",
        "certifi": ">=2017.4.17",
        "charset-normalizer": ">=2,<4",
        "flatbuffers": ">=24.3.25",
        "gast": ">=0.2.1,!=0.5.0,!=0.5.1,!=0.5.2",
        "google-pasta": ">=0.1.1",
        "grpcio": ">=1.48.2,<2.0",  # tensorboard's lower bound above TensorFlow's 1.24.3
        "h5py": ">=3.11.0",
        "idna": ">=2.5,<4",
        "keras": ">=3.10.0",
        "libclang": ">=13.0.0",
        "markdown": ">=2.6.8",
        "markdown-it-py": ">=2.2.0",
        "markupsafe": ">=2.1.1",
        "mdurl": ">=0.1,==0.*",
        "ml-dtypes": ">=0.5.1,<1.0.0",
        "namex": "",
        "numpy": ">=1.26.0",
        "opt-einsum": ">=2.3.2",
        "optree": "",
        "packaging": "",
        "pillow": "",
        "protobuf": ">=5.28.0",
        "pygments": ">=2.13.0,<3.0.0",
        "requests": ">=2.21.0,<3",
        "rich": "",
        "setuptools": ">=41.0.0,<82",  # the upper bound is policy's
        "six": ">=1.12.0,<2.0",
        "tensorboard": ">=2.20.0,==2.20.*",
        "tensorboard-data-server": ">=0.7.0,<0.8.0",
        "tensorflow": "==2.20.0",
        "termcolor": ">=1.1.0",
        "typing-extensions": ">=4.12,==4.*",
        "urllib3": ">=1.21.1,<3",
        "werkzeug": ">=1.0.1",
        "wheel": ">=0.23.0,<1.0",
        "wrapt": ">=1.11.0",
    }
    assert found["nvidia-cudnn-cu12"] == ">=9.3.0.75,<10.0"


def test_without_the_extra_nothing_is_asked_of_cuda() -> None:
    asked = {name for name in accepted(["tensorflow==2.20.0"]) if name.startswith("nvidia-")}
    # These three are what NVIDIA's own wheels ask of each other.
    assert asked == {"nvidia-cublas-cu12", "nvidia-cusparse-cu12", "nvidia-nvjitlink-cu12"}


@pytest.mark.parametrize(
    ("target", "python", "expected"),
    [
        pytest.param("linux-x86_64-cpu", "3.11", {"a", "b"}, id="linux"),
        pytest.param("windows-x86_64-cpu", "3.12", {"a", "tensorflow-intel"}, id="windows"),
        pytest.param("macos-arm64-metal", "3.12", {"a", "c"}, id="mac"),
        pytest.param("linux-aarch64-cpu", "3.12", {"a", "aws"}, id="aarch64"),
    ],
)
def test_markers_are_those_of_the_target(target: str, python: str, expected: set[str]) -> None:
    requires = {
        "a": [
            'b ; python_version < "3.12"',
            'c ; sys_platform == "darwin" and platform_machine == "arm64"',
            'tensorflow-intel==2.17.1 ; platform_system == "Windows"',
            'aws ; platform_system == "Linux" and platform_machine == "aarch64"',
        ],
    }
    assert demands(requires, ["a"], marker_environment(target, python)).keys() == expected


def test_extras_are_followed_through_the_closure() -> None:
    requires = {
        "a": ["b[x] ; extra == 'one'"],
        "b": ["c>=2 ; extra == 'x'", "d ; extra == 'y'"],
        "c": ["A[one]<9"],
        "d": [],
    }
    environment = marker_environment("linux-x86_64-cpu", "3.11")
    found = {
        name: str(specifiers) for name, specifiers in demands(requires, ["a[one]>=1"], environment).items()
    }
    assert found == {"a": "<9,>=1", "b": "", "c": ">=2"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", "", id="any"),
        pytest.param(">=1.0,>=1.26.0,<3,<2.2.0", ">=1.26.0,<2.2.0", id="tightest-bounds"),
        pytest.param(">1.0,>=1.0", ">1.0", id="open-below-closed"),
        pytest.param("<=2.0,<2.0", "<2.0", id="open-above-closed"),
        pytest.param("~=2.19.0", ">=2.19.0,==2.19.*", id="compatible"),
        pytest.param(">=1,==2.19.1,!=3", "==2.19.1", id="exact"),
        pytest.param("===1.0", "==1.0", id="arbitrary-equality"),
        pytest.param(">=3.20.3,!=3.1,!=4.21.0,<5.0.0dev", ">=3.20.3,<5.0.0.dev0,!=4.21.0", id="exclusions"),
        pytest.param(">=1,!=0.5.*,!=1.5.*,<2,!=3.*", ">=1,<2,!=0.5.*,!=1.5.*", id="excluded-series"),
    ],
)
def test_specifiers_are_written_in_few_clauses(text: str, expected: str) -> None:
    assert simplify(SpecifierSet(text)) == expected


_VERSIONS = st.sampled_from(["0.9", "1.0", "1.0.1", "1.5", "1.5.2", "2.0", "2.1", "3.0"])
_CLAUSES = st.tuples(st.sampled_from([">=", ">", "<", "<=", "!=", "~="]), _VERSIONS).map("".join)


@given(clauses=st.lists(_CLAUSES, max_size=6), version=_VERSIONS)
def test_the_short_form_accepts_the_same_versions(clauses: list[str], version: str) -> None:
    specifiers = SpecifierSet(",".join(clauses))
    assert SpecifierSet(simplify(specifiers)).contains(version) == specifiers.contains(version)
