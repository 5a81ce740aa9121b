"""``hipo show``: list the dialogues of a run, or read one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

import typer

from hipo.app.run_folders import find_run
from hipo.cli.console import Format, columns, one_line, plain, write_json
from hipo.cli.dialogue_json import dialogue_as_json
from hipo.cli.dialogue_view import Heading, render, render_prompts
from hipo.cli.main import RUN, command_app
from pipeline.run_material import load_material
from pipeline.store.calls import CallRecord
from pipeline.store.queries.dialogues import Ending
from pipeline.store.run_store import RunStore
from scenarios.arms import Arm

app = command_app()


@app.command("show")
def show(
    *,
    run: str = RUN,
    dialogue: str | None = typer.Argument(
        None, metavar="[ID]", help="A dialogue's id or its beginning; without it, they are listed."
    ),
    trace: bool = typer.Option(
        False, "--trace", help="Candidates with their scores, or attempts with their critiques."
    ),
    prompts: bool = typer.Option(False, "--prompts", help="Every prompt of its case, verbatim."),
    count: int = typer.Option(20, "-n", "--count", min=1, help="How many to list."),
    skip: int = typer.Option(0, "--skip", min=0, help="How many to leave out before that."),
    failed: bool = typer.Option(False, "--failed", help="List failed cases with their reasons."),
    output_format: Format = typer.Option(
        Format.TEXT,
        "--format",
        help="json: see docs/json-shapes.md.",
    ),
) -> None:
    """Read the dialogues of a run, labels beside them."""
    with RunStore.open(find_run(run), readonly=True) as store:
        arms = {arm.id: arm.arm for arm in store.state().arms}
        if dialogue is None:
            endings = islice(
                store.reader.endings(status="failed" if failed else None), skip, skip + count
            )
            _list(run, endings, arms, output_format)
        else:
            _show_one(store, dialogue, arms, trace=trace, prompts=prompts, as_=output_format)


def ending_as_json(ending: Ending, arm: Arm) -> dict[str, object]:
    """Return one row of what ``hipo show RUN --format json`` prints.

    ``id``, ``scenario``, ``fact``, ``goal``, ``turns``, ``language``, ``repetition``, ``strategy``,
    ``model`` (the responder's), ``status`` (``generated`` or ``failed``), ``code`` and ``reason``
    (None unless it failed).
    """
    return {
        "id": ending.id,
        **plain(ending.case, "scenario fact goal turns language repetition"),
        "strategy": arm.strategy,
        "model": arm.model,
        **plain(ending, "status code reason"),
    }


def _list(
    run: str,
    endings: Iterator[Ending],
    arms: Mapping[str, Arm],
    output_format: Format,
) -> None:
    rows = [ending_as_json(ending, arms[ending.arm]) for ending in endings]
    if output_format is Format.JSON:
        write_json(rows)
        return
    if not rows:
        print("nothing to list")
        return
    header = ["id", "scenario", "fact", "goal", "turns", "strategy", ""]
    table = [
        [_short(str(row["id"])), str(row["scenario"]), str(row["fact"]), str(row["goal"]),
         str(row["turns"]), str(row["strategy"]), _failure(row)]
        for row in rows
    ]  # fmt: skip
    print(columns(header, table))
    print(f"\nread one: hipo show {run} {table[0][0]}")


def _failure(row: Mapping[str, object]) -> str:
    if row["status"] != "failed":
        return ""
    return f"failed: {row['code']}: {one_line(str(row['reason']), 60)}"


def _short(dialogue_id: str) -> str:
    """Shorten ``case/arm`` to what is unambiguous in all but the largest runs."""
    case, _, arm = dialogue_id.partition("/")
    return f"{case[:10]}/{arm[:4]}"


def _show_one(
    store: RunStore,
    dialogue_id: str,
    arms: Mapping[str, Arm],
    *,
    trace: bool,
    prompts: bool,
    as_: Format,
) -> None:
    """Print one dialogue, and the prompts of its case if they are asked for."""
    dialogue = store.dialogue(dialogue_id)
    arm = arms[dialogue.arm]
    if as_ is Format.JSON:
        write_json(dialogue_as_json(dialogue, arm.fields(), trace=trace))
        return
    heading = Heading(
        id=f"{dialogue.case.id}/{dialogue.arm}",
        arm=arm.label,
        scenario=load_material(store).stored_scenario(dialogue.case),
    )
    print(render(dialogue, heading, trace=trace))
    problem = store.reader.verification_traceback(dialogue.case.id, dialogue.arm)
    if problem is not None:
        print(f"\nit could not be judged (internal_error):\n{problem}")
    if prompts:
        print(render_prompts(as_prompts(store.calls.of_case(dialogue.case.id))))


def as_prompts(
    calls: Iterable[CallRecord],
) -> Iterator[tuple[str, list[tuple[str, str]], list[str]]]:
    """Yield every prompt that was sent with a title and its answers, to be rendered."""
    for record in calls:
        first = record.requests[0]
        title = f"turn {first.turn}, {first.purpose}, {first.model}"
        answers = [f"[{choice.status}] {choice.text}" for choice in record.choices]
        yield title, list(record.messages), answers
