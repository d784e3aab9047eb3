"""Which wheels are of use on which target."""

from __future__ import annotations

import pytest

from tfenv.locks.wheeltags import platform_floor, usable

CASES = [
    # filename, target, python, expected
    (
        "h5py-3.14.0-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
        "linux-x86_64-cpu",
        "3.11",
        True,
    ),
    (
        "h5py-3.14.0-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
        "linux-x86_64-cuda",
        "3.11",
        True,
    ),
    (
        "h5py-3.14.0-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
        "linux-x86_64-cpu",
        "3.12",
        False,
    ),
    (
        "h5py-3.14.0-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
        "linux-aarch64-cpu",
        "3.11",
        False,
    ),
    ("h5py-3.14.0-cp311-cp311-manylinux_2_28_aarch64.whl", "linux-aarch64-cpu", "3.11", True),
    ("numpy-9.0.0-cp313-cp313-manylinux_2_34_x86_64.whl", "linux-x86_64-cpu", "3.13", False),
    ("numpy-2.1.3-cp311-cp311-musllinux_1_2_x86_64.whl", "linux-x86_64-cpu", "3.11", False),
    ("numpy-2.1.3-cp313-cp313t-manylinux_2_17_x86_64.whl", "linux-x86_64-cpu", "3.13", False),
    ("protobuf-5.29.5-cp38-abi3-manylinux2014_x86_64.whl", "linux-x86_64-cpu", "3.9", True),
    ("protobuf-7.34.0-cp310-abi3-manylinux2014_x86_64.whl", "linux-x86_64-cpu", "3.9", False),
    ("libclang-18.1.1-py2.py3-none-manylinux2010_x86_64.whl", "linux-x86_64-cpu", "3.11", True),
    ("libclang-18.1.1-1-py2.py3-none-macosx_11_0_arm64.whl", "macos-arm64-metal", "3.11", True),
    ("numpy-2.1.3-cp311-cp311-macosx_14_0_arm64.whl", "macos-arm64-cpu", "3.11", False),
    ("numpy-2.1.3-cp311-cp311-macosx_11_0_arm64.whl", "macos-arm64-cpu", "3.11", True),
    ("ml_dtypes-0.5.4-cp312-cp312-macosx_10_13_universal2.whl", "macos-arm64-cpu", "3.12", True),
    ("ml_dtypes-0.5.4-cp312-cp312-macosx_10_13_universal2.whl", "macos-x86_64-cpu", "3.12", True),
    ("tensorflow-2.16.2-cp311-cp311-macosx_10_15_x86_64.whl", "macos-x86_64-cpu", "3.11", True),
    ("tensorflow-2.16.2-cp311-cp311-macosx_10_15_x86_64.whl", "macos-arm64-cpu", "3.11", False),
    ("tensorflow_intel-2.17.1-cp311-cp311-win_amd64.whl", "windows-x86_64-cpu", "3.11", True),
    ("numpy-2.1.3-cp311-cp311-win32.whl", "windows-x86_64-cpu", "3.11", False),
    ("six-1.17.0-py2.py3-none-any.whl", "windows-x86_64-cpu", "3.13", True),
    ("six-1.17.0.tar.gz", "linux-x86_64-cpu", "3.11", False),
    ("not-a-wheel.whl", "linux-x86_64-cpu", "3.11", False),
]


@pytest.mark.parametrize(
    ("filename", "target", "python", "expected"),
    [pytest.param(*case, id=f"{case[1]}-{case[2]}-{case[0][:-4].partition('-')[2]}") for case in CASES],
)
def test_a_wheel_is_kept_where_it_installs(filename: str, target: str, python: str, expected: bool) -> None:
    assert bool(usable(filename, target, python)) is expected


@pytest.mark.parametrize(
    ("filenames", "target", "family", "floor"),
    [
        pytest.param(
            [
                "pillow-12.0.0-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.whl",
                "pillow-12.0.0-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl",
            ],
            "linux-x86_64-cpu", "manylinux", (2, 17), id="the-lower-wheel-serves",
        ),
        pytest.param(
            ["numpy-2.4.6-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"],
            "linux-x86_64-cpu", "manylinux", (2, 27), id="the-lower-tag-serves",
        ),
        pytest.param(
            ["wrapt-2.0.0-cp313-cp313-manylinux1_x86_64.manylinux_2_28_x86_64.manylinux_2_5_x86_64.whl"],
            "linux-x86_64-cpu", "manylinux", (2, 5), id="legacy-tag",
        ),
        pytest.param(
            [
                "tensorboard_data_server-0.7.2-py3-none-any.whl",
                "tensorboard_data_server-0.7.2-py3-none-manylinux_2_31_x86_64.whl",
            ],
            "linux-x86_64-cpu", "manylinux", (0, 0), id="a-pure-wheel-asks-nothing",
        ),
        pytest.param(
            ["tensorflow-2.20.0-cp313-cp313-macosx_12_0_arm64.whl"],
            "macos-arm64-cpu", "macosx", (12, 0), id="macos",
        ),
        pytest.param(
            ["numpy-2.4.6-cp313-cp313-win_amd64.whl"], "windows-x86_64-cpu", "manylinux", (0, 0), id="windows"
        ),
    ],
)  # fmt: skip
def test_the_floor_is_the_lowest_system_on_which_one_of_the_wheels_installs(
    filenames: list[str], target: str, family: str, floor: tuple[int, int]
) -> None:
    assert platform_floor([usable(name, target, "3.13") for name in filenames], family) == floor
