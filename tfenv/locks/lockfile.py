"""The lock format: a pip requirements file with hashes, whose comments carry what tfenv knows besides.

pip, uv and pip-sync install such a file without tfenv. Reading is strict, because a lock decides what gets
installed: no options, no URLs, no includes, nothing but ``name==version`` with sha256 hashes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NoReturn, Optional

from tfenv.errors import TfenvError
from tfenv.locks.model import CudaBuild, EvidenceGrade, Floors, KnownFault, Lock, Pin
from tfenv.records import record

#: Bytes; the largest lock of the catalogue is a tenth of it.
MAX_SIZE = 128 * 1024
MAX_LINE = 1000

_PREAMBLE = (
    "# tfenv lock, format 1. The versions are of this release's own era: security fixes that came later\n"
    "# are not in it. Without tfenv: pip install --require-hashes --no-deps -r FILE, or uv pip sync FILE.\n"
)

_VERSION = (
    r"(?:[0-9]{1,4}!)?[0-9]{1,8}(?:\.[0-9]{1,8}){0,5}(?:(?:a|b|rc)[0-9]{1,8})?(?:\.post[0-9]{1,8})?"
    r"(?:\.dev[0-9]{1,8})?(?:\+[a-z0-9]{1,20}(?:\.[a-z0-9]{1,20}){0,4})?"
)
_CLAUSE = rf"(?:[=!]={_VERSION}(?:\.\*)?|(?:[<>~]=|[<>]){_VERSION})"
_NAME = r"[a-z0-9]{1,40}(?:-[a-z0-9]{1,40}){0,8}"
_PIN_LINE = rf"({_NAME})==({_VERSION}) \\\n"
_HASH = r"    --hash=sha256:[0-9a-f]{64}"
_NOTE_LINE = rf"    # size (0|[1-9][0-9]{{0,11}}); accepts (any|{_CLAUSE}(?:,{_CLAUSE}){{0,15}})\n"
_PIN = re.compile(rf"{_PIN_LINE}((?:{_HASH} \\\n){{0,31}}{_HASH}\n){_NOTE_LINE}")
_HASH_VALUE = re.compile(r"sha256:([0-9a-f]{64})")
_HEADER_LINE = re.compile(r"# ([a-z-]{1,30}): (\S(?:.*\S)?)")

_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}(?:/[a-z0-9][a-z0-9._-]{0,79}){0,3}")
_SHAPES: Mapping[str, re.Pattern[str]] = {
    "id": _ID,
    "target": re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)*"),
    "python": re.compile(r"3\.[0-9]{1,2}"),
    "tensorflow": re.compile(_VERSION),
    "holder": re.compile(_NAME),
    "as-of": re.compile(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}"),
    "glibc": re.compile(r"[0-9]+\.[0-9]+"),
    "macos": re.compile(r"[0-9]+\.[0-9]+"),
    "cpu-features": re.compile(r"[a-z0-9_]+(?: [a-z0-9_]+)*"),
    "driver": re.compile(r"[0-9]+(?:\.[0-9]+){0,3}"),
    "cuda": re.compile(r"[0-9]+(?:\.[0-9]+){0,2}"),
    "cudnn": re.compile(r"[0-9]+(?:\.[0-9]+){0,3}"),
    "architectures": re.compile(r"(?:sm|compute)_[0-9]{2,3}(?: (?:sm|compute)_[0-9]{2,3})*"),
    "compute-capability": re.compile(r"[0-9]{1,2}\.[0-9] to [0-9]{1,2}\.[0-9]"),
    "on-wish": re.compile(r"yes"),
    "grade": re.compile(r"released|resolved"),
}
_REQUIRED = ("id", "target", "python", "tensorflow", "holder", "as-of", "grade")
_CUDA = ("cuda", "cudnn", "architectures", "compute-capability", "cuda-source")
_TEXTS = ("floors-source", "cuda-source", "fault", "fault-source")
_REPEATABLE = ("fault", "fault-source")


class LockfileError(TfenvError):
    """A lockfile is damaged, hostile or of another format; the message names file and line."""

    exit_code = 2


@record
class _Source:
    """The text of a lockfile and what to call it in messages."""

    name: str
    text: str

    def refuse(self, position: int, why: str) -> NoReturn:
        line = self.text.count("\n", 0, position) + 1
        raise LockfileError(
            "bad-lock",
            f"{self.name}, line {line}: {why}.",
            hint="Do not install from this file. Get it anew: reinstall tfenv, or run tfenv locks refresh.",
        )


def is_lock_id(text: str) -> bool:
    """Whether ``text`` could name a lock; it is then also a safe relative path."""
    return _ID.fullmatch(text) is not None


def digest_of(data: bytes) -> str:
    """The sha256 of a lockfile's bytes, hex: what state and evidence remember a lock by."""
    return hashlib.sha256(data).hexdigest()


