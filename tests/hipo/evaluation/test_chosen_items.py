"""Models are asked about the very items that people, or other models, were asked about."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from hipo.app.evaluation.evaluate import evaluate
from hipo.app.evaluation.people import people_beside_models
from hipo.app.evaluation.settings import EvaluationSettings
from hipo.app.review.reviewing import ReviewOptions, open_study, run_material
from pipeline.recipes.recipe import Limits
from pipeline.store.reviews import ReviewStore
from quality.evaluation.result_row import RESULTS, ResultRow, read_results
from quality.review.exhibits import target_turns
from scenarios.errors import InputError, UsageError
from scenarios.reviews import GivenLabel, Opinion
from tests.hipo.evaluation.answering import first_option
from tests.wire.server import WireServer


@pytest.fixture
def mine(run: Path, tmp_path: Path) -> Path:
    """A run of one's own, which may be reviewed."""
    return Path(shutil.copytree(run, tmp_path / "mine"))


def asked(source: Path, folder: Path, server: WireServer, only: str | None) -> list[ResultRow]:
    server.answer = first_option
    settings = EvaluationSettings(
        source="", tasks=(), models=(), any_verdict=True, only=only, base_url=server.openai_url,
        limits=Limits(max_concurrency=4, wait_for_endpoint=0),
    )  # fmt: skip
    evaluate(
        source, tasks=["hipo-cumulative", "hipo-conversation"], models=["compatible/reader"],
        output=folder, settings=settings, page=False,
    )  # fmt: skip
    return list(read_results(folder))


def begin_quiz(run: Path, *, answered_by: tuple[str, ...] = ()) -> set[str]:
    """Draw three dialogues, and let people say Inform and deception throughout."""
    with ReviewStore.open(run) as store:
        study = open_study(
            store,
            run_material(run),
            ReviewOptions(mode="quiz", most=3, per_item=2, everything=True),
        )
        for name in answered_by:
            person = store.people.known_as(name).seq
            while (number := asyncio.run(store.take(study, person, lease_s=600))) is not None:
                found = store.assignment(study, number, person)
                assert found is not None
                targets = target_turns(store.dialogues.dialogue(found.item.id))
                labels = [GivenLabel(turn, "intention", "Inform") for turn in targets]
                labels.append(GivenLabel(None, "goal", "deception"))
                asyncio.run(store.submit(study, number, person, labels, Opinion(), lease_s=600))
        return {item.id for item, _ in store.sheets.items(study)}


def test_models_are_asked_about_the_dialogues_of_a_quiz_and_stand_beside_people(
    mine: Path, tmp_path: Path, wire_server: WireServer
) -> None:
    dialogues = begin_quiz(mine, answered_by=("Ada", "Bea"))
    folder = tmp_path / "evaluated"
    rows = asked(mine, folder, wire_server, str(mine))
    assert {f"{row.case}/{row.arm}" for row in rows} == dialogues
    found = people_beside_models(folder, mine)
    by_place = {
        (s.task, s.dimension, s.model): s for s in found.scores.scores if s.reference == "declared"
    }
    people = by_place["hipo-cumulative", "intention", "people"]
    model = by_place["hipo-cumulative", "intention", "compatible/reader"]
    assert people.items == model.items == sum(r.turn is not None for r in rows)
    declared = [r.references["declared"]["intention"] for r in rows if r.turn is not None]
    share = declared.count("Inform") / len(declared)
    assert people.accuracy.value == pytest.approx(share)
    assert [draw.accuracy for draw in people.draws] == pytest.approx([share, share])
    assert by_place["hipo-conversation", "goal", "people"].items == len(dialogues)


def test_the_items_of_other_results_are_asked_about_again(
    mine: Path, tmp_path: Path, wire_server: WireServer
) -> None:
    first = asked(mine, tmp_path / "first", wire_server, None)
    few = [row for row in first if row.case == first[0].case]
    (tmp_path / "few.jsonl").write_bytes(b"".join(row.to_line() for row in few))
    again = asked(mine, tmp_path / "again", wire_server, str(tmp_path / "few.jsonl"))
    assert {row.item for row in again} == {row.item for row in few}
    (tmp_path / "few.txt").write_text("\n".join(row.item for row in few) + "\n\n")
    third = asked(mine, tmp_path / "third", wire_server, str(tmp_path / "few.txt"))
    assert {row.item for row in third} == {row.item for row in few}


def test_items_that_cannot_be_asked_about_are_refused_before_anything_is_sent(
    mine: Path, tmp_path: Path, wire_server: WireServer
) -> None:
    folder = tmp_path / "evaluated"
    file = tmp_path / "items.txt"
    for text, error, message in (
        ("nothing/here\n", UsageError, "1 of its 1 items are not in .* is nothing/here"),
        ("", UsageError, "names no item"),
        ('{"turn": 3}\n', InputError, "the id of an item"),
        ("{\n", InputError, "a line that is no JSON"),
    ):
        file.write_text(text)
        with pytest.raises(error, match=message):
            asked(mine, folder, wire_server, str(file))
    with pytest.raises(UsageError, match="neither a file nor a run"):
        asked(mine, folder, wire_server, "nowhere")
    with pytest.raises(UsageError, match="nobody has reviewed"):
        asked(mine, folder, wire_server, str(mine))
    assert wire_server.count == 0
    assert not (folder / RESULTS).exists()
