"""Round trip and repetition on real TensorFlows: what is lost, and what does not repeat, is found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from faults.arm import plant
from faults.layer import layer, site_packages

from tfenv.events import Listener
from tfenv.proof.finding import findings_of
from tfenv.proof.protocol import ChildOutcome, ChildRequest
from tfenv.proof.run import prove
from tfenv.proof.runner import SubprocessRunner

pytestmark = pytest.mark.tf


class _Only(SubprocessRunner):
    """Runs S0, S8 and S9 of what is asked for."""

    def run(
        self, python: Path, requests: Sequence[ChildRequest], listener: Listener
    ) -> tuple[ChildOutcome, ...]:
        kept = [
            replace(request, stages=tuple(name for name in request.stages if name in ("S0", "S8", "S9")))
            for request in requests
        ]
        return super().run(python, kept, listener)


def test_a_healthy_stack_survives_the_round_trip_and_repeats(tf_python: Path) -> None:
    report = prove(tf_python, level="full", runner=_Only())
    by_id = {stage.id: stage for stage in report.stages}
    assert (report.verdict, report.crash, findings_of(report)) == ("pass", None, ())
    assert [check.id for check in by_id["S8"].checks] == [
        *("S8.trained", "S8.keras", "S8.h5", "S8.evaluate", "S8.weights", "S8.exported")
    ]
    assert len(by_id["S9"].checks) == 8
    assert report.fingerprint is not None
    key = report.fingerprint.key
    assert (key.device, key.dtype, key.seed) == ("CPU", "float32", str(report.seed))
    assert key.wheel.startswith("tensorflow")


@pytest.mark.parametrize(
    ("fault", "failed"),
    [
        ("weights-rounded", {"S8.keras", "S8.h5", "S8.weights"}),
        ("seed-ignored", {"S9.draws", "S9.images.weights", "S9.sequences.weights"}),
    ],
    ids=["weights-rounded", "seed-ignored"],
)
def test_what_is_lost_or_does_not_repeat_is_found(
    tf_python: Path, tmp_path: Path, fault: str, failed: set[str]
) -> None:
    python = layer(tmp_path / "env", tf_python, over=True)
    plant(site_packages(python), fault)
    report = prove(python, level="full", runner=_Only())
    assert report.verdict == "fail"
    assert failed <= {check.id for stage in report.stages for check in stage.checks if check.passed is False}
    assert {finding.id for finding in findings_of(report)} == {"SAV001" if "S8.keras" in failed else "REP001"}
