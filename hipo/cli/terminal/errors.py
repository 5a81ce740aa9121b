"""The one place where errors become messages and exit codes."""

from __future__ import annotations

import errno
import os
import re
import sys
import traceback
from collections.abc import Callable, Mapping
from enum import IntEnum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer.exceptions import TyperException

from hipo.cli.terminal.streams import ForgivingStream
from hipo.cli.terminal.wrapping import harmless, terminal_width, wrapped
from pipeline.stopping import stop
from scenarios.errors import (
    DISK_FULL,
    NO_TEMPORARY_FOLDER,
    HipoError,
    RunError,
    lacks_temporary_folder,
)
from scenarios.located import shortened
from scenarios.text_file import typed_path

if TYPE_CHECKING:
    from hipo.app.study import StudyOutcome
    from pipeline.playing.runner import RunOutcome


class ExitCode(IntEnum):
    """What a command says to the shell; only 3 and 5 are worth trying again as they are."""

    DONE = 0
    FAILED_CASES = 1
    USAGE = 2
    INTERRUPTED = 3
    BUDGET = 4
    UNAVAILABLE = 5
    REFUSED = 6
    STORE = 7
    INTERNAL = 70


MEANINGS: Mapping[ExitCode, str] = {
    ExitCode.DONE: "done",
    ExitCode.FAILED_CASES: "some cases failed or were not judged",
    ExitCode.USAGE: "usage",
    ExitCode.INTERRUPTED: "interrupted",
    ExitCode.BUDGET: "budget or funds",
    ExitCode.UNAVAILABLE: "endpoint unavailable",
    ExitCode.REFUSED: "refused or unreadable throughout",
    ExitCode.STORE: "no room, or store not writable",
    ExitCode.INTERNAL: "internal",
}
"""Every exit code in a few words, as the root help lists them."""

ENDINGS: Mapping[str, tuple[ExitCode, str]] = {
    stop.INTERRUPTED: (ExitCode.INTERRUPTED, "go on with the same command"),
    stop.BUDGET: (ExitCode.BUDGET, "raise the budget"),
    stop.OUT_OF_FUNDS: (ExitCode.BUDGET, "top the account up, then the same command"),
    stop.CONFIGURATION: (ExitCode.USAGE, "mend what is named, then the same command"),
    stop.UNAVAILABLE: (
        ExitCode.UNAVAILABLE, "once the endpoint answers, go on with the same command"
    ),
    stop.QUOTA: (
        ExitCode.UNAVAILABLE,
        "take another model or account, or wait until it is renewed; then the same command",
    ),
    stop.REFUSED: (ExitCode.REFUSED, "look at the failures with: hipo show RUN --failed"),
    stop.STORE: (
        ExitCode.STORE, "make room on the disk, or end what locks the run, then the same command"
    ),
    stop.NOT_ENOUGH: (
        ExitCode.FAILED_CASES,
        (
            "see why with: hipo verdict RUN ID; a larger -n allows more cases where all were played, a"
            " larger give_up_after more tries for a cell of a quota that was given up"
        ),
    ),
    stop.INTERNAL: (ExitCode.INTERNAL, "please report it"),
}  # fmt: skip
"""The exit code of every stop, and what the user can do where the stop itself does not say it."""

_OF_A_RUN = re.compile(r"(?<=\bhipo )((?:[a-z]+ )+)RUN\b")


_OF_FILES: Mapping[int, str] = {
    errno.EACCES: "give yourself the right (chmod u+rwX), or choose another place",
    errno.EPERM: "give yourself the right, or choose another place",
    errno.EROFS: "choose another place",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.ENOTDIR: "a file stands where a folder is needed: choose another place",
    errno.EEXIST: "choose another place, or move away what is there",
    errno.EISDIR: "it has to be a file: choose another place, or move the folder away",
    errno.ELOOP: "choose another place, or mend the link",
} | dict.fromkeys(DISK_FULL, "make room on the disk, then the same command")
"""What to do about what a file or its folder does not allow, wherever that was met."""


class StoppedEarly(RunError):
    """The run ended before it was complete, and can be resumed; says why, and what to do."""

    def __init__(
        self, reason: str, code: str, advice: str = "", folder: Path | None = None
    ) -> None:
        """Join the reason with one advice: the one that is given, or what holds for the code.

        ``folder``, where there is one, is the run that the advice is about.
        """
        advice = advice or ENDINGS[code][1]
        super().__init__(f"{reason}\n  {advice if folder is None else about_run(advice, folder)}")
        self.code = code


def about_run(advice: str, folder: Path) -> str:
    """Return an advice with the folder of a run where its commands have ``RUN``."""
    return _OF_A_RUN.sub(lambda found: found[1] + typed_path(folder), advice)


def ended(
    outcome: RunOutcome | StudyOutcome, *, failed: object, folder: Path | None = None
) -> ExitCode:
    """Return the exit code of a command, which has failed cases where ``failed`` is true.

    ``folder`` is the run that it worked on, where it is one run.

    Raises:
        StoppedEarly: it ended before it was complete.
    """
    if outcome.stopped is not None:
        raise StoppedEarly(outcome.stopped, outcome.stop_code, outcome.advice, folder)
    return ExitCode.FAILED_CASES if failed else ExitCode.DONE


def say(message: str) -> None:
    """Write one message for people to standard error, on a terminal broken between words.

    What it quotes may come from files of others: it cannot drive the terminal.
    """
    message = harmless(message)
    if sys.stderr.isatty():
        message = wrapped(message, terminal_width())
    print(message, file=sys.stderr, flush=True)


