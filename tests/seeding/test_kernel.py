"""Real Jupyter kernels, today's and Colab's: the first cell starts from the seed, whatever came before."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.seeding.conftest import Environment, interpreters, make_environment
from tfenv.seeding.install import seed_off, seed_on

pytestmark = pytest.mark.network

STACKS = {
    "today": ("3.13", ["ipykernel==7.4.0", "ipython==9.18.1", "jupyter-client", "numpy"]),
    "colab": (
        "3.12",
        ["ipykernel==6.17.1", "ipython==7.34.0", "jupyter-client==7.4.9", "setuptools<80", "numpy"],
    ),
}
SESSION = """
import json, sys
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import KernelManager
manager = KernelManager()
command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
manager._kernel_spec = KernelSpec(argv=command, language="python", display_name="")
manager.start_kernel()
client = manager.client()
client.start_channels()
client.wait_for_ready(timeout=120)
said = []
def listen(message):
    if message["msg_type"] in ("stream", "error"):
        said.append(message["content"].get("text") or message["content"]["evalue"])
for cell in json.loads(sys.argv[1]):
    for _ in range(2):  # a page that connects
        client.kernel_info(reply=True, timeout=60)
    client.execute_interactive(cell, output_hook=listen, timeout=120, silent=cell.startswith("# silent"))
client.stop_channels()
manager.shutdown_kernel(now=True)
print("said: " + json.dumps("".join(said).split()))
"""
DRAW = "import random; print(random.random())"


@pytest.fixture(scope="module", params=STACKS)
def jupyter(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    version, requirements = STACKS[request.param]
    uv, python = shutil.which("uv"), interpreters().get(version)
    if uv is None or python is None:
        pytest.skip(f"needs uv and Python {version}")
    made = make_environment(python, tmp_path_factory.mktemp("kernel") / "venv")
    subprocess.run([uv, "pip", "install", "--quiet", "--python", made.python, *requirements], check=True)
    return made


def session(jupyter: Environment, home: Path, *cells: str) -> Sequence[str]:
    """What the cells print in a fresh kernel."""
    code = f"import sys; sys.argv[1:] = [{json.dumps(json.dumps(cells))}]\n{SESSION}"
    done = jupyter.run(code, HOME=str(home), IPYTHONDIR=str(home / "ipython"))
    lines = [line for line in done.stdout.splitlines() if line.startswith("said: ")]
    assert lines, done.stderr
    return [str(word) for word in json.loads(lines[0][6:])]


def test_kernels_draw_the_same_while_the_seed_is_on(jupyter: Environment, tmp_path: Path) -> None:
    cells = (DRAW, DRAW, "import numpy as np; print(np.random.rand())")
    seed_on(jupyter.site, 42)
    first = session(jupyter, tmp_path, *cells)
    expected = random.Random(42)
    assert first[:2] == [str(expected.random()), str(expected.random())]
    assert session(jupyter, tmp_path, *cells) == first
    seed_off(jupyter.site)
    assert len({*first, *session(jupyter, tmp_path, *cells), *session(jupyter, tmp_path, *cells)}) == 9


def test_silent_cells_and_startup_lines_come_before_the_first_cell(
    jupyter: Environment, tmp_path: Path
) -> None:
    profile = tmp_path / "ipython" / "profile_default"
    (profile / "startup").mkdir(parents=True)
    (profile / "ipython_config.py").write_text(
        "c.InteractiveShellApp.exec_lines = ['import random; random.random()']\n"
    )
    (profile / "startup" / "draw.py").write_text("import random; random.seed(5)\n")
    seed_on(jupyter.site, 42)
    silent = "# silent\nimport random; random.random()"
    assert session(jupyter, tmp_path, silent, DRAW, "random.seed(9)", DRAW) == [
        str(random.Random(42).random()),
        str(random.Random(9).random()),
    ]
    seed_off(jupyter.site)


def test_ipython_in_a_terminal(jupyter: Environment, tmp_path: Path) -> None:
    seed_on(jupyter.site, 42)
    done = subprocess.run(
        [jupyter.python, "-m", "IPython", "--simple-prompt", "--no-confirm-exit"],
        input=f"{DRAW}\n",
        capture_output=True,
        text=True,
        env={"IPYTHONDIR": str(tmp_path), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        check=True,
    )
    assert str(random.Random(42).random()) in done.stdout
    seed_off(jupyter.site)
