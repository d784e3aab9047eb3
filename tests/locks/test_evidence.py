"""Evidence is written by a command, merged, and counts only for the very file that was proven."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tfenv.errors import UsageError
from tfenv.locks.evidence import Proven, add_evidence, grade_of, read_evidence
from tfenv.locks.model import Floors, Lock, Pin

CPU = Proven(
    lock="linux-x86_64-cpu/tf2.19-py311",
    digest="a" * 64,
    date="2026-11-30",
    machine="Linux x86_64, 2 CPUs, Debian 12",
    device="cpu",
    ran="bootstrap (uv), proof quick, status, doctor",
    proof='S0 pass; S5 pass: 96 of 96, threshold 80; "quoted", back\\slash, é, \x7f, \n two lines',
)
GPU = replace(CPU, lock="linux-x86_64-cuda/tf2.19-py311", device="gpu")

LOCK = Lock(
    id=CPU.lock,
    target="linux-x86_64-cpu",
    python="3.11",
    tensorflow="2.19.1",
    holder="tensorflow-cpu",
    as_of="2025-10-15",
    floors=Floors(),
    digest="a" * 64,
    pins=(Pin(name="tensorflow-cpu", version="2.19.1", hashes=("b" * 64,)),),
)


def test_what_is_written_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "evidence.toml"
    add_evidence(path, [GPU, CPU])
    assert read_evidence(path) == {CPU.lock: CPU, GPU.lock: GPU}
    assert [entry.name for entry in tmp_path.iterdir()] == ["evidence.toml"]


def test_the_file_is_for_people_too(tmp_path: Path) -> None:
    path = tmp_path / "evidence.toml"
    add_evidence(path, [replace(CPU, proof="S0 pass")])
    assert path.read_bytes().decode() == (
        "# What was proven of which lock, where and when. Written by `nox -s prove_locks`, never by hand.\n"
        "# An entry counts only while its digest is that of the lockfile, and on the kind of device the lock "
        "is for.\n"
        "\n"
        '["linux-x86_64-cpu/tf2.19-py311"]\n'
        f'digest = "{"a" * 64}"\n'
        'date = "2026-11-30"\n'
        'machine = "Linux x86_64, 2 CPUs, Debian 12"\n'
        'device = "cpu"\n'
        'ran = "bootstrap (uv), proof quick, status, doctor"\n'
        'proof = "S0 pass"\n'
    )


def test_entries_of_other_locks_stay_and_the_order_of_writing_does_not_matter(tmp_path: Path) -> None:
    newer = replace(CPU, date="2026-12-01")
    one, other = tmp_path / "one.toml", tmp_path / "other.toml"
    add_evidence(one, [CPU])
    add_evidence(one, [GPU, newer])
    add_evidence(other, [newer, GPU])
    assert read_evidence(one) == {newer.lock: newer, GPU.lock: GPU}
    assert one.read_bytes() == other.read_bytes()


def test_no_file_is_no_evidence(tmp_path: Path) -> None:
    assert read_evidence(tmp_path / "evidence.toml") == {}


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"]", id="no-toml"),
        pytest.param(b"\xff", id="no-text"),
        pytest.param(b"x = 1\n", id="no-table"),
        pytest.param(b'["a/b"]\ndigest = "x"\n', id="missing-keys"),
        pytest.param(b'["a/b"]\ndigest = 3\n', id="wrong-type"),
    ],
)
def test_a_damaged_file_is_refused_and_never_overwritten(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "evidence.toml"
    path.write_bytes(data)
    with pytest.raises(UsageError, match="cannot be read") as caught:
        add_evidence(path, [CPU])
    assert (caught.value.code, path.read_bytes()) == ("bad-evidence", data)


def test_where_nothing_can_be_written_the_error_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written: No such file or directory") as caught:
        add_evidence(tmp_path / "absent" / "evidence.toml", [CPU])
    assert caught.value.code == "evidence-not-written"


@pytest.mark.parametrize(
    ("lock", "entry", "grade"),
    [
        pytest.param(LOCK, CPU, "proven", id="this-file"),
        pytest.param(replace(LOCK, digest="b" * 64), CPU, "resolved", id="file-changed-since"),
        pytest.param(LOCK, replace(CPU, device="gpu"), "resolved", id="cpu-lock-on-a-gpu"),
        pytest.param(replace(LOCK, id=GPU.lock, target="linux-x86_64-cuda"), GPU, "proven", id="gpu"),
        pytest.param(
            replace(LOCK, id=GPU.lock, target="linux-x86_64-cuda", evidence="released"),
            replace(GPU, device="cpu"), "released", id="cuda-lock-fell-back-to-the-cpu",
        ),
        pytest.param(
            replace(LOCK, id="macos-arm64-metal/tf2.19-py311", target="macos-arm64-metal"),
            replace(CPU, lock="macos-arm64-metal/tf2.19-py311"), "resolved", id="metal-lock-on-the-cpu",
        ),
    ],
)  # fmt: skip
def test_evidence_counts_for_the_same_file_on_its_kind_of_device(
    lock: Lock, entry: Proven, grade: str
) -> None:
    assert grade_of(lock, {entry.lock: entry}) == grade


def test_without_an_entry_a_lock_keeps_its_own_grade() -> None:
    assert grade_of(replace(LOCK, evidence="released"), {GPU.lock: GPU}) == "released"
