"""``tfenv.seed_everything`` in a user's process, with stand-ins that record how they were seeded."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

import tfenv
from tests.seeding.conftest import QUIET
from tfenv.errors import UsageError
from tfenv.seeding.api import seed_everything

REPOSITORY = Path(tfenv.__file__).parents[1]
LIBRARIES = {
    "numpy/__init__.py": "",
    "numpy/random.py": "seeds = []\nseed = seeds.append\n",
    "tensorflow/__init__.py": (
        "import tensorflow.python.framework.config as _config\n"
        "class random:\n seeds = []\n set_seed = seeds.append\n"
        "class config:\n class experimental:\n"
        "  @staticmethod\n  def enable_op_determinism(): _config.on = _config.can\n"
    ),
    "tensorflow/python/framework/config.py": (
        "import os\ncan, on = os.environ['CAN'] == '1', False\ndef is_op_determinism_enabled(): return on\n"
    ),
    "keras/__init__.py": "import keras.src.backend.common.global_state\n",
    "keras/src/backend/common/global_state.py": "seen = {}\nset_global_attribute = seen.__setitem__\n",
    "tf_keras/__init__.py": "import tf_keras.src.backend\n",
    "tf_keras/src/backend.py": "class _SEED_GENERATOR: generator = None\n",
}
STAYED_OFF = "tensorflow: RuntimeError: op determinism was switched on, but TensorFlow reports that it is off"
START = "import json, sys, warnings, random\nimport tfenv\nfrom tfenv.codec import encode\n"


@pytest.fixture
def libraries(tmp_path: Path) -> Path:
    for name, text in LIBRARIES.items():
        path = tmp_path / "libraries" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "libraries"


def answer(libraries: Path, code: str, *flags: str, can: str = "1", **variables: str) -> object:
    env = {name: value for name, value in os.environ.items() if name not in QUIET}
    path = os.pathsep.join([str(libraries), str(REPOSITORY)])
    done = subprocess.run(
        [sys.executable, *flags, "-c", START + code],
        env={**env, "PYTHONPATH": path, "CAN": can, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def test_import_of_tfenv_stays_cheap(libraries: Path) -> None:
    code = (
        "before = 'tfenv.seeding.api' in sys.modules; tfenv.seed_everything;"
        "print(json.dumps([before, hasattr(tfenv, 'nothing'),"
        "sorted({'numpy', 'tensorflow', 'keras', 'typer', 'rich'} & set(sys.modules))]))"
    )
    assert answer(libraries, code) == [False, False, []]


def test_before_anything_is_imported(libraries: Path) -> None:
    code = """
report = tfenv.seed_everything(7)
loaded = sorted({"numpy", "tensorflow", "keras"} & set(sys.modules))
drawn = random.random()
import numpy.random, tensorflow, keras, tf_keras
print(json.dumps([encode(report), loaded, drawn, numpy.random.seeds, tensorflow.random.seeds,
    keras.src.backend.common.global_state.seen, tf_keras.src.backend._SEED_GENERATOR.generator.random(),
    tensorflow._config.on]))
"""
    assert answer(libraries, code, PYTHONHASHSEED="3") == [
        {
            "seed": 7,
            "seeded": ["random"],
            "armed": ["NumPy", "TensorFlow", "Keras", "Keras 2 (tf_keras)"],
            "determinism": "off",
            "hash_seed": 3,
        },
        [],
        random.Random(7).random(),
        [7],
        [7],
        {"global_random_seed": 7, "global_seed_generator": None},
        random.Random(7).random(),
        False,
    ]


def test_after_the_imports_and_once_more(libraries: Path) -> None:
    code = """
import numpy.random, tensorflow
first = tfenv.seed_everything(7, deterministic=True)
second = tfenv.seed_everything(8)
import keras
print(json.dumps([encode(first), encode(second), random.random(), numpy.random.seeds, tensorflow.random.seeds,
    keras.src.backend.common.global_state.seen["global_random_seed"],
    sum(type(f).__name__ == "Hook" for f in sys.meta_path)]))
"""
    report = {
        "seed": 7,
        "seeded": ["random", "NumPy", "TensorFlow"],
        "armed": ["Keras", "Keras 2 (tf_keras)"],
        "determinism": "on",
        "hash_seed": None,
    }
    assert answer(libraries, code) == [
        report,
        {**report, "seed": 8},
        random.Random(8).random(),
        [7, 8],
        [7, 8],
        8,
        1,
    ]


def test_determinism_waits_for_tensorflow(libraries: Path) -> None:
    code = """
report = tfenv.seed_everything(7, deterministic=True)
import tensorflow
print(json.dumps([report.determinism, tensorflow._config.on]))
"""
    assert answer(libraries, code) == ["armed", True]


def test_determinism_that_stays_off_is_an_error(libraries: Path) -> None:
    code = """
import tensorflow
from tfenv.errors import TfenvError
try: tfenv.seed_everything(7, deterministic=True)
except TfenvError as error: print(json.dumps([error.code, error.message, error.hint, error.exit_code]))
"""
    assert answer(libraries, code, can="0") == [
        "seed-incomplete",
        f"Not everything could be seeded: {STAYED_OFF}",
        "Check what is installed: tfenv doctor",
        1,
    ]


def test_later_failure_is_a_warning(libraries: Path) -> None:
    code = """
tfenv.seed_everything(7, deterministic=True)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import tensorflow
print(json.dumps([[w.category.__name__, str(w.message)] for w in caught] + [tensorflow.random.seeds]))
"""
    assert answer(libraries, code, can="0") == [
        [
            "RuntimeWarning",
            f"tfenv could not seed everything: {STAYED_OFF}",
        ],
        [7],
    ]


@pytest.mark.parametrize("seed", [-1, 2**32, True, 1.5, "1", None], ids=repr)
def test_bad_seed_changes_nothing(seed: object) -> None:
    before = random.getstate()
    with pytest.raises(UsageError) as caught:
        seed_everything(seed)  # type: ignore[arg-type]
    assert caught.value.code == "bad-seed"
    assert random.getstate() == before
