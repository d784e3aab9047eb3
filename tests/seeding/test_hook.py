"""The hook in every CPython: it seeds what is imported, changes nothing else and can break nothing."""

from __future__ import annotations

import random
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.seeding.conftest import Environment
from tfenv.seeding.install import FILES, seed_off, seed_on

DRAW = "import random, json; print(json.dumps(random.random()))"
SEEDED = random.Random(42).random()


@pytest.fixture
def hooked(bare: Environment) -> Iterator[Environment]:
    """The environment with seed 42; whatever a test puts beside the hook is gone afterwards."""
    before = set(bare.site.iterdir())
    seed_on(bare.site, 42)
    yield bare
    for path in set(bare.site.iterdir()) - before:
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def test_random_is_seeded_until_the_hook_goes(hooked: Environment) -> None:
    assert [hooked.answer(DRAW) for _ in range(2)] == [SEEDED, SEEDED]
    seed_on(hooked.site, 43)
    assert hooked.answer(DRAW) == random.Random(43).random()
    seed_off(hooked.site)
    draws = {hooked.answer(DRAW) for _ in range(2)}
    assert len(draws | {SEEDED}) == 3


@pytest.mark.parametrize(
    ("flags", "seeded"),
    [
        pytest.param(("-I",), True, id="isolated"),
        pytest.param(("-E",), True, id="no-environment"),
        pytest.param(("-s",), True, id="no-user-site"),
        pytest.param(("-W", "error", "-X", "dev"), True, id="warnings-are-errors"),
        pytest.param(("-OO",), True, id="optimised"),
        pytest.param(("-S",), False, id="no-site"),
    ],
)
def test_interpreter_flags(hooked: Environment, flags: tuple[str, ...], seeded: bool) -> None:
    draws = {hooked.answer(DRAW, *flags) for _ in range(2)}
    assert (draws == {SEEDED}) is seeded
    assert len(draws) == (1 if seeded else 2)


@pytest.mark.parametrize(
    ("value", "seed"),
    [
        pytest.param("7", 7, id="number"),
        pytest.param("0", 0, id="zero"),
        pytest.param("4294967295", 2**32 - 1, id="largest"),
        pytest.param("4294967296", 42, id="too-large"),
        pytest.param("9" * 5000, 42, id="absurd"),
        pytest.param("-1", 42, id="negative"),
        pytest.param("²", 42, id="superscript"),
        pytest.param("seven", 42, id="word"),
        pytest.param("", 42, id="empty"),
    ],
)
def test_variable_overrides_the_number(hooked: Environment, value: str, seed: int) -> None:
    assert hooked.answer(DRAW, TFENV_SEED=value) == random.Random(seed).random()


@pytest.mark.parametrize("value", ["off", "OFF"])
def test_variable_skips_the_hook(hooked: Environment, value: str) -> None:
    assert len({hooked.answer(DRAW, TFENV_SEED=value) for _ in range(2)} | {SEEDED}) == 3


def test_nothing_is_imported_that_was_not_asked_for(hooked: Environment) -> None:
    code = "import sys; names = sorted(sys.modules); from json import dumps; print(dumps(names))"
    with_hook = hooked.answer(code)
    without = hooked.answer(code, TFENV_SEED="off")
    seed_off(hooked.site)
    (hooked.site / "other.pth").write_text("# any .pth file makes `site` load a codec\n")
    bare = hooked.answer(code)
    assert set(with_hook) - set(bare) == {"_tfenv_seed"}  # type: ignore[call-overload]
    assert set(without) == set(with_hook)  # type: ignore[call-overload]


TRANSPARENT = """
import importlib, importlib.util, json, sys
def looks(spec):
    return [type(spec).__name__, type(spec.loader).__name__, spec.name, spec.origin, spec.has_location]
before = importlib.util.find_spec("random")
clean = sorted(vars(before.loader))
import random
own = [random.__loader__ is random.__spec__.loader, looks(random.__spec__), random.__cached__ is not None]
source = importlib.util.find_spec("random").loader.get_source("random")[:20]
again = importlib.reload(random)
print(json.dumps([looks(before), clean, own, source, again is random, looks(again.__spec__),
    importlib.util.find_spec("tensorflow") is None, importlib.util.find_spec("random") is random.__spec__]))
"""


def test_module_and_spec_look_as_without_the_hook(hooked: Environment) -> None:
    assert hooked.answer(TRANSPARENT) == hooked.answer(TRANSPARENT, TFENV_SEED="off")


