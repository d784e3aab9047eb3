"""The environment: whether Python finds what was installed, and nothing else in its place."""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath

from tfenv.doctor.answers import cannot_tell, listed, seen, variable
from tfenv.doctor.context import Context
from tfenv.doctor.model import Check
from tfenv.facts.names import canonical
from tfenv.result import Evidence, Finding, Remedy


def _activated(context: Context) -> tuple[Finding, ...]:
    environment = context.facts.environment
    active, prefix = environment.activated.value, environment.prefix.value
    if not active or not prefix or context.named or _same_folder(active, prefix):
        return ()
    return (
        Finding(
            id="PY003",
            severity="warn",
            title="The activated environment is not the one that runs",
            cause="An environment was activated in this shell, but the interpreter found first belongs to "
            "another. What is installed in one is not in the other.",
            evidence=(seen("activated", environment.activated), seen("running", environment.prefix)),
            remedy=Remedy(
                text="Leave it and activate it again, or name the interpreter you mean.",
                commands=("deactivate", f"tfenv doctor --venv {context.commands.word(active)}"),
            ),
        ),
    )


def _externally_managed(context: Context) -> tuple[Finding, ...]:
    environment = context.facts.environment
    if not context.commands.closed:
        return ()
    return (
        Finding(
            id="PY004",
            severity="info",
            title="This Python belongs to the operating system, which lets no installer change it",
            cause="It is marked as externally managed (PEP 668): pip and uv refuse to install into it.",
            evidence=(
                seen("interpreter", context.facts.python.executable),
                seen("mark", environment.externally_managed),
            ),
            remedy=Remedy(text="Use an environment of your own.", commands=(context.commands.bootstrap(),)),
        ),
    )


def _user_site(context: Context) -> tuple[Finding, ...]:
    folder = context.facts.environment.user_site.value
    stack = context.stack
    if not folder or stack.tensorflow is None or context.stock_notebook:
        return ()
    if stack.tensorflow.location == folder:
        return ()  # a stack installed with --user as a whole
    strangers = sorted(
        name for name in stack.closure if name in stack.installed and stack.installed[name].location == folder
    )
    if not strangers:
        return ()
    return (
        Finding(
            id="PY005",
            severity="warn",
            title=f"Packages of your user folder are mixed into this TensorFlow: {listed(strangers)}",
            cause="Packages installed with `pip install --user` are seen by every environment of this Python "
            "version that lets them in, so this stack changes whenever they do.",
            evidence=(
                seen("user folder", context.facts.environment.user_site),
                *(_where(context, name) for name in strangers[:8]),
            ),
            remedy=Remedy(
                text="Keep the user folder out, then install what is missing into the environment.",
                commands=(context.commands.set("PYTHONNOUSERSITE", "1"), context.commands.bootstrap()),
            ),
        ),
    )


def _leftovers(context: Context) -> tuple[Finding, ...]:
    fact = context.facts.environment.leftovers
    if not fact.known:
        return (cannot_tell("PKG005", "the remains of interrupted installations", fact),)
    if not fact.value or context.stock_notebook:
        return ()
    return (
        Finding(
            id="PKG005",
            severity="warn",
            title=f"An installation was interrupted and left {listed(map(_last, fact.value))}",
            cause="pip renames a package with a leading ~ while it replaces it; when it is stopped, the "
            "folder "
            "stays and every later command warns of an 'invalid distribution'. The package itself may be "
            "incomplete.",
            evidence=(seen("leftovers", fact),),
            remedy=Remedy(
                text="Delete what was left.",
                commands=(context.commands.remove(*fact.value),),
            ),
        ),
    )


def _shadowing(context: Context) -> tuple[Finding, ...]:
    fact = context.facts.packages.shadowing
    if not fact.known:
        return (cannot_tell("PY007", "whether local files shadow modules", fact),)
    if not fact.value:
        return ()
    # Names without a folder lie in the working folder, which a "safe path" leaves out.
    harmless = bool(context.variable("PYTHONSAFEPATH"))
    found = [item for item in fact.value if not harmless or _last(item) != item]
    if not found:
        return ()
    first = found[0]
    stem = _last(first).partition(".")[0]
    return (
        Finding(
            id="PY007",
            severity="fail",
            title=f"Python would import your own {listed(found)} in place of the real module",
            cause=f"Python looks in the folder of your script first, so `import {stem}`, also the one inside "
            f"TensorFlow, gets this file: 'partially initialized module' or 'has no attribute'.",
            evidence=(seen("found", fact),),
            remedy=Remedy(
                text="Give it another name, and delete the __pycache__ folder beside it.",
                commands=tuple(context.commands.rename(item, _renamed(item)) for item in found),
            ),
        ),
    )


