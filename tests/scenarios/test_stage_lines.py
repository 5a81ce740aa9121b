"""The stage lines of the library: enough of them, of every kind, and none that says too much."""

from __future__ import annotations

from collections import Counter
from itertools import product

from scenarios.lines.library import exemplar_lines, gold_lines, scenarios_with, stage_lines
from scenarios.lines.model import ANGLE, HARD_QUESTION, PRESSED, StageLines
from scenarios.schemes.registry import load_scheme
from scenarios.spec import Scenario
from scenarios.wording import content_stems, shingles
from tests.factories import library

SCHEME = load_scheme("hipo")
RUN = 9
"""Words in a row that two sets of lines may not share: fewer are how people talk."""


def stages() -> list[tuple[Scenario, StageLines]]:
    found = []
    for scenario in library().scenarios.values():
        lines = stage_lines(scenario.id)
        assert lines is not None, f"{scenario.id} has no stage lines"
        found.append((scenario, lines))
    return found


def test_every_scenario_has_enough_to_say() -> None:
    for scenario, lines in stages():
        assert len(lines.initiator) >= 5, scenario.id
        said = Counter((line.fact, line.goal, line.answers) for line in lines.responder)
        for fact, goal in product(scenario.facts, SCHEME.goal.values):
            for answers in (HARD_QUESTION, "angle", PRESSED):
                assert said[fact.id, goal, answers] >= 1, (scenario.id, fact.id, goal, answers)


def test_every_question_has_a_true_detail_that_answers_a_part_of_it() -> None:
    for scenario, lines in stages():
        pressing = [{line.id, PRESSED} for line in lines.initiator]
        for fact, goal, answers in product(
            scenario.facts, SCHEME.goal.values, ({HARD_QUESTION}, {ANGLE}, *pressing)
        ):
            told = [
                detail.text
                for detail in lines.details
                if answers & set(detail.answers)
                and fact.id in (detail.facts or (fact.id,))
                and goal in (detail.goal or (goal,))
            ]
            assert told, (scenario.id, fact.id, goal, answers)


def test_every_veracity_with_every_act_occurs_at_least_six_times() -> None:
    labels = Counter(
        (line.labels["veracity"], line.labels["illocutionary"])
        for _, lines in stages()
        for line in lines.responder
    )
    veracity = SCHEME.dimension("veracity").values
    acts = SCHEME.dimension("illocutionary").values
    assert {pair: n for pair in product(veracity, acts) if (n := labels[pair]) < 6} == {}


def test_a_deception_never_begins_with_an_open_refusal() -> None:
    for scenario, lines in stages():
        for line in lines.responder:
            if line.goal == "deception" and line.answers == HARD_QUESTION:
                assert line.labels["veracity"] != "None", (scenario.id, line.text)


def test_no_line_stands_in_two_of_the_sets() -> None:
    stage = [line.text for _, lines in stages() for line in lines.responder]
    exemplars, gold = [], []
    for name in scenarios_with("exemplar"):
        lines = exemplar_lines(name)
        assert lines is not None
        exemplars += [line.text for line in lines.lines]
    for name in scenarios_with("gold"):
        measured = gold_lines(name)
        assert measured is not None
        gold += [line.text for line in measured.lines if line.origin == "written"]
    runs = [
        frozenset().union(*(shingles(text, RUN) for text in texts))
        for texts in (stage, exemplars, gold)
    ]
    assert not runs[0] & runs[1]
    assert not runs[0] & runs[2]
    assert not runs[1] & runs[2]


def test_topics_to_turn_to_touch_no_fact_and_answer_no_question() -> None:
    """'I keep coming back to the traction battery' was said to what set the bus on fire."""
    for scenario, lines in stages():
        assert len(set(lines.topics)) >= 4, scenario.id
        shared = scenario.opening.shared
        asked = [
            *(shared.hard_question if shared else ()),
            *(line.text for line in lines.initiator),
        ]
        known = [x for fact in scenario.facts for x in (fact.text, fact.about, fact.angle or "")]
        for topic in lines.topics:
            assert len(topic.split()) <= 6, (scenario.id, topic)
            touched = content_stems(topic) & content_stems(" ".join([*known, *asked]))
            assert not touched, (scenario.id, topic, touched)


def test_what_leaves_alone_a_fact_that_the_question_does_not_need_is_none() -> None:
    for scenario, lines in stages():
        for line in lines.responder:
            if line.answers == HARD_QUESTION and line.fact in lines.needless:
                wanted = ("None",) if line.goal in SCHEME.truthful_goals else ("Quality", "None")
                assert line.labels["veracity"] in wanted, (scenario.id, line.text)
