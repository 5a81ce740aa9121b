"""What a question may be made of: the scene, what was said, and what is private about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from prompts.languages import described_language
from prompts.prompt import role_tag
from prompts.tasks.model import Sees
from scenarios.dialogue import History
from scenarios.errors import UsageError
from scenarios.graph import claims_against
from scenarios.quick_records import quickly_made
from scenarios.spec import Scenario
from scenarios.terms import INITIATOR, RESPONDER, RoleKey

_NOTHING: Mapping[str, Any] = {}
"""One for all items: there are many, and few have names or options of their own."""


@dataclass(frozen=True, slots=True)
class PersonView:
    """Somebody who is there, as everybody knows them."""

    role: RoleKey
    name: str
    description: str

    @property
    def tag(self) -> str:
        """What stands before their lines."""
        return role_tag(self.role)


@quickly_made
@dataclass(frozen=True, slots=True)
class SceneView:
    """What everybody knows: the situation and who is there, nothing private."""

    situation: str
    initiator: str
    initiator_description: str
    responder: str
    responder_description: str
    language: str
    """A BCP 47 code with its English name."""
    people: tuple[PersonView, ...] = ()
    """Everybody, in order, where it is no scene of question and answer about one private fact; the
    four fields on initiator and responder are empty then."""


@quickly_made
@dataclass(frozen=True, slots=True)
class FactView:
    """What one of the people alone knows, or some together; between two, the responder."""

    about: str
    """What the fact concerns."""
    text: str
    false_claims: tuple[str, ...] = ()
    """Sentences that are false because the fact is true, by the scenario's author."""
    owner: RoleKey = ""
    """The role that knows it, where that is not the responder by itself."""
    others: tuple[RoleKey, ...] = ()
    """Who else knows it; each of them and the owner knows that the others do."""

    @property
    def tag(self) -> str:
        """What stands before the lines of whoever knows it."""
        return role_tag(self.owner)

    @property
    def tags(self) -> tuple[str, ...]:
        """What stands before the lines of everybody who knows it."""
        return tuple(role_tag(role) for role in (self.owner, *self.others))


@quickly_made
@dataclass(frozen=True, slots=True)
class TaskItem:
    """One utterance or dialogue with all that is known of it; a task chooses what is shown."""

    id: str
    scene: SceneView
    turns: History
    """What was said up to and including the target; of a dialogue everything."""
    target: int | None = None
    """The place of the utterance in ``turns``, the last one; None: the dialogue is the subject."""
    standing: int | None = None
    """The place of the question that the target answers; None where there is none."""
    fact: FactView | None = None
    """None where it is not known. Where the scene lists people, see ``facts``."""
    goal: str | None = None
    """None where it is not known."""
    scenario: str = ""
    """The id of the scenario: no worked example comes from it; empty where it is not known."""
    right: Mapping[str, str] | None = None
    """By dimension the right label. Only the options of tasks that list some labels are made with
    it; nothing else that is shown depends on it."""
    names: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    """What ``{name}`` stands for in the wording of options."""
    listed: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: _NOTHING)
    """By dimension the options that it comes with, in order, each label with its wording; none are
    drawn then."""
    facts: tuple[FactView, ...] = ()
    """What not all of the people know, where the scene lists people and it is known."""
    drawn_by: str = ""
    """Decides the order in which options are listed, so that items with the same one and the same
    words get the same prompt; empty: the id does."""

    @property
    def draw_key(self) -> str:
        """What the order of options follows from."""
        return self.drawn_by or self.id

    @property
    def role(self) -> RoleKey:
        """Whose words are the target; empty where it is the dialogue."""
        return "" if self.target is None else self.turns[self.target][0]


@quickly_made
@dataclass(frozen=True, slots=True)
class Shown:
    """The part of an item that a task shows."""

    history: History
    question: str | None
    """The standing question, where it is shown apart from the history."""
    utterance: str
    """What is to be labelled; empty where it is the dialogue."""


def asks_and_answers(scenario: Scenario) -> bool:
    """Whether one asks and the other, who alone knows something, answers."""
    return not scenario.flow and set(scenario.roles) == {INITIATOR, RESPONDER}


def scene_view(scenario: Scenario, language: str, *, listed: bool = False) -> SceneView:
    """Return what everybody in a dialogue knows.

    Args:
        scenario: with its placeholders filled as in the dialogue.
        language: the code of the language it is in.
        listed: whether people are listed also where one asks and the other answers.
    """
    if listed or not asks_and_answers(scenario):
        people = (PersonView(key, x.name, x.description) for key, x in scenario.roles.items())
        spoken = described_language(language)
        return SceneView(scenario.background, "", "", "", "", spoken, tuple(people))
    initiator, responder = scenario.roles["initiator"], scenario.roles["responder"]
    return SceneView(
        situation=scenario.background,
        initiator=initiator.name,
        initiator_description=initiator.description,
        responder=responder.name,
        responder_description=responder.description,
        language=described_language(language),
    )


def fact_view(scenario: Scenario, fact_id: str) -> FactView:
    """Return a private fact with the sentences that it makes false.

    Raises:
        UsageError: the scenario has no such fact.
    """
    try:
        fact = scenario.fact(fact_id)
    except KeyError:
        raise UsageError(f"scenario {scenario.id!r} has no fact {fact_id!r}") from None
    against = claims_against(scenario, fact.id)
    return FactView(fact.about, fact.text, tuple(claim.text for claim in against))


def fact_views(scenario: Scenario) -> tuple[FactView, ...]:
    """Return everything that not all of the people know, with those who do."""
    return tuple(
        replace(fact_view(scenario, fact.id), owner=fact.owner, others=fact.also_known_by)
        for fact in scenario.facts
        if fact.owner in scenario.roles
    )


def plain_view(scene: SceneView, fact: FactView | None) -> dict[str, object]:
    """Return a scene and, where it is shown, the fact as one thing, as templates of judges name it."""
    view: dict[str, object] = {f.name: getattr(scene, f.name) for f in fields(scene)}
    if fact is not None:
        view |= {"about": fact.about, "fact": fact.text, "false_claims": fact.false_claims}
    return view


def standing_question(turns: History, target: int) -> int | None:
    """Return the place of what a turn answers: the last thing that somebody else said."""
    own = turns[target][0] if target < len(turns) else RESPONDER
    for at in range(target - 1, -1, -1):
        if turns[at][0] != own:
            return at
    return None


def shown(item: TaskItem, sees: Sees) -> Shown:
    """Return what a task shows of what was said: never anything after the target.

    Raises:
        UsageError: the target is none of the turns.
    """
    if item.target is None:
        return Shown(_last(item.turns, sees), None, "")
    if not 0 <= item.target < len(item.turns):
        raise UsageError(f"item {item.id!r}: there is no turn {item.target} to be labelled")
    before = item.turns[: item.target]
    history = _last(before, sees)
    question = None
    standing = item.standing
    if sees.standing_question and standing is not None and 0 <= standing < len(before):
        left_out = len(before) - len(history)
        question = before[standing][1] if standing < left_out else None
    return Shown(history, question, item.turns[item.target][1])


def _last(turns: History, sees: Sees) -> History:
    if isinstance(sees.history, int):
        return turns[-sees.history :]
    return () if sees.history == "none" else turns
