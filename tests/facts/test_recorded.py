"""Facts files and package lists from elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tfenv.errors import UsageError
from tfenv.facts.model import Distribution, Facts
from tfenv.facts.recorded import load_facts, recorded_from_freeze
from tfenv.result import Result

MACHINES = Path(__file__).parent.parent / "machines"
ONE = MACHINES / "linux-cpu-py311.json"


def entry(name: str, version: str, installer: str | None = None) -> Distribution:
    return Distribution(name=name, version=version, location="", installer=installer)


@pytest.fixture
def facts() -> Facts:
    return load_facts(ONE)


def test_the_document_of_a_command_is_read_like_its_data(tmp_path: Path, facts: Facts) -> None:
    result = Result(command="facts", status="ok", exit_code=0, data=facts)
    (tmp_path / "f.json").write_text(json.dumps(result.as_json()))
    assert load_facts(tmp_path / "f.json") == facts


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_what_shells_make_of_a_redirected_file(tmp_path: Path, facts: Facts, encoding: str) -> None:
    (tmp_path / "f.json").write_bytes(ONE.read_text(encoding="utf-8").encode(encoding))
    assert load_facts(tmp_path / "f.json") == facts


def refused(path: Path) -> str:
    with pytest.raises(UsageError) as caught:
        load_facts(path)
    assert (caught.value.code, caught.value.exit_code) == ("bad-facts", 2)
    assert caught.value.hint != ""
    return caught.value.message.replace(str(path), "FILE")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param("", "FILE: not JSON: Expecting value: line 1 column 1 (char 0)", id="empty"),
        pytest.param("{", "FILE: not JSON: Expecting property name enclosed in double quotes", id="cut-off"),
        pytest.param("[" * 100_000, "FILE: not JSON: nested too deeply", id="nested"),
        pytest.param("[]", "FILE: not a facts file: $: expected an object, got list", id="list"),
        pytest.param("{}", "FILE: not a facts file: $.python: missing", id="nothing"),
        pytest.param(
            '{"tfenv_result_version": 1}', "FILE: not a facts file: $: expected an object", id="no-data"
        ),
        pytest.param(
            '{"tfenv_facts_version": 2}',
            "FILE: facts of version 2; this tfenv reads up to version 1",
            id="newer",
        ),
        pytest.param(
            '{"python": {"executable": {"value": 3, "source": "s"}}}',
            "FILE: not a facts file: $.python.executable.value: expected str, got int",
            id="wrong-type",
        ),
    ],
)
def test_nonsense_is_refused_in_one_line(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "f.json"
    path.write_text(content)
    assert refused(path).startswith(message)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    assert refused(tmp_path / "none.json") == "FILE: no such file"
    assert refused(tmp_path) == "FILE: a folder"
    (tmp_path / "binary").write_bytes(b"\xff\xfe\xfd\x00\x01")
    assert refused(tmp_path / "binary").startswith("FILE: not JSON: ")


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.json"
    with path.open("wb") as stream:
        stream.truncate(30_000_000)
    assert refused(path) == "FILE: larger than 20 MB, so it is not a facts file"


PIP_FREEZE = """\
# comment
absl-py==2.1.0
ml_dtypes==0.5.1
torch @ https://index.example/torch-2.11.0%2Bcpu-cp313-cp313-manylinux_2_28_x86_64.whl
google-colab @ file:///colabtools/dist/google_colab-1.0.0.tar.gz#sha256=abc
jupyter_kernel_gateway @ git+https://github.com/googlecolab/kernel_gateway@b134e99
-e git+https://github.com/me/proj@abc#egg=proj
odd===2004d
tensorflow==2.15.0 ; python_version < "3.12"
"""
PIP_LIST = """\
Package    Version    Editable project location
---------- ---------- -------------------------
absl-py    2.1.0
proj       0.1        /src/proj
tensorflow 2.15.0
"""
CONDA_LIST = """\
# packages in environment at /opt/conda:
#
# Name                    Version                   Build  Channel
_libgcc_mutex             0.1                        main
numpy                     1.26.4          py311h64a7726_0    conda-forge
tensorflow                2.15.0                   pypi_0    pypi
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            PIP_FREEZE,
            (
                entry("absl-py", "2.1.0"),
                entry("google-colab", "1.0.0"),
                entry("jupyter-kernel-gateway", ""),
                entry("ml-dtypes", "0.5.1"),
                entry("odd", "2004d"),
                entry("proj", ""),
                entry("tensorflow", "2.15.0"),
                entry("torch", "2.11.0+cpu"),
            ),
            id="pip-freeze",
        ),
        pytest.param(
            PIP_LIST,
            (entry("absl-py", "2.1.0"), entry("proj", "0.1"), entry("tensorflow", "2.15.0")),
            id="pip-list",
        ),
        pytest.param(
            CONDA_LIST,
            (
                entry("-libgcc-mutex", "0.1", "conda"),
                entry("numpy", "1.26.4", "conda"),
                entry("tensorflow", "2.15.0"),
            ),
            id="conda-list",
        ),
        pytest.param(
            '[{"name": "six", "version": "1.17.0"}, 3, {"name": "a", "version": "1", "channel": "main"}]',
            (entry("a", "1", "conda"), entry("six", "1.17.0")),
            id="json",
        ),
        pytest.param("[not json", (), id="no-json"),
        pytest.param(
            "$ pip freeze\r\nsix==1.17.0\r\n$\r\n", (entry("six", "1.17.0"),), id="pasted-with-prompt"
        ),
        pytest.param("", (), id="empty"),
    ],
)
def test_package_lists(text: str, expected: tuple[Distribution, ...]) -> None:
    assert recorded_from_freeze(text) == expected
