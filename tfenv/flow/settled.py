"""A second bootstrap that has nothing to do: found out without network, TensorFlow or another interpreter."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Optional

from tfenv.flow.host import Host, cheap_site
from tfenv.flow.machine import machine_key
from tfenv.flow.request import BootstrapReport, BootstrapRequest, LockSummary, Smoke
from tfenv.flow.status import differences, installed_versions
from tfenv.install.site import Site
from tfenv.install.state import EnvState, read_state
from tfenv.install.transaction import is_unfinished
from tfenv.locks.catalogue import read_lock
from tfenv.seeding.install import read_seed
from tfenv.versions import minor_of

_LEVELS: Mapping[str, int] = {"none": 0, "quick": 1, "full": 2, "long": 3}


def find_settled(request: BootstrapRequest, host: Host, catalogue: Path) -> Optional[BootstrapReport]:
    """The report of the environment as it stands, if ``request`` asks for nothing else; else None."""
    site = cheap_site(host)
    if site is None:
        return None
    if is_unfinished(site):
        return None
    state = read_state(site.folder)
    if state is None or not state.lock or not _is_wished(request, state):
        return None
    if not _is_proven(request.smoke, state) or not _is_seeded(request, site):
        return None
    lock = read_lock(catalogue, state.lock)
    if differences(state, installed_versions(site), lock.digest):
        return None
    return BootstrapReport(
        python=str(site.python),
        environment=str(site.prefix),
        settled=True,
        lock=LockSummary.of(lock),
        seed=request.seed,
        last_proof=state.proof,
    )


def _is_wished(request: BootstrapRequest, state: EnvState) -> bool:
    if request.target is not None and request.target != state.target:
        return False
    minor = minor_of(state.tensorflow)
    return request.tf is None or request.tf in (minor, state.tensorflow)


def _is_proven(smoke: Smoke, state: EnvState) -> bool:
    if smoke == "none":
        return True
    proof = state.proof
    if proof is None or proof.verdict != "pass" or state.machine != machine_key():
        return False
    return _LEVELS.get(proof.level, 0) >= _LEVELS[smoke]


def _is_seeded(request: BootstrapRequest, site: Site) -> bool:
    seeded = read_seed(site.purelib)
    if request.seed is None:
        return not seeded.installed
    return seeded.installed and (seeded.seed, seeded.deterministic) == (request.seed, request.deterministic)
