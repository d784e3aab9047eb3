"""The lock format: what is written can be read back, and nothing but a lock is read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfenv.locks.lockfile import (
    MAX_SIZE,
    LockfileError,
    digest_of,
    is_lock_id,
    parse_lock,
    render_lock,
)
from tfenv.locks.model import CudaBuild, Floors, KnownFault, Lock, Pin

LOCKFILES = Path(__file__).parents[2] / "lockfiles"

LOCK = Lock(
    id="linux-x86_64-cuda/tf2.20-py313",
    target="linux-x86_64-cuda",
    python="3.13",
    tensorflow="2.20.0",
    holder="tensorflow",
    as_of="2025-10-15",
    floors=Floors(glibc="2.17", cpu_features=("avx", "avx2"), driver="525.60.13", source="tags; tables"),
    cuda=CudaBuild(
        cuda="12.5.1",
        cudnn="9.3.0.75",
        architectures=("sm_60", "compute_90"),
        min_compute_capability="6.0",
        max_compute_capability="9.0",
        source="build_info.py",
    ),
    on_wish=True,
    faults=(
        KnownFault(text="Wrong values: see there.", source="owner/repository#1"),
        KnownFault(text="Slow.", source="a document"),
    ),
    evidence="released",
    digest="",
    pins=(
        Pin(name="numpy", version="2.2.6", hashes=("a" * 64, "b" * 64), accepts=">=1.26.0", size=16821570),
        Pin(name="tensorflow", version="2.20.0", hashes=("c" * 64,), accepts="==2.20.0", size=620815537),
        Pin(name="wheel", version="0.45.1.post2", hashes=("d" * 64,)),
    ),
)

TEXT = f"""\
# tfenv lock, format 1. The versions are of this release's own era: security fixes that came later
# are not in it. Without tfenv: pip install --require-hashes --no-deps -r FILE, or uv pip sync FILE.
# id: linux-x86_64-cuda/tf2.20-py313
# target: linux-x86_64-cuda
# python: 3.13
# tensorflow: 2.20.0
# holder: tensorflow
# as-of: 2025-10-15
# grade: released
# glibc: 2.17
# cpu-features: avx avx2
# driver: 525.60.13
# floors-source: tags; tables
# cuda: 12.5.1
# cudnn: 9.3.0.75
# architectures: sm_60 compute_90
# compute-capability: 6.0 to 9.0
# cuda-source: build_info.py
# on-wish: yes
# fault: Wrong values: see there.
# fault-source: owner/repository#1
# fault: Slow.
# fault-source: a document
numpy==2.2.6 \\
    --hash=sha256:{"a" * 64} \\
    --hash=sha256:{"b" * 64}
    # size 16821570; accepts >=1.26.0
tensorflow==2.20.0 \\
    --hash=sha256:{"c" * 64}
    # size 620815537; accepts ==2.20.0
wheel==0.45.1.post2 \\
    --hash=sha256:{"d" * 64}
    # size 0; accepts any
