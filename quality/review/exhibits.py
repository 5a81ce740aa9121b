"""The view of a dialogue that reviewers see, cached per dialogue."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from pipeline.store.reviews import ReviewStore
from quality.review.forms import FormSection, sections
from scenarios.case import Case
from scenarios.dialogue import Dialogue
from scenarios.graph import KnowledgeGraph
from scenarios.reviews import Item, ReviewStudy
from scenarios.schemes.model import Dimension, LabelValue, Scheme
from scenarios.spec import Scenario
from scenarios.verdicts import Flag

ScenarioOf = Callable[[Case], Scenario | None]
"""Finds the scenario of a case as it was when it was played."""
KEPT = 512


@dataclass(frozen=True, slots=True)
class Utterance:
    """One line of a dialogue."""

    turn: int
    speaker: str
    """What the role is called."""
    is_responder: bool
    text: str
    is_target: bool


@dataclass(frozen=True, slots=True)
class ReviewDialogue:
    """A dialogue as reviewers see it; what they may not see yet is told apart by its name."""

    dialogue: Dialogue
    title: str
    background: str
    roles: tuple[tuple[str, str], ...]
    """(name, description) of the two roles."""
    fact: str
    """What only the responder knows; not shown in a quiz."""
    fact_about: str
    false_claims: tuple[str, ...]
    """What the fact makes false; shown with it."""
    utterances: tuple[Utterance, ...]
    sections: tuple[FormSection, ...]
    declared: Mapping[tuple[int | None, str], LabelValue]
    """What the actor declared, by (turn, dimension), and the goal it was given; a number between the
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

    def flags(self, item: Item) -> tuple[Flag, ...]:
        """Return the flags of the newest assessment; none of gold lines, they tell about labels."""
        if not self._study.shows_declared:
            return ()
        key = (item.case, item.arm)
        assessment = self._store.judgements.assessments([key]).get(key)
        return () if assessment is None else assessment.flags

    def _of(self, dialogue_id: str) -> ReviewDialogue:
        dialogue = self._store.dialogues.dialogue(dialogue_id)
        return exhibit(dialogue, self._scenario_of(dialogue.case), self._scheme, self._study)


def exhibit(
    dialogue: Dialogue, scenario: Scenario | None, scheme: Scheme, study: ReviewStudy
) -> ReviewDialogue:
    """Put together what a reviewer needs; without a scenario there is no background and no fact."""
    targets = target_turns(dialogue)
    names = _role_names(scenario)
    fact = None
    if scenario is not None and dialogue.case.fact in {f.id for f in scenario.facts}:
        fact = scenario.fact(dialogue.case.fact)
    return ReviewDialogue(
        dialogue=dialogue,
        title=scenario.title if scenario else dialogue.case.scenario,
        background=scenario.background if scenario else "",
        roles=tuple((role.name, role.description) for role in scenario.roles.values())
        if scenario
        else (),
        fact=fact.text if fact else "",
        fact_about=fact.about if fact else "",
        false_claims=tuple(
            claim.text for claim in KnowledgeGraph.of(scenario).claims_against(fact.id)
        )
        if scenario and fact
        else (),
        utterances=tuple(
            Utterance(
                turn=turn.index,
                speaker=names[turn.role],
                is_responder=turn.role == "responder",
                text=turn.text,
                is_target=turn.index in targets,
            )
            for turn in dialogue.turns
        ),
        sections=sections(scheme, targets, study.hidden, whole=study.asks_whole),
        declared=declared_labels(dialogue, scheme) if study.shows_declared else {},
        rationales={
            (turn.index, label.dimension): label.rationale
            for turn in dialogue.turns
            for label in turn.tactic
            if label.rationale and study.shows_declared
        },
    )


def target_turns(dialogue: Dialogue) -> tuple[int, ...]:
    """Return the responder's improvised turns; all of its turns where none is improvised."""
    own = tuple(turn for turn in dialogue.turns if turn.role == "responder")
    return tuple(turn.index for turn in dialogue.answers() or own)


def declared_labels(dialogue: Dialogue, scheme: Scheme) -> dict[tuple[int | None, str], LabelValue]:
    """Return the labels the actor declared, and the goal it was given, by (turn, dimension)."""
    dimensions = {d.id: d for d in scheme.utterance_dimensions}
    labels: dict[tuple[int | None, str], LabelValue] = {
        (turn.index, label.dimension): _on_the_scale(dimensions[label.dimension], label.value)
        for turn in dialogue.turns
        for label in turn.tactic
        if label.dimension in dimensions
    }
    if dialogue.case.goal:
        labels[None, scheme.assigned] = dialogue.case.goal
    return labels


def _on_the_scale(dimension: Dimension, value: LabelValue) -> LabelValue:
    points = dimension.point_values
    if not points or not isinstance(value, float):
        return value
    return min(points, key=lambda point: abs(point - value))


def _role_names(scenario: Scenario | None) -> dict[str, str]:
    if scenario is None:
        return {"initiator": "A", "responder": "B"}
    return {key: role.name for key, role in scenario.roles.items()}
