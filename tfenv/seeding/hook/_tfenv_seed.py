"""tfenv seed hook: seeds random, NumPy, TensorFlow and Keras the moment each is first imported.

``tfenv seed on`` puts this module and ``_tfenv_seed.pth`` into an environment, ``tfenv seed off`` removes
them, ``TFENV_SEED=off`` skips them for one run and ``TFENV_SEED=<number>`` takes another seed. Nothing here
may print, raise or import what the program did not ask for: failures are only noted, for ``tfenv seed show``.
Python 3.8 syntax; every import of this module is paid for at each start of the interpreter.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import FrameType, ModuleType
    from typing import Optional

    Seeder = Callable[["ModuleType", int], None]

VERSION = 1
SEED_LIMIT = 2**32


class State:
    """What the hook was asked for and what it did, for ``tfenv seed show``."""

    def __init__(self) -> None:
        self.source = ""  # "installed", "TFENV_SEED", "off" or "call"; empty before the start
        self.seed = -1
        self.deterministic = False
        self.determinism_on = False  # verified, after TensorFlow's import
        self.seeded: list[str] = []
        self.problems: list[str] = []
        self.tell: Optional[Callable[[str], None]] = None


state = State()
_waiting: "dict[str, Seeder]" = {}
_looking_up: "set[str]" = set()


def start(seed: int, deterministic: bool = False) -> None:
    """Arm the hook at interpreter start, as the ``.pth`` file and ``TFENV_SEED`` say."""
    if state.source:  # a program may process its site directories twice
        return
    try:
        state.source = "installed"
        wish = os.environ.get("TFENV_SEED", "").strip()
        if wish.lower() == "off":
            state.source = "off"
            return
        if wish.isdecimal() and len(wish) <= 10 and int(wish) < SEED_LIMIT:
            state.source = "TFENV_SEED"
            seed = int(wish)
        arm(seed, deterministic)
        _waiting["IPython.core.interactiveshell"] = _ipython
        if wish and state.source == "installed":
            _note(
                "TFENV_SEED", "it is neither off nor a whole number from 0 to 4294967295, so it was ignored"
            )
    except Exception as error:
        _note("start", error)


def arm(seed: int, deterministic: bool, tell: "Optional[Callable[[str], None]]" = None) -> None:
    """Seed what is loaded now and the rest when it is first imported; ``tell`` hears of later failures."""
    state.source = state.source or "call"
    state.seed = seed
    state.deterministic = deterministic
    state.seeded = []
    state.problems = []
    state.tell = None
    _waiting.clear()
    _waiting.update(_SEEDERS)
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)
    for name in _SEEDERS:
        if sys.modules.get(name) is not None:
            _seed(name)
    state.tell = tell


def disarm() -> None:
    """Let later imports pass untouched. Another copy of this module calls it when it takes over."""
    _waiting.clear()
    state.source = "off"


def waiting() -> "tuple[str, ...]":
    """The modules that will be seeded when they are imported; none if the finder was removed."""
    return tuple(_waiting) if _FINDER in sys.meta_path else ()


class _Finder:
    """Watches the first import of a few modules; every other look-up passes untouched."""

    def find_spec(
        self, name: str, path: "Optional[Sequence[str]]" = None, target: "Optional[ModuleType]" = None
    ) -> "Optional[ModuleSpec]":
        # A bare importlib.util.find_spec() must see the loader as it is: nothing is imported there.
        if name not in _waiting or name in _looking_up or not _is_imported_now(name):
            return None
        _looking_up.add(name)
        try:
            return self._watched(name, path, target)
        except Exception:
            return None  # the import system asks the other finders itself and meets the same error
        finally:
            _looking_up.discard(name)

    def _watched(
        self, name: str, path: "Optional[Sequence[str]]", target: "Optional[ModuleType]"
    ) -> "Optional[ModuleSpec]":
        for finder in sys.meta_path:
            if finder is self:
                continue
            find_spec = getattr(finder, "find_spec", None)
            if find_spec is None:
                return None  # a finder from before Python 3.4: only the import system can ask it
            spec: Optional[ModuleSpec] = find_spec(name, path, target)
            if spec is not None:
                loader: object = spec.loader
                if hasattr(loader, "exec_module") and hasattr(loader, "create_module"):
                    spec.loader = _Loader(loader)  # type: ignore[assignment]
                elif loader is not None:  # None: a folder without __init__.py
                    _note(name, f"{loader!r} is too old a kind of loader to be watched")
                return spec
        return None


def _is_imported_now(name: str) -> bool:
    frame: Optional[FrameType] = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "_find_and_load_unlocked" and frame.f_locals.get("name") == name:
            return True
        frame = frame.f_back
    return False


class _Loader:
    """Stands in for a module's loader until its code runs; the module itself only ever sees its own."""

    def __init__(self, loader: object) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> object:
        return getattr(self._loader, name)

    def create_module(self, spec: object) -> object:
        return self._loader.create_module(spec)  # type: ignore[attr-defined]

    def exec_module(self, module: "ModuleType") -> None:
        spec = getattr(module, "__spec__", None)
        if getattr(spec, "loader", None) is self:
            spec.loader = self._loader  # type: ignore[union-attr]
        if getattr(module, "__loader__", None) is self:
            module.__loader__ = self._loader
        self._loader.exec_module(module)  # type: ignore[attr-defined]  # tfenv only passes this import on
        _seed(module.__name__)


