"""The version of tfenv, in a module that imports nothing so that ``tfenv --version`` is instant."""

__version__ = "0.1.0"
