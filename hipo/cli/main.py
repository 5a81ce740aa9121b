"""The root command: finds the module of a command by name and imports only that one."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import typer
from typer.core import TyperGroup

from hipo.cli.terminal.errors import MEANINGS, guarded
from hipo.cli.terminal.grouped_help import WIDEST, CommandApp
from hipo.cli.terminal.log_options import LogFormat, LogLevel
from scenarios.errors import UsageError
from scenarios.located import shortened

if TYPE_CHECKING:
    from typer._click import Command, Context, HelpFormatter


RUN = typer.Argument(..., metavar="RUN", help="A folder, or a name under ./runs.")
"""The run that a command is about."""


def command_app(**settings: Any) -> typer.Typer:
    """Return an app of one command or a group, set up as all of ours are."""
    settings.setdefault(
        "context_settings",
        {"help_option_names": ["-h", "--help"], "max_content_width": WIDEST},
    )
    return CommandApp(rich_markup_mode=None, add_completion=False, **settings)


class CommandEntry(NamedTuple):
    """Where a command lives, and its line in the root help."""

    module: str
    summary: str


COMMANDS: Mapping[str, CommandEntry] = {
    "demo": CommandEntry("hipo.cli.demo", "Generate a small corpus offline, and say where it is."),
    "generate": CommandEntry(
        "hipo.cli.generate.generate", "Generate labelled dialogues from scenarios."
    ),
    "verify": CommandEntry(
        "hipo.cli.verify.verify", "Judge the dialogues of a run, flag, and decide."
    ),
    "review": CommandEntry(
        "hipo.cli.review.review", "Let people label and confirm dialogues on a web page."
    ),
    "verdict": CommandEntry(
        "hipo.cli.verdict", "Show why a dialogue is kept or not, or overrule it."
    ),
    "import": CommandEntry(
        "hipo.cli.import_dialogues", "Bring other people's dialogues into a run."
    ),
    "agreement": CommandEntry(
        "hipo.cli.agreement", "Print how far annotators agree, of files or of a run."
    ),
    "qc": CommandEntry(
        "hipo.cli.qc", "Check annotations on four levels, of files or of the reviews of a run."
    ),
    "runs": CommandEntry("hipo.cli.runs.runs", "List runs, or show the state of one."),
    "show": CommandEntry("hipo.cli.show.show", "Read the dialogues of a run."),
    "view": CommandEntry("hipo.cli.view", "Look through the dialogues of runs in a browser."),
    "export": CommandEntry(
        "hipo.cli.export.export", "Make training and benchmark sets of dialogues."
    ),
    "report": CommandEntry("hipo.cli.report", "Write one page about a run: numbers and dialogues."),
    "study": CommandEntry("hipo.cli.study", "Compare strategies and models over the same cases."),
    "evaluate": CommandEntry("hipo.cli.evaluate.evaluate", "Score models on labelled dialogues."),
    "metrics": CommandEntry(
        "hipo.cli.metrics.metrics", "Compute statistics that go with one kind of labels."
    ),
    "train": CommandEntry("hipo.cli.train", "Fine-tune a model on an exported set."),
    "audit": CommandEntry(
        "hipo.cli.audit", "Look for what tells goal or labels although it should tell nothing."
    ),
    "compare": CommandEntry(
        "hipo.cli.compare", "Compare how people speak in several corpora, or in parts of one."
    ),
    "contamination": CommandEntry(
        "hipo.cli.contamination", "Compare two data sets, and leave out what overlaps."
    ),
    "scenarios": CommandEntry(
        "hipo.cli.scenarios.scenarios", "Look at scenarios, write and check your own."
    ),
    "author": CommandEntry(
        "hipo.cli.author", "Write scenarios and schemes in a form, without touching YAML."
    ),
    "scheme": CommandEntry(
        "hipo.cli.schemes.scheme", "Look at label schemes, write and check your own."
    ),
    "models": CommandEntry(
        "hipo.cli.models", "List providers, what is installed, which key is set."
    ),
}


WORKING = frozenset(
    {
        "demo",
        "generate",
        "verify",
        "review",
        "author",
        "import",
        "export",
        "report",
        "study",
        "audit",
        "train",
    }
)
"""Commands that are for more than what they print: they are done even if nobody can read that."""


class LazyGroup(TyperGroup):
    """A group that imports a command's module when that command is called, and not before."""

    table: ClassVar[Mapping[str, CommandEntry]] = COMMANDS
    instead: ClassVar[Mapping[str, str]] = {}
    """What to type in place of names that people try and that are none."""

    def list_commands(self, ctx: Context) -> list[str]:
        """Return the names of the commands in the order of the table."""
        return list(self.table)

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        """Import the module of a command and return the command it defines, built once."""
        entry = self.table.get(cmd_name)
        if entry is not None and cmd_name not in self.commands:
            app: typer.Typer = importlib.import_module(entry.module).app
            self.commands[cmd_name] = typer.main.get_command(app)
        return self.commands.get(cmd_name)

    def resolve_command(
        self, ctx: Context, args: list[str]
    ) -> tuple[str | None, Command | None, list[str]]:
        """Find the command called; an unknown name is answered with the nearest known one."""
        name = args[0]
        if name not in self.table and not name.startswith("-"):
            near = get_close_matches(name, self.table, n=1, cutoff=0.5)
            known = ", ".join(self.table)
            hint = f"did you mean {near[0]!r}?" if near else f"choose one of: {known}"
            hint = self.instead.get(name, hint)
            ctx.fail(f"unknown command {name!r}; {hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write the table of commands without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in self.table.items()])


app = command_app(
    cls=LazyGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    epilog=f"Exit codes: {', '.join(f'{code} {meaning}' for code, meaning in MEANINGS.items())}; "
    "only 3 and 5 are worth trying again as they are.",
)


def _print_version(wanted: bool) -> None:
    """Print the version of the installed distribution and leave."""
    if wanted:
        metadata = importlib.import_module("importlib.metadata")
        try:
            print(f"hipo {metadata.version('hipo')}")
        except metadata.PackageNotFoundError:
            print("hipo (run from source, not installed)")
        raise typer.Exit


@app.callback()
def root(
    ctx: typer.Context,
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version."
    ),
    log_level: LogLevel = typer.Option(
        "warning",
        help="Log this and what is more serious to standard error: retries, waits, failed cases, "
        "stops and migrations are info, single waits for a rate debug.",
    ),
    log_format: LogFormat = typer.Option(
        "text", help="Log lines for people, or one JSON object a line."
    ),
) -> None:
    """Turn scenarios with private knowledge into labelled dialogues."""
    # not before a command runs: help stays quick
    logs = importlib.import_module("hipo.cli.terminal.logs")
    ctx.with_resource(logs.logging_to_stderr(log_level, log_format))
    if any(name.startswith("OTEL_") for name in os.environ):
        tracing = importlib.import_module("hipo.app.running.tracing")
        ctx.with_resource(tracing.exporting_spans())


