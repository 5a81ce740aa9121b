"""Rows of a benchmark or swap set as a file holds them: checked, and made into items."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from sys import intern
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from outputs.contamination.comparable import Row
from outputs.dataset.columns import label_column
from outputs.kinds.aspects import Aspect, drawn_by
from outputs.selecting.people_labels import labelled_dimensions
from prompts.languages import described_language
from prompts.scheme_text import label_text
from prompts.tasks.items import FactView, PersonView, SceneView, TaskItem, standing_question
from quality.evaluation.item import EvaluationItem, Knowledge, References
from quality.evaluation.result_row import NOT
from scenarios.annotations import VERIFIER
from scenarios.dialogue import History
from scenarios.errors import InputError
from scenarios.located import Located, shortened
from scenarios.located_validation import validate_model
from scenarios.schemes.misleading import ruled_out_by_truth
from scenarios.schemes.model import Dimension, Scheme
from scenarios.schemes.vocabulary import resolve_label
from scenarios.shared_parts import SharedParts
from scenarios.terms import INITIATOR, RESPONDER, RoleKey

READ_BY: Mapping[str, str] = {"expert": "adjudicated", "people": "people", VERIFIER: VERIFIER}
"""By whose labels a row has what they are called when models are held against them."""

Part = TypeVar("Part", bound=Hashable)
_SHARED = 4096
"""Parts of items that are remembered, so that the next items have the same ones."""
_PARTS = SharedParts(_SHARED)


class ItemLine(BaseModel):
    """What a row says that somebody is, knows or has said."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    role: RoleKey = Field(min_length=1)
    content: str

    @property
    def two_lines(self) -> tuple[str, str]:
        """The first line, and the rest."""
        first, _, rest = self.content.partition("\n")
        return first, rest


