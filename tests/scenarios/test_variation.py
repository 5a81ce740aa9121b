from __future__ import annotations

from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.catalogue import Catalogue
from scenarios.errors import InputError, UsageError
from scenarios.openings import opening_lines
from scenarios.pack import FAMILIES, read_scenario
from scenarios.spec import Scenario
from scenarios.variation import (
    choose_axes,
    draw_variation,
    load_axes,
    manner_lines,
    with_roles_there,
)
from scenarios.wording import content_stems

AXES = load_axes()
USED_CAR = Catalogue.load(environment={}).scenarios["used_car"]
GOALS = ("deception", "truthful non-disclosure")


def draw(scenario, axes=AXES, **changed):
    case = {"fact": "leak", "turns": 2, "repetition": 0, "seed": 1}
    return draw_variation(axes, scenario=scenario, **{**case, **changed})


def said(scenario, goal, drawn, fact="leak"):
    return [line.text for line in opening_lines(scenario, fact, goal, drawn)]


def test_the_shipped_axes_are_as_rich_as_promised():
    assert set(AXES) == {"persona", "register", "style", "opening"}
    assert len(AXES["persona"].values) >= 12
    assert len(AXES["register"].values) >= 6
    assert len(AXES["style"].values) >= 6


@pytest.mark.parametrize(
    "name", ["aim", "openings", "opening", "hard_question", "gold_line", "wording_greeting"]
)
def test_an_axis_is_not_called_like_what_cases_record_besides(tmp_path, name):
    path = tmp_path / "axes.yaml"
    path.write_text(f"""
axes:
  {name}: {{for: [responder], replace: true, wordings: false, values: [{{id: calm, text: Be calm.}}]}}
""")
    if name == "opening":  # as it ships it draws among wordings, and cannot have values
        with pytest.raises(InputError, match="either values or wordings"):
            load_axes(path)
        return
    with pytest.raises(InputError, match=rf"axes.yaml:3: axes.{name}: .*the name '{name}'"):
        load_axes(path)


def test_no_shipped_manner_touches_honesty_or_secrets(hipo):
    loaded = content_stems("lie lying deceive honest truth secret hide conceal false trick evasive")
    for dimension in hipo.dimensions:
        for label in dimension.labels:
            loaded |= content_stems(label.id) - {"non", "affect"}
    for axis in AXES.values():
        for value in axis.values:
            assert not content_stems(value.text) & loaded, value.text


def test_a_draw_records_one_value_for_each_role_and_wording(scenario):
    drawn = draw(scenario)
    assert set(drawn) == {
        "persona_initiator", "persona_responder", "register", "style", "opening",
    }  # fmt: skip
    assert draw(scenario, ["style", "opening"]).keys() == {"style", "opening"}
    shared = draw(scenario, ["style", "opening"], openings="shared")
    assert shared.keys() == {"style", "opening", "hard_question"}
    assert draw(scenario, []) == {}


def test_a_draw_is_the_same_again_and_another_for_another_repetition(scenario):
    assert draw(scenario) == draw(scenario)
    assert len({tuple(draw(scenario, repetition=i).items()) for i in range(20)}) > 15


def test_leaving_an_axis_out_does_not_change_the_others(scenario):
    everything = draw(scenario)
    some = draw(scenario, ["persona"])
    assert some == {key: everything[key] for key in some}


def test_draws_are_even(scenario):
    for key in ("persona_responder", "register"):
        counts = Counter(draw(scenario, repetition=i)[key] for i in range(800))
        expected = 800 / len(AXES[key.split("_")[0]].values)
        assert all(0.5 * expected < n < 1.6 * expected for n in counts.values())
        assert len(counts) == len(AXES[key.split("_")[0]].values)


def test_the_initiator_is_shown_its_style_and_the_responder_is_not(scenario):
    drawn = draw(scenario)
    asked = manner_lines(AXES, drawn, "initiator")
    answered = manner_lines(AXES, drawn, "responder")
    assert [line.split(":")[0] for line in asked] == ["Persona", "Register", "How you press"]
    assert [line.split(":")[0] for line in answered] == ["Persona", "Register"]
    assert asked[1] == answered[1]
    assert manner_lines(AXES, {}, "initiator") == ()


def test_the_opening_uses_the_wordings_that_were_drawn(scenario):
    drawn = {"openings": "shared", "opening": "1", "hard_question": "1"}
    assert said(scenario, "deception", drawn) == [
        "By the day?", "By the week.", "Can I take her out as she is?",
    ]  # fmt: skip
    assert said(scenario, "deception", {"opening": "0"}) == [
        "Is this boat ready to sail?", "She is ready, from keel to mast.",
    ]  # fmt: skip


@given(st.integers(0, 2**31), st.integers(0, 50), st.sampled_from(GOALS))
def test_whatever_is_drawn_can_be_shown_and_said(seed, repetition, goal):
    fact = USED_CAR.facts[-1].id
    drawn = draw(USED_CAR, fact=fact, seed=seed, repetition=repetition)
    question, statement = said(USED_CAR, goal, drawn, fact)
    [opening] = [o for o in USED_CAR.opening.by_goal if o.question == question]
    assert statement == opening.statement_for(goal).text
    assert len(manner_lines(AXES, drawn, "initiator")) == 3


