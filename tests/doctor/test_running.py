"""The rungs of import and proof: what the proof found, explained by the rungs below."""

from __future__ import annotations

import pytest

from doctor.cases import Case, holds, parametrized
from doctor.crafted import change, context, found, lock_named, machine, state_of, with_lock
from tfenv.doctor.diagnose import diagnose
from tfenv.doctor.executed import Executed
from tfenv.result import Evidence, Finding, Remedy

CPU_LOCK = lock_named("linux-x86_64-cpu/tf2.19-py311")
CPU = with_lock(machine("linux-cpu-py311"), CPU_LOCK)
CUDA_LOCK = lock_named("linux-x86_64-cuda/tf2.19-py311")
CUDA = with_lock(machine("linux-rtx4090-driver550-py311"), CUDA_LOCK)
METAL_LOCK = lock_named("macos-arm64-metal/tf2.19-py311")
METAL = with_lock(machine("mac-m2-py311"), METAL_LOCK)
ON_CPU = Executed(loaded=True, devices=("CPU:0",))
ON_GPU = Executed(loaded=True, devices=("CPU:0", "GPU:0"))


def told(check: str, *, loaded: bool = True) -> Executed:
    """A proof that found ``check``."""
    finding = Finding(
        id=check,
        severity="fail",
        title=f"the proof says {check}",
        evidence=(Evidence(what="got", value="31 of 96", source="S5.correct"),),
        remedy=Remedy(text="Build a fresh environment."),
    )
    return Executed(loaded=loaded, devices=("CPU:0",), findings=(finding,))


HANDED_ON = (
    *("IMP001", "IMP002", "IMP003", "DEV002", "OPS001", "OPS002", "RND001", "GRD001"),
    *("TRN001", "TRN002", "TRN003"),
)
CASES = [
    *(
        Case(
            id="told-by-the-proof",
            check=check,
            facts=CPU,
            options={"executed": told(check, loaded=check != "IMP001")},
            severities=("fail",),
            says=f"the proof says {check}",
        )
        for check in HANDED_ON
    ),
    *(Case(id="passed", check=check, facts=CPU, options={"executed": ON_CPU}) for check in HANDED_ON),
    *(Case(id="not-run", check=check, facts=CPU) for check in HANDED_ON),
    Case(id="cpu-machine", check="DEV001", facts=CPU, options={"executed": ON_CPU}),
    Case(id="gpu-is-used", check="DEV001", facts=CUDA, options={"executed": ON_GPU}),
    Case(
        id="gpu-is-not-seen",
        check="DEV001",
        facts=CUDA,
        options={"executed": ON_CPU, "state": state_of(CUDA_LOCK)},
        severities=("fail",),
        says="tfenv bootstrap --target linux-x86_64-cuda",
    ),
    Case(
        id="metal-is-not-seen",
        check="DEV001",
        facts=METAL,
        options={"executed": ON_CPU},
        severities=("fail",),
        says="does not see the GPU",
    ),
    Case(
        id="mac-without-plugin",
        check="DEV001",
        facts=with_lock(machine("mac-m2-py311"), METAL_LOCK, "tensorflow-metal"),
        options={"executed": ON_CPU},
    ),
    Case(
        id="cpu-was-chosen",
        check="DEV001",
        facts=CUDA,
        options={"executed": ON_CPU, "state": state_of(CPU_LOCK)},
    ),
    Case(
        id="import-failed",
        check="DEV001",
        facts=CUDA,
        options={"executed": Executed(loaded=False)},
    ),
    Case(
        id="told-by-a-proof-that-wanted-a-gpu",
        check="DEV001",
        facts=CPU,
        options={"executed": told("DEV001")},
        severities=("fail",),
        says="the proof says DEV001",
    ),
]


@parametrized(CASES)
def test_running(case: Case) -> None:
    holds(case)


def test_a_cpu_without_avx_explains_the_import_that_died() -> None:
    facts = change(CPU, "cpu", features=("sse4_2",))
    executed = told("IMP001", loaded=False)
    assert found(facts, executed=executed) == [("CPU001", "fail"), ("IMP001", "skip")]
    rungs = {rung.rung: rung for rung in diagnose(context(facts, executed=executed)).rungs}
    assert rungs["import"].state == "skipped"
    assert rungs["import"].because.startswith("because CPU001: This CPU has no AVX")
    assert (rungs["proof"].state, rungs["proof"].because) == ("skipped", "TensorFlow could not be imported")


def test_a_hidden_gpu_explains_that_tensorflow_sees_none() -> None:
    facts = change(CUDA, "nvidia", devices_usable=False)
    assert found(facts, executed=ON_CPU) == [("CUD006", "fail"), ("DEV001", "skip")]


@pytest.mark.parametrize(
    ("executed", "states"),
    [
        pytest.param(None, ("skipped", "skipped"), id="not-run"),
        pytest.param(ON_CPU, ("ok", "ok"), id="passed"),
        pytest.param(told("IMP001", loaded=False), ("broken", "skipped"), id="import-failed"),
        pytest.param(told("TRN001"), ("ok", "broken"), id="does-not-learn"),
    ],
)
def test_states_of_the_last_two_rungs(executed: Executed | None, states: tuple[str, str]) -> None:
    rungs = diagnose(context(CPU, executed=executed)).rungs
    assert tuple(rung.state for rung in rungs[-2:]) == states


def test_an_import_that_worked_counts_whatever_lies_below() -> None:
    facts = change(CPU, "packages", shadowing=("random.py",))
    states = {rung.rung: rung.state for rung in diagnose(context(facts, executed=ON_CPU)).rungs}
    assert (states["environment"], states["import"], states["proof"]) == ("broken", "ok", "ok")
