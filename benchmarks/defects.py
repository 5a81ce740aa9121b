"""Plant defects into clean dialogues, one each, so that what finds them can be counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any, cast

from benchmarks.judge_accuracy import strays
from scenarios.dialogue import Dialogue, TacticLabel, Turn
from scenarios.schemes.model import Scheme
from scenarios.spec import Scenario
from scenarios.wording import sentences
from scenarios.yaml_source import read_yaml

DATA = Path(__file__).parent / "data" / "plants.yaml"


@dataclass(frozen=True, slots=True)
class Planted:
    """A dialogue with one defect, and where it is."""

    kind: str
    dialogue: Dialogue
    turn: int | None


@dataclass(frozen=True, slots=True)
class Garden:
    """What defects are planted into, and with what."""

    scheme: Scheme
    scenarios: Mapping[str, Scenario]
    clean: Sequence[Dialogue]
    random: Random


Plant = Callable[[Garden, Dialogue, int], Planted | None]
"""Takes the garden, a clean dialogue and a running number; None: it cannot be planted there."""


def plant(garden: Garden, kind: str, count: int) -> list[Planted]:
    """Return ``count`` dialogues with a defect of one kind, from clean ones drawn at random.

    Raises:
        ValueError: too few of the clean dialogues take this defect.
    """
    chosen = list(garden.clean)
    garden.random.shuffle(chosen)
    found: list[Planted] = []
    for dialogue in chosen:
        if len(found) == count:
            return found
        planted = KINDS[kind](garden, dialogue, len(found))
        if planted is not None:
            found.append(planted)
    if len(found) < count:
        raise ValueError(f"only {len(found)} of {count} dialogues take the defect {kind}")
    return found


@lru_cache(maxsize=1)
def _plants() -> dict[str, Any]:
    return cast("dict[str, Any]", read_yaml(DATA).data)


def responder_turns(dialogue: Dialogue) -> list[Turn]:
    """Return the improvised turns of the responder."""
    return [t for t in dialogue.turns if t.kind == "improvised" and t.role == "responder"]


def _with(dialogue: Dialogue, turn: Turn) -> Dialogue:
    """Return the dialogue with one turn exchanged."""
    turns = tuple(turn if old.index == turn.index else old for old in dialogue.turns)
    return replace(dialogue, turns=turns)


def _said(kind: str, dialogue: Dialogue, turn: Turn, text: str) -> Planted:
    return Planted(kind, _with(dialogue, replace(turn, text=text)), turn.index)


def _labelled(kind: str, dialogue: Dialogue, turn: Turn, dimension: str, value: str) -> Planted:
    tactic = tuple(
        TacticLabel(label.dimension, value) if label.dimension == dimension else label
        for label in turn.tactic
    )
    return Planted(kind, _with(dialogue, replace(turn, tactic=tactic)), turn.index)


def _swapped(dimension: str) -> Plant:
    """Return what declares another label; never one that the goal forbids or needs."""

    def swap(garden: Garden, dialogue: Dialogue, _: int) -> Planted:
        turn = garden.random.choice(responder_turns(dialogue))
        own = {label.dimension: label.value for label in turn.tactic}[dimension]
        others = garden.scheme.dimension(dimension).values
        fitting = [v for v in others if v not in (own, "Quality", "None", "Declarations")]
        value = garden.random.choice(fitting)
        return _labelled(f"swapped_{dimension}", dialogue, turn, dimension, value)

    return swap


def _replaced(kind: str, texts: Callable[[Dialogue], Sequence[str]]) -> Plant:
    """Return what says one of some texts instead of an answer."""

    def say(garden: Garden, dialogue: Dialogue, i: int) -> Planted:
        turn = garden.random.choice(responder_turns(dialogue))
        choice = texts(dialogue)
        return _said(kind, dialogue, turn, choice[i % len(choice)])

    return say


def _leaked(garden: Garden, dialogue: Dialogue, i: int) -> Planted | None:
    fact = garden.scenarios[dialogue.case.scenario].fact(dialogue.case.fact).text
    # A short dialogue may have no question but the fixed ones.
    own = (t for t in dialogue.turns if t.kind == "improvised" and t.role == "initiator")
    asked = next(own, None)
    if asked is None:
        return None
    frames = _plants()["leaks"]
    return _said("fact_leaked", dialogue, asked, frames[i % len(frames)].replace("{fact}", fact))


def _truncated(garden: Garden, dialogue: Dialogue, _: int) -> Planted | None:
    turn = garden.random.choice(responder_turns(dialogue))
    parts = turn.text.split()
    cut = " ".join(parts[: max(2, int(len(parts) * garden.random.uniform(0.4, 0.9)))])
    if cut[-1] in ".!?":
        return None
    return _said("truncated", dialogue, turn, cut)


def _three_sentences(garden: Garden, dialogue: Dialogue, i: int) -> Planted:
    turn = garden.random.choice(responder_turns(dialogue))
    more = _plants()["further_sentences"]
    return _said("three_sentences", dialogue, turn, f"{turn.text} {more[i % len(more)]}")


def _incoherent(garden: Garden, dialogue: Dialogue, _: int) -> Planted:
    """Say what somebody said of a fact of another scenario."""
    while True:
        donor = garden.random.choice(garden.clean)
        told = [
            turn
            for turn in responder_turns(donor)
            if any(label.value == "Quantity" for label in turn.tactic)
        ]
        if donor.case.scenario != dialogue.case.scenario and told:
            turn = garden.random.choice(responder_turns(dialogue))
            return _said("incoherent_turn", dialogue, turn, garden.random.choice(told).text)


def _contradicting(garden: Garden, dialogue: Dialogue, _: int) -> Planted | None:
    rule = garden.scheme.contradictions[0].labels
    if dialogue.case.goal not in rule[garden.scheme.assigned]:
        return None
    turn = garden.random.choice(responder_turns(dialogue))
    return _labelled("label_contradiction", dialogue, turn, "veracity", rule["veracity"][0])


def _goal_mismatch(garden: Garden, dialogue: Dialogue, _: int) -> Planted:
    turn = garden.random.choice(responder_turns(dialogue))
    other = next(v for v in garden.scheme.goal.values if v != dialogue.case.goal)
    changed = _with(dialogue, replace(turn, declared_goal=other))
    return Planted("goal_mismatch", changed, turn.index)


def _unmet(garden: Garden, dialogue: Dialogue, _: int) -> Planted | None:
    if dialogue.case.goal not in garden.scheme.requirements[0].when[garden.scheme.assigned]:
        return None
    for turn in responder_turns(dialogue):
        dialogue = _labelled("unmet", dialogue, turn, "veracity", "None").dialogue
    return Planted("unmet_requirement", dialogue, None)


def _not_obtained(garden: Garden, dialogue: Dialogue, _: int) -> Planted:
    turn = garden.random.choice(responder_turns(dialogue))
    label = garden.random.choice(turn.tactic)
    others = [v for v in garden.scheme.dimension(label.dimension).values if v != label.value]
    wanted = ((label.dimension, garden.random.choice(others)),)
    return Planted("wanted_not_obtained", _with(dialogue, replace(turn, wanted=wanted)), turn.index)


def _repeated(garden: Garden, dialogue: Dialogue, _: int) -> Planted | None:
    answers = responder_turns(dialogue)
    if len(answers) < 2:
        return None
    text = answers[0].text
    return _said("repeated_turn", dialogue, answers[1], _touched(text, garden.random))


def _copied_rationale(garden: Garden, dialogue: Dialogue, i: int) -> Planted:
    """Put a label, the utterance or a line of the scene in the place of a reason."""
    turn = garden.random.choice(responder_turns(dialogue))
    scenario = garden.scenarios[dialogue.case.scenario]
    sources = (
        turn.tactic[-1].dimension,
        turn.text.upper(),
        scenario.roles["initiator"].description,
        sentences(scenario.background)[0],
        str(turn.tactic[0].value),
    )
    at = i % len(turn.tactic)
    tactic = tuple(
        replace(label, rationale=sources[i % len(sources)]) if place == at else label
        for place, label in enumerate(turn.tactic)
    )
    planted = _with(dialogue, replace(turn, tactic=tactic))
    return Planted("rationale_copied", planted, turn.index)


def _duplicate(garden: Garden, dialogue: Dialogue, _: int) -> Planted:
    """Make another case of it, a word changed here and there."""
    case = replace(dialogue.case, id=f"{dialogue.case.id}-again", repetition=1)
    turns = tuple(
        replace(turn, text=_touched(turn.text, garden.random))
        if turn is dialogue.turns[-1]
        else turn
        for turn in dialogue.turns
    )
    return Planted("near_duplicate", replace(dialogue, case=case, turns=turns), None)


def _touched(text: str, random: Random) -> str:
    """Return a text with its last or first word exchanged, or none."""
    parts = text.split()
    style = random.randrange(3)
    if len(parts) < 12 or style == 0:
        return text
    if style == 1:
        return " ".join([*parts[:-1], "then" + parts[-1][-1]])
    return " ".join(["So,", parts[0].lower(), *parts[1:]])


def _all_of(key: str) -> Callable[[Dialogue], Sequence[str]]:
    return lambda _: cast("list[str]", _plants()[key])


def _goal_lines(dialogue: Dialogue) -> Sequence[str]:
    return cast("list[str]", _plants()["goal_stated"][dialogue.case.goal])


def _off_topic(_: Dialogue) -> Sequence[str]:
    return [text for _, _, text in strays()]


def _nothing(_: Dialogue) -> Sequence[str]:
    return ["", " ", "...", "-", "\u200b"]


KINDS: Mapping[str, Plant] = {
    "swapped_intention": _swapped("intention"),
    "swapped_veracity": _swapped("veracity"),
    "swapped_illocutionary": _swapped("illocutionary"),
    "goal_stated": _replaced("goal_stated", _goal_lines),
    "goal_mismatch": _goal_mismatch,
    "fact_leaked": _leaked,
    "off_topic": _replaced("off_topic", _off_topic),
    "incoherent_turn": _incoherent,
    "near_duplicate": _duplicate,
    "repeated_turn": _repeated,
    "truncated": _truncated,
    "refusal": _replaced("refusal", _all_of("refusal")),
    "three_sentences": _three_sentences,
    "wrong_language": _replaced("wrong_language", _all_of("foreign")),
    "label_contradiction": _contradicting,
    "unmet_requirement": _unmet,
    "wanted_not_obtained": _not_obtained,
    "rationale_copied": _copied_rationale,
    "empty_utterance": _replaced("empty_utterance", _nothing),
}
"""Every kind of defect, by the name it has in the report."""


def all_planted(garden: Garden, count: int) -> Iterator[Planted]:
    """Yield ``count`` defects of every kind."""
    for kind in KINDS:
        yield from plant(garden, kind, count)
