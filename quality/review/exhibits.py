"""The view of a dialogue that reviewers see, cached per dialogue."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from pipeline.store.reviews import ReviewStore
from quality.review.forms import FormSection, sections
from scenarios.case import Case, PlayedCase
from scenarios.dialogue import Dialogue
from scenarios.graph import KnowledgeGraph
from scenarios.reviews import Item, ReviewStudy
from scenarios.schemes.model import Dimension, Scheme
from scenarios.spec import Scenario
from scenarios.terms import INITIATOR, RESPONDER, LabelValue
from scenarios.verdicts import Flag

ScenarioOf = Callable[[PlayedCase], Scenario | None]
"""Finds the scenario of a case as it was when it was played."""
KEPT = 512


@dataclass(frozen=True, slots=True)
class Utterance:
    """One line of a dialogue."""

    turn: int
    speaker: str
    """What the role is called."""
    is_opposite: bool
    """Whether it stands on the other side of the page than what the first of the people says."""
    text: str
    is_target: bool


@dataclass(frozen=True, slots=True)
class PrivateFact:
    """What some of the people know and the others do not."""

    knowers: tuple[str, ...]
    """What the roles are called that know it."""
    text: str
    false_claims: tuple[str, ...]
    """What it makes false; shown with it."""


@dataclass(frozen=True, slots=True)
class ReviewDialogue:
    """A dialogue as reviewers see it; what they may not see yet is told apart by its name."""

    dialogue: Dialogue
    title: str
    background: str
    roles: tuple[tuple[str, str], ...]
    """(name, description) of everybody who is there."""
    facts: tuple[PrivateFact, ...]
    """What not all of the people know; not shown in a quiz."""
    utterances: tuple[Utterance, ...]
    sections: tuple[FormSection, ...]
    declared: Mapping[tuple[int | None, str], LabelValue]
    """What was declared, by (turn, dimension), and the goal that was assigned; a number between the
    points of its scale is moved to the nearest. Never shown before somebody's own labels are
    locked; empty for gold lines, whose labels nobody who reads them may see."""
    rationales: Mapping[tuple[int | None, str], str]

    @property
    def targets(self) -> tuple[int, ...]:
        """The turns to label."""
        return tuple(u.turn for u in self.utterances if u.is_target)


class Exhibits:
    """Finds the exhibit of items; the latest are kept in memory."""

    def __init__(
        self, store: ReviewStore, scheme: Scheme, study: ReviewStudy, scenario_of: ScenarioOf
    ) -> None:
        """Read dialogues from ``store`` and their scenarios through ``scenario_of``."""
        self._store = store
        self._scheme = scheme
        self._study = study
        self._scenario_of = scenario_of
        self._kept = lru_cache(maxsize=KEPT)(self._of)

    def of(self, item: Item) -> ReviewDialogue:
        """Return the exhibit of an item."""
        return self._kept(item.id)

    def title(self, item: Item) -> str:
        """Return the title of the scenario of an item, without reading its dialogue."""
        ending = self._store.dialogues.ending(item.id)
        return _title(self._scenario_of(ending), ending.case)

    def flags(self, item: Item) -> tuple[Flag, ...]:
        """Return the flags of the newest assessment; none of gold lines, they tell about labels."""
        if not self._study.shows_declared:
            return ()
        key = (item.case, item.arm)
        assessment = self._store.judgements.assessments([key]).get(key)
        return () if assessment is None else assessment.flags

    def _of(self, dialogue_id: str) -> ReviewDialogue:
        dialogue = self._store.dialogues.dialogue(dialogue_id)
        return exhibit(dialogue, self._scenario_of(dialogue), self._scheme, self._study)


def exhibit(
    dialogue: Dialogue, scenario: Scenario | None, scheme: Scheme, study: ReviewStudy
) -> ReviewDialogue:
    """Put together what a reviewer needs; without a scenario there is no background and no fact."""
    targets = target_turns(dialogue)
    names = _role_names(scenario, dialogue)
    sides = list(names)
    return ReviewDialogue(
        dialogue=dialogue,
        title=_title(scenario, dialogue.case),
        background=scenario.background if scenario else "",
        roles=tuple((role.name, role.description) for role in scenario.roles.values())
        if scenario
        else (),
        facts=() if scenario is None else private_facts(scenario, dialogue.case),
        utterances=tuple(
            Utterance(
                turn=turn.index,
                speaker=names[turn.role],
                is_opposite=sides.index(turn.role) % 2 == 1,
                text=turn.text,
                is_target=turn.index in targets,
            )
            for turn in dialogue.turns
        ),
        sections=sections(
            scheme,
            targets,
            study.hidden,
            whole=study.asks_whole,
            roles={turn.index: turn.role for turn in dialogue.turns},
        ),
        declared=declared_labels(dialogue, scheme) if study.shows_declared else {},
        rationales={
            (turn.index, label.dimension): label.rationale
            for turn in dialogue.turns
            for label in turn.tactic
            if label.rationale and study.shows_declared
        },
    )


def _title(scenario: Scenario | None, case: Case) -> str:
    return scenario.title if scenario else case.scenario


def target_turns(dialogue: Dialogue) -> tuple[int, ...]:
    """Return the improvised turns of labelled roles; all of their turns where none is improvised."""
    own = tuple(turn for turn in dialogue.turns if turn.is_of_labelled_role)
    return tuple(turn.index for turn in dialogue.answers() or own)


def declared_labels(dialogue: Dialogue, scheme: Scheme) -> dict[tuple[int | None, str], LabelValue]:
    """Return the labels that speakers declared, and the goal assigned, by (turn, dimension)."""
    dimensions = {d.id: d for d in scheme.utterance_dimensions}
    labels: dict[tuple[int | None, str], LabelValue] = {
        (turn.index, label.dimension): _on_the_scale(dimensions[label.dimension], label.value)
        for turn in dialogue.turns
        for label in turn.tactic
        if label.dimension in dimensions
    }
    if dialogue.case.goal and scheme.assigned:
        labels[None, scheme.assigned] = dialogue.case.goal
    return labels


def _on_the_scale(dimension: Dimension, value: LabelValue) -> LabelValue:
    points = dimension.point_values
    if not points or not isinstance(value, float):
        return value
    return min(points, key=lambda point: abs(point - value))


def private_facts(scenario: Scenario, case: Case) -> tuple[PrivateFact, ...]:
    """Return what not all of the people know in a case: with a flow, everything of the kind."""
    graph = KnowledgeGraph.of(scenario)
    return tuple(
        PrivateFact(
            knowers=scenario.knowers_named(fact),
            text=fact.text,
            false_claims=tuple(claim.text for claim in graph.claims_against(fact.id)),
        )
        for fact in scenario.facts
        if scenario.flow or fact.id == case.fact
    )


def _role_names(scenario: Scenario | None, dialogue: Dialogue) -> dict[str, str]:
    """Return what each role is called, in order; letters where nobody knows the scenario."""
    known = {} if scenario is None else {key: role.name for key, role in scenario.roles.items()}
    said = list(dict.fromkeys(turn.role for turn in dialogue.turns))
    if scenario is None and set(said) <= {INITIATOR, RESPONDER}:
        said = [INITIATOR, RESPONDER]
    letters = {role: chr(ord("A") + place) for place, role in enumerate(said)}
    return {**known, **{role: name for role, name in letters.items() if role not in known}}
