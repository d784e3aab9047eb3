"""tfenv seed hook, second half: seeds random, NumPy, TensorFlow and Keras when each is first imported.

Loaded at the first import of one of them. Nothing here may print, raise or import what the program did not
ask for: failures are only noted, for ``tfenv seed show``. Python 3.8 syntax.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import FrameType, ModuleType
    from typing import Optional

#: NumPy 2 imports numpy.random only when it is first used, so that is the module to wait for.
LIBRARIES = ("random", "numpy.random", "tensorflow", "keras", "tf_keras")
SHELL = "IPython.core.interactiveshell"


class Hook:
    """On ``sys.meta_path``: waits for the first import of a few modules; all others pass untouched."""

    def __init__(self) -> None:
        self.source = ""  # of the seed: "installed", "TFENV_SEED" or "call"; or "off"
        self.seed = -1
        self.deterministic = False
        self.determinism_on = False  # verified after TensorFlow's import
        self.waiting: list[str] = []
        self.looking_up: list[str] = []
        self.seeded: list[str] = []
        self.problems: list[str] = []

    def arm(self, seed: int, deterministic: bool, *others: str) -> None:
        """Seed the loaded libraries, and the others (and what else is named) when they are first imported."""
        self.seed = seed
        self.deterministic = deterministic
        self.seeded, self.problems = [], []
        self.waiting = [*LIBRARIES, *others]
        for name in LIBRARIES:
            if sys.modules.get(name) is not None:
                self.seed_module(name)

    def disarm(self) -> None:
        """Let all later imports pass."""
        self.source = "off"
        self.waiting = []

    def find_spec(
        self, name: str, path: "Optional[Sequence[str]]" = None, target: "Optional[ModuleType]" = None
    ) -> "Optional[ModuleSpec]":
        # A bare importlib.util.find_spec() must see the loader as it is: nothing is imported there.
        if name not in self.waiting or name in self.looking_up or not _is_imported_now(name):
            return None
        self.looking_up.append(name)
        try:
            return self.watched_spec(name, path, target)
        except Exception as error:  # the import system asks next, and meets the same error
            self.note(name, error)
            return None
        finally:
            self.looking_up.remove(name)

    def watched_spec(
        self, name: str, path: "Optional[Sequence[str]]", target: "Optional[ModuleType]"
    ) -> "Optional[ModuleSpec]":
        """The spec that the other finders give, with a loader that seeds the module in the end."""
        for finder in sys.meta_path:
            find_spec = getattr(finder, "find_spec", None)
            if find_spec is None:
                return None  # a finder from before Python 3.4: only the import system can ask it
            # The hook itself is among those asked, and gives none: it is looking up this very name.
            spec: Optional[ModuleSpec] = find_spec(name, path, target)
            if spec is not None:
                loader: object = spec.loader
                if hasattr(loader, "exec_module") and hasattr(loader, "create_module"):
                    spec.loader = _Loader(self, loader)  # type: ignore[assignment]
                elif loader is not None:  # None: a folder without __init__.py
                    self.note(name, f"{loader!r} is too old a kind of loader to be watched")
                return spec
        return None

    def seed_module(self, name: str) -> None:
        """Seed the loaded module ``name``, once."""
        if name not in self.waiting:
            return
        self.waiting.remove(name)
        try:
            _SEEDERS[name](self, sys.modules[name])
            self.seeded.append(name)
        except Exception as error:
            self.note(name, error)

    def note(self, what: str, problem: object) -> None:
        """Remember a failure; who called ``tfenv.seed_everything`` is told by a warning."""
        try:
            kind = type(problem).__name__ + ": " if isinstance(problem, Exception) else ""
            self.problems.append(f"{what}: {kind}{problem}")
        except Exception:
            self.problems.append(f"{what}: failed, and so did the description of the failure")
        if self.source == "call":
            import warnings

            text = f"tfenv could not seed everything: {self.problems[-1]}"
            warnings.warn(text, RuntimeWarning, stacklevel=2)


def _is_imported_now(name: str) -> bool:
    frame: Optional[FrameType] = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "_find_and_load_unlocked" and frame.f_locals.get("name") == name:
            return True
        frame = frame.f_back
    return False


class _Loader:
    """Stands in for a module's loader until its code runs; the module itself only ever sees its own."""

    def __init__(self, hook: Hook, loader: object) -> None:
        self._hook = hook
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
        self._hook.seed_module(module.__name__)


