"""One cell of the policy becomes one lock, or is refused with the reason."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from support.index import Index, cpu_stack, pylock
from support.policies import POLICY

from tfenv.errors import TfenvError, UsageError
from tfenv.locks.compile import compile_lock, uv_resolver
from tfenv.locks.lockfile import digest_of, render_lock
from tfenv.locks.model import CudaBuild, Floors, Lock, Pin
from tfenv.locks.policy import Cell, parse_policy
from tfenv.locks.wheelfile import WheelFacts

CELLS = {(cell.target.name, cell.python): cell for cell in parse_policy(POLICY, Path("p.toml")).cells}
CPU = CELLS["linux-x86_64-cpu", "3.11"]
CUDA = CELLS["linux-x86_64-cuda", "3.11"]
TF_CPU = "tensorflow_cpu-2.20.0-cp311-cp311-manylinux_2_17_x86_64.whl"


def compiled(cell: Cell, index: Index) -> Lock:
    with ThreadPoolExecutor(2) as executor:
        return compile_lock(cell, index, index, executor)


def test_a_cell_becomes_a_lock() -> None:
    lock = compiled(CPU, Index(cpu_stack()))
    assert replace(lock, digest="") == Lock(
        id="linux-x86_64-cpu/tf2.20-py311",
        target="linux-x86_64-cpu",
        python="3.11",
        tensorflow="2.20.0",
        holder="tensorflow-cpu",
        as_of="2025-10-15",
        floors=Floors(glibc="2.17", cpu_features=("avx",), source="tags of the locked wheels"),
        digest="",
        pins=(
            Pin(name="extra-tool", version="1.2", hashes=(f"{7:064x}",), accepts=">=1.0,==1.*", size=7),
            Pin(name="keras", version="3.10.0", hashes=(f"{5:064x}",), accepts=">=3.10.0", size=5),
            Pin(
                name="numpy",
                version="2.2.6",
                hashes=(f"{2:064x}", f"{3:064x}"),  # not the one for musl
                accepts=">=1.26.0,<2.3",
                size=3,
            ),
            Pin(name="setuptools", version="80.9.0", hashes=(f"{6:064x}",), accepts="<82", size=6),
            Pin(name="tensorflow-cpu", version="2.20.0", hashes=(f"{1:064x}",), accepts="==2.20.0", size=1),
        ),
    )
    assert lock.digest == digest_of(render_lock(lock).encode())


def cuda_stack(cudnn: str) -> Index:
    """A CUDA stack whose extra asks for ``cudnn``, such as "==9.3.0.75"."""
    wheels = cpu_stack()
    _, facts = wheels.pop(TF_CPU)
    extra = f"nvidia-cudnn-cu12{cudnn} ; extra == 'and-cuda'"
    wheels["tensorflow-2.20.0-cp311-cp311-manylinux_2_17_x86_64.whl"] = (
        "tensorflow",
        replace(facts, requires=(*facts.requires, extra), folders=("tensorflow",)),
    )
    wheels["nvidia_cudnn_cu12-9.3.0.75-py3-none-manylinux_2_27_x86_64.whl"] = (
        "nvidia-cudnn-cu12",
        WheelFacts(requires=(), folders=("nvidia",)),
    )
    return Index(wheels)


@pytest.mark.parametrize(
    ("cudnn", "grade"),
    [pytest.param("==9.3.0.75", "released", id="exact"), pytest.param(">=9.3", "resolved", id="range")],
)
def test_a_cuda_lock_says_what_it_was_built_for_and_who_pinned_it(cudnn: str, grade: str) -> None:
    lock = compiled(CUDA, cuda_stack(cudnn))
    assert lock.cuda == CudaBuild(
        cuda="12.5.1",
        cudnn="9.3.0.75",
        architectures=("sm_60", "compute_90"),
        min_compute_capability="6.0",
        max_compute_capability="9.0",
        source="build_info.py",
    )
    assert (lock.floors.glibc, lock.floors.driver, lock.evidence) == ("2.27", "525.60.13", grade)


def without(filename: str) -> Index:
    return Index({name: wheel for name, wheel in cpu_stack().items() if name != filename})


def changed(filename: str, facts: WheelFacts) -> Index:
    wheels = cpu_stack()
    wheels[filename] = (wheels[filename][0], facts) if filename in wheels else ("stranger", facts)
    return Index(wheels)


STUB = WheelFacts(requires=("numpy", "keras"), folders=("tensorflow",), tensorflow_code=0)
OTHER_OWNER = WheelFacts(requires=(), folders=("tensorflow",), tensorflow_code=900_000_000)


@pytest.mark.parametrize(
    ("index", "message"),
    [
        pytest.param(
            changed(TF_CPU, STUB), "tensorflow-cpu 2.20.0 is a stub without TensorFlow's code", id="stub"
        ),
        pytest.param(
            changed(TF_CPU, replace(STUB, folders=())),
            "no distribution would own the folder tensorflow/", id="empty-stub",
        ),
        pytest.param(
            changed("stranger-1-py3-none-any.whl", OTHER_OWNER),
            "stranger, tensorflow-cpu would own the folder tensorflow/, and it must be exactly one",
            id="two-owners",
        ),
        pytest.param(
            without("keras-3.10.0-py3-none-any.whl"),
            "the resolver left out keras, which a wheel of the closure requires", id="hole",
        ),
        pytest.param(
            changed(TF_CPU, replace(OTHER_OWNER, requires=("numpy<2", "keras"))),
            "numpy 2.2.6 does not satisfy", id="inconsistent",
        ),
        pytest.param(
            Index({k.replace("py3-none-any", "cp312-cp312-win_amd64"): v for k, v in cpu_stack().items()}),
            "extra-tool 1.2 has no wheel for it", id="no-usable-wheel",
        ),
        pytest.param(
            Index({k.replace("2.20.0", "2.20.1"): v for k, v in cpu_stack().items()}),
            "tensorflow-cpu 2.20.1 does not satisfy ==2.20.0", id="other-version",
        ),
    ],
)  # fmt: skip
def test_what_is_not_one_whole_tensorflow_is_refused(index: Index, message: str) -> None:
    with pytest.raises(TfenvError) as caught:
        compiled(CPU, index)
    assert caught.value.code == "not-compiled"
    assert caught.value.message.startswith(f"linux-x86_64-cpu/tf2.20-py311: {message}")


def test_a_cuda_lock_without_cudnn_is_refused() -> None:
    index = cuda_stack("==9.3.0.75")
    index.answers = {"3.11": pylock({k: v for k, v in index.wheels.items() if "cudnn" not in k})}
    with pytest.raises(TfenvError, match="left out nvidia-cudnn-cu12"):
        compiled(CUDA, index)


def test_without_uv_the_error_says_how_to_get_it() -> None:
    with pytest.raises(UsageError) as caught:
        uv_resolver({}, find=lambda environ: None)
    assert (caught.value.code, caught.value.hint) == ("no-uv", "pip install 'tfenv[lock]'")
