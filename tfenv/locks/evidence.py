"""What was proven of which lock, where and when: ``lockfiles/evidence.toml``, written only by a command."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from tfenv.codec import CodecError, decode, encode
from tfenv.errors import UsageError
from tfenv.files import write_atomically
from tfenv.locks.model import EvidenceGrade, Lock
from tfenv.records import record
from tfenv.toml import parse_toml

EVIDENCE_FILE = "evidence.toml"

_HEADER = """\
# What was proven of which lock, where and when. Written by `nox -s prove_locks`, never by hand.
# An entry counts only while its digest is that of the lockfile, and on the kind of device the lock is for.
"""


@record
class Proven:
    """One lock on which tfenv's proof passed."""

    lock: str  # its id
    digest: str  # sha256 of the lockfile that was installed, hex
    date: str  # ISO date
    machine: str  # its kind, in words; nothing personal
    device: str  # where the operations really ran: "cpu" or "gpu"
    ran: str  # what ran: "bootstrap (uv), proof quick, status, doctor"
    proof: str  # the summary: "S0 pass; S5 pass: 96 of 96, threshold 80; …"


def read_evidence(path: Path) -> Mapping[str, Proven]:
    """The entries of the file at ``path`` by lock id; none if there is no such file.

    Raises:
        UsageError: the file is damaged.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise _damaged(path, str(error)) from error
    return _parse(text, path)


def add_evidence(path: Path, entries: Sequence[Proven]) -> None:
    """Write ``entries`` into the file at ``path``, beside those it has for other locks.

    The file is sorted by lock id and replaced in one step.

    Raises:
        UsageError: the file that is there is damaged, or it cannot be written.
    """
    merged = {**read_evidence(path), **{entry.lock: entry for entry in entries}}
    try:
        write_atomically(path, _render(merged).encode("utf-8"))
    except OSError as error:
        raise UsageError(
            "evidence-not-written",
            f"The evidence file {path} cannot be written: {error.strerror}.",
            hint="Run the command in a checkout of tfenv that you may write to.",
        ) from error


def grade_of(lock: Lock, evidence: Mapping[str, Proven]) -> EvidenceGrade:
    """``proven`` if this very file of ``lock`` was, on its kind of device; else the grade it came with."""
    entry = evidence.get(lock.id)
    if entry is None or entry.digest != lock.digest:
        return lock.evidence
    device = "gpu" if lock.target.endswith(("-cuda", "-metal")) else "cpu"
    return "proven" if entry.device == device else lock.evidence


def _parse(text: str, path: Path) -> Mapping[str, Proven]:
    entries: dict[str, Proven] = {}
    try:
        for lock_id, table in parse_toml(text).items():
            if not isinstance(table, Mapping):
                raise CodecError(f"{lock_id} is no table")
            entries[lock_id] = decode(Proven, {**table, "lock": lock_id})
    except ValueError as error:
        raise _damaged(path, str(error)) from error
    return entries


def _render(entries: Mapping[str, Proven]) -> str:
    blocks = [_HEADER]
    for lock_id in sorted(entries):
        fields = encode(entries[lock_id])
        assert isinstance(fields, Mapping)
        lines = [f"[{_quoted(lock_id)}]"]
        lines += [f"{key} = {_quoted(str(value))}" for key, value in fields.items() if key != "lock"]
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks)


def _quoted(value: str) -> str:
    """A TOML basic string. JSON's escapes are TOML's too, once no surrogates are written."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _damaged(path: Path, why: str) -> UsageError:
    return UsageError(
        "bad-evidence",
        f"The evidence file {path} cannot be read: {why}.",
        hint="Restore it from the repository, or delete it: the locks work without, only unproven.",
    )
