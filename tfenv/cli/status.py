"""``tfenv status``: does the environment still match its lock?"""

from tfenv.cli.options import Json, Python, Venv


def status(python: Python = None, venv: Venv = None, json: Json = False) -> int:
    """Does this environment still match the lock it was bootstrapped with?"""
    from tfenv.cli.present import present
    from tfenv.flow.status import status_command

    return present(status_command(python, venv), json=json)
