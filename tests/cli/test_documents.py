"""The JSON documents, whole: what a program that reads them can rely on."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
from support.shelf import PYTHON, Shelf

from tfenv.result import crashed
from tfenv.seeding.model import SEED_LIMIT
from tfenv.version import __version__

TAG = f"py{PYTHON.replace('.', '')}"


@pytest.fixture
def filled(shelf: Shelf, filled_template: Path) -> Path:
    """An environment of tfenv's own, with TF 2.98 in it."""
    shelf.add_lock("2.98.0")
    venv = shelf.folder / "env"
    shutil.copytree(filled_template, venv, symlinks=True)
    return venv


def document(command: str, data: object, *, status: str = "ok", code: int = 0) -> dict[str, object]:
    """The document of a command that found nothing to say."""
    return {
        "tfenv_result_version": 1,
        "command": command,
        "status": status,
        "exit_code": code,
        "data": data,
        "findings": [],
        "errors": [],
    }


def test_bootstrap(shelf: Shelf, filled: Path) -> None:
    lock = shelf.add_lock("2.99.0")
    ran = shelf.tfenv("bootstrap", "--venv", str(filled), "--tf", "2.99", "--smoke", "none", "--json")
    default = {"origin": "default"}
    steps = [
        {
            "name": pin.name,
            "action": "change",
            "installed": "2.98.0",
            "locked": "2.99.0",
            "reason": "",
            "size": pin.size,
        }
        for pin in lock.pins
    ]
    data = dict(ran.document["data"])  # type: ignore[arg-type]
    engine, seconds = data.pop("engine"), data.pop("install_seconds")
    # Debian's venv brings setuptools on old Pythons; it goes from an environment of tfenv's own.
    plan = dict(data.pop("plan"))
    plan["steps"] = [step for step in plan["steps"] if step["name"] != "setuptools"]
    assert plan == {"lock": lock.id, "mode": "sync", "steps": steps, "breaks": [], "download": lock.size}
    assert engine in ("uv", "pip")
    assert 0 < seconds < 600
    assert {**ran.document, "data": data} == document(
        "bootstrap",
        {
            "python": str(filled / "bin" / "python"),
            "environment": str(filled),
            "planned": False,
            "made": False,
            "settled": False,
            "target": {
                "name": "linux-x86_64-cpu",
                "reason": "Linux on x86_64, no NVIDIA GPU",
                "notes": [],
                "fallback": None,
            },
            "lock": {
                "id": lock.id,
                "tensorflow": "2.99.0",
                "python": PYTHON,
                "as_of": "2026-01-01",
                "digest": data["lock"]["digest"],
                "evidence": "resolved",
                "faults": [],
            },
            "seed": 42,
            "last_proof": None,
            "proof": None,
            "undone": False,
            "scrubbed": [],
            "settings": {
                "values": {
                    "tf": {"value": "2.99", "origin": "flag --tf"},
                    "target": {"value": None, **default},
                    "python": {"value": None, **default},
                    "venv": {"value": str(filled), "origin": "flag --venv"},
                    "seed": {"value": 42, **default},
                    "deterministic": {"value": False, **default},
                    "smoke": {"value": "none", "origin": "flag --smoke"},
                    "engine": {"value": "auto", **default},
                }
            },
        },
    )


def test_status(shelf: Shelf, filled: Path) -> None:
    ran = shelf.tfenv("status", "--venv", str(filled), "--json")
    data = {
        "environment": str(filled),
        "lock": f"linux-x86_64-cpu/tf2.98-{TAG}",
        "tensorflow": "2.98.0",
        "mode": "sync",
        "differences": [],
        "proof": None,
        "fingerprint": None,
    }
    assert (ran.code, ran.document) == (0, document("status", data))
    shutil.rmtree(next(filled.glob("lib/*/site-packages/companion-2.98.0.dist-info")))
    ran = shelf.tfenv("status", "--venv", str(filled), "--json")
    missing = {"kind": "missing", "name": "companion", "expected": "2.98.0", "found": ""}
    data["differences"] = [missing]
    assert (ran.code, ran.document) == (3, document("status", data, status="warn", code=3))


def test_seed(shelf: Shelf, filled: Path) -> None:
    ran = shelf.tfenv("seed", "on", "7", "--venv", str(filled), "--json")
    data = dict(ran.document["data"])  # type: ignore[arg-type]
    assert isinstance(data.pop("hook_version"), int)
    expected = {"installed": True, "seed": 7, "deterministic": False, "problem": ""}
    assert (ran.code, {**ran.document, "data": data}) == (0, document("seed on", expected))
    ran = shelf.tfenv("seed", "off", "--venv", str(filled), "--json")
    data = {"installed": False, "seed": None, "deterministic": False, "hook_version": None, "problem": ""}
    assert (ran.code, ran.document) == (0, document("seed off", data))


