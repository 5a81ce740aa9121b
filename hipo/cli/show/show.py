"""``hipo show``: list the dialogues of a run, or read one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import typer

from hipo.app.options.groups import OptionGroup
from hipo.app.runs.folders import find_run
from hipo.cli.main import RUN, command_app
from hipo.cli.options.plain import JSON_SHAPES, with_group
from hipo.cli.show.dialogue_list import (
    listed_as_json,
    listed_as_text,
    listing_filter,
    short_id,
)
from hipo.cli.terminal.console import Format, write_json
from hipo.cli.terminal.errors import ExitCode, say
from pipeline.store.queries.listing import (
    DialogueListing,
    ListedDialogue,
    ListingFilter,
    open_listing,
)
from pipeline.store.run_state import read_run_state
from scenarios.arms import Arm
from scenarios.errors import UsageError
from scenarios.text_file import typed_path

app = command_app()
LISTED = 20
"""How many dialogues are listed unless another number is given."""


@app.command("show")
@with_group("wanted", listing_filter, heading=OptionGroup.DIALOGUES)
def show(
    *,
    run: str = RUN,
    dialogue: str | None = typer.Argument(
        None,
        metavar="[ID]",
        help="A dialogue's id or its beginning, or what an imported one is called in its file; "
        "without it, they are listed.",
    ),
    trace: bool = typer.Option(
        False, "--trace", help="Candidates with their scores, or attempts with their critiques."
    ),
    prompts: bool = typer.Option(False, "--prompts", help="Every prompt of its case, verbatim."),
    wanted: ListingFilter,
    count: int | None = typer.Option(
        None, "-n", "--count", min=1, rich_help_panel=OptionGroup.DIALOGUES, show_default=False,
        help=f"How many to list; default {LISTED}.",
    ),
    skip: int = typer.Option(
        0, "--skip", min=0, rich_help_panel=OptionGroup.DIALOGUES,
        help="How many to leave out before that.",
    ),
    output_format: Format = JSON_SHAPES,
) -> int:  # fmt: skip
    """Read the dialogues of a run, labels beside them.

    Without an id they are listed, those that pass every filter that is given.
    """
    if dialogue is None and (trace or prompts):
        raise UsageError(
            "--trace and --prompts are about one dialogue, and none is named",
            f"hipo show {typed_path(run)} lists them: give the id of one",
        )
    if dialogue is not None and (wanted != ListingFilter() or count or skip):
        raise UsageError(
            f"filters, -n and --skip are about the list, and {dialogue!r} names one dialogue",
            "leave them or the id out",
        )
    folder = find_run(run)
    arms = {arm.id: arm.arm for arm in read_run_state(folder).arms}
    if dialogue is not None:
        # It takes what dialogues and scenarios are read with, which the list does without.
        from hipo.cli.show.dialogue_show import show_dialogue  # noqa: PLC0415

        show_dialogue(folder, dialogue, arms, trace=trace, prompts=prompts, as_=output_format)
        return ExitCode.DONE
    most = count or LISTED
    with open_listing(folder) as listing:
        rows = listing.listed(wanted, count=most + 1, skip=skip)
        nothing = not rows and wanted != ListingFilter()
        if nothing or wanted.names_several:
            _check_names(folder, wanted, arms, listing, nothing=nothing)
    _list(run, rows[:most], arms, output_format, more=len(rows) > most, after=skip + most)
    return ExitCode.DONE


def _check_names(
    folder: Path,
    wanted: ListingFilter,
    arms: Mapping[str, Arm],
    listing: DialogueListing,
    *,
    nothing: bool,
) -> None:
    """Refuse what the run cannot have; where nothing is listed, say which name no dialogue has."""
    # It takes scheme and scenarios, which a list that is not empty, by one name of each kind, does without.
    from hipo.cli.show.unknown_names import refuse_unknown, without_dialogue  # noqa: PLC0415

    refuse_unknown(folder, wanted, arms, listing)
    for line in without_dialogue(wanted, listing) if nothing else ():
        say(line)


def _list(
    run: str,
    rows: Sequence[ListedDialogue],
    arms: Mapping[str, Arm],
    output_format: Format,
    *,
    more: bool,
    after: int,
) -> None:
    if output_format == "json":
        write_json([listed_as_json(row, arms[row.ending.arm]) for row in rows])
        return
    if not rows:
        print("nothing to list")
        return
    print(listed_as_text(rows, arms))
    if more:
        print(f"\nmore: --skip {after}")
    print(f"\nread one: hipo show {typed_path(run)} {short_id(rows[0].ending.id)}")
