"""tfenv: a TensorFlow stack one can trust: pinned, proven to load, proven to learn."""

from __future__ import annotations

from tfenv.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tfenv.api import bootstrap
    from tfenv.seeding.api import seed_everything

#: What is looked up only when it is used, so that ``import tfenv`` stays cheap: name to module.
_LAZY = {"bootstrap": "tfenv.api", "seed_everything": "tfenv.seeding.api"}

__all__ = ["__version__", "bootstrap", "seed_everything"]


def __getattr__(name: str) -> object:
    if name not in _LAZY:
        raise AttributeError(f"module 'tfenv' has no attribute {name!r}")
    from importlib import import_module

    found: object = getattr(import_module(_LAZY[name]), name)
    return found
