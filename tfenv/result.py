"""What every command returns: one result, which ``tfenv.report`` turns into text or JSON."""

from __future__ import annotations

from typing import Generic, Literal, TypeVar

from tfenv.codec import JSON, encode
from tfenv.errors import EXIT_BUG, TfenvError
from tfenv.records import record

RESULT_VERSION = 1

Severity = Literal["fail", "warn", "info", "unknown", "skip"]
Status = Literal["ok", "warn", "fail", "error"]

#: The typed payload of a command's result; a record that the codec can encode.
D = TypeVar("D")


@record
class Evidence:
    """One observed value and where it was read."""

    what: str
    value: str
    source: str


@record
class Remedy:
    """What to do, in words, and the exact commands for the user's interpreter and shell."""

    text: str = ""
    commands: tuple[str, ...] = ()


@record
class Finding:
    """One answer of one check; ``unknown`` means "could not check": never good, never bad."""

    id: str
    severity: Severity
    title: str
    cause: str = ""
    evidence: tuple[Evidence, ...] = ()
    remedy: Remedy = Remedy()
    links: tuple[str, ...] = ()


@record
class ErrorInfo:
    """A :class:`~tfenv.errors.TfenvError` as data."""

    code: str
    message: str
    hint: str = ""

    @classmethod
    def of(cls, error: TfenvError) -> ErrorInfo:
        """The data of ``error``."""
        return cls(code=error.code, message=error.message, hint=error.hint)


@record
class Result(Generic[D]):
    """The outcome of one command: its typed data, findings, errors, status and exit code."""

    command: str
    status: Status
    exit_code: int
    data: D
    findings: tuple[Finding, ...] = ()
    errors: tuple[ErrorInfo, ...] = ()

    def as_json(self) -> dict[str, JSON]:
        """The versioned JSON document of this result."""
        return {
            "tfenv_result_version": RESULT_VERSION,
            "command": self.command,
            "status": self.status,
            "exit_code": self.exit_code,
            "data": encode(self.data),
            "findings": encode(self.findings),
            "errors": encode(self.errors),
        }


@record
class NoData:
    """The payload of a command that failed before it had any."""


def failed(command: str, error: TfenvError) -> Result[NoData]:
    """The result of a command that ended in ``error``."""
    return Result(
        command=command,
        status="error",
        exit_code=error.exit_code,
        data=NoData(),
        errors=(ErrorInfo.of(error),),
    )


def crashed(command: str, error: BaseException) -> Result[NoData]:
    """The result of a command that ended in a bug of tfenv."""
    info = ErrorInfo(
        code="bug",
        message=f"tfenv itself failed: {type(error).__name__}: {error}",
        hint="This is a bug in tfenv. Run the command again with TFENV_DEBUG=1 and report it.",
    )
    return Result(command=command, status="error", exit_code=EXIT_BUG, data=NoData(), errors=(info,))


def status_of(findings: tuple[Finding, ...]) -> Status:
    """``fail`` if any finding failed, else ``warn`` if any warns, else ``ok``."""
    severities = {finding.severity for finding in findings}
    if "fail" in severities:
        return "fail"
    return "warn" if "warn" in severities else "ok"
