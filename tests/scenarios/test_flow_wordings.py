"""What holds of the lines that offline actors say in scenarios with a flow, whichever they choose."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise

from scenarios.catalogue import Catalogue
from scenarios.conversation import Phase
from scenarios.lines.library import flow_lines
from scenarios.lines.model import FlowLine, FlowLines
from scenarios.pack import FAMILIES
from scenarios.spec import Scenario

STEM = 5
"""So many letters of a word are enough to know it again, ``promise`` in ``promised``."""
MANY = 3
"""A word in the lines of more scenarios than this says little of what it is about."""
PLAYED = ("payoff_reasoning", "face_acts", "cobra")
IN_BRACES = re.compile(r"\{(\w+)\}")
SENTENCE_END = re.compile(r"[.!?]")
Moment = tuple[FlowLine, ...]


def played(scheme: str) -> Iterator[tuple[Scenario, FlowLines]]:
    for entry in Catalogue.load([FAMILIES], environment={}).entries.values():
        lines = flow_lines(entry.scenario.id)
        if entry.scenario.scheme == scheme and lines is not None:
            yield entry.scenario, lines


def said(scheme: str) -> Iterator[tuple[Scenario, FlowLine]]:
    for scenario, lines in played(scheme):
        for by_role in lines.flow.values():
            for moments in by_role.values():
                yield from ((scenario, line) for moment in moments for line in moment)


def in_order(phase: Phase, lines: FlowLines) -> Iterator[tuple[Moment, Moment]]:
    """Yield what can be said at a moment of a phase, and what can be answered."""
    turns = zip(*(lines.moments(phase.id, role) for role in phase.who), strict=True)
    moments = [moment for round_ in turns for moment in round_]
    yield from pairwise(moments)


def stems(text: str) -> set[str]:
    return {word[:STEM] for word in re.findall(rf"[a-z]{{{STEM},}}", text.lower())}


def everyday() -> set[str]:
    """Return the stems that lines of many scenarios have, such as ``where``."""
    found: Counter[str] = Counter()
    for scheme in PLAYED:
        for _, lines in played(scheme):
            texts = (
                one.text for r in lines.flow.values() for ms in r.values() for m in ms for one in m
            )
            found.update(set.union(*map(stems, texts)))
    return {stem for stem, count in found.items() if count > MANY}


def test_an_answer_takes_up_no_word_that_only_one_wording_of_the_question_has():
    common = everyday()
    torn = [
        (scenario.id, answer.text)
        for scheme in PLAYED
        for scenario, lines in played(scheme)
        for phase in scenario.flow
        for asked, answers in in_order(phase, lines)
        for answer in answers
        if stems(answer.text) & (only_in_some(asked) - common - stems(scenario.background))
    ]
    assert torn == []


def only_in_some(asked: Moment) -> set[str]:
    """Return the stems that some wordings of a moment have and others lack."""
    wordings = [stems(one.text) for one in asked]
    return set.union(*wordings) - set.intersection(*wordings)


def test_whoever_weighs_a_game_ends_with_a_choice_of_it_in_braces_and_not_always_the_same():
    for scenario, lines in played("payoff_reasoning"):
        [role] = scenario.flow[-1].who
        [aloud] = lines.moments(scenario.flow[-1].id, role)
        chosen = {"".join(IN_BRACES.findall(line.text)) for line in aloud}
        assert chosen <= set(scenario.data["payoffs"]["choices"]), scenario.id
        assert len(chosen) == len(aloud) > 1, scenario.id


def test_a_witness_who_leaves_the_question_open_says_nothing_from_which_an_answer_follows():
    for scenario, line in said("cobra"):
        if line.labels.get("commitment") == "none":
            assert line.labels["relevance"] in {"3", "4"}, (scenario.id, line.text)


def test_whoever_avoids_a_subject_is_at_most_mildly_pleased_by_another():
    for scenario, line in said("cei"):
        if "deflection" in scenario.goals:
            assert line.labels["valence"] <= 0.34, (scenario.id, line.text)


def test_no_emotion_is_told_by_a_question_in_the_first_sentence():
    asks: dict[str, list[bool]] = defaultdict(list)
    for _, line in said("cei"):
        end = SENTENCE_END.search(line.text)
        asks[str(line.labels["emotion"])].append(end is not None and end.group() == "?")
    shares = {emotion: sum(found) / len(found) for emotion, found in asks.items()}
    assert max(shares.values()) <= 0.3, shares