def test_reload_and_second_import_are_no_first_import(hooked: Environment) -> None:
    code = (
        "import importlib, random, sys; random.seed(5); a = random.getstate(); importlib.invalidate_caches();"
        "import random; b = random.getstate() == a; importlib.reload(random); c = random.random();"
        "del sys.modules['random']; import random; d = random.random();"
        "from json import dumps; print(dumps([b, c, d]))"
    )
    first, second = hooked.answer(code), hooked.answer(code)
    assert first[0] is second[0] is True  # type: ignore[index]
    assert len({*first[1:], *second[1:], SEEDED}) == 5  # type: ignore[index]


def test_modules_from_a_zip_file(hooked: Environment, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "libraries.zip", "w") as archive:
        archive.writestr("tensorflow.py", "class random:\n seeds = []\n set_seed = seeds.append\n")
        archive.writestr("beside.py", "x = 1\n")
    code = (
        "import tensorflow, beside, json, sys; from _tfenv_seed_work import hook;"
        "print(json.dumps([type(tensorflow.__loader__).__name__, beside.__loader__ is tensorflow.__loader__,"
        "len(tensorflow.random.seeds), len(hook.problems), list(sys.version_info[:2])]))"
    )
    *told, version = hooked.answer(code, PYTHONPATH=str(tmp_path / "libraries.zip"))  # type: ignore[misc]
    # Python 3.9's zipimporter has no exec_module that could be watched: noted, not seeded.
    assert told == ["zipimporter", True, *([0, 1] if version < [3, 10] else [1, 0])]


IMPORTS = {
    "absent": ("", "import tensorflow", "ModuleNotFoundError: No module named 'tensorflow'"),
    "broken": ("raise KeyError('mine')", "import tensorflow", "KeyError: 'mine'"),
    "exits": ("raise SystemExit('bye')", "import tensorflow", "bye"),
    "syntax": ("def (", "import tensorflow", "SyntaxError: invalid syntax"),
}


@pytest.mark.parametrize("case", IMPORTS)
def test_errors_of_an_import_are_the_programs_own(hooked: Environment, tmp_path: Path, case: str) -> None:
    source, code, last = IMPORTS[case]
    if source:
        (tmp_path / "tensorflow.py").write_text(source)
    done = hooked.run(code, PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stdout, done.stderr.strip().splitlines()[-1]) == (1, "", last)


def test_a_failed_import_may_be_tried_again(hooked: Environment, tmp_path: Path) -> None:
    (tmp_path / "numpy").mkdir()
    (tmp_path / "numpy" / "__init__.py").touch()
    (tmp_path / "numpy" / "random.py").write_text(
        "import sys\nsys.tries = getattr(sys, 'tries', 0) + 1\nif sys.tries == 1: raise ImportError('once')\n"
        "seeds = []\nseed = seeds.append\n"
    )
    code = (
        "try:\n import numpy.random\nexcept ImportError: pass\nimport numpy.random\nprint(numpy.random.seeds)"
    )
    assert hooked.answer(code, PYTHONPATH=str(tmp_path)) == [42]


@pytest.mark.parametrize(
    ("name", "source"),
    [
        pytest.param("random", "def seed(n): print('called'); raise SystemExit(3)", id="shadowed-random"),
        pytest.param("tensorflow", "x = 1", id="no-tensorflow"),
        pytest.param("keras", "import sys; sys.modules['keras'] = 5", id="replaced-keras"),
        pytest.param("tensorflow", "class random:\n set_seed = staticmethod(lambda s: 1 / 0)", id="raising"),
        pytest.param(
            "tensorflow",
            "class E(Exception):\n def __str__(self): raise self\n"
            "class random:\n @staticmethod\n def set_seed(s): raise E",
            id="unprintable-error",
        ),
    ],
)
def test_failures_are_noted_and_silent(hooked: Environment, tmp_path: Path, name: str, source: str) -> None:
    (tmp_path / f"{name}.py").write_text(source)
    code = "from _tfenv_seed_work import hook; print(len(hook.problems), '{name}' in hook.seeded)"
    done = hooked.run(f"import {name}; {code}", PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stdout, done.stderr) == (0, "1 False\n", "")


DAMAGE = {
    "lost": None,
    "empty": b"",
    "directory": "",
    "binary": b"\x00\xff\xfe",
    "syntax": b"def (\n",
    "raises": b"raise ValueError\n",
    "hostile": b"def find_spec(*_): 1 / 0\nclass hook: find_spec = find_spec\n",
}


@pytest.mark.parametrize(
    ("name", "damage"),
    # Not a .pth with broken code: that is told by Python itself, whoever wrote it.
    [(name, damage) for name in FILES for damage in DAMAGE if name.endswith(".py") or not DAMAGE[damage]],
)
def test_damaged_files_break_nothing(hooked: Environment, name: str, damage: str) -> None:
    content = DAMAGE[damage]
    (hooked.site / name).unlink()
    if isinstance(content, bytes):
        (hooked.site / name).write_bytes(content)
    elif content is not None:
        (hooked.site / name).mkdir()
    assert hooked.answer(DRAW) != SEEDED


