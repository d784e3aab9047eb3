"""Bootstrap and prove every lock that this machine can host, and write lockfiles/evidence.toml.

Run by ``nox -s prove_locks``. Each lock gets a fresh environment, a bootstrap with its proof, ``tfenv
status`` and ``tfenv doctor``; only a lock on which all of them are without complaint is written down.
Arguments select: parts of lock ids ("tf2.19", "py311"); ``--missing`` leaves out what is proven already. The
exit code is the number of locks that failed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path

from tfenv.facts.model import Facts
from tfenv.facts.pythons import FoundPython, find_interpreters
from tfenv.facts.read import read_facts
from tfenv.locks.catalogue import load_catalogue
from tfenv.locks.evidence import EVIDENCE_FILE, Proven, add_evidence
from tfenv.locks.model import Lock
from tfenv.targets.choose import choose_target

CATALOGUE = Path(__file__).parent.parent / "lockfiles"


def main(selection: Sequence[str]) -> int:
    """Prove the selected locks; the number of those that failed."""
    parts = [part for part in selection if part != "--missing"]
    facts = read_facts(None, cwd=Path.cwd())
    target = choose_target(facts).name
    hosts = {host.minor: host for host in find_interpreters() if host.implementation == "cpython"}
    failed = []
    # A cache of its own: each TensorFlow is dropped from it once it is proven, since all of them take 25 GB.
    with tempfile.TemporaryDirectory(prefix="tfenv-prove-") as scratch:
        for lock in load_catalogue(CATALOGUE).locks:
            if lock.target != target or not all(part in lock.id for part in parts):
                continue
            if "--missing" in selection and lock.evidence == "proven":
                continue
            host = hosts.get(lock.python)
            if host is None:
                print(f"{lock.id}: no Python {lock.python} on this machine", flush=True)
                continue
            problem = prove(lock, host, Path(scratch), facts)
            print(f"{lock.id}: {problem or 'proven'}", flush=True)
            if problem:
                failed.append(lock.id)
    print(f"{len(failed)} failed: {', '.join(failed) or 'none'}")
    return len(failed)


def prove(lock: Lock, host: FoundPython, scratch: Path, facts: Facts) -> str:
    """Bootstrap, status and doctor in a fresh environment; what went wrong, or nothing."""
    venv = scratch / "venv"
    environ = {**os.environ, "UV_CACHE_DIR": str(scratch / "cache"), "TFENV_LOCKFILES": str(CATALOGUE)}
    environ.pop("VIRTUAL_ENV", None)
    try:
        made = tfenv(
            environ, "bootstrap", "--venv", str(venv), "--python", host.path, "--tf", lock.tensorflow,
            "--target", lock.target,
        )  # fmt: skip
        if made["exit_code"] != 0 or made["findings"]:
            return f"bootstrap: {short(made)}"
        for command in ("status", "doctor"):
            outcome = tfenv(environ, command, "--venv", str(venv))
            if outcome["exit_code"] != 0 or outcome["findings"]:
                return f"{command}: {short(outcome)}"
    finally:
        shutil.rmtree(venv, ignore_errors=True)
        subprocess.run(["uv", "cache", "clean", lock.holder], env=environ, capture_output=True, check=False)
    data = made["data"]
    add_evidence(CATALOGUE / EVIDENCE_FILE, [evidence(lock, data["engine"], data["proof"], facts)])
    return ""


def evidence(lock: Lock, engine: str, proof: dict, facts: Facts) -> Proven:
    """What was seen, as an entry of the evidence file."""
    machine = [
        f"{facts.system.os.value} {facts.system.machine_arch.value}",
        facts.system.distribution.value,
        f"{facts.system.libc.value} {facts.system.libc_version.value}",
        facts.cpu.model.value,
        f"{facts.cpu.count.value} CPUs",
    ]
    used = proof["stack"]["devices_used"]
    return Proven(
        lock=lock.id,
        digest=lock.digest,
        date=datetime.now(timezone.utc).date().isoformat(),
        machine=", ".join(part for part in machine if part),
        device="gpu" if any(name.startswith("GPU") for name in used) else "cpu",
        ran=f"bootstrap ({engine}), proof {proof['level']} with seed {proof['seed']}, status, doctor",
        proof="; ".join(stage_summary(stage) for stage in proof["stages"]),
    )


def stage_summary(stage: dict) -> str:
    """A stage and its numbers in one phrase."""
    numbers = [
        f"{check['title']} {check['got']}" for check in stage["checks"] if check["statistic"] is not None
    ]
    return f"{stage['id']} {stage['verdict']}" + (f" ({', '.join(numbers)})" if numbers else "")


def tfenv(environ: dict[str, str], *arguments: str) -> dict:
    """The JSON document of a tfenv command."""
    command = [sys.executable, "-m", "tfenv", *arguments, "--json"]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    return json.loads(done.stdout)


def short(document: dict) -> str:
    """Why a command did not end well, on one line."""
    said = [error["message"] for error in document["errors"]]
    said += [f"{finding['id']} {finding['title']}" for finding in document["findings"]]
    return f"exit {document['exit_code']}: {'; '.join(said) or document['status']}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