def _python_path(context: Context) -> tuple[Finding, ...]:
    home, path = context.variable("PYTHONHOME"), context.variable("PYTHONPATH")
    if home:
        return (
            Finding(
                id="PY006",
                severity="warn",
                title="PYTHONHOME is set, so this Python takes its standard library from elsewhere",
                cause="With a library of another version or build, imports fail in odd places.",
                evidence=(variable("PYTHONHOME", home),),
                remedy=Remedy(
                    text="Take the variable away.", commands=(context.commands.unset("PYTHONHOME"),)
                ),
            ),
        )
    if not path or context.stock_notebook:
        return ()
    separator = ";" if context.facts.system.os.value == "windows" else ":"
    folders = [folder.rstrip("/\\") for folder in path.split(separator) if folder]
    strangers = sorted(
        name
        for name in context.stack.closure
        if name in context.stack.installed and context.stack.installed[name].location.rstrip("/\\") in folders
    )
    if not strangers:
        return ()
    return (
        Finding(
            id="PY006",
            severity="warn",
            title=f"PYTHONPATH puts other packages in front of this TensorFlow: {listed(strangers)}",
            cause="What lies in a folder of PYTHONPATH is imported before what is installed in the "
            "environment.",
            evidence=(variable("PYTHONPATH", path), *(_where(context, name) for name in strangers[:8])),
            remedy=Remedy(
                text="Take the variable away, or the folder with these packages out of it.",
                commands=(context.commands.unset("PYTHONPATH"),),
            ),
        ),
    )


def _bytecode(context: Context) -> tuple[Finding, ...]:
    fact = context.facts.python.writes_bytecode
    if context.stack.tensorflow is None or fact.value is not False:
        return ()
    name = "PYTHONDONTWRITEBYTECODE"
    value = context.variable(name)
    evidence = (variable(name, value),) if value else (seen("bytecode is kept", fact),)
    return (
        Finding(
            id="PY012",
            severity="info",
            title="Python may not keep compiled bytecode: every start of TensorFlow can take seconds longer",
            cause="TensorFlow imports some thousands of Python files; without bytecode beside them they are "
            "compiled anew at each start (about 3 s).",
            evidence=evidence,
            remedy=Remedy(
                text="Let Python write bytecode.", commands=(context.commands.unset(name),) if value else ()
            ),
        ),
    )


def _no_installer(context: Context) -> tuple[Finding, ...]:
    commands = context.commands
    if commands.has_pip or commands.installer == "uv" or commands.closed:
        return ()
    return (
        Finding(
            id="PY014",
            severity="info",
            title="This Python has no pip, and uv was not found",
            cause="The commands of the other findings need one of them.",
            evidence=(seen("pip", context.facts.python.pip_version),),
            remedy=Remedy(text="Give it pip, or install uv.", commands=(commands.get_pip(),)),
        ),
    )


def _windows_drive(context: Context) -> tuple[Finding, ...]:
    facts = context.facts
    prefix = facts.environment.prefix.value or ""
    if facts.system.wsl.value and prefix.startswith("/mnt/") and prefix[6:7] in ("/", ""):
        return (
            Finding(
                id="WSL006",
                severity="warn",
                title="The environment lies on a Windows drive, which Linux reads slowly",
                cause="Under WSL, folders below /mnt/c are reached over the network protocol 9p; importing "
                "TensorFlow from there takes many times longer.",
                evidence=(seen("environment", facts.environment.prefix),),
                remedy=Remedy(
                    text="Make the environment in the Linux home folder.",
                    commands=("tfenv bootstrap --venv ~/tf",),
                ),
            ),
        )
    return ()


def _google_drive(context: Context) -> tuple[Finding, ...]:
    facts = context.facts
    if (facts.environment.prefix.value or "").startswith("/content/drive/"):
        return (
            Finding(
                id="COL006",
                severity="warn",
                title="The environment lies on Google Drive, which is slow and knows no links",
                cause="Drive is mounted over the network: an environment there imports slowly and often "
                "breaks.",
                evidence=(seen("environment", facts.environment.prefix),),
                remedy=Remedy(
                    text="Make the environment on the machine's own disk.",
                    commands=("!tfenv bootstrap --venv /content/tf",),
                ),
            ),
        )
    return ()


def _where(context: Context, name: str) -> Evidence:
    found = context.stack.installed[name]
    return Evidence(what=name, value=found.version, source=found.location)


def _same_folder(one: str, other: str) -> bool:
    def plain(folder: str) -> str:
        # macOS: /tmp and /var are links into /private.
        return folder.rstrip("/\\").removeprefix("/private").replace("\\", "/").lower()

    return plain(one) == plain(other)


def _last(path: str) -> str:
    return PureWindowsPath(path).name if "\\" in path else PurePosixPath(path).name


def _renamed(item: str) -> str:
    name = _last(item)
    return (
        item[: len(item) - len(name)]
        + "my_"
        + canonical(name.partition(".")[0]).replace("-", "_")
        + name[len(name.partition(".")[0]) :]
    )


CHECKS = (
    Check(
        id="PY003",
        rung="environment",
        summary="The activated environment is the one that runs",
        run=_activated,
    ),
    Check(
        id="PY004", rung="environment", summary="Installers may change this Python", run=_externally_managed
    ),
    Check(id="PY014", rung="environment", summary="There is an installer", run=_no_installer),
    Check(id="PY007", rung="environment", summary="No local file shadows a module", run=_shadowing),
    Check(
        id="PY006",
        rung="environment",
        summary="PYTHONPATH and PYTHONHOME bring no strangers",
        run=_python_path,
    ),
    Check(
        id="PY005", rung="environment", summary="The user folder holds no part of the stack", run=_user_site
    ),
    Check(id="PKG005", rung="environment", summary="No remains of interrupted installations", run=_leftovers),
    Check(id="PY012", rung="environment", summary="Python keeps compiled bytecode", run=_bytecode),
    Check(
        id="WSL006",
        rung="environment",
        summary="The environment is not on a Windows drive",
        run=_windows_drive,
    ),
    Check(
        id="COL006", rung="environment", summary="The environment is not on Google Drive", run=_google_drive
    ),
)
