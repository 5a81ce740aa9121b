"""Options that several commands share, and how a command gets a group of them as one value."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import typer

from hipo.app.options.groups import OptionGroup
from hipo.app.options.recipe import RECIPE_OPTIONS, RecipeChanges
from hipo.app.options.verification import VerificationOverrides
from hipo.cli.options.plain import Command, with_group
from hipo.cli.terminal.status_file import StatusFile
from pipeline.recipes.source import recipe_names
from scenarios.plugins import load_plugins


def _load(files: list[Path] | None) -> list[Path] | None:
    load_plugins(files or ())
    return files


STATUS_FILE = typer.Option(
    None,
    "--status-file",
    metavar="FILE",
    rich_help_panel=OptionGroup.OUTPUT,
    hidden=True,
    help="Keep a small JSON file up to date: state, counts, cost, exit code; see docs/overnight.md.",
)
RECIPE = typer.Argument(
    None,
    metavar="RECIPE",
    help=f"A recipe file, or the name of a shipped one: {', '.join(recipe_names())}.",
)
PLUGINS = typer.Option(
    None,
    "--plugin",
    callback=_load,
    show_default=False,
    help="A Python file of extensions; repeatable.",
)
"""For commands that read runs: the files are loaded as soon as the option is read."""


def with_recipe_options(*fields: str, taken: Collection[str] = ()) -> Callable[[Command], Command]:
    """Return a decorator that gives a command options of the table, as its parameter ``given``.

    Args:
        fields: of the recipe, in the order of the options; none: every one of the table.
        taken: second names, e.g. ``-m``, that are those of options of the command itself.
    """
    known = {option.field: option for option in RECIPE_OPTIONS}
    options = [known[field] for field in fields or known]

    def given(**chosen: Any) -> RecipeChanges:
        return {option.field: chosen[option.parameter] for option in options}

    parameters = [
        inspect.Parameter(
            option.parameter,
            inspect.Parameter.KEYWORD_ONLY,
            default=typer.Option(
                None,
                *(name for name in (option.name, option.also) if name and name not in taken),
                help=option.help,
                show_default=False,
                hidden=option.rare,
                rich_help_panel=option.group,
            ),
            annotation=(list[option.kind] if option.many else option.kind) | None,  # type: ignore[name-defined]
        )
        for option in options
    ]
    return with_group("given", given, parameters)


_JUDGE_CALLS = typer.Option(
    None,
    "--judge-calls",
    metavar="turn|dialogue",
    show_default=False,
    hidden=True,
    help="turn (default): judges are asked about every utterance by itself; dialogue: once about "
    "a whole dialogue, which takes fewer tokens, and shows them what is said later.",
)
_JUDGE_MAX_TOKENS = typer.Option(
    None,
    "--judge-max-tokens",
    show_default=False,
    hidden=True,
    help="Longest answer of judges whose settings say none; default by kind of judge, at most 8192.",
)
_JUDGE_BASE_URL = typer.Option(
    None,
    "--judge-base-url",
    hidden=True,
    help="Where the named judges are reached that have no address of their own.",
)
_FOILS = typer.Option(
    None,
    "--foils",
    min=0,
    show_default=False,
    hidden=True,
    help="With verify: of how many answers judges are also shown wrong labels, one at a time, "
    "to see what their yes is worth; default 200, or as many as there are.",
)


def _overrides(
    *,
    judges: list[str] | None = typer.Option(
        None, "--judge", metavar="MODEL", show_default=False,
        help="provider/model of an external judge, or a judge of a plugin: its name, or "
        "NAME=provider/model; repeat it for a panel.",
    ),
    judge_style: str | None = typer.Option(
        None, "--judge-style", metavar="commit|verify", show_default=False, hidden=True,
        help="commit (default): external judges name labels without seeing the declared ones; "
        "verify: they say whether the declared ones are carried, as in the paper.",
    ),
    judge_calls: str | None = _JUDGE_CALLS,
    judge_max_tokens: int | None = _JUDGE_MAX_TOKENS,
    foils: int | None = _FOILS,
    self_judge: str | None = typer.Option(
        None, "--self-judge", metavar="MODEL", hidden=True,
        help="Who labels anew; default the generator.",
    ),
    no_self: bool = typer.Option(False, "--no-self", hidden=True, help="No self-judgement."),
    policy: str | None = typer.Option(
        None, "--policy",
        help="review (flagged waits for people, default), auto (flagged is discarded), gates "
        "(judges do not decide), or a file.",
    ),
    gates: list[str] | None = typer.Option(
        None, "--gate", metavar="NAME", show_default=False, hidden=True,
        help="A gate of a plugin to ask beside those that ship; repeatable.",
    ),
    no_embeddings: bool = typer.Option(
        False, "--no-embeddings", hidden=True,
        help="Look for near-duplicates by words alone, not by meaning: quicker.",
    ),
    allow_same_judge: bool = typer.Option(
        False, "--allow-same-judge", hidden=True,
        help="Let the generator's model be an external judge.",
    ),
    judge_base_url: str | None = _JUDGE_BASE_URL,
    judge_api_key_env: str | None = typer.Option(
        None, "--judge-api-key-env", hidden=True, help="Variable that holds their key, or HEADER:VARIABLE."
    ),
) -> VerificationOverrides:  # fmt: skip
    return VerificationOverrides(
        judges=tuple(judges or ()),
        judge_style=judge_style,
        judge_calls=judge_calls,
        judge_max_tokens=judge_max_tokens,
        foils=foils,
        self_judge=self_judge,
        base_url=judge_base_url,
        api_key_env=judge_api_key_env,
        self_judgement=False if no_self else None,
        embeddings=False if no_embeddings else None,
        allow_same_judge=allow_same_judge or None,
        policy=policy,
        gates=tuple(gates or ()),
    )


with_verification_options = with_group("overrides", _overrides, heading=OptionGroup.VERIFICATION)
"""Gives a command the options of verification; it gets them as ``overrides``."""


def _status_file(*, status_file: Path | None = STATUS_FILE) -> StatusFile:
    return StatusFile(status_file)


def with_status_file(command: Command) -> Command:
    """Give a command the option of a status file; it gets the file as ``status``.

    How the command ends is written there, too.
    """

    @functools.wraps(command)
    def recorded(*, status: StatusFile, **values: Any) -> int:
        with status.recording() as ended:
            code = command(status=status, **values)
            ended(code)
        return code

    return with_group("status", _status_file)(recorded)
