"""tfenv seed hook, second half: loaded at the first import of a library that waits for its seed."""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import FrameType, ModuleType
    from typing import Optional

    from tfenv.seeding.hook._tfenv_seed import Hook

_looking_up: "set[str]" = set()


def watched_spec(
    hook: "Hook", name: str, path: "Optional[Sequence[str]]", target: "Optional[ModuleType]"
) -> "Optional[ModuleSpec]":
    """The spec that the other finders give for ``name``, with a loader that seeds the module in the end."""
    # A bare importlib.util.find_spec() must see the loader as it is: nothing is imported there.
    if name in _looking_up or not _is_imported_now(name):
        return None
    _looking_up.add(name)
    try:
        return _ask_others(hook, name, path, target)
    except Exception as error:  # the import system asks next, and meets the same error
        _note(hook, name, error)
        return None
    finally:
        _looking_up.discard(name)


def seed_loaded(hook: "Hook") -> None:
    """Seed every library that waits although it is loaded."""
    for name in tuple(hook.waiting):
        if sys.modules.get(name) is not None:
            _seed(hook, name)


def _seed(hook: "Hook", name: str) -> None:
    if name not in hook.waiting:
        return
    hook.waiting.remove(name)
    try:
        _SEEDERS[name](hook, sys.modules[name])
        hook.seeded.append(name)
    except Exception as error:
        _note(hook, name, error)


def _note(hook: "Hook", what: str, problem: object) -> None:
    try:
        kind = type(problem).__name__ + ": " if isinstance(problem, Exception) else ""
        hook.problems.append(f"{what}: {kind}{problem}")
    except Exception:
        hook.problems.append(f"{what}: failed, and so did the description of the failure")
    if hook.source == "call":  # of tfenv.seed_everything: who asked for it aloud is answered aloud
        import warnings

        text = f"tfenv could not seed everything: {hook.problems[-1]}"
        warnings.warn(text, RuntimeWarning, stacklevel=2)


def _ask_others(
    hook: "Hook", name: str, path: "Optional[Sequence[str]]", target: "Optional[ModuleType]"
) -> "Optional[ModuleSpec]":
    for finder in sys.meta_path:
        find_spec = getattr(finder, "find_spec", None)
        if find_spec is None:
            return None  # a finder from before Python 3.4: only the import system can ask it
        # The hook itself is among those asked, and gives none: it is looking up this very name.
        spec: Optional[ModuleSpec] = find_spec(name, path, target)
        if spec is not None:
            loader: object = spec.loader
            if hasattr(loader, "exec_module") and hasattr(loader, "create_module"):
                spec.loader = _Loader(hook, loader)  # type: ignore[assignment]
            elif loader is not None:  # None: a folder without __init__.py
                _note(hook, name, f"{loader!r} is too old a kind of loader to be watched")
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

    def __init__(self, hook: "Hook", loader: object) -> None:
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
        _seed(self._hook, module.__name__)


def _random(hook: "Hook", module: "ModuleType") -> None:
    genuine = getattr(sys.modules.get("_random"), "Random", ())
    if not isinstance(getattr(module, "_inst", None), genuine):
        raise _stranger(module, "the random of the standard library")
    module.seed(hook.seed)


def _numpy(hook: "Hook", module: "ModuleType") -> None:
    module.seed(hook.seed)


def _tensorflow(hook: "Hook", module: "ModuleType") -> None:
    if not hasattr(module, "random"):
        raise _stranger(module, "TensorFlow")
    module.random.set_seed(hook.seed)
    if hook.deterministic:
        module.config.experimental.enable_op_determinism()
        config = sys.modules["tensorflow.python.framework.config"]
        hook.determinism_on = bool(config.is_op_determinism_enabled())
        if not hook.determinism_on:
            raise RuntimeError("op determinism was switched on, but TensorFlow reports that it is off")


def _keras(hook: "Hook", module: "ModuleType") -> None:
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


def _ipython(hook: "Hook", module: "ModuleType") -> None:
    shell_class = module.InteractiveShell
    init_events = shell_class.init_events

    def init_events_once(shell: "ModuleType") -> None:
        shell_class.init_events = init_events
        init_events(shell)
        try:
            _steady_shell(hook, shell)
        except Exception as error:
            _note(hook, "IPython", error)

    shell_class.init_events = init_events_once


def _steady_shell(hook: "Hook", shell: "ModuleType") -> None:
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
    "IPython.core.interactiveshell": _ipython,
}