def parse_lock(data: bytes, name: str) -> Lock:
    """The lock in ``data``; ``name`` is what errors call the file. Its grade is the one at compile time.

    Raises:
        LockfileError: it is anything but a lockfile of this format.
    """
    source = _Source(name=name, text=_text(data, name))
    header, start = _header(source)
    pins = tuple(_pins(source, start))
    if not pins:
        source.refuse(len(source.text), "it locks nothing")
    if header.holder not in {pin.name for pin in pins}:
        source.refuse(0, f"the distribution that holds TensorFlow ({header.holder}) is not among the pins")
    return Lock(
        id=header.id,
        target=header.target,
        python=header.python,
        tensorflow=header.tensorflow,
        holder=header.holder,
        as_of=header.as_of,
        floors=header.floors,
        cuda=header.cuda,
        on_wish=header.on_wish,
        faults=header.faults,
        evidence=header.grade,
        digest=digest_of(data),
        pins=pins,
    )


def render_lock(lock: Lock) -> str:
    """The text of ``lock``: pins sorted by name, lines ending in a newline. Its digest plays no part."""
    lines = [_PREAMBLE]
    lines.extend(f"# {key}: {value}\n" for key, value in _header_values(lock) if value)
    lines.extend(_pin_text(pin) for pin in sorted(lock.pins, key=lambda pin: pin.name))
    return "".join(lines)


def _header_values(lock: Lock) -> Iterator[tuple[str, str]]:
    yield "id", lock.id
    yield "target", lock.target
    yield "python", lock.python
    yield "tensorflow", lock.tensorflow
    yield "holder", lock.holder
    yield "as-of", lock.as_of
    yield "grade", "resolved" if lock.evidence == "proven" else lock.evidence
    yield "glibc", lock.floors.glibc
    yield "macos", lock.floors.macos
    yield "cpu-features", " ".join(lock.floors.cpu_features)
    yield "driver", lock.floors.driver
    yield "floors-source", lock.floors.source
    if lock.cuda is not None:
        yield "cuda", lock.cuda.cuda
        yield "cudnn", lock.cuda.cudnn
        yield "architectures", " ".join(lock.cuda.architectures)
        span = f"{lock.cuda.min_compute_capability} to {lock.cuda.max_compute_capability}"
        yield "compute-capability", span
        yield "cuda-source", lock.cuda.source
    yield "on-wish", "yes" if lock.on_wish else ""
    for fault in lock.faults:
        yield "fault", fault.text
        yield "fault-source", fault.source


def _pin_text(pin: Pin) -> str:
    hashes = " \\\n".join(f"    --hash=sha256:{value}" for value in pin.hashes)
    return f"{pin.name}=={pin.version} \\\n{hashes}\n    # size {pin.size}; accepts {pin.accepts or 'any'}\n"


def _text(data: bytes, name: str) -> str:
    source = _Source(name=name, text="")
    if len(data) > MAX_SIZE:
        source.refuse(0, f"it has {len(data)} bytes, and a lock has at most {MAX_SIZE}")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise LockfileError(
            "bad-lock",
            f"{name}, line {line}: it is not text (UTF-8).",
            hint="Do not install from this file. Get it anew: reinstall tfenv, or run tfenv locks refresh.",
        ) from None
    if not text.startswith(_PREAMBLE):
        source.refuse(0, "it is not a tfenv lock of format 1")
    if not text.endswith("\n"):
        _Source(name=name, text=text).refuse(len(text), "it ends in the middle of a line")
    return text


@record
class _Header:
    id: str
    target: str
    python: str
    tensorflow: str
    holder: str
    as_of: str
    grade: EvidenceGrade
    floors: Floors
    cuda: Optional[CudaBuild]
    on_wish: bool
    faults: tuple[KnownFault, ...]