def guarded(call: Callable[[], Any], *, works: bool = False) -> int:
    """Run a command; report what goes wrong on standard error and return the exit code.

    ``works`` says that the command is for more than what it prints.
    """
    try:
        return _exit_code(call(), works=works)
    except BrokenPipeError:
        _silence_stdout()
        return ExitCode.DONE
    except SystemExit as error:
        if isinstance(error.__context__, OSError):  # typer makes it of a pipe that is broken
            _silence_stdout()
            return ExitCode.DONE
        # whatever ended it, a plugin or a package, did not know of what the command had to do
        say(f"internal error: the command was ended by sys.exit({error.code!r}) in other code")
        return ExitCode.INTERNAL
    except KeyboardInterrupt:
        say("stopped: interrupted")
        return ExitCode.INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the last stop of every error
        return _report(error)


def exit_code_of(error: BaseException) -> int:
    """Return the exit code that an error ends a command with."""
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        return ExitCode.INTERRUPTED
    if isinstance(error, TyperException):
        return int(error.exit_code)
    if isinstance(error, RunError):
        return ENDINGS.get(error.code, (ExitCode.FAILED_CASES, ""))[0]
    return ExitCode.USAGE if isinstance(error, HipoError) else _unforeseen(error)[0]


def _report(error: Exception) -> int:
    """Say what happened on standard error and return the exit code for it."""
    if isinstance(error, TyperException):
        return _report_usage(error)
    if isinstance(error, typer.Abort):
        say("stopped: interrupted")
        return ExitCode.INTERRUPTED
    if isinstance(error, RunError):
        return _report_failure(error)
    if isinstance(error, HipoError):
        say(f"error: {error}")
        return ExitCode.USAGE
    return _report_bug(error)


def _report_failure(error: RunError) -> int:
    """Say what went wrong while running, and what to do where that is known."""
    code, advice = ENDINGS.get(error.code, (ExitCode.FAILED_CASES, ""))
    advice = error.advice or advice
    if isinstance(error, StoppedEarly):  # says itself what to do
        say(f"stopped: {error}")
    else:
        say(f"error: {error}\n  {advice}" if advice else f"error: {error}")
    return code


def _exit_code(result: object, *, works: bool) -> int:
    """Flush standard output, so that what is wrong with it is noticed here, and read the result."""
    sys.stdout.flush()
    code = result if isinstance(result, int) else ExitCode.DONE
    failure = sys.stdout.failure if isinstance(sys.stdout, ForgivingStream) else None
    if failure is None:
        return code
    say(f"error: standard output could not be written: {failure.strerror}")
    return code if works else max(code, ExitCode.FAILED_CASES)


def _report_usage(error: TyperException) -> int:
    """Say what is wrong with the command line, and where its help is."""
    context = getattr(error, "ctx", None)
    message = _wrong_value(error) or error.format_message().replace("Value error, ", "")
    if message.startswith("Usage"):  # called without arguments: its help is the answer
        say(message)
        return error.exit_code
    say(f"error: {message}")
    if context is not None:
        say(f"  see: {context.command_path} --help")
    return error.exit_code


def _wrong_value(error: TyperException) -> str | None:
    """Return which option has what in place of what; None where a value is not of a wrong kind."""
    param, details = getattr(error, "param", None), getattr(error.__cause__, "errors", None)
    if param is None or details is None:
        return None
    detail = details()[0]
    if detail["type"] == "value_error":  # says itself what was found
        return None
    validation = import_module("scenarios.located_validation")  # help stays quick
    name = param.opts[-1] if param.param_type_name == "option" else param.human_readable_name
    return f"{name}: found {shortened(detail['input'])}, expected {validation.expected(detail)}"


def _report_bug(error: Exception) -> int:
    """Report an error that nobody foresaw: one line, or the traceback if asked for."""
    code, message = _unforeseen(error)
    debugging = bool(os.environ.get("HIPO_DEBUG"))
    if debugging:
        traceback.print_exc()
    if code is not ExitCode.INTERNAL or not debugging:
        say(message)
    return code


def _unforeseen(error: BaseException) -> tuple[ExitCode, str]:
    """Return the exit code and the message of an error that hipo did not raise on purpose."""
    told = f"{type(error).__name__}: {error}"
    plugins = sys.modules.get("scenarios.plugins")  # else none has been loaded
    place = None if plugins is None else plugins.place_in_plugin(error)
    if place is not None:
        return ExitCode.USAGE, f"error: a plugin does not work: {place}: {told}"
    advice = _OF_FILES.get(error.errno or 0) if isinstance(error, OSError) else None
    if isinstance(error, OSError) and error.filename and advice is not None:
        name, why = shortened(str(error.filename), 200)[1:-1], (error.strerror or "").lower()
        code = ExitCode.STORE if error.errno in DISK_FULL else ExitCode.USAGE
        return code, f"error: {name}: {why}\n  {advice}"
    if lacks_temporary_folder(error):
        return ExitCode.USAGE, "error: " + "\n  ".join(NO_TEMPORARY_FOLDER)
    report = "please report it (HIPO_DEBUG=1 shows where it happened)"
    return ExitCode.INTERNAL, f"internal error: {told}; {report}"


def _silence_stdout() -> None:
    """Point standard output nowhere, so that the interpreter's last flush stays quiet."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
