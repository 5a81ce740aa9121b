"""Whole dialogues over the shipped scenarios, through the shipped templates and readers."""

from __future__ import annotations

import itertools
import re

import pytest

from pipeline.offline.engine import PromptNotUnderstood, answer
from prompts.actors import ActorPrompts, initiator_view, responder_view
from prompts.environment import Templates
from scenarios.catalogue import Catalogue
from scenarios.dialogue import FIT, Critique
from scenarios.schemes.registry import load_scheme
from tests.factories import make_case
from tests.questions import messages

SCHEME = load_scheme("hipo")
SCENARIOS = Catalogue.load().scenarios
END = re.compile(r"[.?!](?=\s|$)")


@pytest.fixture(scope="module")
def actors():
    return ActorPrompts(Templates(None), SCHEME)


def answered(question, seed=1):
    return question.answer.read(answer(messages(question), seed))


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_every_fact_can_be_talked_about_with_either_goal(actors, name):
    scenario = SCENARIOS[name]
    facts = [fact for fact in scenario.facts if fact.owner == "responder"]
    for fact, goal in itertools.product(facts, SCHEME.goal.values):
        case = make_case(scenario, fact=fact.id, goal=goal, turns=2)
        asking, answering = initiator_view(scenario, case), responder_view(scenario, SCHEME, case)
        history = [
            ("initiator", scenario.opening.by_goal[0].question),
            ("responder", scenario.opening.by_goal[0].statement_for(goal).text),
        ]
        for turn in range(2):
            question = answered(actors.initiator(asking, history), turn)
            history.append(("initiator", question))
            draft = answered(actors.responder(answering, history), turn)
            history.append(("responder", draft.text))
            assert draft.goal == goal
            assert all(label.rationale for label in draft.tactic)
            assert len(END.findall(question)) <= 2
            assert len(END.findall(draft.text)) <= 2, draft.text
            if goal == "deception" and turn == 0 and not answering.untrue:
                assert "Quality" in {label.value for label in draft.tactic}
            if goal != "deception":
                assert "Quality" not in {label.value for label in draft.tactic}
                assert fact.text.rstrip(".") not in draft.text
        assert len({text for _, text in history}) == len(history)


def test_reflection_revision_and_repair_are_answered_from_the_shipped_templates(actors):
    scenario = SCENARIOS["used_car"]
    case = make_case(scenario, turns=2)
    view = responder_view(scenario, SCHEME, case)
    history = [("initiator", "Was it hit?"), ("responder", "No."), ("initiator", "Never?")]
    wanted = (("veracity", "Relevance"), ("illocutionary", "Expressives"))
    asked = actors.responder(view, history, wanted)
    draft = answered(asked)
    assert [label.value for label in draft.tactic][1:] == ["Relevance", "Expressives"]
    critiques = answered(actors.reflect(view, history, draft, wanted))
    assert [c.dimension for c in critiques] == [
        *(d.id for d in SCHEME.utterance_dimensions),
        FIT,
    ]
    again = [Critique(c.dimension, False, "too weak") for c in critiques]
    revised = answered(actors.revise(view, history, draft, again, wanted))
    assert [x.value for x in revised.tactic] == [x.value for x in draft.tactic]
    assert revised.text != draft.text
    repaired = asked.repair("I would rather not.", ["utterance: missing"])
    assert answered(repaired).tactic[1].value == "Relevance"


def test_a_template_of_ones_own_is_told_what_is_missing(actors, tmp_path):
    (tmp_path / "scene.j2").write_text("Pretend you are {{ view.role }}.\n", encoding="utf-8")
    own = ActorPrompts(Templates(tmp_path), SCHEME)
    scenario = SCENARIOS["used_car"]
    case = make_case(scenario, turns=2)
    asked = own.responder(responder_view(scenario, SCHEME, case), [("initiator", "Well?")])
    with pytest.raises(PromptNotUnderstood, match="offline/rules"):
        answer(messages(asked), 1)
