"""tfenv seed hook: `tfenv seed off` removes it. Compiled at each start of Python, so keep it short."""

import os
import sys

VERSION = 1
#: NumPy 2 imports numpy.random only when it is first used, so that is the module to wait for.
LIBRARIES = ("random", "numpy.random", "tensorflow", "keras", "tf_keras")


class Hook:
    """Waits on ``sys.meta_path`` for the first import of a few modules; all others pass untouched."""

    source = ""  # of the seed: "installed", "TFENV_SEED" or "call"; or "off"
    seed = -1
    deterministic = determinism_on = False  # asked for; verified after TensorFlow's import

    def __init__(self) -> None:
        self.waiting = [*LIBRARIES, "IPython.core.interactiveshell"]
        self.seeded: list[str] = []
        self.problems: list[str] = []

    def find_spec(self, name: str, path: object = None, target: object = None) -> object:
        return self.work("watched_spec", name, path, target) if name in self.waiting else None

    def work(self, task: str, *arguments: object) -> object:
        """Do a task of the second half; a failure must not reach the program, `tfenv seed show` tells it."""
        try:
            return getattr(__import__(__name__ + "_work", fromlist=(task,)), task)(self, *arguments)
        except Exception as error:
            self.problems.append(f"{task} {arguments[:1]}: {type(error).__name__}: {error}")
            return None


hook = Hook()


def start(seed: int, deterministic: bool) -> None:
    """Called by the .pth file, at each start of Python and without a traceback if it fails."""
    wish = os.environ.get("TFENV_SEED", "")
    if wish.lower() == "off":
        hook.source = "off"
        return
    hook.source, hook.seed, hook.deterministic = "installed", seed, deterministic
    if wish.isdecimal() and len(wish) <= 10 and int(wish) < 2**32:
        hook.source, hook.seed = "TFENV_SEED", int(wish)
    elif wish:
        hook.problems.append("TFENV_SEED is neither off nor a whole number from 0 to 4294967295: ignored")
    sys.meta_path.insert(0, hook)  # type: ignore[arg-type]
    if "random" in sys.modules:
        hook.work("seed_loaded")
