"""The ``tfenv locks`` commands: what exists, what fits here and why not."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Optional

from tfenv.errors import EXIT_CHECK_FAILED, EXIT_OK, NoLockError
from tfenv.events import Listener
from tfenv.flow.facts import gather
from tfenv.flow.templates import write_file
from tfenv.locks.catalogue import Unreadable, load_catalogue, lock_ids, read_lock
from tfenv.locks.choose import choose_lock
from tfenv.locks.fit import Fit, fit
from tfenv.locks.model import Lock, NoStack
from tfenv.locks.refresh import RefreshReport
from tfenv.paths import cache_dir, lockfiles_dir
from tfenv.records import record
from tfenv.result import Result, status_of
from tfenv.targets.choose import choose_target
from tfenv.targets.model import Target


@record
class LockList:
    """The catalogue beside this machine."""

    target: Target
    chosen: Optional[str] = None  # what a bootstrap without wishes takes
    refusal: str = ""  # why it would take none
    locks: tuple[Fit, ...]
    none: tuple[NoStack, ...]  # combinations that policy rules out for this target
    unreadable: tuple[Unreadable, ...] = ()


def list_command(
    python: Optional[str],
    venv: Optional[Path],
    recorded: Optional[Path],
    *,
    target: Optional[str],
    everything: bool,
) -> Result[LockList]:
    """``tfenv locks list``."""
    facts = gather(python, venv, recorded)
    catalogue = load_catalogue(lockfiles_dir())
    chosen_target = choose_target(facts, target)
    fits = [fit(lock, chosen_target, facts) for lock in catalogue.locks]
    chosen, refusal = None, ""
    try:
        chosen = choose_lock(catalogue, target=chosen_target, facts=facts).id
    except NoLockError as error:
        refusal = error.message
    data = LockList(
        target=chosen_target,
        chosen=chosen,
        refusal=refusal,
        locks=tuple(item for item in fits if everything or item.target == chosen_target.name),
        none=tuple(entry for entry in catalogue.none if everything or entry.target == chosen_target.name),
        unreadable=catalogue.unreadable,
    )
    return Result(
        command="locks list", status="warn" if data.unreadable else "ok", exit_code=EXIT_OK, data=data
    )


def show_command(lock_id: str) -> Result[Lock]:
    """``tfenv locks show``."""
    return Result(
        command="locks show", status="ok", exit_code=EXIT_OK, data=read_lock(lockfiles_dir(), lock_id)
    )


@record
class Exported:
    """A lockfile as text, and where it was written."""

    lock: str
    path: Optional[str] = None
    text: str


def export_command(lock_id: str, output: Optional[Path]) -> Result[Exported]:
    """``tfenv locks export``: to stdout, or to a file."""
    read_lock(lockfiles_dir(), lock_id)  # refuses what is no lock
    text = (lockfiles_dir() / f"{lock_id}.txt").read_text(encoding="utf-8")
    if output is not None:
        write_file(output, text)
    data = Exported(lock=lock_id, path=str(output) if output else None, text=text)
    return Result(command="locks export", status="ok", exit_code=EXIT_OK, data=data)


def refresh_command(only: tuple[str, ...], *, listener: Listener) -> Result[RefreshReport]:
    """``tfenv locks refresh``: exit 1 if a lock could not be compiled."""
    from tfenv.install.environ import installer_environment
    from tfenv.locks.compile import uv_resolver
    from tfenv.locks.refresh import refresh
    from tfenv.locks.wheelfile import RemoteWheels

    resolver = uv_resolver(installer_environment(os.environ))
    reader = RemoteWheels(cache_dir() / "wheels")
    report = refresh(lockfiles_dir(), resolver, reader, only=only, listener=listener)
    failed = any(change.kind == "failed" for change in report.changes)
    return Result(
        command="locks refresh",
        status="fail" if failed else "ok",
        exit_code=EXIT_CHECK_FAILED if failed else EXIT_OK,
        data=report,
    )


@record
class Verified:
    """A check of the whole catalogue."""

    locks: int
    bytes: int


def verify_command() -> Result[Verified]:
    """``tfenv locks verify``: exit 1 if anything is wrong; the findings say what."""
    from tfenv.locks.verify import verify_catalogue

    directory = lockfiles_dir()
    findings = verify_catalogue(directory)
    data = Verified(
        locks=len(lock_ids(directory)),
        bytes=sum(path.stat().st_size for path in directory.rglob("*") if path.is_file()),
    )
    outcome = status_of(findings)
    return Result(
        command="locks verify",
        status=outcome,
        exit_code=EXIT_CHECK_FAILED if outcome == "fail" else EXIT_OK,
        data=data,
        findings=findings,
    )
