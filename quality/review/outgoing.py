"""Units that other annotation tools get and give back: one per utterance to label."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.store.reviews import ReviewStore
from quality.review.answer_table import item_name
from quality.review.exhibits import Exhibits, ReviewDialogue
from quality.web.counts import read_count
from scenarios.plural import enumerated
from scenarios.reviews import Item, ReviewStudy, Sheet
from scenarios.schemes.model import Dimension, Scheme
from scenarios.schemes.vocabulary import NONE_OF_THEM, takes_none
from scenarios.terms import LabelValue

ISSUE = "issue"
ISSUE_REASON = "issue_reason"
SCENARIO_PROBLEM = "scenario_problem"
NOTE = "note"
LEAD = "lead_s"
CONFIRMED, REJECTED = "confirmed", "rejected"
FACTS_TITLE = "What one of the people alone knows"
"""What stands above the private facts of a dialogue."""
FALSE_CLAIM = "So it would be false to say or imply"
"""What stands before each claim that a fact makes false."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One dialogue of a study, and the answers to it."""

    item: Item
    exhibit: ReviewDialogue
    sheets: tuple[Sheet, ...]

    @property
    def units(self) -> list[tuple[int, str, bool]]:
        """(turn, name, whether it is the last) of every utterance to label.

        Questions about the dialogue as a whole go with the last one.
        """
        turns = self.exhibit.targets
        return [(turn, item_name(self.item, turn), turn == turns[-1]) for turn in turns]

    def labels(self, sheet: Sheet, turn: int, *, last: bool) -> dict[str, LabelValue]:
        """Return the labels that belong to a unit, by dimension."""
        turns = {turn, None} if last else {turn}
        return {given.dimension: given.value for given in sheet.labels if given.turn in turns}

    def declared(self, turn: int, *, last: bool) -> dict[str, LabelValue]:
        """Return the declared labels that belong to a unit, by dimension."""
        turns = {turn, None} if last else {turn}
        return {
            dimension: value
            for (at, dimension), value in self.exhibit.declared.items()
            if at in turns
        }

    def text_of(self, turn: int) -> str:
        """Return the words of a turn."""
        return next(u.text for u in self.exhibit.utterances if u.turn == turn)


@dataclass(slots=True)
class Incoming:
    """What a file says about one person's answer to one dialogue, before anybody checked it."""

    item: str
    """``case/arm``."""
    annotator: str
    """Code or name."""
    where: int
    """Line or task, from 1, where it was first met."""
    labels: dict[tuple[int | None, str], object] = field(default_factory=dict)
    places: dict[tuple[int | None, str], int] = field(default_factory=dict)
    """Line or task of each label, and of each field of an opinion."""
    opinion: dict[str, str] = field(default_factory=dict)
    lead_s: float = 0.0
    shown: list[tuple[int | None, str, str, int]] = field(default_factory=list)
    """What the file shows beside answers: turn, column of ``SHOWN_WORDS``, cell, and its line."""


def outgoing(
    store: ReviewStore, study: ReviewStudy, exhibits: Exhibits, *, annotator: str | None = None
) -> Iterator[Outgoing]:
    """Yield every dialogue of a study with its answers, or those of one annotator's code."""
    for item, _ in store.sheets.items(study):
        sheets = tuple(
            sheet
            for sheet in store.sheets.sheets(study, item=item.seq)
            if annotator is None or sheet.annotator == annotator
        )
        yield Outgoing(item, exhibits.of(item), sheets)


def opinion_fields(sheet: Sheet) -> dict[str, str]:
    """Return what a sheet says beside its labels, by field; empty fields are left out."""
    opinion = sheet.opinion
    if opinion is None:
        return {}
    issue = "" if opinion.issue is None else CONFIRMED if opinion.issue else REJECTED
    fields = {
        ISSUE: issue,
        ISSUE_REASON: opinion.issue_reason,
        SCENARIO_PROBLEM: opinion.scenario_problem,
        NOTE: opinion.note,
    }
    return {name: text for name, text in fields.items() if text}


def split_name(name: str) -> tuple[str, int | None] | None:
    """Read ``case/arm#turn`` or ``case/arm``; None where it is neither."""
    item, mark, turn = name.strip().partition("#")
    number = read_count(turn)
    if item.count("/") != 1 or (mark and number is None):
        return None
    return item, number


def offered_labels(dimension: Dimension, hidden: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the answers to a dimension of labels that are on offer."""
    labels = [value for value in dimension.values if value not in hidden.get(dimension.id, ())]
    return [*labels, NONE_OF_THEM] if takes_none(dimension) else labels


def situation_text(exhibit: ReviewDialogue) -> str:
    """Return the scene, and who is there, a line each; nothing where nobody knows the scenario."""
    people = [f"{name}: {description}" for name, description in exhibit.roles]
    return "\n".join([exhibit.background, *people]).strip()


def facts_text(exhibit: ReviewDialogue) -> str:
    """Return the private facts of a dialogue, a line each: who knows it, and what it makes false."""
    lines = []
    for fact in exhibit.facts:
        lines.append(f"{enumerated(fact.knowers)}: {fact.text}")
        lines += [f"{FALSE_CLAIM}: {claim}" for claim in fact.false_claims]
    return "\n".join(lines)


def dialogue_text(exhibit: ReviewDialogue, turn: int | None) -> str:
    """Return all that was said, a line each; the turn to label is marked with ``>``."""
    return "\n".join(
        f"{'> ' if said.turn == turn else ''}{said.speaker}: {said.text}"
        for said in exhibit.utterances
    )


def dimensions_of(scheme: Scheme, study: ReviewStudy | None = None) -> tuple[Dimension, ...]:
    """Return the dimensions in the order they are asked: utterances first, then the whole.

    Args:
        scheme: the dimensions.
        study: what is not asked in it is left out; None leaves nothing out.
    """
    asks_whole = study is None or study.asks_whole
    whole = scheme.people_dimensions("dialogue") if asks_whole else ()
    return (*scheme.people_dimensions("utterance"), *whole)
