from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from proof.recorded import (
    IMPORTED,
    STACK,
    START,
    Replay,
    at_least,
    broken_off,
    ended,
    equal,
    finished,
    in_band,
    raised,
    stage,
)

from tfenv.proof.finding import findings_of
from tfenv.proof.model import Measurement, ProofReport
from tfenv.proof.protocol import ChildEvent, ChildOutcome
from tfenv.proof.reference import BandRow, References
from tfenv.proof.run import prove
from tfenv.result import Evidence, Finding, Remedy

BANDS = References(
    bands=(
        BandRow(
            check="S6.images.loss",
            keras="3",
            tensorflow="2.18",
            device="CPU",
            low=0.1,
            high=0.2,
            runs=200,
            least=0.15,
            median=0.15,
            most=0.15,
        ),
    )
)
FRESH = Remedy(
    text="Build a fresh environment from a lock and prove that one; if it passes, leave the old one.",
    commands=("tfenv bootstrap --venv .venv",),
)
GOOD_5 = stage("S5", at_least("S5.correct", 96, 80))
BAD_5 = stage("S5", at_least("S5.correct", 30, 80))


def _report(*outcomes: ChildOutcome) -> ProofReport:
    return prove(Path("/venv/bin/python"), seed=7, runner=Replay(*outcomes), references=BANDS)


def test_a_stack_that_passes_has_no_findings() -> None:
    assert findings_of(_report(finished(IMPORTED, GOOD_5))) == ()


def test_a_stack_that_does_not_learn() -> None:
    report = _report(finished(IMPORTED, BAD_5), finished(IMPORTED, BAD_5))
    assert findings_of(report) == (
        Finding(
            id="TRN001",
            severity="fail",
            title="The stack does not learn: 30 random labels memorised, expected at least 80 of 96",
            cause="Label information does not reach the weights: gradients, the optimizer or the copying of "
            "data to the device are broken.",
            evidence=(
                Evidence(
                    what="answers",
                    value="30, expected at least 80 of 96",
                    source="S5.correct, n = 96, seed 7, on CPU:0; labels are independent; "
                    "without learning this passes with probability 5e-33",
                ),
                Evidence(
                    what="again with seed 104729",
                    value="failed: 30, expected at least 80 of 96",
                    source="stage S5",
                ),
            ),
            remedy=FRESH,
        ),
    )


def test_a_flaky_stack_warns_with_its_numbers() -> None:
    good = finished(IMPORTED, GOOD_5)
    (finding,) = findings_of(_report(finished(IMPORTED, BAD_5), good, good))
    assert (finding.id, finding.severity) == ("TRN001", "warn")
    assert finding.title == (
        "Failed with one seed of three: the stack does not learn: 30 random labels memorised, "
        "expected at least 80 of 96"
    )
    assert [item.value for item in finding.evidence[1:]] == ["passed", "passed"]


def test_a_crash_while_importing() -> None:
    output = "F0000 00:00:00 x.cc:1] Check failed: this"
    report = _report(ended(-6, START, broken_off("S0", "import tensorflow"), output=output))
    assert findings_of(report) == (
        Finding(
            id="IMP001",
            severity="fail",
            title="While importing TensorFlow: native code gave up on an inner check",
            cause="A check inside TensorFlow, protobuf, a device plugin or the memory allocator failed; "
            "its message is quoted if it left one.",
            evidence=(
                Evidence(what="how it ended", value="signal 6 (SIGABRT)", source="child process, stage S0"),
                Evidence(what="while it did", value="import tensorflow", source="the proof's events"),
                Evidence(what="it said", value=output, source="child's output"),
            ),
            remedy=Remedy(
                text="Build a fresh environment from a lock (tfenv bootstrap --venv NEW) and prove that one; "
                "if it passes, the old environment holds files of two builds.",
                commands=("tfenv smoke --python /venv/bin/python",),
            ),
        ),
    )


