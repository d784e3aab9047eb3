"""One file per command: parse arguments, call the library, return a result's exit code.

No ``from __future__ import annotations`` in these files: on Python 3.9 a Typer of our floor (seen up to
0.19) does not evaluate annotations that are strings, and drops every option name and metavar with them.
"""