def _seed(name: str) -> None:
    seeder = _waiting.pop(name, None)
    if seeder is None:
        return
    try:
        seeder(sys.modules[name], state.seed)
        state.seeded.append(name)
    except Exception as error:
        _note(name, error)


def _note(what: str, problem: object) -> None:
    try:
        text = str(problem)
        if isinstance(problem, Exception):
            text = type(problem).__name__ + ": " + text
        state.problems.append(what + ": " + text)
    except Exception:
        state.problems.append(what + ": failed, and so did the description of the failure")
    if state.tell is not None:
        state.tell(state.problems[-1])


def _random(module: "ModuleType", seed: int) -> None:
    genuine = getattr(sys.modules.get("_random"), "Random", ())
    if not isinstance(getattr(module, "_inst", None), genuine):
        where = getattr(module, "__file__", None)
        raise TypeError(f"{where} is not the random of the standard library")
    module.seed(seed)


def _numpy(module: "ModuleType", seed: int) -> None:
    module.seed(seed)


def _tensorflow(module: "ModuleType", seed: int) -> None:
    module.random.set_seed(seed)
    if state.deterministic:
        module.config.experimental.enable_op_determinism()
        config = sys.modules["tensorflow.python.framework.config"]
        state.determinism_on = bool(config.is_op_determinism_enabled())
        if not state.determinism_on:
            raise RuntimeError("op determinism was switched on, but TensorFlow reports that it is off")


def _keras(module: "ModuleType", seed: int) -> None:
    # Not keras.utils.set_random_seed: it would also restart random, NumPy and TensorFlow, which the
    # program may have seeded or drawn from before it imported Keras (or touched tf.keras).
    keras_3 = sys.modules.get(module.__name__ + ".src.backend.common.global_state")
    if keras_3 is not None:
        keras_3.set_global_attribute("global_random_seed", seed)
        keras_3.set_global_attribute("global_seed_generator", None)
        return
    import random

    keras_2 = sys.modules[module.__name__ + ".src.backend"]
    keras_2._SEED_GENERATOR.generator = random.Random(seed)  # noqa: S311


def _ipython(module: "ModuleType", seed: int) -> None:
    # IPython >= 9 draws its tips from the global generator, at start and at each (re)connection.
    import random

    tips = sys.modules.get("IPython.core.tips")
    if hasattr(tips, "choice"):
        tips.choice = random.Random().choice  # type: ignore[union-attr]  # noqa: S311

    # Whatever else an unknown frontend draws before the user's first cell is undone there.
    shell_class = module.InteractiveShell
    init_events = shell_class.init_events

    def init_events_once(shell: "ModuleType") -> None:
        shell_class.init_events = init_events
        init_events(shell)

        def first_cell(info: object) -> None:
            if not getattr(info, "store_history", True):
                return  # a line of the configuration, not yet a cell of the user
            shell.events.unregister("pre_run_cell", first_cell)
            if state.source != "off":
                random.seed(seed)

        try:
            shell.events.register("pre_run_cell", first_cell)
        except Exception as error:
            _note("IPython", error)

    shell_class.init_events = init_events_once


_FINDER = _Finder()
#: NumPy 2 imports numpy.random only when it is first used, so that is the module to wait for.
_SEEDERS: "dict[str, Seeder]" = {
    "random": _random,
    "numpy.random": _numpy,
    "tensorflow": _tensorflow,
    "keras": _keras,
    "tf_keras": _keras,
}
