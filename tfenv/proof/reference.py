"""What healthy stacks measured: bands shipped with tfenv, made by ``bench/proof_reference.py``."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Optional

from tfenv.codec import decode
from tfenv.proof.model import Stack
from tfenv.records import record
from tfenv.versions import minor_of

REFERENCE_VERSION = 1
_FILE = Path(__file__).with_name("reference.json")


@record
class Band:
    """Where a statistic lay on healthy stacks, widened by the calibration's rule, and which runs say so."""

    low: float
    high: float
    source: str


@record
class BandRow:
    """One line of the reference file."""

    check: str  # "S6.images.auc"
    keras: str  # major version of Keras: "2", "3"
    tensorflow: str  # "2.18"
    device: str  # "CPU", "GPU"
    low: float
    high: float
    runs: int
    least: float  # what those runs gave
    median: float
    most: float


@record
class References:
    """The bands of every check, by stack and kind of device."""

    tfenv_reference_version: int = REFERENCE_VERSION
    bands: tuple[BandRow, ...]

    def band(self, check: str, stack: Optional[Stack]) -> Optional[Band]:
        """The band for ``check`` on ``stack``, from the nearest stack that has one.

        Nearest: the same TensorFlow minor, Keras major and device; then the same Keras and device; then the
        same Keras; then any. What is not the same stack gets the union of the bands.
        """
        rows = [row for row in self.bands if row.check == check]
        if not rows or stack is None:
            return None
        keras = stack.keras.partition(".")[0]
        minor = minor_of(stack.tensorflow)
        device = (stack.devices_used or ("CPU",))[0].partition(":")[0]
        for wanted in (
            [row for row in rows if (row.tensorflow, row.keras, row.device) == (minor, keras, device)],
            [row for row in rows if (row.keras, row.device) == (keras, device)],
            [row for row in rows if row.keras == keras],
            rows,
        ):
            if wanted:
                return _union(wanted)
        return None


def shipped() -> References:
    """The references that come with tfenv."""
    return decode(References, json.loads(_FILE.read_text("utf-8")))


def _union(rows: Iterable[BandRow]) -> Band:
    rows = tuple(rows)
    stacks = ", ".join(sorted({f"TF {row.tensorflow} Keras {row.keras} {row.device}" for row in rows}))
    return Band(
        low=min(row.low for row in rows),
        high=max(row.high for row in rows),
        source=f"{sum(row.runs for row in rows)} runs on {stacks}",
    )
