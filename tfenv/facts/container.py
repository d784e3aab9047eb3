"""Whether this process runs in a container."""

from __future__ import annotations

from tfenv.facts.machine import Machine, exists, read_text
from tfenv.facts.model import Fact, known

_SOURCE = "environment variables, /.dockerenv, /run/.containerenv, /proc/1/cgroup"

_IN_CGROUP = (("kubepods", "kubernetes"), ("libpod", "podman"), ("docker", "docker"), ("lxc", "lxc"))


def container(machine: Machine) -> Fact[str]:
    """ "kubernetes", "podman", "singularity", "docker", what the variable ``container`` says, or ``None``.

    ``/.dockerenv`` alone is weak: virtual machines made from images have it too. Without an image's layered
    root filesystem beside it, the answer is "container-like".
    """
    if machine.platform != "linux":
        return known(None, "not Linux")
    if "KUBERNETES_SERVICE_HOST" in machine.environ:
        return known("kubernetes", "KUBERNETES_SERVICE_HOST")
    if "APPTAINER_NAME" in machine.environ or "SINGULARITY_NAME" in machine.environ:
        return known("singularity", "APPTAINER_NAME, SINGULARITY_NAME")
    if exists(machine.path("/run/.containerenv")):
        return known("podman", "/run/.containerenv")
    named = machine.environ.get("container")
    if named:
        return known(named, "the variable container")
    in_cgroup = _from_cgroup(machine)
    if in_cgroup is not None:
        return known(in_cgroup, "/proc/1/cgroup")
    if exists(machine.path("/.dockerenv")):
        return known("docker" if _layered_root(machine) else "container-like", "/.dockerenv")
    return known(None, _SOURCE)


def _from_cgroup(machine: Machine) -> str | None:
    """With cgroups v1, the path of process 1 names its container; with v2 it is always "/"."""
    try:
        text = read_text(machine, "/proc/1/cgroup")
    except OSError:
        return None  # other users' processes may be hidden; the other signs remain
    return next((name for part, name in _IN_CGROUP if f"/{part}" in text), None)


def _layered_root(machine: Machine) -> bool:
    try:
        mounts = read_text(machine, "/proc/mounts")
    except OSError:
        return False
    roots = [line.split()[2] for line in mounts.splitlines() if line.split()[1:2] == ["/"]]
    return any("overlay" in kind or kind in ("aufs", "btrfs", "zfs") for kind in roots)
