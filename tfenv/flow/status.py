"""Does an environment still match the lock it was bootstrapped with?"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Optional

from packaging.utils import canonicalize_name

from tfenv.errors import EXIT_OK, EXIT_PENDING, TfenvError, UsageError
from tfenv.flow.host import locate
from tfenv.install.site import Site
from tfenv.install.state import EnvState, ProofState, read_state
from tfenv.install.transaction import is_unfinished
from tfenv.locks.catalogue import lock_digest
from tfenv.paths import lockfiles_dir
from tfenv.proof.key import Fingerprint
from tfenv.records import record
from tfenv.result import Result

DifferenceKind = Literal["interrupted", "missing", "changed", "extra", "lock-changed"]


@record
class Difference:
    """One way in which the environment is not what it was bootstrapped to."""

    kind: DifferenceKind
    name: str
    expected: str = ""
    found: str = ""


@record
class StatusReport:
    """An environment beside its lock."""

    environment: str
    lock: str
    tensorflow: str
    mode: str
    differences: tuple[Difference, ...]
    proof: Optional[ProofState] = None
    fingerprint: Optional[Fingerprint] = None


def status_command(python: Optional[str], venv: Optional[Path]) -> Result[StatusReport]:
    """``tfenv status``: exit 3 if a bootstrap would change something."""
    report = status(locate(python, venv, os.environ), lockfiles_dir())
    pending = bool(report.differences)
    return Result(
        command="status",
        status="warn" if pending else "ok",
        exit_code=EXIT_PENDING if pending else EXIT_OK,
        data=report,
    )


def status(site: Site, catalogue: Path) -> StatusReport:
    """The status of the environment ``site``; reads names of folders and one small file, runs nothing.

    Raises:
        UsageError: tfenv has not bootstrapped this environment.
    """
    state = read_state(site.folder)
    if state is None or not state.lock:
        raise UsageError(
            "not-bootstrapped",
            f"{site.prefix} was not bootstrapped by tfenv.",
            hint=f"Bootstrap it: tfenv bootstrap --python {site.python}",
        )
    found = differences(state, installed_versions(site), _digest(catalogue, state.lock))
    if is_unfinished(site):
        found = (Difference(kind="interrupted", name="bootstrap"), *found)
    return StatusReport(
        environment=str(site.prefix),
        lock=state.lock,
        tensorflow=state.tensorflow,
        mode=state.mode,
        differences=found,
        proof=state.proof,
        fingerprint=state.fingerprint,
    )


def differences(
    state: EnvState, installed: Mapping[str, str], digest: Optional[str]
) -> tuple[Difference, ...]:
    """How ``installed`` (name to version) differs from ``state``; ``digest`` is the lock's of today."""
    found = []
    if digest is not None and digest != state.digest:
        found.append(Difference(kind="lock-changed", name=state.lock, expected=state.digest, found=digest))
    for name, version in sorted(state.distributions.items()):
        if name not in installed:
            found.append(Difference(kind="missing", name=name, expected=version))
        elif installed[name] != version:
            found.append(Difference(kind="changed", name=name, expected=version, found=installed[name]))
    if state.mode == "sync":
        for name, version in sorted(installed.items()):
            if name not in state.distributions and name not in state.extra:
                found.append(Difference(kind="extra", name=name, found=version))
    return tuple(found)


def installed_versions(site: Site) -> dict[str, str]:
    """Name to version of every distribution in the environment, from the names of metadata folders."""
    versions: dict[str, str] = {}
    for folder in dict.fromkeys((site.purelib, site.platlib)):
        try:
            names = [entry.name for entry in folder.iterdir()]
        except OSError:
            continue
        for entry in names:
            if entry.endswith(".dist-info") and "-" in entry:
                name, _, version = entry[: -len(".dist-info")].rpartition("-")
                versions[str(canonicalize_name(name))] = version
    return versions


def _digest(catalogue: Path, lock_id: str) -> Optional[str]:
    """None where the catalogue no longer has the lock: nothing to compare with."""
    try:
        return lock_digest(catalogue, lock_id)
    except TfenvError:
        return None
