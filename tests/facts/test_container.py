"""Containers by their several signs, the weak one last."""

from __future__ import annotations

from pathlib import Path

import pytest
from facts.fakes import FakeMachine

from tfenv.facts.container import container

OVERLAY = "overlay / overlay rw,relatime 0 0\nproc /proc proc rw 0 0\n"
EXT4 = "/dev/vda / ext4 rw,relatime 0 0\n"


@pytest.mark.parametrize(
    ("files", "environ", "expected"),
    [
        pytest.param({}, {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, "kubernetes", id="kubernetes-variable"),
        pytest.param({}, {"APPTAINER_NAME": "tf.sif"}, "singularity", id="apptainer"),
        pytest.param({"/run/.containerenv": ""}, {}, "podman", id="podman-file"),
        pytest.param({}, {"container": "lxc"}, "lxc", id="variable"),
        pytest.param({"/proc/1/cgroup": "4:memory:/docker/0123abcd\n"}, {}, "docker", id="cgroup-v1"),
        pytest.param(
            {"/proc/1/cgroup": "4:memory:/kubepods/burstable/pod1\n"}, {}, "kubernetes", id="pod-cgroup-v1"
        ),
        pytest.param(
            {"/.dockerenv": "", "/proc/1/cgroup": "0::/\n", "/proc/mounts": OVERLAY},
            {},
            "docker",
            id="docker",
        ),
        pytest.param(
            {"/.dockerenv": "", "/proc/1/cgroup": "0::/\n", "/proc/mounts": EXT4},
            {},
            "container-like",
            id="virtual-machine-made-from-an-image",
        ),
        pytest.param({"/proc/1/cgroup": "0::/init.scope\n", "/proc/mounts": OVERLAY}, {}, None, id="none"),
    ],
)
def test_container(
    tmp_path: Path, files: dict[str, str], environ: dict[str, str], expected: str | None
) -> None:
    fact = container(FakeMachine(tmp_path, files=files, environ=environ))
    assert (fact.value, fact.state) == (expected, "known")
    assert fact.source != ""


def test_a_mac_runs_no_linux_container(tmp_path: Path) -> None:
    assert container(FakeMachine(tmp_path, platform="darwin", environ={"container": "x"})).value is None
