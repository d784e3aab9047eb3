"""The rung of the distributions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from doctor.cases import Case, holds, parametrized
from doctor.crafted import change, found, lock_named, machine, one, state_of, with_lock, with_packages
from tfenv.facts.model import Distribution, Facts, SharedFolder, known, unknown

LINUX = machine("linux-cpu-py311")
LOCK = lock_named("linux-x86_64-cpu/tf2.19-py311")
STATE = state_of(LOCK)
TF = with_lock(LINUX, LOCK)
MAC = machine("mac-m2-py311")
WINDOWS = machine("windows-py311")
AARCH64 = machine("linux-aarch64-py312")
CUDA = machine("linux-rtx4090-driver550-py311")
COLAB = machine("colab-2026.08-gpu-py313")


def sharing(facts: Facts, folder: str, *owners: str) -> Facts:
    return change(facts, "packages", shared_folders=(SharedFolder(folder=folder, owners=owners),))


def without_metadata(facts: Facts) -> Facts:
    """As a pasted list: no requirements."""
    listed = tuple(replace(item, requires=None) for item in facts.packages.distributions.value or ())
    return replace(facts, packages=replace(facts.packages, distributions=known(listed, "pip freeze")))


def unreadable(facts: Facts, name: str) -> Facts:
    return replace(
        facts, packages=replace(facts.packages, **{name: unknown("site-packages", "no permission")})
    )


def stack(tensorflow: str, *lines: str, base: Facts = LINUX) -> Facts:
    return with_packages(base, f"tensorflow=={tensorflow}", *lines)


TWO = with_packages(LINUX, "tensorflow==2.18.1", "tensorflow-cpu==2.19.1")
SAME = with_packages(LINUX, "tensorflow==2.19.1", "tensorflow-cpu==2.19.1")

PRESENCE = [
    Case(id="there", check="TFW001", facts=TF),
    Case(id="not-there", check="TFW001", facts=LINUX, severities=("info",), says="tfenv bootstrap --python"),
    Case(
        id="not-there-but-a-companion",
        check="TFW001",
        facts=with_packages(LINUX, "tf-keras==2.19.0"),
        severities=("warn",),
        says="tf-keras needs it",
    ),
    Case(
        id="gone",
        check="TFW001",
        facts=LINUX,
        options={"state": STATE},
        severities=("fail",),
        says="tfenv bootstrap --tf 2.19.1",
    ),
    Case(
        id="unreadable",
        check="TFW001",
        facts=unreadable(LINUX, "distributions"),
        severities=("unknown",),
        says="no permission",
    ),
    Case(
        id="nothing-fits",
        check="TFW001",
        facts=machine("alpine-musl-py312"),
        severities=("info",),
        says="Use a glibc image",
    ),
    Case(id="whole", check="TFW007", facts=with_packages(MAC, "tensorflow==2.18.1")),
    Case(
        id="mac-stub-of-tensorflow",
        check="TFW007",
        facts=with_packages(MAC, "tensorflow==2.15.0"),
        severities=("fail",),
        says="tensorflow-macos==2.15.0",
    ),
    Case(
        id="mac-pair",
        check="TFW007",
        facts=with_packages(MAC, "tensorflow==2.15.0", "tensorflow-macos==2.15.0"),
    ),
    Case(
        id="mac-stub-of-tensorflow-macos",
        check="TFW007",
        facts=with_packages(MAC, "tensorflow-macos==2.15.1"),
        severities=("fail",),
        says="tensorflow==2.15.1",
    ),
    Case(
        id="windows-stub",
        check="TFW007",
        facts=with_packages(WINDOWS, "tensorflow==2.17.1"),
        severities=("fail",),
        says="tensorflow-intel==2.17.1",
    ),
    Case(id="windows-whole", check="TFW007", facts=with_packages(WINDOWS, "tensorflow==2.18.1")),
    Case(
        id="aarch64-stub",
        check="TFW007",
        facts=with_packages(AARCH64, "tensorflow==2.15.1"),
        severities=("fail",),
        says="tensorflow-cpu-aws==2.15.1",
    ),
    Case(id="no-stub-on-x86", check="TFW007", facts=stack("2.15.1")),
]

SHARED = [
    Case(id="one-owner", check="PKG002", facts=TF),
    Case(
        id="two-versions",
        check="PKG002",
        facts=sharing(TWO, "tensorflow", "tensorflow", "tensorflow-cpu"),
        severities=("fail",),
        says="pip uninstall -y tensorflow tensorflow-cpu",
    ),
    Case(
        id="one-version-twice",
        check="PKG002",
        facts=sharing(SAME, "tensorflow", "tensorflow", "tensorflow-cpu"),
        severities=("warn",),
    ),
    Case(id="a-stub-shares-nothing", check="PKG002", facts=SAME),
    Case(
        id="nobody-could-look",
        check="PKG002",
        facts=unreadable(TWO, "shared_folders"),
        severities=("unknown",),
        says="no permission",
    ),
    Case(id="nothing-to-look-at", check="PKG002", facts=unreadable(TF, "shared_folders")),
    Case(id="nothing-else-shared", check="PKG003", facts=TF),
    Case(
        id="keras-and-keras-nightly",
        check="PKG003",
        facts=sharing(with_packages(TF, "keras-nightly==3.12.0"), "keras", "keras", "keras-nightly"),
        severities=("warn",),
        says="pip uninstall -y keras-nightly",
    ),
    Case(id="not-of-the-stack", check="PKG003", facts=sharing(TF, "yaml", "pyyaml", "yaml-fork")),
    Case(id="colab-shares-nccl", check="PKG003", facts=COLAB),
    Case(id="no-duplicates", check="PKG015", facts=TF),
    Case(
        id="numpy-twice",
        check="PKG015",
        facts=change(TF, "packages", duplicates=("numpy", "requests")),
        severities=("warn",),
        says="Installed more than once: numpy",
    ),
    Case(
        id="duplicates-unreadable",
        check="PKG015",
        facts=unreadable(TF, "duplicates"),
        severities=("unknown",),
        says="no permission",
    ),
    Case(id="others-twice", check="PKG015", facts=change(TF, "packages", duplicates=("requests",))),
    Case(id="pip-only", check="PKG010", facts=TF),
    Case(
        id="conda-and-pip",
        check="PKG010",
        facts=change(TF, "packages", conda_and_pip=("numpy", "pip")),
        severities=("warn",),
        says="conda remove -p ~/ml/.venv --force numpy",
    ),
]

KNOWN_BAD = [
    Case(id="numpy-1-with-2.17", check="PKG009", facts=stack("2.17.1", "numpy==1.26.4")),
    Case(
        id="numpy-2-with-2.17",
        check="PKG009",
        facts=stack("2.17.1", "numpy==2.1.3"),
        severities=("fail",),
        says="numpy==1.26.4",
    ),
    Case(id="numpy-2-with-2.18", check="PKG009", facts=stack("2.18.1", "numpy==2.0.2")),
    Case(id="protobuf-5-with-2.19", check="PKG008", facts=stack("2.19.1", "protobuf==5.29.6")),
    Case(
        id="protobuf-3.19",
        check="PKG008",
        facts=stack("2.17.1", "protobuf==3.19.6"),
        severities=("fail",),
        says="too old",
    ),
    Case(
        id="protobuf-6-with-2.17",
        check="PKG008",
        facts=stack("2.17.1", "protobuf==6.33.5"),
        severities=("warn",),
    ),
    Case(
        id="protobuf-6-with-2.18",
        check="PKG008",
        facts=stack("2.18.1", "protobuf==6.33.5"),
        severities=("warn",),
    ),
    Case(
        id="protobuf-4-with-2.20",
        check="PKG008",
        facts=stack("2.20.0", "protobuf==4.25.9"),
        severities=("fail",),
    ),
    Case(
        id="protobuf-5-with-2.21",
        check="PKG008",
        facts=stack("2.21.0", "protobuf==5.29.5"),
        severities=("fail",),
        says="6.31.1",
    ),
    Case(id="protobuf-7-with-2.20", check="PKG008", facts=stack("2.20.0", "protobuf==7.36.2")),
    Case(
        id="keras-2-with-2.18",
        check="PKG012",
        facts=stack("2.18.1", "keras==2.15.0"),
        severities=("fail",),
        says="keras==3.6.0",
    ),
    Case(
        id="keras-3-with-2.15",
        check="PKG012",
        facts=stack("2.15.1", "keras==3.5.0"),
        severities=("warn",),
        says="keras==2.15.0",
    ),
    Case(id="keras-2-with-2.15", check="PKG012", facts=stack("2.15.1", "keras==2.15.0")),
    Case(
        id="ml-dtypes-0.3-with-numpy-2",
        check="PKG012",
        facts=stack("2.18.1", "ml-dtypes==0.3.2", "numpy==2.0.2"),
        severities=("fail",),
    ),
    Case(
        id="ml-dtypes-0.3-with-numpy-1",
        check="PKG012",
        facts=stack("2.18.1", "ml-dtypes==0.3.2", "numpy==1.26.4"),
    ),
    Case(
        id="setuptools-82-with-tensorboard-2.19",
        check="PKG012",
        facts=stack("2.19.1", "setuptools==84.0.0", "tensorboard==2.19.0"),
        severities=("warn",),
        says="setuptools<82",
    ),
    Case(
        id="setuptools-82-with-tensorboard-2.21",
        check="PKG012",
        facts=stack("2.21.0", "setuptools==84.0.0", "tensorboard==2.21.0"),
    ),
    Case(
        id="2.16.1-with-cuda",
        check="PKG012",
        facts=stack("2.16.1", "nvidia-cudnn-cu12==8.9.7.29", base=CUDA),
        severities=("fail",),
        says="tensorflow==2.16.2",
    ),
    Case(id="2.16.1-without-gpu", check="PKG012", facts=stack("2.16.1", "nvidia-cudnn-cu12==8.9.7.29")),
    Case(
        id="2.21-with-cudnn-9.5",
        check="PKG012",
        facts=stack("2.21.0", "nvidia-cudnn-cu12==9.5.1.17", base=CUDA),
        severities=("warn",),
        says="nvidia-cudnn-cu12==9.24.0.43",
    ),
    Case(id="text-of-the-minor", check="PKG007", facts=stack("2.19.1", "tensorflow-text==2.19.0")),
    Case(
        id="text-of-another-minor",
        check="PKG007",
        facts=stack("2.19.1", "tensorflow-text==2.18.1"),
        severities=("fail",),
        says="--no-deps 'tensorflow-text~=2.19.0'",
    ),
    Case(
        id="tf-keras-of-another-minor",
        check="PKG007",
        facts=stack("2.19.1", "tf-keras==2.20.1"),
        severities=("warn",),
    ),
    Case(
        id="addons-with-keras-3",
        check="PKG007",
        facts=stack("2.19.1", "tensorflow-addons==0.23.0"),
        severities=("warn",),
        says="pip uninstall -y tensorflow-addons",
    ),
    Case(id="addons-with-2.15", check="PKG007", facts=stack("2.15.1", "tensorflow-addons==0.23.0")),
    Case(
        id="pyarrow-on-a-mac",
        check="MAC010",
        facts=stack("2.20.0", "pyarrow==18.0.0", base=MAC),
        severities=("warn",),
    ),
    Case(id="pyarrow-with-2.19", check="MAC010", facts=stack("2.19.1", "pyarrow==18.0.0", base=MAC)),
    Case(id="pyarrow-on-linux", check="MAC010", facts=stack("2.20.0", "pyarrow==18.0.0")),
]

DEMANDS = {"tensorflow": ("numpy<2.2.0,>=1.26.0", "h5py>=3.11.0", "wrapt>=1.11.0; python_version < '3.9'")}
REQUIREMENTS = [
    Case(
        id="met",
        check="PKG006",
        facts=with_packages(LINUX, "tensorflow==2.19.1", "numpy==2.1.3", "h5py==3.12.0", **DEMANDS),
    ),
    Case(
        id="missing",
        check="PKG006",
        facts=with_packages(LINUX, "tensorflow==2.19.1", "numpy==2.1.3", **DEMANDS),
        severities=("fail",),
        says="-m pip install 'h5py>=3.11.0'",
    ),
    Case(
        id="wrong-version",
        check="PKG006",
        facts=with_packages(LINUX, "tensorflow==2.19.1", "numpy==2.3.5", "h5py==3.12.0", **DEMANDS),
        severities=("warn",),
        says="-m pip install numpy==2.1.3",
    ),
    Case(
        id="deep-in-the-closure",
        check="PKG006",
        facts=with_packages(
            LINUX, "tensorflow==2.19.1", "keras==3.6.0", tensorflow=("keras>=3.5.0",), keras=("namex",)
        ),
        severities=("fail",),
        says="namex",
    ),
    Case(
        id="of-a-stranger",
        check="PKG006",
        facts=with_packages(TF, "pandas==2.2.3", pandas=("python-dateutil",)),
    ),
    Case(
        id="not-imported",
        check="PKG006",
        facts=with_packages(LINUX, "tensorflow==2.19.1", tensorflow=("libclang>=13.0.0",)),
    ),
    Case(
        id="extra-of-cuda-without-a-lock",
        check="PKG006",
        facts=with_packages(
            CUDA,
            "tensorflow==2.16.2",
            "nvidia-cudnn-cu12==8.9.7.29",
            tensorflow=(
                "nvidia-cudnn-cu12==8.9.7.29; extra == 'and-cuda'",
                "nvidia-nccl-cu12; extra == 'and-cuda'",
            ),
        ),
        severities=("fail",),
        says="nvidia-nccl-cu12",
    ),
    Case(
        id="extra-not-wanted",
        check="PKG006",
        facts=with_packages(
            LINUX, "tensorflow==2.16.2", tensorflow=("nvidia-nccl-cu12; extra == 'and-cuda'",)
        ),
    ),
    Case(
        id="known-clash-is-not-told-twice",
        check="PKG006",
        facts=with_packages(LINUX, "tensorflow==2.17.1", "numpy==2.1.3", tensorflow=("numpy<2.0.0",)),
    ),
    Case(
        id="companion-is-content-with-a-smaller-build",
        check="PKG006",
        facts=with_packages(TF, "tf-keras==2.19.0", tf_keras=("tensorflow<2.20,>=2.19",)),
    ),
    Case(
        id="met-in-a-list",
        check="PKG016",
        facts=without_metadata(TF),
    ),
    Case(
        id="wrong-in-a-list",
        check="PKG016",
        facts=without_metadata(with_packages(TF, "numpy==2.3.5")),
        severities=("warn",),
        says="numpy==2.1.3",
    ),
    Case(id="metadata-is-better", check="PKG016", facts=with_packages(TF, "numpy==2.3.5")),
]

LOCKED = [
    Case(id="as-bootstrapped", check="PKG001", facts=TF, options={"state": STATE}),
    Case(
        id="numpy-changed",
        check="PKG001",
        facts=with_packages(TF, "numpy==2.0.2"),
        options={"state": STATE},
        severities=("warn",),
        says="tfenv bootstrap --tf 2.19.1",
    ),
    Case(
        id="keras-gone",
        check="PKG001",
        facts=with_lock(LINUX, LOCK, "keras"),
        options={"state": STATE},
        severities=("fail",),
        says="Gone since the bootstrap: keras",
    ),
    Case(id="never-bootstrapped", check="PKG001", facts=with_packages(TF, "numpy==2.0.2")),
    Case(id="equal-to-a-lock", check="PKG017", facts=TF),
    Case(id="accepted-by-a-lock", check="PKG017", facts=with_packages(TF, "numpy==2.0.2")),
    Case(
        id="full-tensorflow-serves-as-well",
        check="PKG017",
        facts=with_packages(with_lock(LINUX, LOCK, "tensorflow-cpu"), "tensorflow==2.19.1"),
    ),
    Case(
        id="other-patch",
        check="PKG017",
        facts=with_packages(with_lock(LINUX, LOCK, "tensorflow-cpu"), "tensorflow-cpu==2.19.0"),
        severities=("info",),
        says="tfenv bootstrap --tf 2.19",
    ),
    Case(
        id="no-lock-of-this-minor",
        check="PKG017",
        facts=stack("2.14.1"),
        severities=("info",),
        says="no lock of TensorFlow 2.14",
    ),
    Case(
        id="bootstrapped-is-judged-by-its-own-lock",
        check="PKG017",
        facts=stack("2.14.1"),
        options={"state": STATE},
    ),
    Case(id="colab-satisfies-a-lock", check="PKG017", facts=COLAB),
]

CASES = PRESENCE + SHARED + KNOWN_BAD + REQUIREMENTS + LOCKED


@parametrized(CASES)
def test_distributions(case: Case) -> None:
    holds(case)


def test_a_bootstrapped_environment_is_repaired_from_its_lock() -> None:
    facts = with_packages(TF, "numpy==2.3.5", "tensorflow-cpu==2.19.1", tensorflow_cpu=("numpy<2.2",))
    (alone,) = one(facts, "PKG006")
    assert alone.remedy.commands == ("~/ml/.venv/bin/python -m pip install numpy==2.1.3",)
    (bootstrapped,) = one(facts, "PKG006", state=STATE)
    assert bootstrapped.remedy.commands == ("tfenv bootstrap --tf 2.19 --python ~/ml/.venv/bin/python",)


def test_mixed_tensorflow_explains_what_else_is_wrong_with_the_packages() -> None:
    facts = sharing(
        with_packages(LINUX, "tensorflow==2.17.1", "tensorflow-cpu==2.19.1", "numpy==2.1.3"),
        "tensorflow",
        "tensorflow",
        "tensorflow-cpu",
    )
    assert [finding.severity for finding in one(facts, "PKG009")] == ["fail"]
    assert ("PKG009", "skip") in found(facts)


@pytest.mark.parametrize("version", ["", "unknown", "2.19.1+local"], ids=["hidden", "no-version", "local"])
def test_versions_that_cannot_be_compared_are_no_crash(version: str) -> None:
    facts = with_packages(LINUX, f"tensorflow=={version}", f"numpy=={version}", f"keras=={version}")
    for check in ("PKG006", "PKG007", "PKG008", "PKG009", "PKG012", "PKG016", "PKG017"):
        one(facts, check)


def test_a_malformed_requirement_is_passed_over() -> None:
    bad = Distribution(
        name="tensorflow", version="2.19.1", location="x", requires=("numpy (>=1.0", "h5py>=3")
    )
    facts = replace(LINUX, packages=replace(LINUX.packages, distributions=known((bad,), "crafted")))
    (finding,) = one(facts, "PKG006")
    assert finding.title == "Missing: h5py"
