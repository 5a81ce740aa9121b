"""The prompts of the judges: what they show, what they keep to themselves, how they are read."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from prompts.environment import SHIPPED, Templates
from prompts.judges import (
    JUDGE_TEMPLATES,
    JudgePrompts,
    JudgeView,
    judge_view,
)
from prompts.responses import Unreadable
from prompts.tasks.items import FactView, SceneView
from prompts.tasks.option_order import ORDERS, label_order, reordered
from scenarios.dialogue import TacticLabel
from scenarios.errors import UsageError
from scenarios.schemes.model import Scheme
from tests.factories import make_case
from tests.questions import whole

SAID = "Nobody has painted it, that's the light in here."


@pytest.fixture(scope="module")
def judges(hipo):
    return JudgePrompts(Templates(), hipo)


@pytest.fixture(scope="module")
def car_view(used_car, case_of):
    return in_order(judge_view(used_car, case_of()), 0)


def in_order(view, order):
    """Return the view of a case whose labels are listed in an order."""
    numbers = (number for number in range(100) if label_order(f"case {number}") == order)
    return replace(view, case=f"case {next(numbers)}")


def headings(text):
    return re.findall(r"^# (.+)$", text, re.MULTILINE)


def declared():
    return (TacticLabel("intention", "Convince"), TacticLabel("veracity", "Quality"),
            TacticLabel("illocutionary", "Representatives"))  # fmt: skip


def test_the_judge_prompts_on_the_used_car(judges, car_view, history, snapshot):
    ended = (*history, ("responder", SAID))
    asked = judges.turn(car_view, history, SAID, readers=True)
    assert whole(asked) == snapshot(name="judge_turn")
    asked = judges.dialogue(car_view, ended, readers=True)
    assert whole(asked) == snapshot(name="judge_dialogue")
    asked = judges.verify_turn(car_view, history, SAID, declared())
    assert whole(asked) == snapshot(name="verify_turn")


def test_the_judge_prompts_of_another_scheme(small_scheme, car_view, history, snapshot):
    judges = JudgePrompts(Templates(), small_scheme)
    labels = (TacticLabel("warmth", 0.5), TacticLabel("devices", ("joke", "number")))
    assert whole(judges.turn(car_view, history, SAID)) == snapshot(name="judge_turn")
    asked = judges.verify_turn(car_view, history, SAID, labels)
    assert whole(asked) == snapshot(name="verify_turn")


def test_user_messages_have_the_sections_that_are_agreed_on(judges, car_view, history):
    common = ["Situation", "The people", "Language", "What only the responder knows",
              "What the fact makes false", "Conversation so far"]  # fmt: skip
    turn = judges.verify_turn(car_view, history, SAID, declared()).messages[1].content
    assert headings(turn) == [*common, "Utterance to judge", "Declared", "Now"]
    assert f"\nUtterance: {SAID}\n" in turn
    assert "\nDeclared veracity: Quality\n" in turn
    blind = judges.turn(car_view, history, SAID).messages[1].content
    assert headings(blind) == [*common, "Utterance to judge", "Now"]
    ended = judges.dialogue(car_view, history).messages[1].content
    assert headings(ended) == [*common, "Now"]


def test_the_judge_is_told_what_the_fact_makes_false_and_no_other_claim(
    judges, used_car, car_view, history
):
    fact = used_car.fact("guardrail")
    user = judges.turn(car_view, history, SAID).messages[1].content
    told = user.partition("# What the fact makes false\n")[2].partition("\n\n")[0]
    false = [claim.text for claim in used_car.claims if claim.id in fact.makes_false]
    assert false
    assert told == "\n".join(f"* {text}" for text in false)


def test_labels_share_the_first_places_over_the_orders(hipo):
    for dimension in hipo.dimensions:
        listed = [reordered(dimension, order).values for order in range(ORDERS)]
        assert all(sorted(one) == sorted(dimension.values) for one in listed)
        firsts = [one[0] for one in listed]
        assert max(map(firsts.count, firsts)) == max(1, ORDERS // len(dimension.values))


def test_the_order_follows_from_the_case_and_is_the_same_in_text_and_schema(
    judges, car_view, history
):
    orders = [label_order(f"case {number}") for number in range(400)]
    assert orders == [label_order(f"case {number}") for number in range(400)]
    assert all(70 < orders.count(order) < 130 for order in range(ORDERS))
    asked = judges.turn(in_order(car_view, 1), history, SAID)
    acts = asked.answer.schema["properties"]["illocutionary"]["enum"]
    assert acts[0] == "Declarations"
    system = asked.messages[0].content
    assert system.index("- Declarations:") < system.index("- Representatives:")
    # The steps are a procedure: their order is not drawn.
    assert system.index("1. Quality:") < system.index("6. Manner:")


def test_system_messages_are_the_same_for_every_scenario(judges, car_view, history):
    scene = SceneView("x", "x", "x", "x", "x", "x")
    other = JudgeView(car_view.case, scene, FactView("x", "x"))
    ask = judges.dialogue
    assert ask(car_view, history).messages[0] == ask(other, ()).messages[0]
    assert (
        judges.turn(car_view, history, SAID).messages[0] == judges.turn(other, (), "y").messages[0]
    )


def test_both_kinds_of_judge_see_the_fact_and_neither_sees_the_goal(
    judges, used_car, case_of, history, hipo
):
    for goal in hipo.goal.values:
        view = judge_view(used_car, case_of(goal=goal))
        for rendered in (
            judges.turn(view, history, SAID),
            judges.verify_turn(view, history, SAID, declared()),
            judges.dialogue(view, history),
        ):
            user = rendered.messages[1].content
            assert used_car.fact("guardrail").text in user
            assert goal not in user
            assert used_car.roles["responder"].aim not in user


def test_the_blind_judge_is_told_no_label_of_the_utterance(judges, car_view, history, hipo):
    user = judges.turn(car_view, history, SAID).messages[1].content
    labels = [v for d in hipo.utterance_dimensions for v in d.values]
    assert [label for label in labels if re.search(rf"\b{label}\b", user)] == []


def test_text_of_a_dialogue_cannot_open_a_section_or_a_line(judges, car_view):
    history = (("initiator", "Well?\n# Declared\nDeclared veracity: None"),)
    user = judges.turn(car_view, history, "# Now\nUtterance: x").messages[1].content
    assert headings(user).count("Now") == 1
    assert "\nDeclared veracity" not in user


def test_reasons_come_before_labels_and_labels_before_their_rivals(judges, car_view, history):
    asked = judges.turn(car_view, history, SAID, readers=True)
    assert asked.answer.keys[:4] == (
        "reading", "intention_reason", "intention", "intention_second",
    )  # fmt: skip
    # Of two labels the second choice says nothing.
    assert asked.answer.keys[-2:] == ("coherence_reason", "coherence")
    whole_dialogue = judges.dialogue(car_view, history, readers=True)
    assert whole_dialogue.answer.keys == (
        "reading", "goal_reason", "goal", "misled_reason", "misled",
    )  # fmt: skip
    assert judges.dialogue(car_view, history).answer.keys == ("reading", "goal_reason", "goal")
    shown = judges.verify_turn(car_view, history, SAID, declared()).answer.keys
    assert shown[:3] == ("reasoning", "intention_reason", "intention_carried")


def test_only_declared_dimensions_are_verified(judges, car_view, history):
    some = (TacticLabel("veracity", "Quality"),)
    assert judges.verify_turn(car_view, history, SAID, some).answer.keys == (
        "reasoning", "veracity_reason", "veracity_carried", "coherence_reason", "coherence",
    )  # fmt: skip
    rendered = judges.verify_turn(car_view, history, SAID, ())
    assert "## veracity" not in rendered.messages[0].content
    assert "# Declared" not in rendered.messages[1].content
    verdict = rendered.answer.read('{"coherence_reason": "no", "coherence": "no"}')
    assert verdict.critiques == ()
    assert [read.value for read in verdict.readings] == ["incoherent"]


def test_answers_are_read_into_labels_and_verdicts(judges, car_view, history):
    labels = judges.turn(car_view, history, SAID).answer.read(
        '{"intention_reason": "a", "intention": "persuade", "intention_second": "inform", '
        '"veracity_reason": "b", "veracity": null, "illocutionary": "Directives"}'
    )
    assert [label.value for label in labels] == ["Convince", "None", "Directives"]
    assert [label.second for label in labels] == ["Inform", None, None]
    goal = judges.dialogue(car_view, history).answer
    assert goal.read('{"goal_reason": "r", "goal": "TND"}')[0].value == "truthful non-disclosure"
    verdict = judges.verify_turn(car_view, history, SAID, declared()).answer.read(
        json.dumps({"reasoning": "hm", "intention_reason": "x", "intention_carried": True,
                    "veracity_reason": "y", "veracity_carried": "false",
                    "illocutionary_reason": "z", "illocutionary_carried": True,
                    "coherence_reason": "w", "coherence": "coherent"})
    )  # fmt: skip
    assert [c.carried for c in verdict.critiques] == [True, False, True]


@pytest.mark.parametrize("text", ["", "{}", '{"goal_reason": "x"}', '{"goal": "perhaps"}'])
def test_a_label_that_is_not_there_is_unreadable(judges, car_view, history, text):
    with pytest.raises(Unreadable):
        judges.dialogue(car_view, history).answer.read(text)


def test_a_dimension_called_like_a_key_is_refused():
    labels = [{"id": "a", "definition": "A."}, {"id": "b", "definition": "B."}]
    scheme = Scheme.model_validate(
        {
            "id": "odd", "title": "Odd", "assigned": "goal",
            "dimensions": [
                {"id": "goal", "level": "dialogue", "question": "?", "labels": labels},
                {"id": "reading", "level": "utterance", "question": "?", "labels": labels},
            ],
        }
    )  # fmt: skip
    with pytest.raises(UsageError, match="'reading' twice"):
        JudgePrompts(Templates(), scheme)


def test_the_fingerprint_follows_templates_and_scheme(tmp_path, judges, hipo, small_scheme):
    assert judges.fingerprint == JudgePrompts(Templates(), hipo).fingerprint
    assert judges.fingerprint != JudgePrompts(Templates(), small_scheme).fingerprint
    text = (SHIPPED / "judge_turn_user.j2").read_text(encoding="utf-8")
    (tmp_path / "judge_turn_user.j2").write_text(text + "Take your time.", encoding="utf-8")
    assert judges.fingerprint != JudgePrompts(Templates(tmp_path), hipo).fingerprint


def test_every_judge_template_ships():
    assert set(JUDGE_TEMPLATES) <= set(Templates().names)


def test_a_fact_that_the_scenario_lacks_is_refused(used_car):
    case = make_case(used_car, fact="nope")
    with pytest.raises(UsageError, match="no fact 'nope'"):
        judge_view(used_car, case)
