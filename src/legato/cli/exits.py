"""How the program ends: exit codes, and the one line that says why.

    0    done
    1    failure
    2    usage: the command line, or what it names, cannot be read
    3    findings
    4    refused by all routes
    5    approval needed
    6    limit reached
    7    session locked or corrupt
    8    the answer is not whole
    9    the model refused to answer
    10   the answer does not fit the schema that was asked for
    130  interrupted (Ctrl-C)
    143  terminated (SIGTERM)

Whatever goes wrong, a person reads one line on standard error that begins with `legato:`. LEGATO_DEBUG=1 shows the
traceback as well.
"""

from __future__ import annotations

import os
import sys
from enum import IntEnum

from legato.cli.saying import escape_controls
from legato.errors import (
    AllRoutesFailed,
    CallerError,
    CodecError,
    Conflict,
    LegatoError,
    OurFault,
    ProtocolRefused,
    ProviderError,
    RepairRefused,
    SessionLocked,
    SessionNotFound,
    StoreCorrupt,
)


class ExitCode(IntEnum):
    """What the process returns."""

    OK = 0
    FAILURE = 1
    USAGE = 2
    FINDINGS = 3
    REFUSED = 4
    APPROVAL_NEEDED = 5
    LIMIT = 6
    SESSION = 7
    INCOMPLETE = 8
    DECLINED = 9
    MISFIT = 10
    INTERRUPTED = 130
    TERMINATED = 143


_OF_ERRORS: tuple[tuple[type[LegatoError], ExitCode], ...] = (
    (SessionLocked, ExitCode.SESSION),
    (Conflict, ExitCode.SESSION),
    (StoreCorrupt, ExitCode.SESSION),
    (CodecError, ExitCode.SESSION),
    (SessionNotFound, ExitCode.USAGE),
    (RepairRefused, ExitCode.FINDINGS),
    (CallerError, ExitCode.USAGE),
    (AllRoutesFailed, ExitCode.REFUSED),
    # One that reaches a person has no route left that could answer.
    (ProviderError, ExitCode.REFUSED),
)


class Terminated(BaseException):
    """SIGTERM arrived: what is open is closed on the way out."""


def code_of(error: BaseException) -> ExitCode:
    """The exit code for `error`."""
    if isinstance(error, KeyboardInterrupt):
        return ExitCode.INTERRUPTED
    if isinstance(error, Terminated):
        return ExitCode.TERMINATED
    return next((code for kind, code in _OF_ERRORS if isinstance(error, kind)), ExitCode.FAILURE)


def line_of(error: BaseException) -> str:
    """What a person is told about `error`: one line, without secrets."""
    from legato.diagnostics import Redactor
    from legato.files.text import one_line

    return one_line(Redactor().text(_told(error)))


def diagnosed_fault(error: BaseException) -> bool:
    """Whether a layer of ours is at fault, so that what was sent is worth a look."""
    from legato.diagnostics import fault_of

    return fault_of(error) is not None


def _told(error: BaseException) -> str:
    if isinstance(error, OurFault | ProtocolRefused):
        from legato.diagnostics import diagnose

        diagnosis = diagnose(error)
        calls = f"; calls: {', '.join(diagnosis.calls[:5])}" if diagnosis.calls else ""
        why = f": {diagnosis.why}" if diagnosis.cause else ""
        return f"{error.message} ({diagnosis.fault} fault{why}{calls})" if diagnosis.fault else error.message
    if isinstance(error, LegatoError):
        return error.message
    if isinstance(error, FileNotFoundError) and not error.filename:  # as `os.getcwd` says it, who was given no name
        return "the current folder no longer exists; change to another one"
    if isinstance(error, OSError) and error.strerror:
        named = f"{error.filename}: " if error.filename else ""
        return f"{named}{error.strerror[:1].lower()}{error.strerror[1:]}"
    if isinstance(error, MemoryError):
        return "there is not enough memory for this"
    said = f": {error}" if str(error) else ""
    return f"an unexpected {type(error).__name__}{said}; set LEGATO_DEBUG=1 to see where, and please report it"


def complain(line: str) -> None:
    """Tell a person, on standard error: one line, which a terminal gets with its words whole."""
    from legato.cli.terminal.screen import Screen  # most runs have nothing to complain about

    Screen(sys.stderr).line(escape_controls(f"legato: {line}"))


def is_debugging() -> bool:
    """Whether tracebacks are wanted."""
    return os.environ.get("LEGATO_DEBUG", "") not in ("", "0")


def drop_unwritten() -> None:
    """Forget what could not be written to standard output (a disk is full): it was told, and Python tries it again."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        silence_stdout()


def silence_stdout() -> None:
    """No one reads our output any more: let what is still buffered go nowhere, without another error."""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
    except (OSError, ValueError):
        return  # not a real stream, so there is nothing that could complain
