"""tfenv seed hook: `tfenv seed off` removes it. Compiled at each start of Python, so as short as can be."""

VERSION = 1
names = ("random", "numpy.random", "tensorflow", "keras", "tf_keras", "IPython.core.interactiveshell")
problem = ""


def find_spec(name: str, path: object = None, target: object = None) -> object:
    global problem
    if name in names:
        try:
            import _tfenv_seed_work  # type: ignore[import-not-found]  # takes over, under its import lock

            return _tfenv_seed_work.hook.find_spec(name, path, target)
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
    return None