def _random(hook: Hook, module: "ModuleType") -> None:
    genuine = getattr(sys.modules.get("_random"), "Random", ())
    if not isinstance(getattr(module, "_inst", None), genuine):
        raise _stranger(module, "the random of the standard library")
    module.seed(hook.seed)


def _numpy(hook: Hook, module: "ModuleType") -> None:
    module.seed(hook.seed)


def _tensorflow(hook: Hook, module: "ModuleType") -> None:
    if not hasattr(module, "random"):
        raise _stranger(module, "TensorFlow")
    module.random.set_seed(hook.seed)
    if hook.deterministic:
        module.config.experimental.enable_op_determinism()
        config = sys.modules["tensorflow.python.framework.config"]
        hook.determinism_on = bool(config.is_op_determinism_enabled())
        if not hook.determinism_on:
            raise RuntimeError("op determinism was switched on, but TensorFlow reports that it is off")


def _keras(hook: Hook, module: "ModuleType") -> None:
    # Not keras.utils.set_random_seed: it would also restart random, NumPy and TensorFlow, which the
    # program may have seeded or drawn from before it imported Keras (or touched tf.keras).
    keras_3 = sys.modules.get(module.__name__ + ".src.backend.common.global_state")
    if keras_3 is not None:
        keras_3.set_global_attribute("global_random_seed", hook.seed)
        keras_3.set_global_attribute("global_seed_generator", None)
        return
    import random

    keras_2 = sys.modules.get(module.__name__ + ".src.backend")
    if keras_2 is None:
        raise _stranger(module, "a Keras that this hook knows")
    keras_2._SEED_GENERATOR.generator = random.Random(hook.seed)  # noqa: S311


def _stranger(module: "ModuleType", expected: str) -> TypeError:
    return TypeError(f"{getattr(module, '__file__', None)} is not {expected}")


def _ipython(hook: Hook, module: "ModuleType") -> None:
    shell_class = module.InteractiveShell
    init_events = shell_class.init_events

    def init_events_once(shell: "ModuleType") -> None:
        shell_class.init_events = init_events
        init_events(shell)
        try:
            _steady_shell(hook, shell)
        except Exception as error:
            hook.note("IPython", error)

    shell_class.init_events = init_events_once


def _steady_shell(hook: Hook, shell: "ModuleType") -> None:
    import random

    # IPython >= 9 draws a tip for its banner from the global generator; a kernel does so for each kernel_info
    # request, that is at start and whenever a page connects, although nobody sees it there.
    if "ipykernel" in sys.modules and hasattr(shell, "enable_tip"):
        shell.enable_tip = False  # type: ignore[attr-defined]

    # Whatever else the frontend draws before the user's first cell is undone there.
    def first_cell(info: object) -> None:
        if not getattr(info, "store_history", True):
            return  # a line of the configuration, not yet a cell of the user
        shell.events.unregister("pre_run_cell", first_cell)
        if hook.source != "off":
            random.seed(hook.seed)

    shell.events.register("pre_run_cell", first_cell)


_SEEDERS = {
    "random": _random,
    "numpy.random": _numpy,
    "tensorflow": _tensorflow,
    "keras": _keras,
    "tf_keras": _keras,
    SHELL: _ipython,
}


def _take_over(starter: "ModuleType") -> None:
    """Put the hook in the place of its first half, with the seed of the ``.pth`` file or of TFENV_SEED."""
    sys.meta_path[sys.meta_path.index(starter)] = hook
    wish = os.environ.get("TFENV_SEED", "")
    if wish.lower() == "off":
        hook.disarm()
        return
    known = wish.isdecimal() and len(wish) <= 10 and int(wish) < 2**32
    hook.source = "TFENV_SEED" if known else "installed"
    hook.arm(int(wish) if known else starter.seed, starter.deterministic, SHELL)
    if wish and not known:
        hook.note("TFENV_SEED", "ignored: neither off nor a whole number from 0 to 4294967295")


hook = Hook()
if __name__ == "_tfenv_seed_work":  # not the copy inside tfenv
    _take_over(sys.modules["_tfenv_seed"])
