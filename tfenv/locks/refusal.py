"""Why no lock fits, what comes nearest, and the commands that lead out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Optional

from tfenv.errors import NoLockError
from tfenv.facts.model import Facts
from tfenv.facts.pythons import FoundPython
from tfenv.locks.fit import python_minor, reasons_against
from tfenv.locks.model import Lock, NoStack
from tfenv.targets.model import Target
from tfenv.versions import minor_of, version_key

_BLACKWELL_WAYS_OUT = (
    "Use NVIDIA's TensorFlow container (built for newer CUDA), or train on the CPU: "
    "tfenv bootstrap --target linux-x86_64-cpu"
)


def explain_none(
    locks: Sequence[Lock],
    none: Sequence[NoStack],
    *,
    target: Target,
    facts: Facts,
    wish: Optional[str],
    hosts: Callable[[], Sequence[FoundPython]],
) -> NoLockError:
    """The refusal for this machine and wish; the hint names every way out that exists."""
    of_target = [lock for lock in locks if lock.target == target.name]
    wished = [lock for lock in of_target if wish is None or wish in (lock.minor, lock.tensorflow)]
    if wish is not None and not wished:
        return _not_in_catalogue(locks, none, target, facts, wish)
    candidates = [lock for lock in wished if wish is not None or not lock.on_wish]
    reasons = {lock.id: reasons_against(lock, target, facts) for lock in candidates}
    only_python = [lock for lock in candidates if {reason.kind for reason in reasons[lock.id]} == {"python"}]
    if only_python:
        return _other_python(locks, none, only_python, target, facts, wish, hosts)
    return _machine(candidates, target, facts, wish)


def _not_in_catalogue(
    locks: Sequence[Lock], none: Sequence[NoStack], target: Target, facts: Facts, wish: str
) -> NoLockError:
    policy = _policy_reason(none, target, facts, wish)
    others = _fitting(locks, target, facts)
    if policy:
        message = f"There is no lock of TensorFlow {wish} for {target.name}: {policy}."
    else:
        held = sorted({lock.tensorflow for lock in locks if lock.target == target.name}, key=version_key)
        message = (
            f"TensorFlow {wish} is not in the catalogue for {target.name}, "
            f"which holds {', '.join(held) or 'none'}."
        )
    return NoLockError(
        "no-lock", message, hint=_ways(_nearest(others, wish), _fallback(locks, target, facts, wish))
    )


def _other_python(
    locks: Sequence[Lock],
    none: Sequence[NoStack],
    candidates: Sequence[Lock],
    target: Target,
    facts: Facts,
    wish: Optional[str],
    hosts: Callable[[], Sequence[FoundPython]],
) -> NoLockError:
    pythons = sorted({lock.python for lock in candidates}, key=version_key)
    what = f"TensorFlow {wish}" if wish else "any TensorFlow"
    policy = _policy_reason(none, target, facts, wish)
    message = f"{target.name} has no lock of {what} for Python {python_minor(facts)}" + (
        f": {policy}." if policy else f"; there are locks for Python {', '.join(pythons)}."
    )
    able = [host for host in hosts() if host.minor in pythons]
    tf = f" --tf {wish}" if wish else ""
    if able:
        best = max(able, key=lambda host: version_key(host.version))
        with_host = (
            f"with Python {best.version}, which is on this machine: "
            f"tfenv bootstrap{tf} --venv .venv --python {best.path}"
        )
    else:
        with_host = f"install Python {pythons[-1]} and run: tfenv bootstrap{tf} --venv .venv --python PATH"
    nearest = _nearest(_fitting(locks, target, facts), wish) if wish else ""
    return NoLockError(
        "no-lock", message, hint=_ways(with_host, nearest, _fallback(locks, target, facts, wish))
    )


def _machine(candidates: Sequence[Lock], target: Target, facts: Facts, wish: Optional[str]) -> NoLockError:
    """Something of the machine itself is in the way: say it for the lock that comes nearest."""
    ranked = sorted(
        candidates,
        key=lambda lock: (
            any(reason.kind == "python" for reason in reasons_against(lock, target, facts)),
            len(reasons_against(lock, target, facts)),
            [-part for part in version_key(lock.tensorflow)],
        ),
    )
    what = f"TensorFlow {wish}" if wish else "TensorFlow"
    if not ranked:
        return NoLockError(
            "no-lock",
            f"The catalogue holds no lock of {what} for {target.name}.",
            hint="See: tfenv locks list",
        )
    reasons = reasons_against(ranked[0], target, facts)
    texts = "; ".join(reason.text for reason in reasons)
    message = f"No lock of {what} fits this machine ({target.name}): {texts}."
    kinds = {reason.kind for reason in reasons}
    if "driver" in kinds:
        hint = _ways(
            f"update the NVIDIA driver to {ranked[0].floors.driver} or newer"
            + (" on the host" if facts.system.container.value else ""),
            "train on the CPU: tfenv bootstrap --target linux-x86_64-cpu",
        )
    elif "compute-capability" in kinds and _above(ranked[0], facts):
        newest = max((lock.tensorflow for lock in candidates), key=version_key)
        message = f"No TensorFlow wheel up to {newest} works on this GPU: {texts}."
        hint = _BLACKWELL_WAYS_OUT
    elif "compute-capability" in kinds:
        hint = _ways("train on the CPU: tfenv bootstrap --target linux-x86_64-cpu", "see: tfenv locks list")
    elif "cpu" in kinds:
        hint = "Use another machine, or give this virtual machine the host's CPU model (qemu: -cpu host)."
    elif "glibc" in kinds:
        hint = (
            "Use a newer system or image (such as python:3.12-slim), or an older TensorFlow: tfenv locks list"
        )
    elif "macos" in kinds:
        hint = "Update macOS, or choose an older TensorFlow: tfenv locks list"
    else:
        hint = "See which locks exist and why each does not fit: tfenv locks list"
    return NoLockError("no-lock", message, hint=hint)


def _above(lock: Lock, facts: Facts) -> bool:
    assert lock.cuda is not None
    ceiling = version_key(lock.cuda.max_compute_capability)
    return any(
        gpu.compute_capability is not None and version_key(gpu.compute_capability) > ceiling
        for gpu in facts.nvidia.gpus.value or ()
    )


def _policy_reason(none: Sequence[NoStack], target: Target, facts: Facts, wish: Optional[str]) -> str:
    """What policy says of the wished minor; without a wish, of this Python, by its newest entry."""
    minor = minor_of(wish) if wish else None
    python = python_minor(facts)
    entries = [
        entry
        for entry in none
        if entry.target == target.name
        and entry.python in ("", python)
        and (entry.tensorflow == minor if minor else entry.python == python)
    ]
    newest = max(entries, key=lambda entry: version_key(entry.tensorflow), default=None)
    return newest.reason.rstrip(".") if newest else ""


def _fitting(locks: Sequence[Lock], target: Target, facts: Facts) -> list[Lock]:
    return [lock for lock in locks if not lock.on_wish and not reasons_against(lock, target, facts)]


def _nearest(fitting: Sequence[Lock], wish: str) -> str:
    if not fitting:
        return ""
    goal = version_key(wish)

    def distance(lock: Lock) -> tuple[int, int, int]:
        version = version_key(lock.tensorflow)
        patch = abs(version[2] - goal[2]) if len(goal) > 2 else 0
        return abs(version[0] - goal[0]), abs(version[1] - goal[1]), patch

    nearest = min(fitting, key=distance)
    return (
        f"the nearest that fits here is TensorFlow {nearest.tensorflow}: tfenv bootstrap --tf {nearest.minor}"
    )


def _fallback(locks: Sequence[Lock], target: Target, facts: Facts, wish: Optional[str]) -> str:
    """The other target of this machine that has a lock for the request, else for anything."""
    if target.fallback is None:
        return ""
    other = Target(name=target.fallback, reason="fallback")
    fitting = _fitting(locks, other, facts)
    wished = [lock for lock in fitting if wish is None or wish in (lock.minor, lock.tensorflow)]
    best = max(wished or fitting, key=lambda lock: version_key(lock.tensorflow), default=None)
    if best is None:
        return ""
    command = f"tfenv bootstrap --target {other.name} --tf {best.minor}"
    return f"on the CPU TensorFlow {best.tensorflow} works: {command}"


def _ways(*ways: str) -> str:
    if not any(ways):
        return "See which locks exist, and why each does not fit: tfenv locks list"
    sentences = [way[0].upper() + way[1:] for way in ways if way]
    return ". Or: ".join(sentences) + "."
