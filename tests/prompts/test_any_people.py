"""Judges and tasks ask about scenes of any people: who they are, what each alone knows, what is asked of whom."""

from __future__ import annotations

import pytest

from prompts.environment import Templates
from prompts.judges import JudgePrompts, judge_view
from prompts.responses import Unreadable
from prompts.tasks.items import TaskItem, fact_views, scene_view
from prompts.tasks.prompts import TaskPrompts
from prompts.tasks.registry import load_task
from scenarios.schemes.registry import load_scheme
from tests.factories import make_case
from tests.sixth_scheme.material import held, mediation, mediation_case, pear_tree, shared_secret

DIALOGUE = held()
HIPO_WORDS = ("INITIATOR", "RESPONDER", "initiator", "responder", "eceptive", "eception")


@pytest.fixture(scope="module")
def prompts():
    return JudgePrompts(Templates(), mediation())


@pytest.fixture(scope="module")
def view():
    return judge_view(pear_tree(), mediation_case())


def asked_about(prompts, view, index):
    turn = DIALOGUE.turns[index]
    return prompts.turn(view, DIALOGUE.history(index), turn.text, readers=True, role=turn.role)


def written(question):
    return "\n".join(message.content for message in question.messages)


def test_no_question_about_a_mediation_speaks_of_initiators_responders_or_deception(prompts, view):
    turn = DIALOGUE.turns[2]
    declared = prompts.verify_turn(
        view, DIALOGUE.history(2), turn.text, turn.tactic, role=turn.role
    )
    whole = prompts.dialogue(view, DIALOGUE.history(), readers=True)
    for question in (asked_about(prompts, view, 2), declared, whole):
        assert not [word for word in HIPO_WORDS if word in written(question)]


def test_each_is_named_by_the_role_and_every_private_fact_stands_with_its_owner(prompts, view):
    text = written(asked_about(prompts, view, 2))
    for line in (
        "TENANT: tenant next door", "About OWNER: Mrs Adler", "* OWNER, on the roots: A surveyor",
        "* TENANT, on the flat: Mr Bode has given notice", "Said by: OWNER\nUtterance: No.",
        "TENANT: You pay for the three slabs",
    ):  # fmt: skip
        assert line in text


def test_a_fact_that_two_know_stands_with_both(prompts):
    view = judge_view(shared_secret(), mediation_case())
    alone, _, together = written(asked_about(prompts, view, 2)).partition(
        "# What some of them know together"
    )
    assert "* OWNER and MEDIATOR, on the roots: A surveyor" in together
    assert "* TENANT, on the flat: Mr Bode has given notice" in alone
    assert "A surveyor" not in alone


def test_words_of_a_role_are_asked_for_what_concerns_it_with_the_labels_it_can_have(prompts, view):
    by_mediator, by_owner = asked_about(prompts, view, 5), asked_about(prompts, view, 2)
    assert list(by_mediator.answer.schema["properties"]["move"]["enum"])[-1:] != []
    assert "direct" in by_mediator.answer.schema["properties"]["move"]["enum"]
    assert "direct" not in by_owner.answer.schema["properties"]["move"]["enum"]
    assert not {"ground", "yielding"} & set(by_mediator.answer.keys)
    assert {"ground", "yielding", "warmth"} <= set(by_owner.answer.keys)
    asked = prompts.asked("utterance", readers=True, role="mediator")
    assert [d.id for d in asked] == ["move", "warmth"]


def answer(**labels):
    return (
        str({"yielding": "none", "warmth": 2, **labels}).replace("'", '"').replace("None", "null")
    )


def test_a_conditional_label_is_read_where_its_condition_holds_and_only_there(prompts, view):
    form = asked_about(prompts, view, 2).answer
    given = {x.dimension: x.value for x in form.read(answer(move="refuse", ground="a rule"))}
    assert given == {"move": "refuse", "ground": "a rule", "yielding": "none", "warmth": 2.0}
    for ground in ("a rule", None):
        given = {x.dimension for x in form.read(answer(move="tell", ground=ground))}
        assert given == {"move", "yielding", "warmth"}
    with pytest.raises(Unreadable, match="ground: missing"):
        form.read(answer(move="refuse", ground=None))
    assert form.schema["properties"]["ground"]["enum"][-1] is None