def test_an_exception_while_training() -> None:
    broken = raised("S6", "fit augmented CNN", "NotFoundError", "no kernel", "File x", "NotFoundError: no")
    assert findings_of(_report(finished(IMPORTED, GOOD_5, broken))) == (
        Finding(
            id="TRN003",
            severity="fail",
            title="Training raises NotFoundError (fit augmented CNN)",
            cause="An operation that the networks need is missing or refuses its input on this stack.",
            evidence=(
                Evidence(what="message", value="no kernel", source="stage S6"),
                Evidence(what="traceback", value="File x", source="child's traceback"),
                Evidence(what="traceback", value="NotFoundError: no", source="child's traceback"),
            ),
            remedy=FRESH,
        ),
    )


@pytest.mark.parametrize(
    ("outcome", "id_", "severity", "title"),
    [
        (
            ended(-9, START, IMPORTED, broken_off("S6", "fit augmented CNN")),
            "TRN003",
            "unknown",
            "While training (fit augmented CNN): something outside killed the proof",
        ),
        (
            ended(0, START, raised("S0", "import tensorflow", "ImportError", "No module named 'tensorflow'")),
            "IMP001",
            "fail",
            "TensorFlow is not installed in this environment",
        ),
        (
            ended(1),
            "IMP001",
            "fail",
            "The interpreter did not get as far as the proof's first line",
        ),
        (
            ended(-6, START, IMPORTED, GOOD_5, (ChildEvent(event="end"),)),
            "TRN003",
            "warn",
            "The interpreter crashed while it ended",
        ),
    ],
    ids=["killed", "no-tensorflow", "no-python", "teardown"],
)
def test_other_ends(outcome: ChildOutcome, id_: str, severity: str, title: str) -> None:
    (finding,) = findings_of(_report(outcome))
    assert (finding.id, finding.severity, finding.title) == (id_, severity, title)


@pytest.mark.parametrize(
    ("measurement", "id_", "title"),
    [
        (
            equal("S0.version", "2.18.1", "2.17.0"),
            "IMP002",
            "The TensorFlow that is imported (2.18.1) is not the one that is installed (2.17.0)",
        ),
        (
            equal("S0.keras-backend", "jax", "tensorflow"),
            "IMP002",
            "Keras computes with jax, not with TensorFlow",
        ),
        (equal("S0.gpu", "CPU:0", "a GPU"), "DEV001", "TensorFlow lists no GPU, only CPU:0"),
        (
            equal("S0.product.GPU0", "[1] on CPU:0", "[1] on GPU:0"),
            "DEV002",
            "A value is wrong or ran elsewhere: [1] on CPU:0",
        ),
        (equal("S6.images.placement", "CPU", "GPU"), "DEV002", "Operations ran on CPU, not on GPU"),
        (
            at_least("S6.images.groups", 15, 29, n=32, p=0.5),
            "TRN002",
            "The stack does not learn: answers 15, expected at least 29 of 32",
        ),
        (
            in_band("S6.images.loss", 0.5),
            "TRN002",
            "The stack learns wrongly: a loss 0.5, healthy stacks 0.1 to 0.2",
        ),
    ],
    ids=["mixed", "backend", "no-gpu", "product", "placement", "groups", "band"],
)
def test_failed_checks_in_words(measurement: Measurement, id_: str, title: str) -> None:
    bad = finished(IMPORTED, stage("S6", measurement))
    (finding,) = findings_of(_report(bad, bad))
    assert (finding.id, finding.severity, finding.title) == (id_, "fail", title)


def test_on_an_accelerator_the_cpu_is_tried_next() -> None:
    gpu = replace(STACK, devices=("CPU:0", "GPU:0"), devices_used=("GPU:0",))
    bad = finished(
        stage("S0", equal("S0.version", "2.18.1", "2.18.1")), (ChildEvent(event="stack", stack=gpu),), BAD_5
    )
    (finding,) = findings_of(_report(bad, bad))
    assert finding.remedy == Remedy(
        text="See whether the CPU passes. If it does, the fault is in the GPU's driver, libraries or plugin: "
        "hide the GPU (CUDA_VISIBLE_DEVICES=-1) or choose another lock.",
        commands=("tfenv smoke --device both --python /venv/bin/python", "tfenv locks list"),
    )


