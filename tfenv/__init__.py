"""tfenv: a TensorFlow stack one can trust: pinned, proven to load, proven to learn."""

from tfenv.version import __version__

__all__ = ["__version__"]
