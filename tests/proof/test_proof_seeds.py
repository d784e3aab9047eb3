"""The bench behind the reference bands runs the stages as they are."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from proof_reference import bands

import tfenv.proof.child
from tfenv.proof.runner import child_environment

CHILD = Path(tfenv.proof.child.__file__).parent
SCRIPT = Path(__file__).parents[2] / "bench" / "proof_seeds.py"


@pytest.mark.tf
def test_a_band_for_every_statistic_of_the_quick_level(tf_python: Path) -> None:
    done = subprocess.run(
        [tf_python, SCRIPT, CHILD, "1", "2"],
        env=child_environment(os.environ),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    made = bands(done.stdout.splitlines())
    assert [(band.check, band.device, band.runs) for band in made] == [
        ("S5.loss", "CPU", 2),
        ("S6.images.auc", "CPU", 2),
        ("S6.images.loss", "CPU", 2),
        ("S6.sequences.accuracy", "CPU", 2),
        ("S6.sequences.loss", "CPU", 2),
    ]
