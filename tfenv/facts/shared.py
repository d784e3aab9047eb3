"""Import folders that more than one distribution claims.

Installers overwrite without asking: the last one wins file by file, and removing one distribution tears holes
into the other. Decided by the files that the RECORDs list, never by names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from tfenv.facts.distributions import Installed
from tfenv.facts.model import SharedFolder

#: Distributions whose RECORD is read (several hundred RECORDs would be tens of megabytes): those that carry
#: TensorFlow, Keras, protobuf or NVIDIA's libraries, under any of their names.
_CANDIDATE = re.compile(
    r"(tensorflow(-(cpu|gpu|intel|macos|rocm|cpu-aws|aarch64|directml|metal))?|tf-nightly.*|intel-tensorflow.*"
    r"|.*-tensorflow|keras(-nightly)?|tf-keras(-nightly)?|protobuf.*|nvidia-.*)$"
)
#: The folder that is shared or not: two levels for the namespaces that many distributions have a part in.
_FOLDER = re.compile(rb"^((?:google|nvidia)/[^/,\n]+|tensorflow|keras|tf_keras)/([^,\n]+)", re.MULTILINE)


def shared_folders(installed: Iterable[Installed]) -> tuple[SharedFolder, ...]:
    """The folders in which one and the same file belongs to more than one distribution, sorted by folder."""
    owners: dict[str, dict[str, frozenset[bytes]]] = {}
    for item in installed:
        if _CANDIDATE.match(item.distribution.name):
            for folder, files in _files(item.metadata).items():
                owners.setdefault(f"{item.metadata.parent}\0{folder}", {})[item.distribution.name] = files
    shared = []
    for key, claims in sorted(owners.items()):
        names = sorted(name for name, files in claims.items() if _overlaps(name, files, claims))
        if names:
            shared.append(SharedFolder(folder=key.partition("\0")[2], owners=tuple(names)))
    return tuple(shared)


def _overlaps(name: str, files: frozenset[bytes], claims: Mapping[str, frozenset[bytes]]) -> bool:
    return any(files & others for other, others in claims.items() if other != name)


def _files(metadata: Path) -> dict[str, frozenset[bytes]]:
    """Folder to the files below it that the RECORD lists."""
    try:
        record = (metadata / "RECORD").read_bytes()
    except OSError:
        return {}
    found: dict[bytes, set[bytes]] = {}
    for folder, file in _FOLDER.findall(record):
        # Bytecode is written by whoever comes first; empty __init__ files are in every part of a namespace.
        if b"__pycache__" not in file and file != b"__init__.py":
            found.setdefault(folder, set()).add(file)
    return {folder.decode("utf-8", "replace"): frozenset(files) for folder, files in found.items()}