def test_what_is_not_there_is_named(scenario):
    with pytest.raises(UsageError, match="did you mean 'persona'"):
        draw(scenario, ["persone"])
    with pytest.raises(UsageError, match="no opening statement for the goal 'lying'"):
        said(scenario, "lying", {})
    with pytest.raises(UsageError, match="no value 'shouting'"):
        manner_lines(AXES, {"register": "shouting"}, "initiator")
    for index in ("9", "-1", "one"):
        with pytest.raises(UsageError, match="no wording"):
            said(scenario, "deception", {"opening": index})


def own(tmp_path, text):
    path = tmp_path / "axes.yaml"
    path.write_text(text)
    return load_axes(path)


def test_a_file_adds_values_and_changes_the_text_of_those_it_names(tmp_path):
    axes = own(
        tmp_path,
        "axes:\n  register:\n    values:\n"
        "      - {id: casual, text: Slangy.}\n      - {id: verse, text: In rhymes.}\n",
    )
    assert len(axes["register"].values) == len(AXES["register"].values) + 1
    assert axes["register"].text("casual") == "Slangy."
    assert axes["register"].text("verse") == "In rhymes."
    assert axes["register"].shared
    assert axes["persona"] == AXES["persona"]
    assert "verse" not in {value.id for value in load_axes().get("register").values}


def test_a_file_replaces_an_axis_and_adds_one_of_its_own(tmp_path, scenario):
    axes = own(
        tmp_path,
        "axes:\n"
        "  style: {replace: true, values: [{id: calm, text: Ask calmly.}]}\n"
        "  place: {for: [responder], values: [{id: car, text: You are driving.}]}\n",
    )
    assert [value.id for value in axes["style"].values] == ["calm"]
    chosen = choose_axes(["style", "place"], axes)
    drawn = draw(scenario, chosen)
    assert drawn == {"style": "calm", "place": "car"}
    assert manner_lines(chosen, drawn, "responder") == ("Place: You are driving.",)
    assert manner_lines(chosen, drawn, "initiator") == ("How you press: Ask calmly.",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("axes: {}\n", "axes"),
        ("axes:\n  mood: {values: []}\n", "axes.mood"),
        ("axes:\n  mood:\n    values: [{id: a, txt: b}]\n", "did you mean 'text'"),
        ("axes:\n  style: {replace: true}\n", "axes.style"),
        (
            "axes:\n  mood:\n    heading: 'a: b'\n    values: [{id: a, text: b}]\n",
            "axes.mood.heading",
        ),
        ("axes:\n  mood: {for: ['The buyer'], values: [{id: a, text: b}]}\n", "axes.mood.for"),
    ],
)
def test_a_file_that_is_no_set_of_axes_is_told_by_line_and_field(tmp_path, text, said):
    with pytest.raises(InputError) as error:
        own(tmp_path, text)
    assert said in str(error.value)
    assert all(problem.line for problem in error.value.problems)


def test_scenarios_in_the_first_form_open_as_they_did():
    opening = {
        "question": ["Is it sound?", "Was it ever hit?", "Anything I should know?"],
        "statements": {
            "deception": {"text": ["Never hit.", "Sound as a bell."], "claims": ["never_hit"]},
            "truthful non-disclosure": {"text": "Have a look.", "claims": []},
        },
    }
    data = USED_CAR.model_dump(mode="json") | {"opening": opening}
    for question, statement in product(range(3), range(2)):
        drawn = {"opening_question": str(question), "opening_statement": str(statement)}
        lines = opening_lines(Scenario.model_validate(data), "guardrail", "deception", drawn)
        said = opening["question"][question], opening["statements"]["deception"]["text"][statement]
        assert tuple(line.text for line in lines) == said


def test_an_axis_for_one_role_of_a_flow_is_drawn_there_and_shown_to_it_alone(tmp_path):
    mood = """
axes:
  mood:
    for: [witness]
    values: [{id: calm, text: Keeps calm.}, {id: sour, text: Takes offence.}]
"""
    axes = choose_axes(["mood", "persona", "register"], own(tmp_path, mood))
    trial = read_scenario(FAMILIES / "cross_examination" / "nine_days.yaml", FAMILIES)[0]
    drawn = draw_variation(
        axes, scenario=trial, fact="", turns=1, repetition=0, seed=1, openings="shared"
    )
    assert drawn.keys() == {"mood", "register"}  # a persona is for those who ask and answer
    assert len(manner_lines(axes, drawn, "witness")) == 2
    (shared,) = manner_lines(axes, drawn, "questioner")
    assert shared.startswith("Register: ")
    with_roles_there(axes, [trial])
    with pytest.raises(UsageError, match="'mood' is for the role 'witness', which no scenario has"):
        with_roles_there(axes, [USED_CAR])
    assert "mood" not in draw(USED_CAR, axes)
