"""The fingerprint of a stack and its key, as they are stored."""

from __future__ import annotations

from tfenv.records import record


@record
class FingerprintKey:
    """What may change the bits of a result; only fingerprints of equal keys can be compared.

    "" is unknown, or does not apply.
    """

    recipe: str  # of the proof: what is digested
    seed: str
    lock: str = ""  # id and digest, where the environment was bootstrapped from one
    tensorflow: str
    wheel: str = ""  # name, and digest of the file hashes that the wheel lists
    keras: str
    numpy: str
    machine: str  # "linux x86_64"
    cpu: str = ""  # widest vector instructions
    threads: str = ""
    device: str  # "CPU", "GPU Tesla T4 7.5"
    driver: str = ""  # NVIDIA's, major
    onednn: str = ""
    tf32: str = ""
    xla: str = ""
    dtype: str = ""


@record
class Fingerprint:
    """The digest of everything that a seed decides, and of what it may depend on."""

    value: str
    key: FingerprintKey
