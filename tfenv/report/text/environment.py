"""``tfenv status``, ``seed`` and ``init`` as text."""

from __future__ import annotations

from tfenv.flow.status import Difference, StatusReport
from tfenv.flow.templates import Written
from tfenv.report.text.page import Page
from tfenv.result import D, Result
from tfenv.seeding.model import SeedShow, SeedState


def write(page: Page, result: Result[D]) -> None:
    """Write ``result`` if it is about an environment or a template."""
    data = result.data
    if isinstance(data, StatusReport):
        _write_status(page, data)
    elif isinstance(data, SeedShow):
        _write_seed(page, data)
    elif isinstance(data, SeedState):
        page.verdict("ok", _state(data))
    elif isinstance(data, Written):
        page.verdict("ok", f"{data.path} was written.")


def _write_status(page: Page, data: StatusReport) -> None:
    page.item("environment", data.environment)
    page.item("lock", f"{data.lock}: TensorFlow {data.tensorflow}")
    if data.proof is not None:
        page.item("proof", f"{data.proof.verdict} ({data.proof.level}, {data.proof.date})")
    if data.fingerprint is not None:
        key = data.fingerprint.key
        page.item("fingerprint", f"{data.fingerprint.value} (seed {key.seed}, {key.device})")
    for difference in data.differences:
        page.item(difference.kind, _words(difference))
    if data.differences:
        page.verdict("warn", f"{len(data.differences)} differences. Put it right with: tfenv bootstrap")
    else:
        page.verdict("ok", "The environment matches its lock.")


def _words(difference: Difference) -> str:
    if difference.kind == "interrupted":
        return "an earlier bootstrap was interrupted; the next one puts its work right first"
    if difference.kind == "missing":
        return f"{difference.name} {difference.expected} is gone"
    if difference.kind == "changed":
        return f"{difference.name} is {difference.found}, and was {difference.expected}"
    if difference.kind == "lock-changed":
        return f"the catalogue's {difference.name} is not the file this was installed from"
    return f"{difference.name} {difference.found} is not in the lock"


def _state(state: SeedState) -> str:
    if not state.installed or state.seed is None:
        return "Seeding is off: later interpreters start at random."
    ops = ", with deterministic ops" if state.deterministic else ""
    return f"Every later interpreter starts from seed {state.seed}{ops}."


def _write_seed(page: Page, data: SeedShow) -> None:
    page.item("seed", _state(data.state))
    if data.observed is not None and data.observed.loaded:
        seen = data.observed
        page.item(
            "observed",
            f"seeded {', '.join(seen.seeded) or 'nothing'}; waits for {', '.join(seen.waiting) or 'nothing'}",
        )
        hashed = "at random" if seen.hash_seed is None else f"by PYTHONHASHSEED={seen.hash_seed}"
        page.item("hashes", f"strings are hashed {hashed} (tfenv run -- CMD sets it)")
    for note in data.notes:
        page.item("note", note)
    page.verdict("warn" if data.problem else "ok", data.problem or "As it should be.")
