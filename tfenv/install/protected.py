"""What a shared environment must keep as it is: the closure of the notebook kernel and of the installers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Optional

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from tfenv.facts.model import Distribution

#: A change to anything these need can leave a notebook without a kernel, or a machine without an installer.
_KERNELS = ("google-colab", "ipykernel", "jupyter-server", "notebook", "jupyterlab", "jupyter-client")
_INSTALLERS = ("pip", "uv", "conda", "mamba", "libmambapy", "tfenv")
#: google-colab's exact pins (its metadata, runtime 2026.07), for recorded lists that carry no requirements.
_COLAB_PINS = (
    "google-auth", "ipykernel", "ipyparallel", "ipython", "notebook", "pandas", "portpicker", "requests",
    "tornado",
)  # fmt: skip


def protected_names(installed: Sequence[Distribution], markers: Mapping[str, str]) -> dict[str, str]:
    """Canonical names that must stay as they are, each with the root that needs it."""
    by_name = {distribution.name: distribution for distribution in installed}
    roots = [name for name in (*_KERNELS, *_INSTALLERS) if name in by_name]
    protected = {name: name for name in roots}
    queue = list(roots)
    while queue:
        name = queue.pop()
        for needed in _needs(by_name[name], markers):
            if needed in by_name and needed not in protected:
                protected[needed] = protected[name]
                queue.append(needed)
    return protected


def _needs(distribution: Distribution, markers: Mapping[str, str]) -> list[str]:
    if distribution.requires is None:
        return list(_COLAB_PINS) if distribution.name == "google-colab" else []
    requirements = (parse_requirement(line, markers) for line in distribution.requires)
    return [str(canonicalize_name(found.name)) for found in requirements if found is not None]


def parse_requirement(line: str, markers: Mapping[str, str]) -> Optional[Requirement]:
    """The Requires-Dist ``line`` if it applies under ``markers``; None if not or if it is malformed."""
    try:
        requirement = Requirement(line)
    except InvalidRequirement:
        return None
    if requirement.marker is not None and not requirement.marker.evaluate({**markers, "extra": ""}):
        return None
    return requirement
