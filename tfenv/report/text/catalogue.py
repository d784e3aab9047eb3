"""``tfenv locks`` as text."""

from __future__ import annotations

from tfenv.flow.catalogue import Exported, LockList, Verified
from tfenv.locks.model import Lock
from tfenv.locks.refresh import RefreshReport
from tfenv.report.text.page import Page
from tfenv.report.units import megabytes
from tfenv.result import D, Result


def write(page: Page, result: Result[D]) -> None:
    """Write ``result`` if it is about the catalogue."""
    data = result.data
    if isinstance(data, LockList):
        _write_list(page, data)
    elif isinstance(data, Lock):
        _write_lock(page, data)
    elif isinstance(data, Exported):
        if data.path is None:
            page.raw(data.text)
        else:
            page.verdict("ok", f"{data.lock} was written to {data.path}.")
            page.line(f"  Install it without tfenv: pip install --require-hashes --no-deps -r {data.path}")
    elif isinstance(data, Verified):
        for finding in result.findings:
            page.finding(finding)
        words = f"{len(result.findings)} things are wrong" if result.findings else "All is well"
        page.verdict(result.status, f"{words}: {data.locks} locks, {megabytes(data.bytes)}.")
    elif isinstance(data, RefreshReport):
        for change in data.changes:
            page.line(f"  {change.kind:<8} {change.id}  {'; '.join(change.details)}".rstrip())
        page.verdict(result.status, f"{len(data.changes)} locks changed, {data.unchanged} unchanged.")


def _write_list(page: Page, data: LockList) -> None:
    page.item("target", f"{data.target.name}: {data.target.reason}")
    rows = []
    for item in data.locks:
        marks = "on wish only; " if item.on_wish and item.fits else ""
        why = "fits" if item.fits else "; ".join(reason.text for reason in item.reasons)
        chosen = "* " if item.lock == data.chosen else "  "
        rows.append((chosen + item.lock, item.tensorflow, item.evidence, megabytes(item.size), marks + why))
    page.table(("  lock", "TensorFlow", "evidence", "download", "here"), rows)
    for entry in data.none:
        python = f" on Python {entry.python}" if entry.python else ""
        page.line(
            f"  no lock of {entry.tensorflow or 'any version'}{python} for {entry.target}: {entry.reason}"
        )
    for broken in data.unreadable:
        page.verdict("warn", f"{broken.id} is unreadable: {broken.reason}")
    if data.chosen:
        page.verdict("ok", f"tfenv bootstrap would take {data.chosen}.")
    else:
        page.verdict("warn", data.refusal)


def _write_lock(page: Page, lock: Lock) -> None:
    page.item("lock", lock.id)
    page.item("holds", f"TensorFlow {lock.tensorflow} (in {lock.holder}) for Python {lock.python}")
    page.item("as of", lock.as_of)
    page.item("evidence", lock.evidence)
    floors = lock.floors
    named = [
        f"{name} >= {value}"
        for name, value in (
            ("glibc", floors.glibc),
            ("macOS", floors.macos),
            ("NVIDIA driver", floors.driver),
        )
        if value
    ]
    page.item(
        "needs", ", ".join([*named, *(f"CPU with {name}" for name in floors.cpu_features)]) or "nothing"
    )
    if lock.cuda is not None:
        cuda = lock.cuda
        page.item(
            "CUDA",
            f"{cuda.cuda}, cuDNN {cuda.cudnn}, compute capability {cuda.min_compute_capability} to "
            f"{cuda.max_compute_capability}",
        )
    for fault in lock.faults:
        page.item("known fault", f"{fault.text} ({fault.source})")
    page.item("download", f"{megabytes(lock.size)} in {len(lock.pins)} distributions")
    for pin in lock.pins:
        page.line(f"    {pin.name}=={pin.version}")
