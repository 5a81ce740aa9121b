"""The one place where errors become messages and exit codes."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from enum import IntEnum
from typing import Any

import typer
from typer.exceptions import TyperException

from scenarios.errors import HipoError, RunError, UsageError


class ExitCode(IntEnum):
    """What a command says to the shell."""

    DONE = 0
    FAILED_CASES = 1
    USAGE = 2
    STOPPED = 3
    INTERNAL = 70


class StoppedEarly(RunError):
    """The run ended before it was complete, and can be resumed."""


def say(message: str) -> None:
    """Write one message for people to standard error."""
    print(message, file=sys.stderr, flush=True)


def guarded(call: Callable[[], Any]) -> int:
    """Run a command; report what goes wrong on standard error and return the exit code."""
    try:
        return _exit_code(call())
    except (BrokenPipeError, SystemExit):  # typer turns the former into the latter
        _silence_stdout()
        return ExitCode.DONE
    except KeyboardInterrupt:
        say("stopped: interrupted")
        return ExitCode.STOPPED
    except Exception as error:  # noqa: BLE001 - the last stop of every error
        return _report(error)


def _report(error: Exception) -> int:
    """Say what happened on standard error and return the exit code for it."""
    if isinstance(error, TyperException):
        return _report_usage(error)
    if isinstance(error, typer.Abort):
        say("stopped: interrupted")
        return ExitCode.STOPPED
    if isinstance(error, StoppedEarly):
        say(f"stopped: {error}")
        return ExitCode.STOPPED
    if isinstance(error, HipoError):
        say(f"error: {error}")
        return ExitCode.USAGE if isinstance(error, UsageError) else ExitCode.FAILED_CASES
    return _report_bug(error)


def _exit_code(result: object) -> int:
    """Flush standard output, so that a closed pipe is noticed here, and read the result."""
    sys.stdout.flush()
    return result if isinstance(result, int) else ExitCode.DONE


def _report_usage(error: TyperException) -> int:
    """Say what is wrong with the command line, and where its help is."""
    context = getattr(error, "ctx", None)
    message = error.format_message().replace("Value error, ", "")
    if message.startswith("Usage"):  # called without arguments: its help is the answer
        say(message)
        return error.exit_code
    say(f"error: {message}")
    if context is not None:
        say(f"  see: {context.command_path} --help")
    return error.exit_code


def _report_bug(error: Exception) -> int:
    """Report an error that nobody foresaw: one line, or the traceback if asked for."""
    if os.environ.get("HIPO_DEBUG"):
        traceback.print_exc()
    else:
        say(
            f"internal error: {type(error).__name__}: {error}; "
            "please report it (HIPO_DEBUG=1 shows where it happened)"
        )
    return ExitCode.INTERNAL


def _silence_stdout() -> None:
    """Point standard output nowhere, so that the interpreter's last flush stays quiet."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
