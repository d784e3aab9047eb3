"""The walk over the ladder."""

from __future__ import annotations

import pytest

from doctor.crafted import change, context, lock_named, machine, state_of, with_lock, with_packages
from tfenv.codec import decode, encode
from tfenv.doctor.diagnose import diagnose
from tfenv.doctor.model import Check, DoctorReport, RungReport
from tfenv.errors import UsageError
from tfenv.result import Finding

LOCK = lock_named("linux-x86_64-cpu/tf2.19-py311")
HEALTHY = context(with_lock(machine("linux-cpu-py311"), LOCK), state=state_of(LOCK))
# As a translated process sees the CPU: an Intel one without AVX.
ROSETTA = context(change(machine("mac-m2-rosetta"), "cpu", features=("sse4_2",)))


def check(name: str, severity: str = "", *, rung: str = "environment", after: tuple[str, ...] = ()) -> Check:
    """A check that always finds ``severity``."""
    findings = (Finding(id=name, severity=severity, title=f"{name} is bad"),) if severity else ()  # type: ignore[arg-type]
    return Check(id=name, rung=rung, summary=f"All of {name}", run=lambda _: findings, after=after)  # type: ignore[arg-type]


def outcome(*checks: Check, **options: object) -> list[tuple[str, str]]:
    report = diagnose(HEALTHY, checks=checks, **options)  # type: ignore[arg-type]
    return [(finding.id, finding.severity) for finding in report.findings]


def states(report: DoctorReport) -> dict[str, str]:
    return {rung.rung: rung.state for rung in report.rungs}


def test_a_healthy_machine_as_a_whole_document() -> None:
    report = diagnose(HEALTHY)
    expected = {
        "rungs": [
            {"rung": "interpreter", "title": "Interpreter and architecture", "state": "ok", "because": ""},
            {"rung": "environment", "title": "Environment", "state": "ok", "because": ""},
            {"rung": "distributions", "title": "Distributions", "state": "ok", "because": ""},
            {"rung": "native", "title": "System, CPU and resources", "state": "ok", "because": ""},
            {"rung": "device", "title": "Driver and device", "state": "ok", "because": ""},
            {"rung": "import", "title": "Import of TensorFlow", "state": "skipped", "because": "not run"},
            {"rung": "proof", "title": "Proof that it learns", "state": "skipped", "because": "not run"},
        ],
        "findings": [],
        "checks": report.checks,
    }
    assert encode(report) == expected
    assert decode(DoctorReport, expected) == report


def test_the_first_broken_rung_explains_those_that_stand_on_it() -> None:
    report = diagnose(ROSETTA)
    assert states(report) == {
        "interpreter": "broken",
        "environment": "ok",
        "distributions": "skipped",
        "native": "skipped",
        "device": "skipped",
        "import": "skipped",
        "proof": "skipped",
    }
    because = (
        "because MAC002: This is an Intel Python under Rosetta on Apple Silicon: TensorFlow aborts in it"
    )
    assert report.rungs[3] == RungReport(
        rung="native", title="System, CPU and resources", state="skipped", because=because
    )
    skipped = [finding for finding in report.findings if finding.severity == "skip"]
    assert skipped == [
        Finding(id="CPU001", severity="skip", title="Not judged: the CPU has AVX", cause=because)
    ]


@pytest.mark.parametrize(
    ("checks", "expected"),
    [
        pytest.param(
            (check("A", "fail"), check("B", "fail", after=("A",))), [("A", "fail"), ("B", "skip")], id="fail"
        ),
        pytest.param(
            (check("A", "fail"), check("B", "warn", after=("A",))), [("A", "fail"), ("B", "skip")], id="warn"
        ),
        pytest.param(
            (check("A", "fail"), check("B", "unknown", after=("A",))),
            [("A", "fail"), ("B", "skip")],
            id="unknown",
        ),
        pytest.param(
            (check("A", "fail"), check("B", "info", after=("A",))),
            [("A", "fail"), ("B", "info")],
            id="info-stays",
        ),
        pytest.param((check("A", "fail"), check("B", after=("A",))), [("A", "fail")], id="nothing-found"),
        pytest.param(
            (check("A", "warn"), check("B", "fail", after=("A",))),
            [("A", "warn"), ("B", "fail")],
            id="a-warning-explains-nothing",
        ),
        pytest.param(
            (check("A", "fail"), check("B", "fail")), [("A", "fail"), ("B", "fail")], id="unrelated"
        ),
        pytest.param(
            (check("A", "fail", rung="native"), check("B", "fail", rung="device")),
            [("A", "fail"), ("B", "skip")],
            id="rung-below",
        ),
        pytest.param(
            (check("A", "fail", rung="distributions"), check("B", "fail", rung="device")),
            [("A", "fail"), ("B", "fail")],
            id="the-driver-does-not-stand-on-packages",
        ),
    ],
)
def test_what_explains_what(checks: tuple[Check, ...], expected: list[tuple[str, str]]) -> None:
    assert outcome(*checks) == expected


def test_only_runs_the_checks_named() -> None:
    report = diagnose(ROSETTA, only=("CPU001",))
    assert [(finding.id, finding.severity) for finding in report.findings] == [("CPU001", "fail")]
    assert report.checks == 1
    assert states(report)["interpreter"] == "skipped"
    assert report.rungs[0].because == "not asked for"


def test_only_refuses_a_check_that_does_not_exist() -> None:
    with pytest.raises(UsageError) as caught:
        diagnose(HEALTHY, only=("CPU001", "XYZ999"))
    assert (caught.value.code, caught.value.message) == ("unknown-check", "There is no check named XYZ999.")
    assert caught.value.hint == "See them all: tfenv doctor --list"


def test_tiers_leave_out_what_needs_more() -> None:
    facts = change(with_packages(machine("linux-rtx4090-driver470-py311")), "packages", shadowing=("six.py",))
    quick = diagnose(context(facts), tiers=("static",))
    assert [finding.id for finding in quick.findings] == ["PY007", "TFW001"]
    full = diagnose(context(facts))
    assert [finding.id for finding in full.findings] == ["PY007", "TFW001", "CUD002"]
    assert full.checks > quick.checks


@pytest.mark.parametrize(
    ("findings", "state"),
    [
        pytest.param((check("A", "info"),), "ok", id="info"),
        pytest.param((check("A", "warn"),), "ok", id="warn"),
        pytest.param((check("A", "unknown"), check("B", "warn")), "unknown", id="unknown"),
        pytest.param((check("A", "unknown"), check("B", "fail")), "broken", id="fail-beats-unknown"),
    ],
)
def test_state_of_a_rung(findings: tuple[Check, ...], state: str) -> None:
    assert states(diagnose(HEALTHY, checks=findings))["environment"] == state
