"""What the hook costs at interpreter start: measured side by side, asserted loosely: machines are noisy."""

from __future__ import annotations

import os
import statistics
import sys
from collections.abc import Mapping

import pytest

from tests.seeding.conftest import QUIET, Environment
from tfenv.seeding.install import PTH_NAME, seed_on

ROUNDS = 60


def cpu_seconds(environment: Environment, env: Mapping[str, str]) -> float:
    """Of one start and end; unlike the clock it hardly sees what else the machine does."""
    child = os.posix_spawn(environment.python, [str(environment.python), "-c", "pass"], env)
    _, status, used = os.wait4(child, 0)
    assert status == 0
    return used.ru_utime + used.ru_stime


@pytest.mark.skipif(os.name == "nt", reason="wait4 is POSIX")
def test_start_with_the_hook_beside_start_without(bare: Environment) -> None:
    seed_on(bare.site, 42)
    on, off = bare.site / PTH_NAME, bare.site / "_tfenv_seed.off"
    env = {name: value for name, value in os.environ.items() if name not in QUIET}
    env["PYTHONDONTWRITEBYTECODE"] = "1"  # the worst case
    with_hook, without = [], []
    for _ in range(ROUNDS):
        with_hook.append(cpu_seconds(bare, env))
        on.rename(off)
        without.append(cpu_seconds(bare, env))
        off.rename(on)
    best, rest = min(without), min(with_hook) - min(without)
    middle = statistics.median(with_hook) - statistics.median(without)
    sys.stdout.write(  # shown by pytest -rP
        f"start {best * 1e3:.1f} ms; hook {rest * 1e3:+.2f} ms (fastest), {middle * 1e3:+.2f} ms (median)\n"
    )
    assert rest < 0.25 * best
