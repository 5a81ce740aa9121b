"""Rows of questions about intentions as a file holds them: checked, and made into items."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from outputs.contamination.comparable import Row
from outputs.evaluation_items.rows import ItemLine
from prompts.languages import described_language
from prompts.tasks.items import PersonView, SceneView, TaskItem, standing_question
from quality.evaluation.item import EvaluationItem
from quality.persuasion.spoken_dialogues import FACE_ACT, INTENTION
from scenarios.dialogue import History
from scenarios.errors import InputError
from scenarios.located import Located
from scenarios.located_validation import validate_model
from scenarios.schemes.model import Scheme


class _IntentionRow(BaseModel):
    """The columns that a question has; others are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str = Field(min_length=1)
    case: str = Field(min_length=1)
    arm: str = ""
    scenario: str = Field(min_length=1)
    fact: str | None = None
    category: str = ""
    language: str = "en"
    strategy: str = ""
    model: str = ""
    turn: int
    situation: str
    people: tuple[ItemLine, ...] = ()
    context: tuple[ItemLine, ...] = ()
    role: str = Field(min_length=1)
    utterance: str = Field(min_length=1)
    face_act: str = ""
    options: tuple[str, ...] = Field(min_length=2, max_length=26)
    labels: tuple[str, ...]
    answer: int = Field(ge=0)
    labelled_by: Literal["adjudicated", "human", "judges", "declared"] = "declared"


def is_intention_question(row: Row) -> bool:
    """Return whether a row is a question about an intention."""
    return all(name in row for name in ("options", "labels", "answer", "last_turn"))


def intention_item(located: Located, scheme: Scheme, *, split: str = "") -> EvaluationItem:
    """Return the item that a question is: its options are those of the row.

    Args:
        located: the row, with its file and line.
        scheme: of its labels.
        split: that it belongs to.

    Raises:
        InputError: it lacks something, or has a label that the scheme does not have.
    """
    row = validate_model(_IntentionRow, located)
    known = scheme.dimension(INTENTION).values
    if len(row.labels) != len(row.options) or row.answer >= len(row.labels):
        raise _problem(
            located, "labels", len(row.labels), "a label for every option, and an answer"
        )
    unknown = next((label for label in row.labels if label not in known), None)
    if unknown is not None:
        raise _problem(located, "labels", unknown, f"intentions of the scheme {scheme.name}")
    right = {INTENTION: row.labels[row.answer]}
    if row.face_act:
        right[FACE_ACT] = row.face_act
    said: History = tuple((line.role, line.content) for line in row.context)
    turns: History = (*said, (row.role, row.utterance))
    asked = TaskItem(
        row.id,
        _scene(row),
        turns,
        len(said),
        standing_question(turns, len(said)),
        scenario=row.scenario,
        right=right,
        listed={INTENTION: dict(zip(row.labels, row.options, strict=True))},
    )
    return EvaluationItem(
        asked=asked,
        kind="cumulative",
        references={_REFERENCES[row.labelled_by]: right},
        known=frozenset({"history"} if asked.standing is None else {"history", "question"}),
        case=row.case,
        scenario=row.scenario,
        facts=() if row.fact is None else (row.fact,),
        arm=row.arm,
        category=row.category,
        turn=row.turn,
        strategy=row.strategy,
        generator=row.model,
        split=split,
    )


_REFERENCES = {
    "adjudicated": "adjudicated",
    "human": "people",
    "judges": "agreed",
    "declared": "declared",
}


def _scene(row: _IntentionRow) -> SceneView:
    people = tuple(PersonView(x.role, *x.two_lines) for x in row.people)
    return SceneView(row.situation, "", "", "", "", described_language(row.language), people)


def _problem(located: Located, field: str, found: object, expected: str) -> InputError:
    problem = located.problem((field,), found=repr(found), expected=expected, hint="export it anew")
    return InputError([problem])
