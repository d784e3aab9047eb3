"""The resolver's answer is read strictly."""

from __future__ import annotations

import pytest

from tfenv.errors import TfenvError
from tfenv.locks.accepts import marker_environment
from tfenv.locks.pylock import RemoteWheel, Resolved, parse_pylock

ENVIRONMENT = marker_environment("linux-x86_64-cpu", "3.11")
URL = "https://index.example/packages/h5py-3.14.0-cp311-cp311-manylinux_2_17_x86_64%2Blocal.whl"

TEXT = f"""\
lock-version = "1.0"
created-by = "uv"
requires-python = ">=3.11"

[[packages]]
name = "Six"
version = "1.17.0"
wheels = [{{ url = "{URL}", name = "six-1.17.0-py2.py3-none-any.whl", size = 11050, hashes = {{ sha256 = "{"a" * 64}" }} }}]

[[packages]]
name = "h5py"
version = "3.14.0"
marker = "python_full_version < '3.12'"
wheels = [{{ url = "{URL}", upload-time = 2025-06-06T14:05:43Z, size = 4516618, hashes = {{ sha256 = "{"b" * 64}" }} }}]

[[packages]]
name = "tomli"
version = "2.0.0"
marker = "python_full_version < '3.11'"
wheels = [{{ url = "{URL}", size = 1, hashes = {{ sha256 = "{"c" * 64}" }} }}]
"""  # noqa: E501


def test_the_distributions_of_this_environment_are_read_in_order_of_name() -> None:
    assert parse_pylock(TEXT, ENVIRONMENT) == (
        Resolved(
            name="h5py",
            version="3.14.0",
            wheels=(
                RemoteWheel(
                    filename="h5py-3.14.0-cp311-cp311-manylinux_2_17_x86_64+local.whl",
                    url=URL,
                    size=4516618,
                    sha256="b" * 64,
                ),
            ),
        ),
        Resolved(
            name="six",
            version="1.17.0",
            wheels=(
                RemoteWheel(filename="six-1.17.0-py2.py3-none-any.whl", url=URL, size=11050, sha256="a" * 64),
            ),
        ),
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        pytest.param("lock-version", "]", "uv's answer is of no use here: ", id="not-toml"),
        pytest.param('"1.0"', '"2.0"', "its format is '2.0', not '1.0'", id="format"),
        pytest.param("[[packages]]", "[[package]]", "it has no packages", id="no-packages"),
        pytest.param("packages]]\nname", "packages]]\nnames", "a package lacks name", id="no-name"),
        pytest.param("a" * 64, "A" * 64, "a wheel of six has no sha256", id="hash"),
        pytest.param("sha256", "md5", "a wheel of six has no sha256", id="other-hash"),
        pytest.param("size = 11050", 'size = "x"', "a wheel of six has no size", id="size"),
        pytest.param("wheels", "sdists", "six has no wheels", id="no-wheels"),
        pytest.param('"h5py"', '"six"', "it has a distribution twice", id="twice"),
        pytest.param("python_full_version < '3.12'", "nonsense", "nonsense", id="marker"),
    ],
)
def test_anything_else_is_refused(old: str, new: str, message: str) -> None:
    count = -1 if old == "[[packages]]" else 1
    with pytest.raises(TfenvError) as caught:
        parse_pylock(TEXT.replace(old, new, count), ENVIRONMENT)
    assert caught.value.code == "bad-resolution"
    assert message in caught.value.message
