"""The stage lines of the library: enough of them, of every kind, and none that says too much."""

from __future__ import annotations

import re
from collections import Counter
from itertools import product

from pipeline.offline.lexicon import words
from pipeline.offline.person import in_person
from pipeline.offline.phrases import tidy
from scenarios.lines.library import exemplar_lines, gold_lines, scenarios_with, stage_lines
from scenarios.lines.model import ANGLE, ANY_FACT, HARD_QUESTION, PRESSED, StageLines
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


def test_the_hard_question_has_several_vague_answers_for_any_fact() -> None:
    """Those who say nothing false have only these: with one, dialogues of one answer are the same."""
    for scenario, lines in stages():
        vague = [
            line
            for line in lines.responder
            if (line.answers, line.fact) == (HARD_QUESTION, ANY_FACT)
            and line.labels["veracity"] == "Manner"
            and line.is_for("truthful non-disclosure")
        ]
        assert len(vague) >= 3, scenario.id


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


def test_an_apology_for_not_answering_is_politeness_unless_it_is_all_feeling() -> None:
    """'I feel bad, yeah, leaving you with a blank line there', to inform."""
    felt = re.compile(r"\b(?:hate|rotten|awful|ashamed|feel bad|cry|hurts|pains|shames|grieves)\b")
    for scenario, lines in stages():
        for line in lines.responder:
            if [*line.labels.values()] == ["Inform", "None", "Expressives"]:
                assert not felt.search(line.text), (scenario.id, line.text)


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


def test_what_is_at_issue_was_named_by_a_question_or_the_scene_and_is_no_part_of_a_fact() -> None:
    for scenario, lines in stages():
        assert len(set(lines.at_issue)) >= 2, scenario.id
        assert all(len(issue.split()) <= 7 for issue in lines.at_issue), scenario.id
        shared = scenario.opening.shared
        asked = [
            *(shared.hard_question if shared else ()),
            *(line.text for line in lines.initiator),
        ]
        known = content_stems(" ".join([scenario.background, *asked]))
        for fact in scenario.facts:
            private = content_stems(fact.text) - known
            assert not private & content_stems(" ".join(lines.at_issue)), (scenario.id, fact.id)


def test_every_lie_can_be_said_in_the_first_person() -> None:
    """'I've told you all there is to it', to 'have you ever been in touch with her again?'"""
    for scenario, lines in stages():
        speaker, hearer = scenario.roles["responder"].name, scenario.roles["initiator"].name
        claims = {claim.id: claim.text for claim in scenario.claims}
        assert set(lines.in_own_words) <= set(claims), scenario.id
        for fact in scenario.facts:
            covers = [cover.claim for cover in fact.cover]
            spoken = [in_person(tidy(claims[claim]), speaker, hearer) for claim in covers]
            people = [words("people") & set(clause.lower().split()) for clause in spoken]
            said = [
                clause for clause, kin in zip(spoken, people, strict=True) if clause and not kin
            ]
            assert said or set(covers) & set(lines.in_own_words), (scenario.id, fact.id)