"""


def test_a_lock_is_rendered_as_a_requirements_file_with_hashes() -> None:
    assert render_lock(LOCK) == TEXT


def test_a_rendered_lock_reads_back_as_itself() -> None:
    data = TEXT.encode()
    assert parse_lock(data, "x.txt") == replace(LOCK, digest=digest_of(data))


def test_a_proven_lock_is_written_with_the_grade_it_was_compiled_with() -> None:
    assert "# grade: resolved\n" in render_lock(replace(LOCK, evidence="proven"))


@pytest.mark.parametrize(
    "path", sorted(LOCKFILES.glob("*/*.txt")), ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_every_shipped_lock_reads_and_writes_byte_for_byte(path: Path) -> None:
    data = path.read_bytes()
    lock = parse_lock(data, path.name)
    assert render_lock(lock).encode() == data
    assert lock.digest == digest_of(data)


_HASH = f"    --hash=sha256:{'c' * 64}\n"
_NUMPY = TEXT[TEXT.index("numpy==") : TEXT.index("tensorflow==")]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        pytest.param(
            "# id: ", "# Id: ", "line 3: not a header line of the form '# key: value'", id="header-key"
        ),
        pytest.param(
            "# id: l", "# id: ../l", "line 3: '../linux-x86_64-cuda/tf2.20-py313' is no id", id="traversal"
        ),
        pytest.param(
            "# id: l", "# id: /l", "line 3: '/linux-x86_64-cuda/tf2.20-py313' is no id", id="absolute"
        ),
        pytest.param("# python: 3.13", "# python: 3", "line 5: '3' is no python", id="python"),
        pytest.param("# holder", "# keeper", "line 7: unknown key 'keeper'", id="unknown-key"),
        pytest.param("# holder: tensorflow\n", "", "line 23: its header lacks holder", id="missing-key"),
        pytest.param("# cudnn: 9.3.0.75\n", "", "line 23: its header lacks cudnn", id="half-a-cuda"),
        pytest.param(
            "# glibc", "# python: 3.13\n# glibc", "line 10: python does not belong here", id="key-twice"
        ),
        pytest.param(
            "# fault-source: a document\n", "", "line 23: its header lacks fault-source", id="fault"
        ),
        pytest.param(
            "# fault: Slow.", "# fault-source: a", "line 22: fault-source does not belong here", id="faults"
        ),
        pytest.param("tags; tables", "tags\x1b[2J", "line 13: not a header line of", id="terminal-escape"),
        pytest.param(
            "tags; tables", "https://x.org", "line 13: 'https://x.org' is no floors-source", id="header-url"
        ),
        pytest.param(
            "tags; tables", "t" * 1000, "line 13: a line of 1017 characters", id="giant-header-line"
        ),
        pytest.param(
            "# holder: tensorflow", "# holder: jax", "holds TensorFlow (jax) is not among", id="holder"
        ),
        pytest.param("numpy==", "--index-url https://x.org\nnumpy==", "line 24: a URL, and", id="index-url"),
        pytest.param("numpy==", "--pre\nnumpy==", "line 24: an installer option, and", id="option"),
        pytest.param("numpy==", "-r other.txt\nnumpy==", "line 24: an installer option, and", id="include"),
        pytest.param("numpy==", "-e .\nnumpy==", "line 24: an installer option, and", id="editable"),
        pytest.param("numpy==2.2.6", "numpy @ file:///x", "line 24: a URL, and", id="direct-url"),
        pytest.param(
            "numpy==2.2.6", "./numpy.whl", "line 24: './numpy.whl \\\\' is not name==version", id="path"
        ),
        pytest.param(
            "numpy==", "NumPy==", "line 24: 'NumPy==2.2.6 \\\\' is not name==version", id="name-case"
        ),
        pytest.param("numpy==", "num_py==", "is not name==version", id="name-underscore"),
        pytest.param("numpy==", "../numpy==", "is not name==version", id="name-traversal"),
        pytest.param("numpy==2.2.6", "numpy>=2.2.6", "is not name==version", id="range"),
        pytest.param("numpy==2.2.6", "numpy==2.2.*", "is not name==version", id="wildcard"),
        pytest.param("numpy==2.2.6", "numpy[x]==2.2.6", "is not name==version", id="extra"),
        pytest.param("numpy==2.2.6", "numpy==2.2.6 ; sys_platform", "is not name==version", id="marker"),
        pytest.param(
            "numpy==2.2.6 ", "numpy==2.2.6 --config-settings=x ", "is not name==version", id="pin-option"
        ),
        pytest.param(
            "numpy==2.2.6 \\", "numpy==2.2.6", "line 24: 'numpy==2.2.6' is not name==version", id="no-hash"
        ),
        pytest.param("sha256:" + "a" * 64, "md5:" + "a" * 32, "line 25: '    --hash=md5:aaa", id="md5"),
        pytest.param(
            "sha256:" + "a" * 64, "sha256:" + "A" * 64, "is not --hash=sha256: with 64", id="hash-case"
        ),
        pytest.param(
            "sha256:" + "a" * 64, "sha256:" + "a" * 63, "is not --hash=sha256: with 64", id="hash-short"
        ),
        pytest.param(_HASH, _HASH * 2, "is not # size N; accepts", id="hash-without-backslash"),
        pytest.param(
            "size 16821570", "size -1", "line 27: '    # size -1; accepts >=1.26.0' is not", id="size"
        ),
        pytest.param(
            "accepts >=1.26.0", "accepts 1.26", "line 27: '    # size 16821570; accepts 1.26'", id="accepts"
        ),
        pytest.param(
            "accepts >=1.26.0", "accepts >=1.26.0 --pre", "is not # size N; accepts", id="accepts-more"
        ),
        pytest.param(_NUMPY, _NUMPY * 2, "line 28: numpy is pinned twice", id="twice"),
        pytest.param("wheel==", "absl-py==", "line 31: absl-py is out of order", id="order"),
        pytest.param("numpy==", "numpy\x00==", "is not name==version", id="nul"),
        pytest.param(
            "numpy==2.2.6 \\\n", "numpy==2.2.6 \\\r\n", "is not name==version", id="carriage-return"
        ),
        pytest.param("numpy==", f"{'n' * 2000}==", "line 24: a line of 2010 characters", id="giant-line"),
        pytest.param(
            "    # size 0; accepts any\n", "", "line 33: it ends in the middle of a pin", id="cut-pin"
        ),
        pytest.param("accepts any\n", "accepts any", "it ends in the middle of a line", id="cut-line"),
        pytest.param(
            "# tfenv lock, format 1", "# tfenv lock, format 2", "line 1: it is not a tfenv lock", id="format"
        ),
        pytest.param(
            "format 1. The", "format 1.\n--pre\n# The", "line 1: it is not a tfenv lock", id="preamble"
        ),
        pytest.param(TEXT[TEXT.index("numpy==") :], "", "line 24: it locks nothing", id="empty"),
    ],
)
def test_what_is_not_a_lock_is_refused_by_file_and_line(old: str, new: str, message: str) -> None:
    assert old in TEXT
    with pytest.raises(LockfileError, match=r"x\.txt, line [0-9]+") as caught:
        parse_lock(TEXT.replace(old, new, 1).encode(), "x.txt")
    assert message in caught.value.message
    assert (caught.value.code, caught.value.exit_code) == ("bad-lock", 2)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param(b"", "x.txt, line 1: it is not a tfenv lock of format 1.", id="empty"),
        pytest.param(b"\x7fELF\x02\xff\xfe", "x.txt, line 1: it is not text (UTF-8).", id="binary"),
        pytest.param(TEXT.encode() + b"\xff", "x.txt, line 34: it is not text (UTF-8).", id="binary-tail"),
        pytest.param(TEXT.encode("utf-16"), "x.txt, line 1: it is not text (UTF-8).", id="utf-16"),
        pytest.param(
            b"#" * (MAX_SIZE + 1),
            f"x.txt, line 1: it has {MAX_SIZE + 1} bytes, and a lock has at most {MAX_SIZE}.",
            id="too-large",
        ),
    ],
)  # fmt: skip
def test_data_that_is_no_lock_at_all_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(LockfileError) as caught:
        parse_lock(data, "x.txt")
    assert caught.value.message == message


@given(position=st.integers(0, len(TEXT) - 1), noise=st.text(max_size=3), cut=st.integers(0, 3))
def test_a_damaged_lock_is_refused_or_still_holds_only_pins_with_hashes(
    position: int, noise: str, cut: int
) -> None:
    damaged = TEXT[:position] + noise + TEXT[position + cut :]
    try:
        lock = parse_lock(damaged.encode("utf-8", "surrogatepass"), "x.txt")
    except LockfileError:
        return
    assert render_lock(lock) == damaged


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("linux-x86_64-cpu/tf2.19-py311", True, id="lock"),
        pytest.param("../../etc/passwd", False, id="traversal"),
        pytest.param("a/../b", False, id="inner-traversal"),
        pytest.param("a//b", False, id="empty-part"),
        pytest.param("/a", False, id="absolute"),
        pytest.param("C:\\a", False, id="windows"),
        pytest.param("a\n", False, id="newline"),
        pytest.param("", False, id="empty"),
    ],
)
def test_a_lock_id_is_a_safe_relative_path(text: str, expected: bool) -> None:
    assert is_lock_id(text) is expected