def test_locks_list(shelf: Shelf) -> None:
    other = "3.8"
    fits = shelf.add_lock("2.99.0")
    does_not = shelf.add_lock("2.98.0", python=other)
    ran = shelf.tfenv("locks", "list", "--python", sys.executable, "--json")
    data = dict(ran.document["data"])  # type: ignore[arg-type]
    # The shelf carries the real policy.
    assert {entry["target"] for entry in data.pop("none")} == {"linux-x86_64-cpu"}
    common = {"target": "linux-x86_64-cpu", "on_wish": False, "evidence": "resolved"}
    reason = {"kind": "python", "text": f"it is for Python {other}, and this is {PYTHON}"}
    assert {**ran.document, "data": data} == document(
        "locks list",
        {
            "target": {
                "name": "linux-x86_64-cpu",
                "reason": "Linux on x86_64, no NVIDIA GPU",
                "notes": [],
                "fallback": None,
            },
            "chosen": fits.id,
            "refusal": "",
            "locks": [
                {
                    "lock": does_not.id,
                    "python": other,
                    "tensorflow": "2.98.0",
                    "fits": False,
                    "reasons": [reason],
                    "size": does_not.size,
                    **common,
                },
                {
                    "lock": fits.id,
                    "python": PYTHON,
                    "tensorflow": "2.99.0",
                    "fits": True,
                    "reasons": [],
                    "size": fits.size,
                    **common,
                },
            ],
            "unreadable": [],
        },
    )


def test_locks_export_is_what_the_catalogue_holds(shelf: Shelf) -> None:
    lock = shelf.add_lock("2.99.0")
    text = (shelf.catalogue / f"{lock.id}.txt").read_text(encoding="utf-8")
    ran = shelf.tfenv("locks", "export", lock.id)
    assert (ran.code, ran.out) == (0, text)
    copy = shelf.folder / "requirements.txt"
    ran = shelf.tfenv("locks", "export", lock.id, "-o", str(copy), "--json")
    data = {"lock": lock.id, "path": str(copy), "text": text}
    assert (ran.code, ran.document) == (0, document("locks export", data))
    assert copy.read_text(encoding="utf-8") == text


def test_facts_can_be_read_back(shelf: Shelf) -> None:
    shelf.add_lock("2.99.0")
    recorded = shelf.folder / "facts.json"
    first = shelf.tfenv("facts", "--json")
    recorded.write_text(first.out, encoding="utf-8")
    assert json.loads(shelf.tfenv("facts", "--facts", str(recorded), "--json").out) == json.loads(first.out)


def test_init(shelf: Shelf) -> None:
    ran = shelf.tfenv("init", "dockerfile", "--json")
    data = {"template": "dockerfile", "path": "Dockerfile"}
    assert (ran.code, ran.document) == (0, document("init", data))
    again = shelf.tfenv("init", "dockerfile", "--json")
    assert (again.code, again.document["errors"][0]["code"]) == (2, "file-exists")  # type: ignore[index,call-overload]
    assert shelf.tfenv("init", "dockerfile", "--force").code == 0


def test_a_bug_is_exit_70_and_says_what_to_do() -> None:
    assert crashed("facts", ValueError("odd")).as_json() == {
        "tfenv_result_version": 1,
        "command": "facts",
        "status": "error",
        "exit_code": 70,
        "data": {},
        "findings": [],
        "errors": [
            {
                "code": "bug",
                "message": "tfenv itself failed: ValueError: odd",
                "hint": "This is a bug in tfenv. Run the command again with TFENV_DEBUG=1 and report it.",
            }
        ],
    }


def test_version(shelf: Shelf) -> None:
    ran = shelf.tfenv("--version")
    assert (ran.code, ran.out) == (0, f"tfenv {__version__}\n")


def test_json_is_clean_beside_progress(shelf: Shelf) -> None:
    shelf.add_lock("2.99.0")
    ran = shelf.tfenv("bootstrap", "--venv", str(shelf.folder / "env"), "--smoke", "none", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert json.loads(ran.out)["command"] == "bootstrap"


def test_a_seed_at_the_limit(shelf: Shelf, filled: Path) -> None:
    assert shelf.tfenv("seed", "on", str(SEED_LIMIT - 1), "--venv", str(filled)).code == 0
    assert shelf.tfenv("seed", "on", str(SEED_LIMIT), "--venv", str(filled)).code == 2


def test_run_carries_the_seed_and_the_exit_code(shelf: Shelf, filled: Path) -> None:
    code = "import os, sys; print(os.environ['PYTHONHASHSEED'], sys.prefix); sys.exit(3)"
    ran = shelf.tfenv("run", "--venv", str(filled), "--", "python", "-c", code)
    assert (ran.code, ran.out) == (3, f"42 {filled}\n")


def test_personal_paths_are_not_in_the_document(shelf: Shelf) -> None:
    shelf.add_lock("2.99.0")
    venv = shelf.home / "env"
    ran = shelf.tfenv("bootstrap", "--venv", str(venv), "--smoke", "none", "--json")
    assert ran.code == 0
    assert str(shelf.home) not in ran.out
    assert '"environment": "~/env"' in ran.out
