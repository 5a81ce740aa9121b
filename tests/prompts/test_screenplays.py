"""What the writer of a whole conversation is asked, and which answers are taken."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from prompts.actors import ActorPrompts
from prompts.environment import Templates
from prompts.responses import Unreadable
from prompts.script_view import script_view
from scenarios.flow import planned_turns
from tests.flows import make_flow_case, make_hearing, make_watched
from tests.pipeline.providers.asking import make_request

SCHEME, HEARING, CASE = make_watched(), make_hearing(), make_flow_case()
PLANNED = planned_turns(HEARING, CASE)
PLAIN = ActorPrompts(Templates(), SCHEME)
PROMPTS = ActorPrompts(Templates(), SCHEME, script=True)
WANTED = [(("move", "ask"),), *[()] * (CASE.turns - 1)]
VIEW = script_view(
    HEARING, SCHEME, CASE, PLANNED, manner=lambda _: ("Register: plain",), wanted=WANTED
)
QUESTION = PROMPTS.screenplay(VIEW)


def item(turn, **changes):
    """Return a turn as a model writes it."""
    labels = {
        "counsel": {"move_rationale": "It asks.", "move": "ask", "ease_rationale": "-", "ease": 4},
        "first_witness": {
            "move_rationale": "It tells.", "move": "tell", "way_rationale": "-",
            "way": "does not apply", "ease_rationale": "-", "ease": 2,
        },
    }  # fmt: skip
    words = {"turn": turn.number, "speaker": turn.speaker, "utterance": f"Words {turn.number}."}
    return {**words, **labels.get(turn.key, {}), **changes}


def script(*changes):
    """Return a whole answer; each change is (place, what differs there)."""
    items = [item(turn) for turn in VIEW.written]
    for place, change in changes:
        items[place] |= change
    return items


def read(items):
    return QUESTION.answer.read(json.dumps({"turns": items}))


def refused(items):
    with pytest.raises(Unreadable) as found:
        read(items)
    return found.value.reasons


def test_what_the_writer_is_asked(snapshot):
    assert "\n\n".join(f"[{m.role}]\n{m.content}" for m in QUESTION.messages) == snapshot


def test_the_writer_knows_what_everybody_keeps_back():
    asked = QUESTION.messages[1].content
    assert all(fact.text in asked for fact in HEARING.facts)


def test_turns_are_read_in_the_planned_order_with_the_labels_of_their_speakers():
    drafts = read(script())
    assert [draft.text for draft in drafts] == [f"Words {t.number}." for t in VIEW.written]
    assert [[label.value for label in draft.tactic] for draft in drafts] == [
        *[["ask", 4.0], ["tell", 2.0]] * (CASE.turns // 2),
        [],
    ]


def test_a_speaker_may_be_spelled_in_another_way():
    assert read(script((1, {"speaker": "first_witness"}))) == read(script())


def test_another_number_of_turns_is_refused_with_the_right_one():
    count = len(VIEW.written)
    (reason,) = refused(script()[:-1])
    assert reason.startswith(f'turns: found "{count - 1} turns", expected a list of {count} turns,')
    assert refused("all of it")[0].startswith('turns: found "all of it", expected a list')


def test_what_is_wrong_with_a_turn_is_told_by_its_number():
    assert refused(script((0, {"speaker": "CLERK"}))) == (
        'turn 2, speaker: found "CLERK", expected COUNSEL',
    )
    assert refused(script((1, {"utterance": "..."}), (2, {"move": "tell"}))) == (
        'turn 3, utterance: found "...", expected what is said, one or two sentences',
        'turn 4, move: found "tell", expected one of: ask | press',
    )


def test_of_very_many_mistakes_a_few_are_told():
    wrong = [{**one, "utterance": "", "move": "shout", "ease": 99} for one in script()]
    reasons = refused(wrong)
    assert len(reasons) == 13
    assert reasons[-1].endswith("more of this kind")


def test_words_that_were_said_before_are_objected_to_by_turn():
    fixed, first = PLANNED[0].text, "Words 2."
    drafts = read(script((1, {"utterance": fixed}), (2, {"utterance": first})))
    assert [reason.partition(":")[0] for reason in QUESTION.objections(drafts)] == [
        "turn 3, utterance",
        "turn 4, utterance",
    ]
    assert not QUESTION.objections(read(script()))


def test_prompts_of_runs_without_a_screenplay_stay_the_same():
    assert not any("screenplay" in name for name in PLAIN.names)
    assert PROMPTS.names[: len(PLAIN.names)] == PLAIN.names
    assert PROMPTS.fingerprint != PLAIN.fingerprint
    stored = Templates(stored=PROMPTS.templates.sources(PROMPTS.names))
    assert ActorPrompts(stored, SCHEME).fingerprint == PROMPTS.fingerprint


def test_every_text_of_every_turn_is_bounded_for_servers_that_take_bounds():
    request = replace(make_request(), schema=QUESTION.answer.schema, bounds=QUESTION.answer.bounds)
    shapes = request.bounded_schema["properties"]["turns"]["items"]["anyOf"]
    texts = [
        value
        for shape in shapes
        for name, value in shape["properties"].items()
        if value.get("type") == "string" and "enum" not in value
    ]
    assert len(texts) == 3 + 5  # the utterances of three roles, the reasons of two
    assert all(value["maxLength"] <= 450 for value in texts)


def test_a_part_with_long_turns_and_templates_of_ones_own_leave_room_for_them(tmp_path):
    turns = [replace(turn, words=140) for turn in VIEW.turns]
    assert PROMPTS.screenplay(replace(VIEW, turns=turns)).answer.bounds["utterance"] == 1_400
    (tmp_path / "screenplay_user.j2").write_text("Write speeches.\n", encoding="utf-8")
    own = ActorPrompts(Templates(tmp_path), SCHEME, script=True).screenplay(VIEW).answer.bounds
    assert own["utterance"] == own["move_rationale"] == 1_900
    assert own["turns"] == len(VIEW.written)


def test_the_writer_is_told_who_knows_a_fact_together():
    facts = [fact.model_dump() for fact in HEARING.facts]
    facts[2]["also_known_by"] = ["clerk"]
    view = script_view(
        make_hearing(facts=facts), SCHEME, CASE, PLANNED, manner=lambda _: (), wanted=WANTED
    )
    told = PROMPTS.screenplay(view).messages[-1].content
    for other in ("CLERK", "COUNSEL"):
        assert (
            f"Knows together with {other}, and with nobody else until it is said aloud, about a "
            "picture: A camera caught the plate."
        ) in told
    assert "Alone knows about a picture" not in told
