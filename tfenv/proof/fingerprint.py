"""The fingerprint of a stack: made from a proof, compared with the one that was stored. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from typing import Optional

from tfenv.proof.key import Fingerprint, FingerprintKey
from tfenv.proof.model import StageResult
from tfenv.result import Evidence, Finding, Remedy

#: The stage whose digests make the fingerprint.
_STAGE = "S9"


def fingerprint_of(
    stages: Iterable[StageResult], key: Optional[FingerprintKey], lock: str
) -> Optional[Fingerprint]:
    """The fingerprint of a proof with ``stages``; None where no two processes gave the same bits."""
    repeated = next((stage for stage in stages if stage.id == _STAGE and stage.verdict == "pass"), None)
    if repeated is None or key is None or not repeated.digests:
        return None
    text = "\n".join(f"{digest.task} {digest.value}" for digest in repeated.digests)
    return Fingerprint(value=hashlib.sha256(text.encode()).hexdigest()[:32], key=replace(key, lock=lock))


def changed(stored: Optional[Fingerprint], found: Optional[Fingerprint]) -> tuple[Finding, ...]:
    """A finding where the same stack gave other bits before; fingerprints of other keys say nothing."""
    if stored is None or found is None or stored.key != found.key or stored.value == found.value:
        return ()
    key = found.key
    return (
        Finding(
            id="REP002",
            severity="warn",
            title="The stack no longer gives the bits that it gave when its fingerprint was stored",
            cause="Seed, versions, wheel, device, threads and settings are the same, so the same bits were "
            "due. Files were changed in place, a library outside the environment was replaced, or the "
            "hardware computes differently.",
            evidence=(
                Evidence(what="fingerprint", value=found.value, source="this proof"),
                Evidence(what="stored fingerprint", value=stored.value, source="state of the environment"),
                Evidence(
                    what="key",
                    value=f"TensorFlow {key.tensorflow}, Keras {key.keras}, NumPy {key.numpy}, {key.device}",
                    source="both",
                ),
            ),
            remedy=Remedy(
                text="See whether the environment still matches its lock, and bootstrap it again if not.",
                commands=("tfenv status", "tfenv bootstrap"),
            ),
        ),
    )
