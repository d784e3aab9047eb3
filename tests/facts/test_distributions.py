"""Installed distributions, shared folders, duplicates and conda's records, from folders on disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from facts.fakes import FakeMachine

from tfenv.facts import conda
from tfenv.facts.distributions import duplicates, read_inventory
from tfenv.facts.model import Distribution, SharedFolder, known
from tfenv.facts.shared import shared_folders

SITE = "/venv/lib/python3.11/site-packages"


def wheel(
    name: str,
    version: str,
    *,
    at: str = SITE,
    installer: str | None = "pip",
    requires: tuple[str, ...] = (),
    record: tuple[str, ...] = (),
) -> dict[str, str]:
    """The files of an installed wheel."""
    folder = f"{at}/{name.replace('-', '_')}-{version}.dist-info"
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    lines += [f"Requires-Dist: {line}" for line in requires]
    files = {
        f"{folder}/METADATA": "\n".join([*lines, "", "Name: in the description", "Requires-Dist: not-me"])
    }
    if installer is not None:
        files[f"{folder}/INSTALLER"] = installer + "\n"
    if record:
        files[f"{folder}/RECORD"] = "".join(f"{path},sha256=x,1\n" for path in record)
    return files


def test_every_distribution_with_version_place_installer_and_requirements(tmp_path: Path) -> None:
    user = "/home/me/.local/lib/python3.11/site-packages"
    files = {
        **wheel("ml_dtypes", "0.5.1", installer="uv", requires=("numpy>=1.21", 'x; extra == "dev"')),
        **wheel("Keras", "3.6.0", at=user, installer=None),
        f"{SITE}/old-1.0.egg-info/PKG-INFO": "Name: old\nVersion: 1.0\n",
        f"{SITE}/single-2.0-py3.11.egg-info": "Metadata-Version: 1.0\nName: single\nVersion: 2.0\n",
        f"{SITE}/module.py": "",
    }
    inventory = read_inventory((user, "/none", SITE), FakeMachine(tmp_path, files=files))
    assert [item.distribution for item in inventory.installed] == [
        Distribution(name="keras", version="3.6.0", location=user, requires=()),
        Distribution(
            name="ml-dtypes",
            version="0.5.1",
            location=SITE,
            installer="uv",
            requires=("numpy>=1.21", 'x; extra == "dev"'),
        ),
        Distribution(name="old", version="1.0", location=SITE, requires=()),
        Distribution(name="single", version="2.0", location=SITE, requires=()),
    ]
    assert inventory.holders == (user, SITE)
    assert (inventory.broken, inventory.interrupted) == ((), ())


def test_one_folder_under_two_names_is_read_once(tmp_path: Path) -> None:
    machine = FakeMachine(tmp_path, files=wheel("six", "1.17.0"))
    (tmp_path / "venv/lib64").symlink_to(tmp_path / "venv/lib")
    paths = (SITE, SITE.replace("/lib/", "/lib64/"), SITE + "/")
    assert len(read_inventory(paths, machine).installed) == 1


def test_remains_of_interrupted_installs(tmp_path: Path) -> None:
    files = {
        f"{SITE}/~ensorflow/__init__.py": "",
        f"{SITE}/~ensorflow-2.18.0.dist-info/METADATA": "Name: tensorflow\nVersion: 2.18.0\n",
        f"{SITE}/numpy-2.0.0.dist-info/RECORD": "",
        f"{SITE}/nameless-1.dist-info/METADATA": "Version: 1\n",
        **wheel("keras", "3.6.0"),
    }
    inventory = read_inventory((SITE,), FakeMachine(tmp_path, files=files))
    assert [item.distribution.name for item in inventory.installed] == ["keras"]
    assert inventory.interrupted == (f"{SITE}/~ensorflow", f"{SITE}/~ensorflow-2.18.0.dist-info")
    assert inventory.broken == (f"{SITE}/nameless-1.dist-info", f"{SITE}/numpy-2.0.0.dist-info")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "Name: big\nVersion: 1\n" + "Classifier: x\n" * 5000 + "Requires-Dist: numpy\n\nbody", id="long"
        ),
        pytest.param("Name: big\r\nVersion: 1\r\nRequires-Dist: numpy\r\n\r\nRequires-Dist: body", id="crlf"),
        pytest.param(
            "Name: big\nVersion: 1\nLicense: a\n  Name: folded\nRequires-Dist: numpy\n", id="folded"
        ),
        pytest.param("name: big\nVERSION: 1\nrequires-dist:numpy\n", id="case"),
        pytest.param("Name: big\nVersion: 1\nAuthor: \udcff\nRequires-Dist: numpy\n", id="not-utf-8"),
    ],
)
def test_headers_of_every_kind(tmp_path: Path, text: str) -> None:
    folder = tmp_path / SITE.lstrip("/") / "big-1.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_bytes(text.encode("utf-8", "surrogateescape"))
    inventory = read_inventory((SITE,), FakeMachine(tmp_path))
    assert [item.distribution for item in inventory.installed] == [
        Distribution(name="big", version="1", location=SITE, requires=("numpy",))
    ]


def test_a_requirement_with_a_password_is_masked(tmp_path: Path) -> None:
    files = wheel("a", "1", requires=("b @ https://me:CANARY@host.example/b.whl", "c>=1"))
    inventory = read_inventory((SITE,), FakeMachine(tmp_path, files=files))
    assert inventory.installed[0].distribution.requires == ("b @ https://***@host.example/b.whl", "c>=1")


def test_duplicates_are_two_metadata_folders_in_one_place(tmp_path: Path) -> None:
    system = "/usr/lib/python3/dist-packages"
    files = {
        **wheel("protobuf", "4.25.3"),
        **wheel("protobuf", "5.29.6"),
        **wheel("six", "1.17.0"),
        **wheel("six", "1.16.0", at=system),
    }
    inventory = read_inventory((SITE, system), FakeMachine(tmp_path, files=files))
    assert duplicates(inventory.installed) == ("protobuf",)


TF = ("tensorflow/__init__.py", "tensorflow/python/ops.py", "tensorflow/libtensorflow_framework.so.2")


@pytest.mark.parametrize(
    ("wheels", "expected"),
    [
        pytest.param(
            [
                wheel("tensorflow", "2.15.0", record=TF),
                wheel("tensorflow-cpu", "2.15.0", record=TF),
                wheel("tensorflow-text", "2.15.0", record=("tensorflow_text/a.py",)),
            ],
            (SharedFolder(folder="tensorflow", owners=("tensorflow", "tensorflow-cpu")),),
            id="two-tensorflows",
        ),
        pytest.param(
            [
                wheel("tensorflow", "2.15.0", record=("tensorflow-2.15.0.dist-info/METADATA",)),
                wheel("tensorflow-macos", "2.15.0", record=TF),
            ],
            (),
            id="a-stub-beside-the-real-one",
        ),
        pytest.param(
            [
                wheel(
                    "nvidia-nccl-cu12",
                    "2.28.9",
                    record=("nvidia/__init__.py", "nvidia/nccl/lib/libnccl.so.2"),
                ),
                wheel(
                    "nvidia-nccl-cu13",
                    "2.31.2",
                    record=("nvidia/__init__.py", "nvidia/nccl/lib/libnccl.so.2"),
                ),
                wheel(
                    "nvidia-cudnn-cu12",
                    "9.3.0",
                    record=("nvidia/__init__.py", "nvidia/cudnn/lib/libcudnn.so.9"),
                ),
            ],
            (SharedFolder(folder="nvidia/nccl", owners=("nvidia-nccl-cu12", "nvidia-nccl-cu13")),),
            id="two-nccl",
        ),
        pytest.param(
            [
                wheel("nvidia-cublas-cu12", "12", record=("nvidia/__init__.py", "nvidia/cublas/__init__.py")),
                wheel("nvidia-cufft-cu12", "11", record=("nvidia/__init__.py", "nvidia/cufft/__init__.py")),
            ],
            (),
            id="a-namespace-is-not-shared-ground",
        ),
        pytest.param(
            [
                wheel(
                    "nvidia-cublas", "13", record=("nvidia/cu13/__init__.py", "nvidia/cu13/lib/libcublas.so")
                ),
                wheel(
                    "nvidia-cufft", "12", record=("nvidia/cu13/__init__.py", "nvidia/cu13/lib/libcufft.so")
                ),
            ],
            (),
            id="an-init-file-alone-is-no-overlap",
        ),
        pytest.param(
            [
                wheel("protobuf", "5.29.6", record=("google/protobuf/message.py", "google/_upb/_message.so")),
                wheel("protobuf-nightly", "6.0", record=("google/protobuf/message.py",)),
                wheel("googleapis-common-protos", "1.0", record=("google/api/http.py",)),
            ],
            (SharedFolder(folder="google/protobuf", owners=("protobuf", "protobuf-nightly")),),
            id="two-protobufs",
        ),
        pytest.param(
            [
                wheel("keras", "3.6.0", record=("keras/src/__pycache__/a.pyc", "keras/src/a.py")),
                wheel("keras-nightly", "3.7", record=("keras/src/__pycache__/a.pyc", "keras/api/b.py")),
            ],
            (),
            id="bytecode-does-not-count",
        ),
        pytest.param([wheel("tensorflow", "2.19.1", record=TF)], (), id="one"),
        pytest.param([wheel("tensorflow", "2.19.1"), wheel("tensorflow-cpu", "2.19.1")], (), id="no-record"),
    ],
)
def test_shared_folders(
    tmp_path: Path, wheels: list[dict[str, str]], expected: tuple[SharedFolder, ...]
) -> None:
    files = {key: text for files in wheels for key, text in files.items()}
    inventory = read_inventory((SITE,), FakeMachine(tmp_path, files=files))
    assert shared_folders(inventory.installed) == expected


def test_copies_in_different_places_share_no_folder(tmp_path: Path) -> None:
    files = {
        **wheel("tensorflow", "2.19.1", record=TF),
        **wheel("tensorflow-cpu", "2.19.1", at="/user/site", record=TF),
    }
    inventory = read_inventory((SITE, "/user/site"), FakeMachine(tmp_path, files=files))
    assert shared_folders(inventory.installed) == ()


CONDA = {
    "/venv/conda-meta/history": "",
    "/venv/conda-meta/numpy-1.26.4-py311h64a7726_0.json": "{}",
    "/venv/conda-meta/libgcc-ng-13.2.0-h807b86a_5.json": "{}",
    "/venv/conda-meta/ml_dtypes-0.3.2-py311_0.json": "{}",
    "/venv/conda-meta/odd.json": "{}",
}


def test_conda_packages(tmp_path: Path) -> None:
    def package(name: str, version: str) -> Distribution:
        return Distribution(name=name, version=version, location="/venv", installer="conda")

    machine = FakeMachine(tmp_path, files=CONDA)
    listed = conda.conda_packages("/venv", machine)
    assert listed == known(
        (package("libgcc-ng", "13.2.0"), package("ml-dtypes", "0.3.2"), package("numpy", "1.26.4")),
        "/venv/conda-meta",
    )
    by_pip = Distribution(name="numpy", version="2.0.2", location=SITE, installer="pip")
    by_conda = Distribution(name="ml-dtypes", version="0.3.2", location=SITE, installer="conda")
    assert listed.value is not None
    assert conda.by_both((by_pip, by_conda), listed.value) == ("numpy",)
    assert conda.with_conda((by_pip, by_conda), listed.value) == (
        by_pip,
        by_conda,
        package("libgcc-ng", "13.2.0"),
    )


def test_outside_conda_there_are_no_conda_packages(tmp_path: Path) -> None:
    assert conda.conda_packages("/venv", FakeMachine(tmp_path)) == known((), "/venv/conda-meta")
