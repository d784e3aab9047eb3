"""What tfenv remembers inside an environment: one small versioned JSON file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Optional

from tfenv.codec import CodecError, decode, encode
from tfenv.files import write_atomically
from tfenv.install.failure import not_written
from tfenv.proof.key import Fingerprint
from tfenv.records import record

STATE_VERSION = 1
STATE_FILE = "state.json"
#: A state file is a few kB; anything much larger is not ours.
_MAX_BYTES = 1_000_000


@record
class ProofState:
    """The last proof that ran in the environment."""

    level: str
    verdict: str
    date: str  # ISO 8601, UTC
    device: str
    seed: int


@record
class EnvState:
    """What an environment was bootstrapped with."""

    tfenv_state_version: int = STATE_VERSION
    tfenv: str  # the version of tfenv that wrote this
    owned: bool  # created by tfenv
    lock: str = ""  # id; "" = created, but nothing installed yet
    digest: str = ""  # of the lockfile
    target: str = ""
    tensorflow: str = ""
    mode: str = "sync"
    distributions: Mapping[str, str]  # what the lock's names stood at when the proof ran
    extra: tuple[str, ...] = ()  # installed beside the lock and left alone
    machine: str = ""  # what must be equal for the proof to still count, see tfenv.install.machine
    proof: Optional[ProofState] = None
    fingerprint: Optional[Fingerprint] = None  # of the last proof that was thorough enough to make one


def read_state(folder: Path) -> Optional[EnvState]:
    """The state in tfenv's ``folder`` of an environment; None if there is none that can be read."""
    path = folder / STATE_FILE
    try:
        if path.stat().st_size > _MAX_BYTES:
            return None
        document = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(document, dict) or document.get("tfenv_state_version") != STATE_VERSION:
            return None
        return decode(EnvState, document)
    except (OSError, ValueError, RecursionError, CodecError):
        return None


def lock_key(lock: str, digest: str) -> str:
    """Id and digest of a lock as one text, by which fingerprints know it; "" where there is no lock."""
    return f"{lock} {digest}" if lock else ""


def write_state(folder: Path, state: EnvState) -> None:
    """Write ``state`` into tfenv's ``folder``: to a temporary file, then renamed.

    Raises:
        InstallError: the environment cannot be written.
    """
    text = json.dumps(encode(state), indent=1, sort_keys=True) + "\n"
    try:
        folder.mkdir(exist_ok=True)
        write_atomically(folder / STATE_FILE, text.encode("utf-8"))
    except OSError as error:
        raise not_written(folder.parent, error) from error
