"""With real TensorFlow, the oldest and the newest of the catalogue: equal draws, while the seed is on."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

import pytest

import tfenv
from tests.seeding.conftest import Environment, interpreters, make_environment
from tfenv.seeding.install import seed_off, seed_on
from tfenv.seeding.show import show

pytestmark = pytest.mark.tf

BUILT = {"tf-2.15.1": ("3.11", "tensorflow-cpu==2.15.1"), "tf-2.21.0": ("3.13", "tensorflow-cpu==2.21.0")}
GIVEN = [Path(path) for path in os.environ.get("TFENV_TEST_TF_PYTHONS", "").split(os.pathsep) if path]
CASES = [pytest.param(path, id=path.parts[-3]) for path in GIVEN] or [
    pytest.param(name, id=name) for name in BUILT
]

DRAWS = """
import json, random
found = {"random": [random.random() for _ in range(2)]}
import numpy as np
found["numpy"] = np.random.rand(2).tolist()
import tensorflow as tf
found["tensorflow"] = tf.random.normal([2]).numpy().tolist()
import keras
found["tensorflow, later"] = tf.random.normal([2]).numpy().tolist()
found["initializer"] = np.array(keras.initializers.GlorotUniform()((2, 2))).ravel().tolist()
x, y = np.random.rand(32, 4).astype("float32"), np.random.rand(32, 1).astype("float32")
model = keras.Sequential([keras.layers.Dense(4), keras.layers.Dropout(0.5), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x, y, epochs=2, batch_size=4, verbose=0)
found["trained"] = [float(w.sum()) for w in model.get_weights()]
found["dropout"] = np.array(keras.layers.Dropout(0.5)(np.ones((1, 64)), training=True)).sum(axis=0).tolist()
found["numpy, later"] = np.random.rand(2).tolist()
print(json.dumps(found))
"""
OWN_SEEDS = """
import json, random
import numpy as np
random.seed(5); np.random.seed(5)
import tensorflow as tf
tf.random.set_seed(5)
a = [random.random(), float(np.random.rand()), tf.random.normal([2]).numpy().tolist()]
import keras
tf.keras.layers.Dense
b = [random.random(), float(np.random.rand()), tf.random.normal([2]).numpy().tolist()]
print(json.dumps([a, b]))
"""
THE_API = (
    "import tfenv; report = tfenv.seed_everything(7, deterministic=True)\n"
    + DRAWS.replace("print(json.dumps(found))", "")
    + """
from tensorflow.python.framework import config
found["determinism"] = config.is_op_determinism_enabled()
def anew():
    report = tfenv.seed_everything(7)
    return [report.determinism, list(report.seeded), random.random(), float(np.random.rand()),
        tf.random.normal([2]).numpy().tolist(),
        np.array(keras.initializers.GlorotUniform()((2, 2))).ravel().tolist()]
found["again"], found["third"] = anew(), anew()
print(json.dumps(found))
"""
)
REPOSITORY = str(Path(tfenv.__file__).parents[1])


@pytest.fixture(scope="module", params=CASES)
def stack(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Environment]:
    if isinstance(request.param, Path):
        code = "import sysconfig; print(sysconfig.get_path('purelib'))"
        site = subprocess.run([request.param, "-c", code], check=True, capture_output=True, text=True).stdout
        made = Environment(request.param, Path(site.strip()))
    else:
        version, requirement = BUILT[request.param]
        uv, python = shutil.which("uv"), interpreters().get(version)
        if uv is None or python is None:
            pytest.skip(f"needs uv and Python {version}")
        made = make_environment(python, tmp_path_factory.mktemp("tf") / "venv")
        subprocess.run([uv, "pip", "install", "--quiet", "--python", made.python, requirement], check=True)
    yield made
    seed_off(made.site)


def draws(stack: Environment, code: str = DRAWS, **env: str) -> Mapping[str, object]:
    done = stack.run(code, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="", **env)
    assert done.returncode == 0, done.stderr
    return cast("Mapping[str, object]", json.loads(done.stdout.strip().splitlines()[-1]))


def test_fresh_interpreters_draw_the_same_while_the_seed_is_on(stack: Environment) -> None:
    seed_on(stack.site, 42)
    first = draws(stack)
    assert draws(stack) == first
    assert first["tensorflow"] != first["tensorflow, later"]
    other = draws(stack, TFENV_SEED="43")
    assert [name for name in first if first[name] == other[name]] == []
    seed_off(stack.site)
    free = [draws(stack), draws(stack)]
    assert [name for name in first if free[0][name] in (free[1][name], first[name])] == []


def test_seeds_of_the_program_are_kept(stack: Environment) -> None:
    seed_on(stack.site, 42)
    with_hook = draws(stack, OWN_SEEDS)
    assert with_hook == draws(stack, OWN_SEEDS, TFENV_SEED="off")


def test_seed_everything_speaks_for_the_process(stack: Environment) -> None:
    seed_on(stack.site, 42)
    first = draws(stack, THE_API, PYTHONPATH=REPOSITORY)
    assert first == draws(stack, THE_API, PYTHONPATH=REPOSITORY, TFENV_SEED="off")
    assert first["determinism"] is True
    assert first["again"] == first["third"]
    assert first["again"][:2] == ["on", ["random", "NumPy", "TensorFlow", "Keras"]]  # type: ignore[index]
    hooked = draws(stack, TFENV_SEED="7")
    assert {name: first[name] for name in hooked if name != "trained"} == {
        name: value for name, value in hooked.items() if name != "trained"
    }


def test_show_sees_determinism_on(stack: Environment) -> None:
    seed_on(stack.site, 42, deterministic=True)
    shown = show(stack.python, stack.site, imports=("tensorflow", "keras", "numpy.random"), limit_s=300)
    assert shown.problem == ""
    assert shown.observed is not None
    assert shown.observed.determinism_on
    assert sorted(shown.observed.seeded) == ["keras", "numpy.random", "random", "tensorflow"]
    assert shown.observed.problems == ()
