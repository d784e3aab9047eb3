from __future__ import annotations

from dataclasses import replace

import pytest
from proof.recorded import STACK

from tfenv.proof.model import Stack
from tfenv.proof.reference import Band, BandRow, References, shipped


def _row(keras: str, tensorflow: str, device: str, low: float, high: float) -> BandRow:
    return BandRow(
        check="S6.images.loss",
        keras=keras,
        tensorflow=tensorflow,
        device=device,
        low=low,
        high=high,
        runs=100,
        least=low,
        median=(low + high) / 2,
        most=high,
    )


REFERENCES = References(
    bands=(
        _row("2", "2.15", "CPU", 1.0, 2.0),
        _row("3", "2.18", "CPU", 3.0, 5.0),
        _row("3", "2.21", "CPU", 4.0, 6.0),
        _row("3", "2.21", "GPU", 0.0, 9.0),
    )
)
SAME = "100 runs on TF 2.18 Keras 3 CPU"
BOTH = "200 runs on TF 2.18 Keras 3 CPU, TF 2.21 Keras 3 CPU"
ALL = "400 runs on TF 2.15 Keras 2 CPU, TF 2.18 Keras 3 CPU, TF 2.21 Keras 3 CPU, TF 2.21 Keras 3 GPU"
KERAS_2 = "100 runs on TF 2.15 Keras 2 CPU"


@pytest.mark.parametrize(
    ("stack", "band"),
    [
        (STACK, Band(low=3.0, high=5.0, source=SAME)),
        (replace(STACK, tensorflow="2.20.0"), Band(low=3.0, high=6.0, source=BOTH)),
        (replace(STACK, keras="2.18.0", keras_package="tf_keras"), Band(low=1.0, high=2.0, source=KERAS_2)),
        (
            replace(STACK, keras="2.15.0", devices_used=("GPU:0",)),
            Band(low=1.0, high=2.0, source=KERAS_2),
        ),
        (replace(STACK, keras="4.0.0"), Band(low=0.0, high=9.0, source=ALL)),
    ],
    ids=["same-stack", "same-keras", "legacy-keras", "device-never-seen", "keras-never-seen"],
)
def test_the_nearest_stack_gives_the_band(stack: Stack, band: Band) -> None:
    assert REFERENCES.band("S6.images.loss", stack) == band


def test_no_band_for_an_unknown_check_or_stack() -> None:
    assert REFERENCES.band("S9.other", STACK) is None
    assert REFERENCES.band("S6.images.loss", None) is None


def test_shipped_bands_reach_beyond_what_was_seen() -> None:
    bands = shipped().bands
    assert {row.check for row in bands} == {
        "S5.loss",
        "S6.images.auc",
        "S6.images.loss",
        "S6.sequences.accuracy",
        "S6.sequences.loss",
    }
    for row in bands:
        assert row.low < row.least < row.median < row.most <= row.high
        assert row.runs >= 100
