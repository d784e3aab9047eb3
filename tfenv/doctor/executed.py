"""What an import and a proof in a child of the target interpreter showed, as the checks see it."""

from __future__ import annotations

from tfenv.records import record
from tfenv.result import Finding


@record
class Executed:
    """One run of the proof. Its findings carry the ids of the checks of the last two rungs."""

    loaded: bool  # TensorFlow was imported
    devices: tuple[str, ...] = ()  # all that TensorFlow lists, "CPU:0", "GPU:0"
    findings: tuple[Finding, ...] = ()