def test_a_label_that_goes_with_other_labels_alone_is_refused_beside_others():
    data = mediation().model_dump(mode="json", by_alias=True)
    ground = next(d for d in data["dimensions"] if d["id"] == "ground")
    ground["labels"][0]["for"] = {"move": ["demand"]}
    scheme = type(mediation()).model_validate(data)
    prompts = JudgePrompts(Templates(), scheme)
    form = asked_about(prompts, judge_view(pear_tree(), mediation_case()), 2).answer
    assert form.read(answer(move="demand", ground="a rule"))
    with pytest.raises(Unreadable, match=r"found .a rule., expected one of: nothing . a loss"):
        form.read(answer(move="refuse", ground="a rule"))
    assert 'Only with move "demand".' in written(
        asked_about(prompts, judge_view(pear_tree(), mediation_case()), 2)
    )


def test_derived_dimensions_are_asked_of_nobody():
    data = mediation().model_dump(mode="json", by_alias=True)
    data["dimensions"].append(
        {"id": "drift", "level": "utterance", "measurement": "interval", "question": "?",
         "derived": {"function": "sum"}}
    )  # fmt: skip
    prompts = JudgePrompts(Templates(), type(mediation()).model_validate(data))
    assert "drift" not in {d.id for d in prompts.asked("utterance", readers=True)}


@pytest.mark.parametrize("task", ["hipo-utterance", "hipo-cumulative", "hipo-oracle"])
def test_tasks_show_a_mediation_without_facts_unless_they_show_them(task):
    prompts = TaskPrompts(Templates(), mediation(), load_task(task))
    turns = DIALOGUE.history()[:3]
    scene, facts = scene_view(pear_tree(), "en"), fact_views(pear_tree())
    (asked,) = prompts.questions(TaskItem("x", scene, turns, 2, 1, facts=facts))
    text = written(asked.question)
    assert ("surveyor" in text) is (task == "hipo-oracle")
    assert ("# Line that it answers\nTENANT: You pay" in text) is (task == "hipo-utterance")
    assert not [word for word in HIPO_WORDS if word in text]
    assert asked.dimensions == ("move", "ground")
    found = {x.dimension: (x.value, x.fault) for x in asked.found('{"move": "tell"}')}
    assert found == {"move": ("tell", ""), "ground": (None, "not asked")}


def test_a_task_has_nothing_to_ask_about_words_that_no_dimension_concerns():
    data = mediation().model_dump(mode="json", by_alias=True)
    data["dimensions"] = [d | {"of": ["owner"]} for d in data["dimensions"]]
    prompts = TaskPrompts(
        Templates(), type(mediation()).model_validate(data), load_task("hipo-utterance")
    )
    item = TaskItem("x", scene_view(pear_tree(), "en"), DIALOGUE.history()[:2], 1, 0)
    assert prompts.questions(item) == ()


def test_the_case_of_question_and_answer_without_a_fact_is_judged_without_one(used_car):
    view = judge_view(used_car, make_case(used_car, fact=""))
    prompts = JudgePrompts(Templates(), load_scheme("hipo"))
    text = written(prompts.turn(view, (("initiator", "Was it hit?"),), "Never."))
    assert "INITIATOR: buyer" in text
    assert "alone knows" not in text.partition("# Situation")[2]


def test_only_judges_of_listed_people_depend_on_the_templates_for_them(tmp_path):
    (tmp_path / "people_rules.j2").write_text("- Be brief.\n")
    own, shipped = Templates(tmp_path), Templates()
    hipo = load_scheme("hipo")
    assert JudgePrompts(own, hipo).fingerprint == JudgePrompts(shipped, hipo).fingerprint
    for scheme, listed in ((hipo, True), (mediation(), None)):
        mine = JudgePrompts(own, scheme, listed=listed).fingerprint
        assert mine != JudgePrompts(shipped, scheme, listed=listed).fingerprint
