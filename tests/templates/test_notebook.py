"""The notebook is one that Jupyter and Colab open, and its cells do what they say."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from support.shelf import Shelf

from tfenv.paths import templates_dir

NOTEBOOK = json.loads((templates_dir() / "colab.ipynb").read_text(encoding="utf-8"))
CODE = ["".join(cell["source"]) for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]


def test_it_follows_the_schema_of_notebook_format_4_5() -> None:
    """Read from the schema that nbformat ships: required keys, no others, unique ids, lists of lines."""
    assert set(NOTEBOOK) == {"cells", "metadata", "nbformat", "nbformat_minor"}
    assert (NOTEBOOK["nbformat"], NOTEBOOK["nbformat_minor"]) == (4, 5)
    assert NOTEBOOK["metadata"]["kernelspec"].keys() >= {"name", "display_name"}
    assert NOTEBOOK["metadata"]["language_info"].keys() >= {"name"}
    common = {"cell_type", "id", "metadata", "source"}
    keys = {"markdown": common, "code": common | {"execution_count", "outputs"}}
    for cell in NOTEBOOK["cells"]:
        assert set(cell) == keys[cell["cell_type"]]
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", cell["id"])
        assert all(line.endswith("\n") for line in cell["source"][:-1])
        assert not cell["source"][-1].endswith("\n")
    assert len({cell["id"] for cell in NOTEBOOK["cells"]}) == len(NOTEBOOK["cells"])


def test_it_carries_no_output() -> None:
    ran = [cell for cell in NOTEBOOK["cells"] if cell.get("outputs") or cell.get("execution_count")]
    assert ran == []


def test_the_first_cell_installs_and_bootstraps() -> None:
    assert CODE[0] == "!pip install -q tfenv\n!tfenv bootstrap"


def test_the_first_cell_plans_for_the_python_of_the_kernel(tmp_path: Path) -> None:
    """A child of `!` has no active environment, so tfenv acts on the Python that runs it: the kernel's."""
    shelf = Shelf(tmp_path)
    lock = shelf.add_lock("2.99.0")
    _, line = CODE[0].splitlines()
    ran = shelf.tfenv(*line.split()[1:], "--dry-run", "--json", JPY_PARENT_PID="1")
    assert (ran.code, ran.err) == (3, "")
    data = ran.document["data"]
    assert isinstance(data, dict)
    assert (data["environment"], data["lock"]["id"], data["seed"]) == (sys.prefix, lock.id, 42)


@pytest.mark.parametrize("code", CODE[1:], ids=lambda code: code.splitlines()[0])
def test_the_other_cells_are_python(code: str) -> None:
    compile(code, "cell", "exec")


@pytest.mark.parametrize("status", [1, 4, 5, 6, 7])
def test_the_second_cell_stops_a_run_whose_stack_is_not_proven(status: int) -> None:
    exec(CODE[1], {"_exit_code": 0})
    with pytest.raises(AssertionError, match="this stack is not proven"):
        exec(CODE[1], {"_exit_code": status})
