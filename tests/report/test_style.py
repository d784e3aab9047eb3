"""Colour and marks are decided once, and nothing from outside reaches the terminal raw."""

from __future__ import annotations

import io
from collections.abc import Mapping

import pytest

from tfenv.errors import InstallError
from tfenv.report.style import Style
from tfenv.report.text import render
from tfenv.report.text.page import Page
from tfenv.report.text.proof import sparkline
from tfenv.report.units import megabytes, seconds
from tfenv.result import Evidence, Finding, NoData, Remedy, Result, failed


class Stream(io.StringIO):
    """A stream that says whether it is a terminal."""

    def __init__(self, *, terminal: bool, encoding: str = "utf-8") -> None:
        super().__init__()
        self._terminal = terminal
        self._encoding = encoding

    def isatty(self) -> bool:
        return self._terminal

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._encoding


@pytest.mark.parametrize(
    ("terminal", "environ", "colour"),
    [
        pytest.param(True, {}, True, id="terminal"),
        pytest.param(False, {}, False, id="pipe"),
        pytest.param(True, {"NO_COLOR": "1"}, False, id="no-color"),
        pytest.param(True, {"NO_COLOR": ""}, True, id="no-color-empty-counts-as-unset"),
        pytest.param(False, {"FORCE_COLOR": "1"}, True, id="force-color"),
        pytest.param(False, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, id="no-color-wins"),
        pytest.param(True, {"TERM": "dumb"}, False, id="dumb"),
    ],
)
def test_colour(terminal: bool, environ: Mapping[str, str], colour: bool) -> None:
    assert Style.of(Stream(terminal=terminal), environ).colour is colour


def test_text_without_a_style_carries_no_codes() -> None:
    style = Style(colour=True)
    assert [style.paint("text"), style.paint("text", "bold"), style.paint("", "bold")] == [
        "text",
        "\x1b[1mtext\x1b[0m",
        "",
    ]


def test_marks_fall_back_to_ascii() -> None:
    style = Style.of(Stream(terminal=False, encoding="ascii"), {})
    marks = {kind: style.mark(kind) for kind in ("ok", "fail", "warn", "unknown", "skip", "info")}
    assert marks == {"ok": "ok", "fail": "x", "warn": "!", "unknown": "?", "skip": "-", "info": "-"}


def test_a_finding_as_text() -> None:
    page = Page(Style())
    page.finding(
        Finding(
            id="PY001",
            severity="fail",
            title="Too old",
            cause="Because.",
            evidence=(Evidence(what="Python", value="3.8", source="sys.version_info"),),
            remedy=Remedy(text="Do this.", commands=("tfenv bootstrap --venv .venv",)),
            links=("owner/repository#1",),
        )
    )
    assert page.text().splitlines() == [
        "✗ Too old  PY001",
        "    Because.",
        "      Python: 3.8  (sys.version_info)",
        "    Do this.",
        "      tfenv bootstrap --venv .venv",
        "    owner/repository#1",
    ]


def test_terminal_escapes_from_outside_are_removed() -> None:
    page = Page(Style())
    page.line("a\x1b[31mred\x1b]0;title\x07\x9bend\rb")
    page.item("label", "x\x1b[2Jy")
    page.command("run \x1b[1mme")
    assert "\x1b" not in page.text()
    assert page.text().splitlines()[0] == "aredendb"


def test_an_error_is_its_message_and_its_hint() -> None:
    result: Result[NoData] = failed("bootstrap", InstallError("x", "It failed.", hint="Do that."))
    assert render(result, Style()) == "✗ It failed.\n  Do that.\n"


@pytest.mark.parametrize(
    ("values", "bars"),
    [
        pytest.param([3.0, 2.0, 1.0], "█▅▁", id="falling"),
        pytest.param([1.0, 1.0], "▁▁", id="flat"),
        pytest.param([1.0, float("nan"), 2.0], "▁?█", id="nan"),
        pytest.param([float("inf")], "?", id="nothing-finite"),
        pytest.param([], "", id="empty"),
    ],
)
def test_the_sparkline(values: list[float], bars: str) -> None:
    assert sparkline(values) == bars


def test_a_long_loss_curve_is_shortened() -> None:
    assert len(sparkline([float(value) for value in range(1000)])) == 24


@pytest.mark.parametrize(
    ("size", "text"),
    [(999, "1 kB"), (12_345_678, "12 MB"), (2_345_678_901, "2.3 GB")],
    ids=["kB", "MB", "GB"],
)
def test_sizes(size: int, text: str) -> None:
    assert megabytes(size) == text


@pytest.mark.parametrize(
    ("duration", "text"), [(0.31, "0.3 s"), (12.4, "12 s"), (185.0, "3 min 5 s")], ids=["short", "s", "min"]
)
def test_durations(duration: float, text: str) -> None:
    assert seconds(duration) == text