def _header(source: _Source) -> tuple[_Header, int]:
    """The header's values, and where the pins begin."""
    values: dict[str, str] = {}
    faults: list[str] = []
    sources: list[str] = []
    position = len(_PREAMBLE)
    while source.text.startswith("#", position):
        end = source.text.index("\n", position)
        key, value = _header_line(source, position, end)
        if key == "fault":
            faults.append(value)
        elif key == "fault-source":
            sources.append(value)
        if len(faults) - len(sources) not in (0, 1) or (key in values and key not in _REPEATABLE):
            source.refuse(position, f"{key} does not belong here")
        values[key] = value
        position = end + 1
    missing = [key for key in _REQUIRED if key not in values]
    if any(key in values for key in _CUDA):
        missing += [key for key in _CUDA if key not in values]
    if missing or len(faults) != len(sources):
        source.refuse(position, f"its header lacks {', '.join(missing) or 'fault-source'}")
    return _Header(
        id=values["id"],
        target=values["target"],
        python=values["python"],
        tensorflow=values["tensorflow"],
        holder=values["holder"],
        as_of=values["as-of"],
        grade="released" if values["grade"] == "released" else "resolved",
        floors=Floors(
            glibc=values.get("glibc", ""),
            macos=values.get("macos", ""),
            cpu_features=tuple(values.get("cpu-features", "").split()),
            driver=values.get("driver", ""),
            source=values.get("floors-source", ""),
        ),
        cuda=_cuda(values),
        on_wish="on-wish" in values,
        faults=tuple(KnownFault(text=text, source=where) for text, where in zip(faults, sources)),
    ), position


def _header_line(source: _Source, start: int, end: int) -> tuple[str, str]:
    line = source.text[start:end]
    if len(line) > MAX_LINE:
        source.refuse(start, f"a line of {len(line)} characters, and {MAX_LINE} are the most")
    match = _HEADER_LINE.fullmatch(line)
    if match is None or not line.isprintable():
        source.refuse(start, "not a header line of the form '# key: value'")
    key, value = match.groups()
    shape = _SHAPES.get(key)
    if shape is None and key not in _TEXTS:
        source.refuse(start, f"unknown key {key!r}")
    if (shape is not None and not shape.fullmatch(value)) or "://" in value:
        source.refuse(start, f"{value[:60]!r} is no {key}")
    return key, value


def _cuda(values: Mapping[str, str]) -> Optional[CudaBuild]:
    if "cuda" not in values:
        return None
    lowest, _, highest = values["compute-capability"].partition(" to ")
    return CudaBuild(
        cuda=values["cuda"],
        cudnn=values["cudnn"],
        architectures=tuple(values["architectures"].split()),
        min_compute_capability=lowest,
        max_compute_capability=highest,
        source=values["cuda-source"],
    )


def _pins(source: _Source, position: int) -> Iterator[Pin]:
    before = ""
    while position < len(source.text):
        note = source.text.find("; accepts ", position)
        end = source.text.find("\n", note) + 1
        pin = _pin(source.text[position:end]) if note > 0 else None
        if pin is None:
            _refuse_pin(source, position)
        if pin.name <= before:
            twice = pin.name == before
            source.refuse(position, f"{pin.name} is {'pinned twice' if twice else 'out of order'}")
        before = pin.name
        position = end
        yield pin


@lru_cache(maxsize=16384)
def _pin(block: str) -> Optional[Pin]:
    """The pin that ``block`` is, or None. Cached because most blocks recur from Python to Python."""
    match = _PIN.fullmatch(block)
    if match is None:
        return None
    name, version, hashes, size, accepts = match.groups()
    return Pin(
        name=name,
        version=version,
        hashes=tuple(_HASH_VALUE.findall(hashes)),
        accepts="" if accepts == "any" else accepts,
        size=int(size),
    )


def _refuse_pin(source: _Source, position: int) -> NoReturn:
    """Name the first line at fault of the pin at ``position``, and what is wrong with it."""
    expected = [re.compile(_PIN_LINE), re.compile(rf"{_HASH} \\\n|{_HASH}\n"), re.compile(_NOTE_LINE)]
    step = 0
    while position < len(source.text):
        end = source.text.index("\n", position) + 1
        line = source.text[position:end]
        if not expected[step].fullmatch(line):
            break
        position = end
        step = step if step == 1 and line.endswith("\\\n") else min(step + 1, 2)
    else:
        source.refuse(position, "it ends in the middle of a pin")
    if len(line) > MAX_LINE:
        source.refuse(position, f"a line of {len(line)} characters, and {MAX_LINE} are the most")
    if "://" in line or " @ " in line:
        source.refuse(position, "a URL, and a lock holds none")
    if step == 0 and line.startswith("-"):
        source.refuse(position, "an installer option, and a lock holds none")
    wanted = ("name==version with a backslash", "--hash=sha256: with 64 hex digits", "# size N; accepts …")
    source.refuse(position, f"{line.rstrip()[:60]!r} is not {wanted[step]}")
