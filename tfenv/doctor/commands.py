"""Commands to copy, for exactly this interpreter, installer, shell and notebook."""

from __future__ import annotations

import re
import shlex
from typing import Literal, Optional

from tfenv.facts.model import Facts
from tfenv.records import record

#: Neither cmd nor PowerShell gives any of these a meaning outside quotes.
_PLAIN_ON_WINDOWS = re.compile(r"[\w.:\\/~=+-]+")


@record
class Commands:
    """Writes commands for one interpreter."""

    python: str
    prefix: str
    installer: Literal["uv", "pip"]
    windows: bool
    notebook: bool  # commands are cells: a leading "!"
    has_pip: bool
    closed: bool  # externally managed: only a virtual environment may be changed

    def install(self, *requirements: str) -> str:
        """Install ``requirements`` ("numpy<2")."""
        return self._installer("install", *requirements)

    def reinstall(self, *requirements: str) -> str:
        """Install exactly ``requirements`` again, over what is there."""
        again = "--reinstall" if self.installer == "uv" else "--force-reinstall"
        return self._installer("install", again, "--no-deps", *requirements)

    def uninstall(self, *names: str) -> str:
        """Remove the distributions ``names``."""
        return self._installer("uninstall", *(() if self.installer == "uv" else ("-y",)), *names)

    def bootstrap(self, *, tensorflow: Optional[str] = None, target: Optional[str] = None) -> str:
        """Bootstrap this environment; a new one beside it where this one may not be changed."""
        wishes = (("--tf", tensorflow), ("--target", target))
        options = [word for name, value in wishes if value for word in (name, value)]
        venv = ["--venv", ".venv"] if self.closed else []
        return self._line("tfenv", "bootstrap", *options, *venv, "--python", self.python)

    def proof(self) -> str:
        """Run the proof again."""
        return self._line("tfenv", "smoke", "--python", self.python)

    def list_devices(self) -> str:
        """Have TensorFlow list its devices."""
        return self._line(
            self.python, "-c", "import tensorflow as tf; print(tf.config.list_physical_devices())"
        )

    def get_pip(self) -> str:
        """Give this interpreter pip."""
        return self._line(self.python, "-m", "ensurepip", "--upgrade")

    def conda(self, verb: Literal["install", "remove"], *names: str) -> str:
        """Let conda change its own environment."""
        return self._line("conda", verb, "-p", self.prefix, *names)

    def remove(self, *paths: str) -> str:
        """Delete folders."""
        return self._line(
            "Remove-Item" if self.windows else "rm", "-Recurse" if self.windows else "-r", *paths
        )

    def rename(self, old: str, new: str) -> str:
        """Give a file another name."""
        return self._line("Rename-Item" if self.windows else "mv", old, new)

    def unset(self, name: str) -> str:
        """Take the variable ``name`` away."""
        if self.notebook:
            return f'import os; os.environ.pop("{name}", None)'
        return f"Remove-Item Env:{name}" if self.windows else f"unset {name}"

    def set(self, name: str, value: str) -> str:
        """Give the variable ``name`` a value."""
        if self.notebook:
            return f"%env {name}={value}"
        if self.windows:
            return f'$env:{name} = "{value}"'
        return f"export {name}={shlex.quote(value)}"

    def word(self, text: str) -> str:
        """``text`` as one word of the shell."""
        return quote(text, windows=self.windows)

    def _installer(self, verb: str, *words: str) -> str:
        if self.installer == "uv":
            return self._line("uv", "pip", verb, "--python", self.python, *words)
        return self._line(self.python, "-m", "pip", verb, *words)

    def _line(self, *words: str) -> str:
        quoted = [quote(word, windows=self.windows) for word in words]
        # PowerShell takes a quoted word at the start for a text, not for a command.
        call = "& " if quoted[0].startswith('"') else ""
        return ("!" if self.notebook else call) + " ".join(quoted)


def commands_for(facts: Facts, installer: Literal["uv", "pip"]) -> Commands:
    """The commands for the target interpreter of ``facts``."""
    host = facts.notebook.host.value
    return Commands(
        python=facts.python.executable.value or "python",
        prefix=facts.environment.prefix.value or "",
        installer=installer,
        windows=facts.system.os.value == "windows",
        notebook=host is not None and facts.notebook.kernel_pid.value is not None,
        has_pip=not facts.python.pip_version.known or facts.python.pip_version.value is not None,
        closed=facts.environment.externally_managed.value is not None
        and facts.environment.kind.value == "system",
    )


def quote(word: str, *, windows: bool) -> str:
    """``word`` as one word of the shell; a home folder written as ``~`` stays one."""
    if windows:
        return word if _PLAIN_ON_WINDOWS.fullmatch(word) else f'"{word}"'
    if word.startswith("~/"):
        return "~/" + shlex.quote(word[2:])
    return shlex.quote(word)
