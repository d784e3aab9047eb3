"""Fingerprints: made only of what repeated, compared only where keys are equal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tfenv.proof.fingerprint import changed, fingerprint_of
from tfenv.proof.key import Fingerprint, FingerprintKey
from tfenv.proof.model import Digest, StageResult

KEY = FingerprintKey(
    recipe="1",
    seed="42",
    lock="linux-x86_64-cpu/tf2.18-py311 abc",
    tensorflow="2.18.1",
    keras="3.6.0",
    numpy="1.26.4",
    machine="linux x86_64",
    device="CPU",
)
STORED = Fingerprint(value="aa", key=KEY)
REPEATED = StageResult(id="S9", title="repeat", verdict="pass", digests=(Digest(task="draws", value="1"),))


def test_a_fingerprint_carries_the_lock_and_depends_on_every_digest() -> None:
    found = fingerprint_of((REPEATED,), replace(KEY, lock=""), KEY.lock)
    other = fingerprint_of((replace(REPEATED, digests=(Digest(task="draws", value="2"),)),), KEY, KEY.lock)
    assert found is not None
    assert other is not None
    assert (found.key, found.value) == (KEY, "2210ac57528fc74dcd6ffddc48c584c3")
    assert found.value != other.value


@pytest.mark.parametrize(
    "stages",
    [(), (replace(REPEATED, verdict="fail"),), (replace(REPEATED, digests=()),)],
    ids=["not-run", "not-repeated", "nothing"],
)
def test_without_a_repetition_there_is_none(stages: tuple[StageResult, ...]) -> None:
    assert fingerprint_of(stages, KEY, "") is None


def test_other_bits_with_the_same_key_are_a_warning() -> None:
    (finding,) = changed(STORED, replace(STORED, value="bb"))
    assert (finding.id, finding.severity) == ("REP002", "warn")
    assert [item.value for item in finding.evidence[:2]] == ["bb", "aa"]


@pytest.mark.parametrize(
    ("stored", "found"),
    [
        (STORED, STORED),
        (None, STORED),
        (STORED, None),
        (STORED, Fingerprint(value="bb", key=replace(KEY, threads="8"))),
        (STORED, Fingerprint(value="bb", key=replace(KEY, onednn="on"))),
    ],
    ids=["same", "nothing-stored", "none-made", "threads", "onednn"],
)
def test_what_is_the_same_or_not_comparable_is_no_finding(
    stored: Fingerprint | None, found: Fingerprint | None
) -> None:
    assert changed(stored, found) == ()
