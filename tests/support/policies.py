"""A small policy for tests."""

from __future__ import annotations

from tfenv.targets.model import TARGETS

_ROOTS = {"linux-x86_64-cpu": "tensorflow-cpu", "linux-x86_64-cuda": "tensorflow[and-cuda]"}
_TARGETS = "".join(
    f"""
[[target]]
name = "{name}"
root = "{_ROOTS.get(name, "tensorflow")}"
platform = "x86_64-manylinux_2_31"
cpu_features = ["avx"]
why = "a test"
"""
    for name in TARGETS
)

POLICY = f"""\
format = 1
{_TARGETS}
[[rule]]
requirements = ["setuptools<82"]
use = "limit"
tensorflow = "<2.21"
why = "pkg_resources"

[[rule]]
requirements = ["never-used<1"]
use = "limit"
tensorflow = ">=2.21"
why = "another release"

[[stack]]
tensorflow = "2.20.0"
released = "2025-08-13"
as_of = "2025-10-15"
why = "a test"
targets = ["linux-x86_64-cpu", "linux-x86_64-cuda"]
pythons = ["3.11", "3.12"]
on_wish = false

    [[stack.rule]]
    requirements = ["keras==3.10.0"]
    use = "pin"
    why = "era"

    [[stack.rule]]
    requirements = ["nvidia-cudnn-cu12==9.3.0.75"]
    use = "pin"
    targets = ["linux-x86_64-cuda"]
    why = "cuDNN"

    [[stack.rule]]
    requirements = ["extra-tool~=1.0"]
    use = "require"
    targets = ["linux-x86_64-cpu"]
    pythons = ["3.11"]
    why = "wanted"

    [stack.cuda]
    cuda = "12.5.1"
    architectures = ["sm_60", "compute_90"]
    min_compute_capability = "6.0"
    max_compute_capability = "9.0"
    driver = "525.60.13"
    source = "build_info.py"

[[none]]
targets = ["macos-arm64-metal"]
tensorflow = ["2.20"]
reason = "it does not load"
source = "s"

[[none]]
targets = ["linux-x86_64-cpu"]
tensorflow = ["2.19"]
pythons = ["3.12", "3.13"]
reason = "no wheels"
source = "w"
"""