class _ItemRow(BaseModel):
    """The columns that every item has; others are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str = Field(min_length=1)
    case: str = Field(min_length=1)
    arm: str = ""
    scenario: str = Field(min_length=1)
    fact: str | None = None
    fact_shown: str | None = None
    """Of a swap item, which may stand beside another fact than its own."""
    category: str = ""
    tags: tuple[str, ...] = ()
    goal: str | None = None
    expert_goal: str | None = None
    language: str = "en"
    strategy: str = ""
    model: str = ""
    turn: int | None = None
    situation: str
    initiator: str
    initiator_description: str = ""
    responder: str
    responder_description: str = ""
    utterance: str
    question: str | None = None
    fact_about: str | None = None
    fact_text: str | None = None
    people: tuple[ItemLine, ...] = ()
    private: tuple[ItemLine, ...] = ()
    role: RoleKey = RESPONDER
    question_role: RoleKey = INITIATOR

    @property
    def scene(self) -> SceneView:
        """What everybody knows."""
        return _once(
            SceneView(
                situation=self.situation,
                initiator=self.initiator,
                initiator_description=self.initiator_description,
                responder=self.responder,
                responder_description=self.responder_description,
                language=described_language(self.language),
                people=tuple(PersonView(x.role, *x.two_lines) for x in self.people),
            )
        )

    @property
    def facts(self) -> tuple[FactView, ...]:
        """What not all of the people know, where people are listed."""
        knowers: dict[tuple[str, str], list[RoleKey]] = {}
        for x in self.private:
            knowers.setdefault(x.two_lines, []).append(x.role)
        return tuple(
            FactView(about, text, owner=owner, others=tuple(others))
            for (about, text), (owner, *others) in knowers.items()
        )

    def told_fact(self, claims: tuple[str, ...] = ()) -> FactView | None:
        """Return the private fact; None where it is not told."""
        if not self.fact_text:
            return None
        return _once(FactView(self.fact_about or "the matter", self.fact_text, claims))


class _BenchmarkRow(_ItemRow):
    aspect: Aspect
    context: tuple[ItemLine, ...] = ()
    labelled_by: str | None = None
    sources: dict[str, str | None] | None = None
    """By dimension whose label it is; sets of hipo before it did so have none."""
    agreed: tuple[str, ...] | None = None


class _SwapRow(_ItemRow):
    shown: Literal["own", "other", "none"]
    status: str
    false: bool | None = None


def is_benchmark(row: Row) -> bool:
    """Return whether a row is one of a benchmark set."""
    return "aspect" in row and "context" in row


def is_swap(row: Row) -> bool:
    """Return whether a row is one of a swap set."""
    return "shown" in row and "line" in row


def benchmark_item(
    located: Located, scheme: Scheme, *, split: str = "", claims: tuple[str, ...] | None = None
) -> EvaluationItem:
    """Return the item that a row of a benchmark set is.

    Args:
        located: the row, with its file and line.
        scheme: of its labels.
        split: that it belongs to.
        claims: the sentences that its fact makes false; None: they are not known.

    Raises:
        InputError: it lacks something, or has a label that the scheme does not have.
    """
    row = validate_model(_BenchmarkRow, located)
    if not row.utterance and row.aspect != "conversation":
        raise InputError([located.problem(("utterance",), found="nothing", expected="a line")])
    said: History = tuple(_once((line.role, line.content)) for line in row.context)
    known: set[Knowledge] = {"history"}
    order = drawn_by(row.case, row.turn, row.aspect)
    if row.aspect == "conversation":
        fact = row.told_fact(claims or ())
        asked = TaskItem(
            row.id, row.scene, said, fact=fact, goal=row.goal, facts=row.facts, drawn_by=order
        )
    else:
        if row.aspect == "utterance":
            known.discard("history")
            said = () if row.question is None else (_once((row.question_role, row.question)),)
        target = len(said)
        turns: History = (*said, _once((row.role, row.utterance)))
        standing = standing_question(turns, target)
        if standing is not None:
            known.add("question")
        asked = TaskItem(
            row.id, row.scene, turns, target, standing, row.told_fact(claims or ()), row.goal,
            facts=row.facts, drawn_by=order,
        )  # fmt: skip
    if asked.fact is not None or asked.scene.people:
        known |= {"fact"} if claims is None else {"fact", "claims"}
    return _item(row, asked, row.aspect, _references(row, located, scheme), known, split=split)


def swap_item(located: Located, scheme: Scheme, *, split: str = "") -> EvaluationItem | None:
    """Return the item that a row of a swap set is; None of a row that nobody knows the answer of.

    Args:
        located: the row, with its file and line.
        scheme: of its labels; it has to rule out a label for whoever is truthful.
        split: that it belongs to.

    Raises:
        InputError: it lacks something.
    """
    row = validate_model(_SwapRow, located)
    if row.status not in ("scored", "not scored"):
        return None
    said: History = (_once((INITIATOR, row.question)),) if row.question else ()
    turns: History = (*said, _once((RESPONDER, row.utterance)))
    fact = row.told_fact()
    asked = TaskItem(row.id, row.scene, turns, len(said), 0 if said else None, fact, goal=row.goal)
    references: References = {}
    if row.false is not None:
        dimension, lie = next(ruled_out_by_truth(scheme))
        references = {"swap": {dimension: lie if row.false else f"{NOT}{lie}"}}
    known: set[Knowledge] = {"question"} if said else set()
    known |= set() if fact is None else {"fact"}
    return _item(row, asked, "swap", references, known, split=split)


def _item(
    row: _ItemRow,
    asked: TaskItem,
    kind: Literal["utterance", "cumulative", "conversation", "swap"],
    references: References,
    known: Iterable[Knowledge],
    *,
    split: str,
) -> EvaluationItem:
    given = tuple((whose, tuple(labels.items())) for whose, labels in references.items())
    shared, right = _labels(given)
    return EvaluationItem(
        asked=replace(asked, scenario=row.scenario, right=right),
        kind=kind,
        references=shared,
        known=_once(frozenset(known)),
        case=intern(row.case),
        scenario=intern(row.scenario),
        facts=_once(tuple(intern(x) for x in (row.fact, row.fact_shown) if x is not None)),
        arm=row.arm,
        category=row.category,
        tags=row.tags,
        turn=row.turn,
        strategy=row.strategy,
        generator=row.model,
        split=split,
    )


# A run has many items, and few scenes, facts and labels: what items have in common is made once.


def _once(part: Part) -> Part:
    """Return the first of equal parts."""
    return _PARTS.once(part, part)


@lru_cache(maxsize=_SHARED)
def _labels(
    given: tuple[tuple[str, tuple[tuple[str, str], ...]], ...],
) -> tuple[References, Mapping[str, str]]:
    """Return the labels by reference, and by dimension the right one."""
    return {whose: dict(labels) for whose, labels in given}, {
        name: label for _, labels in given for name, label in labels
    }


def _references(
    row: _BenchmarkRow, located: Located, scheme: Scheme
) -> dict[str, Mapping[str, str]]:
    """Return what the row says is right: as declared, as an expert decided, as judges agree."""
    labels: dict[str, str] = {}
    if row.aspect != "conversation":
        for dimension in labelled_dimensions(scheme):
            label = _label(located, dimension)
            if label is not None:
                labels[dimension.id] = label
    references: dict[str, Mapping[str, str]] = {}
    for name, label in labels.items():
        whose = (row.sources or {}).get(name) or row.labelled_by
        source = READ_BY.get(whose or "", "declared")
        references[source] = {**references.get(source, {}), name: label}
    # The expert's goal last: it is the right one where both are known.
    for name, whose in (("goal", "declared"), ("expert_goal", READ_BY["expert"])):
        value = getattr(row, name)
        if value and scheme.assigned:
            goal = _known(located, (name,), scheme.goal, value)
            references[whose] = {**references.pop(whose, {}), scheme.assigned: goal}
            labels = {**labels, scheme.assigned: goal}
    shared = {name: labels[name] for name in row.agreed or () if name in labels}
    return {**references, "agreed": shared} if shared else references


def _label(located: Located, dimension: Dimension) -> str | None:
    """Return the label of a dimension, or several as one text; None where nobody gave one, or a number."""
    column = label_column(dimension.id)
    value = located.data.get(column) if isinstance(located.data, Mapping) else None
    if value is None or dimension.measurement == "interval":
        return None
    return _known(located, (column,), dimension, value)


def _known(located: Located, path: tuple[str], dimension: Dimension, value: object) -> str:
    """Return a label as the scheme spells it, or several in its order.

    Raises:
        InputError: the scheme does not have it.
    """
    found = resolve_label(dimension, value) if isinstance(value, str | list | tuple) else None
    if found is None:
        problem = located.problem(
            path,
            found=shortened(value),
            expected=f"one of: {', '.join(dimension.values)}",
            hint="the set has labels of another scheme: name it with --scheme",
            code="label",
        )
        raise InputError([problem])
    return label_text(found[0])