@cache
def _root() -> Command:
    """Build the root command, once in a process: reading the types of all options takes a while."""
    return typer.main.get_command(app)


_INTERRUPTED_BY_TYPER = 130
"""What typer returns in place of an interrupt that it caught."""


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; nothing is raised."""

    def call() -> Any:
        for before, argument in zip(("", *arguments), arguments, strict=False):
            _check_text(before, argument)
        _check_encoding(__file__)
        with suppress(FileNotFoundError):  # some commands do without a folder that is gone
            _check_encoding(str(Path.cwd()))
        result = _root().main(args=list(arguments), prog_name="hipo", standalone_mode=False)
        if result == _INTERRUPTED_BY_TYPER:
            raise KeyboardInterrupt
        return result

    name = next((argument for argument in arguments if argument in COMMANDS), "")
    return guarded(call, works=name in WORKING)


def _check_text(before: str, argument: str) -> None:
    """Raise for what no option or name can be.

    That is nothing, which would be read as the folder of now, a list of nothing (commas and blanks
    alone), and bytes that are no text here, which no database or JSON file could hold.

    Args:
        before: the argument before it; "" is none.
        argument: one argument of the command line.

    Raises:
        UsageError: it is one of these.
    """
    option, equals, value = argument.partition("=")
    if _holds_nothing(argument) or (option.startswith("--") and equals and _holds_nothing(value)):
        named = option if equals else before
        place = f"the value of {named}" if named.startswith("-") else "an argument"
        raise UsageError(
            f"{place} is empty: found {shortened(value if equals else argument)}",
            "give a value, or leave it out; in a script, see whether a variable is set",
        )
    _check_encoding(argument)


def _holds_nothing(text: str) -> bool:
    return not text.replace(",", " ").strip()


def _check_encoding(name: str) -> None:
    """Raise for a name that is no text here, be it an argument or the folder that a command runs in.

    Raises:
        UsageError: it has bytes that the encoding of this system does not know.
    """
    if any("\ud800" <= letter <= "\udfff" for letter in name):
        raise UsageError(
            f"{name!a} is no text in the encoding of this system ({sys.getfilesystemencoding()})",
            "use another name, or set PYTHONUTF8=1 where the name is in UTF-8",
        )