def test_failures_come_before_warnings() -> None:
    both = finished(
        IMPORTED,
        stage("S5", at_least("S5.correct", 30, 80)),
        stage("S6", at_least("S6.images.groups", 15, 29, n=32, p=0.5)),
    )
    mixed = finished(IMPORTED, GOOD_5, stage("S6", at_least("S6.images.groups", 15, 29, n=32, p=0.5)))
    findings = findings_of(_report(both, mixed, finished(IMPORTED, GOOD_5)))
    assert [(finding.id, finding.severity) for finding in findings] == [
        ("TRN002", "fail"),
        ("TRN001", "warn"),
    ]


@pytest.mark.parametrize(
    ("check", "id_", "start"),
    [
        ("S1.matmul", "OPS001", "An operation computes wrong values: a value: bad, expected good"),
        ("S2.matmul", "OPS002", "A traced graph computes something else than the same code run eagerly"),
        ("S3.uniform", "RND001", "Random numbers are not what they should be"),
        ("S4.adam", "GRD001", "Training uses wrong gradients or updates"),
        ("S7.loss", "TRN004", "Training goes wrong late"),
        ("S8.keras", "SAV001", "A saved model answers differently in another process: a value: bad"),
        ("S8.trained", "TRN002", "The stack does not learn: a value bad"),
        ("S9.draws", "REP001", "The same seed does not give the same bits twice: a value: bad"),
    ],
    ids=["op", "fused", "random", "gradient", "tail", "saved", "nothing-to-save", "repeat"],
)
def test_every_stage_has_its_words(check: str, id_: str, start: str) -> None:
    bad = finished(IMPORTED, stage("S6", equal(check, "bad", "good")))
    (finding,) = findings_of(_report(bad))
    assert (finding.id, finding.severity) == (id_, "fail")
    assert finding.title.startswith(start)


@pytest.mark.parametrize(
    ("version", "ids"),
    [("2.14.1", ["IMP003"]), ("2.15.0", []), ("2.21.3", []), ("2.22.0", ["IMP003"])],
    ids=["older", "oldest", "newest", "newer"],
)
def test_a_tensorflow_outside_the_range_is_a_warning(version: str, ids: list[str]) -> None:
    stack = replace(STACK, tensorflow=version)
    report = _report(finished(IMPORTED[:-1], (ChildEvent(event="stack", stack=stack),), GOOD_5))
    assert [(finding.id, finding.severity) for finding in findings_of(report)] == [(i, "warn") for i in ids]
    assert report.verdict == "pass"


@pytest.mark.parametrize(
    "message",
    [
        "[Errno 28] No space left on device: 'whole.keras'",
        "Unable to write (file write failed: errno = 28, error message = 'No space left on device')",
        "[Errno 122] Disk quota exceeded",
    ],
    ids=["system", "hdf5", "quota"],
)
def test_a_disk_that_fills_up_while_saving_says_nothing_about_the_stack(message: str) -> None:
    full = raised("S6", "save whole model as .keras", "OSError", message)
    report = _report(finished(IMPORTED, GOOD_5, full))
    (finding,) = findings_of(report)
    assert (report.verdict, finding.severity) == ("unknown", "unknown")
    assert finding.title == "While training (save whole model as .keras): the disk is full"
    assert finding.remedy.text.startswith("Free disk space")


def test_many_failures_of_a_stage_are_counted() -> None:
    bad = finished(IMPORTED, stage("S6", *(equal(f"S1.op{n}", "bad", "good") for n in range(20))))
    (finding,) = findings_of(_report(bad))
    assert len(finding.evidence) == 13
    assert finding.evidence[-1].value == "8 further checks failed (all of them: --json)"
