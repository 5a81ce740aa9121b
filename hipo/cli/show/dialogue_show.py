"""``hipo show RUN ID``: one dialogue of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from hipo.cli.show.dialogue_json import dialogue_as_json
from hipo.cli.show.dialogue_view import Heading, render, render_prompts
from hipo.cli.terminal.console import Format, write_json
from pipeline.run_material import load_material
from pipeline.store.calls import CallRecord
from pipeline.store.run_store import RunStore
from scenarios.arms import Arm


def show_dialogue(
    folder: Path,
    dialogue_id: str,
    arms: Mapping[str, Arm],
    *,
    trace: bool,
    prompts: bool,
    as_: Format,
) -> None:
    """Print one dialogue, and the prompts of its case if they are asked for.

    Raises:
        UsageError: none or several dialogues have this id, or the case failed.
    """
    with RunStore.open(folder, readonly=True) as store:
        dialogue = store.dialogue(dialogue_id)
        arm = arms[dialogue.arm]
        if as_ == "json":
            write_json(dialogue_as_json(dialogue, arm.fields(), trace=trace))
            return
        heading = Heading(
            id=dialogue.id,
            arm=arm.label,
            scenario=load_material(store).stored_scenario(dialogue.case),
        )
        print(render(dialogue, heading, trace=trace))
        problem = store.reader.verification_traceback(*dialogue.key)
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
