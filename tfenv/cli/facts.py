"""``tfenv facts``: what was detected, with sources."""

from tfenv.cli.options import FactsFile, Json, Python, Venv


def facts(python: Python = None, venv: Venv = None, recorded: FactsFile = None, json: Json = False) -> int:
    """What was detected about this machine and interpreter, each fact with its source."""
    from tfenv.cli.present import present
    from tfenv.flow.facts import facts_command

    return present(facts_command(python, venv, recorded), json=json)
