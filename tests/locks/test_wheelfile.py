"""A wheel is judged by its content, read in pieces."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

import pytest

from tfenv.errors import TfenvError
from tfenv.locks.wheelfile import WheelFacts, read_wheel

_META = """\
Metadata-Version: 2.1
Name: x
Version: 1
Requires-Dist: numpy>=1.26
Requires-Dist: six ; extra == 'a'
"""


class Server:
    """Serves one file by ranges, and remembers how much was asked for."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.asked: list[tuple[int, int]] = []

    def __call__(self, start: int, end: int) -> bytes:
        assert 0 <= start < end <= len(self.data)
        self.asked.append((start, end))
        return self.data[start:end]


def wheel(members: Mapping[str, int], metadata: str = _META, *, stored_first: int = 0) -> bytes:
    """A wheel whose members have the given sizes; the metadata lies before ``stored_first`` stored bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x-1.dist-info/METADATA", metadata)
        if stored_first:
            archive.writestr(zipfile.ZipInfo("x/weights.bin"), bytes(stored_first))
        for name, size in members.items():
            archive.writestr(name, bytes(size))
    return buffer.getvalue()


def facts_of(data: bytes) -> WheelFacts:
    return read_wheel(Server(data), len(data), "x-1-py3-none-any.whl")


REAL = {"tensorflow/__init__.py": 10, "tensorflow/python/_pywrap_tensorflow_internal.so": 60_000_000}


@pytest.mark.parametrize(
    ("members", "folders", "holds"),
    [
        pytest.param(REAL, ("tensorflow",), True, id="the-code"),
        pytest.param(
            {f"x-1.data/purelib/{name}": size for name, size in REAL.items()},
            ("tensorflow",), True, id="purelib",
        ),
        pytest.param(
            {"tensorflow/__init__.py": 1, "tensorflow/libtensorflow_cc.so.2": 60_000_000},
            ("tensorflow",), True, id="versioned-library",
        ),
        pytest.param(
            {"tensorflow/__init__.py": 1, "tensorflow/python/_pywrap_tensorflow_internal.pyd": 60_000_000},
            ("tensorflow",), True, id="windows",
        ),
        pytest.param({}, (), False, id="stub-without-files"),
        pytest.param({"tensorflow/__init__.py": 500}, ("tensorflow",), False, id="stub-with-a-module"),
        pytest.param({"tensorflow/x.so": 60_000_000}, ("tensorflow",), False, id="no-package"),
        pytest.param(
            {"tensorflow/__init__.py": 1, "tensorflow/data.bin": 60_000_000},
            ("tensorflow",), False, id="no-code",
        ),
        pytest.param(
            {"tensorflow-plugins/libmetal_plugin.dylib": 60_000_000},
            ("tensorflow-plugins",), False, id="metal",
        ),
        pytest.param(
            {"x-1.data/scripts/tensorflow": 5, "x-1.data/headers/a.h": 5}, (), False, id="scripts-and-headers"
        ),
    ],
)  # fmt: skip
def test_the_wheel_that_holds_tensorflow_is_known_by_its_content(
    members: dict[str, int], folders: tuple[str, ...], holds: bool
) -> None:
    facts = facts_of(wheel(members))
    assert facts.holds_tensorflow is holds
    assert (facts.folders, facts.requires) == (folders, ("numpy>=1.26", "six ; extra == 'a'"))


def test_of_a_large_wheel_little_more_than_its_ends_is_read() -> None:
    data = wheel({}, stored_first=3_000_000)
    server = Server(data)
    facts = read_wheel(server, len(data), "x-1-py3-none-any.whl")
    assert facts == WheelFacts(requires=("numpy>=1.26", "six ; extra == 'a'"), folders=("x",))
    assert sum(end - start for start, end in server.asked) < 400_000
    assert len(server.asked) == 2


def test_a_directory_larger_than_the_tail_is_read_whole() -> None:
    names = {f"x/{'long' * 20}{number}.py": 0 for number in range(4000)}
    assert facts_of(wheel(names)).folders == ("x",)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"not a zip at all", id="no-zip"),
        pytest.param(wheel({})[:-30], id="cut"),
        pytest.param(wheel({}).replace(b"dist-info", b"dist-xxxx"), id="no-metadata"),
    ],
)
def test_what_is_no_wheel_is_refused(data: bytes) -> None:
    with pytest.raises(TfenvError, match="on the index is no wheel") as caught:
        facts_of(data)
    assert caught.value.code == "bad-wheel"