@pytest.mark.parametrize("position", [pytest.param(0, id="before"), pytest.param(9, id="after")])
def test_finders_of_others_keep_working(hooked: Environment, tmp_path: Path, position: int) -> None:
    (tmp_path / "tensorflow").mkdir()
    (tmp_path / "tensorflow" / "__init__.py").write_text(
        "class random:\n seeds = []\n set_seed = seeds.append\n"
    )
    code = """
import importlib.util, json, sys
class Delegating:
    busy = False
    def find_spec(self, name, path=None, target=None):
        if name != "tensorflow" or self.busy: return None
        self.busy = True
        try: return importlib.util.find_spec(name)
        finally: self.busy = False
class Raising:
    def find_spec(self, name, path=None, target=None):
        if name == "keras": raise ImportError("forbidden here")
sys.meta_path.insert(%d, Delegating())
sys.meta_path.insert(0, Raising())
import tensorflow
said = []
try: import keras
except ImportError as error: said.append(str(error))
print(json.dumps([tensorflow.random.seeds, said, type(tensorflow.__spec__.loader).__name__,
    tensorflow.__loader__ is tensorflow.__spec__.loader]))
"""
    answer = hooked.answer(code % position, PYTHONPATH=str(tmp_path))
    assert answer == [[42], ["forbidden here"], "SourceFileLoader", True]


def test_threads_that_import_at_once(hooked: Environment, tmp_path: Path) -> None:
    (tmp_path / "tensorflow.py").write_text(
        "import time, random as r; time.sleep(0.2)\nclass random:\n seeds = []\n set_seed = seeds.append\n"
    )
    code = """
import json, threading
barrier, seen = threading.Barrier(8), []
def work(name):
    barrier.wait()
    module = __import__(name)
    seen.append(module.random.seeds[:] if name == "tensorflow" else module.random is not None)
threads = [threading.Thread(target=work, args=(n,)) for n in ["tensorflow", "random"] * 4]
[t.start() for t in threads]; [t.join() for t in threads]
print(json.dumps(sorted(seen, key=str)))
"""
    assert hooked.answer(code, PYTHONPATH=str(tmp_path)) == [True] * 4 + [[42]] * 4


def test_namespace_package_is_no_library(hooked: Environment, tmp_path: Path) -> None:
    (tmp_path / "keras" / "part").mkdir(parents=True)
    code = (
        "import keras.part, json; from _tfenv_seed_work import hook;"
        "print(json.dumps([len(keras.__path__), hook.seeded, hook.problems]))"
    )
    assert hooked.answer(code, PYTHONPATH=str(tmp_path)) == [1, [], []]


def test_spawned_processes_start_from_the_seed_too(hooked: Environment, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import multiprocessing, random, json\n"
        "def draw(_=None): return random.random()\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context('spawn').Pool(1) as pool: child = pool.map(draw, [0])\n"
        "    print(json.dumps([draw(), *child]))\n"
    )
    code = "import subprocess, sys; print(subprocess.check_output([sys.executable, %r], text=True))"
    assert hooked.answer(code % str(tmp_path / "program.py")) == [SEEDED, SEEDED]


def test_states_and_generators_can_be_pickled(hooked: Environment) -> None:
    code = (
        "import json, pickle, random; state = pickle.loads(pickle.dumps(random.getstate()));"
        "mine = pickle.loads(pickle.dumps(random.Random(1))); random.setstate(state);"
        "print(json.dumps([random.random(), mine.random()]))"
    )
    assert hooked.answer(code) == [SEEDED, random.Random(1).random()]


SUBINTERPRETER = """
import sys
if sys.version_info >= (3, 13):
    import _interpreters as api
else:
    import _xxsubinterpreters as api
code = "import random, sys; print(random.random(), flush=True)"
one = api.create()
problem = api.run_string(one, code)
assert not problem, problem
"""


def test_subinterpreters(hooked: Environment) -> None:
    done = hooked.run(SUBINTERPRETER)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{SEEDED}\n", "")


def test_site_directory_processed_twice(hooked: Environment) -> None:
    code = (
        "import random; random.seed(7); a = random.getstate(); import site, sys;"
        f"site.addsitedir({str(hooked.site)!r}); from json import dumps;"
        "print(dumps([a == random.getstate(), sum('tfenv' in repr(f) for f in sys.meta_path)]))"
    )
    assert hooked.answer(code) == [True, 1]


def test_seed_of_a_program_is_its_own(hooked: Environment) -> None:
    code = "import random; random.seed(7); import numbers, decimal, statistics; " + DRAW
    assert hooked.answer(code) == random.Random(7).random()
