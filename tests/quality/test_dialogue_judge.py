"""Judges that are asked once about a dialogue find what those find that are asked turn by turn."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pipeline.offline_judge.engine import answer as judge_answer
from pipeline.providers.protocol import Request
from prompts.environment import Templates
from prompts.judges import JudgePrompts, judge_view
from prompts.responses import Unreadable
from prompts.whole_dialogue import answer_sizes
from quality.judges.blind_judge import BlindJudge
from quality.judges.dialogue_judge import DialogueJudge
from quality.judges.protocol import seat
from scenarios.arms import Parameters
from scenarios.dialogue import TacticLabel
from tests.quality.scripted import CAR, HIPO, Asker, dialogue, judge_prompts
from tests.sixth_scheme.material import held, mediation, pear_tree

pytestmark = pytest.mark.anyio


def judge(kind, source, answer=judge_answer, scheme=HIPO):
    prompts = JudgePrompts(Templates(), scheme)
    asker = Asker(answer)
    return kind(scheme, prompts, asker, seat(source, "test/model", prompts, {})), asker


def without(*keys):
    """Answer as ``offline/judge`` does, and leave some keys out."""

    def answer(messages, seed):
        found = json.loads(judge_answer(messages, seed))
        return json.dumps({key: value for key, value in found.items() if key not in keys})

    return answer


@pytest.mark.parametrize("source", ["self", "external"])
@pytest.mark.parametrize("turns", [1, 3])
async def test_one_call_gives_the_judgements_of_all(source, turns):
    once, asked = judge(DialogueJudge, source)
    each, others = judge(BlindJudge, source)
    played = dialogue(turns=turns)
    found = await once.judge(played, CAR, 0)
    assert found == await each.judge(played, CAR, 0)
    assert all(judgement.value is not None for judgement in found)
    assert (len(asked.contexts), len(others.contexts)) == (1, turns + 1)
    [context] = asked.contexts
    assert (context.purpose, context.turn) == (f"{source}-whole", len(played.turns))


@pytest.mark.parametrize("source", ["self", "external"])
async def test_every_role_is_asked_what_concerns_it(source):
    once, asked = judge(DialogueJudge, source, scheme=mediation())
    each, _ = judge(BlindJudge, source, scheme=mediation())
    found = await once.judge(held(), pear_tree(), 0)
    expected = await each.judge(held(), pear_tree(), 0)
    assert {(j.turn, j.dimension) for j in found} == {(j.turn, j.dimension) for j in expected}
    assert len(asked.contexts) == 1


async def test_a_line_without_labels_makes_the_answer_unreadable_and_is_not_guessed():
    once, _ = judge(DialogueJudge, "external", without("line_6"))
    found = await once.judge(dialogue(turns=2), CAR, 0)
    assert {judgement.value for judgement in found} == {None}
    assert {judgement.turn for judgement in found} == {3, 5, None}
    assert all("line_6: missing" in judgement.reason for judgement in found)


def question(readers=True, **changes):
    played = dialogue(turns=2, **changes)
    view = replace(judge_view(CAR, played.case), case="x")
    return judge_prompts().whole(readers=readers).question(view, played.history(), [3, 5])


def test_what_was_declared_does_not_reach_the_judge():
    declared = question()
    others = question(goal="truthful non-disclosure", labels={"veracity": "Manner"})
    assert declared.messages == others.messages
    played = dialogue(turns=2)
    told = [replace(turn, tactic=(TacticLabel("veracity", "Quality", "A TELLING RATIONALE"),))
            for turn in played.turns]  # fmt: skip
    view = judge_view(CAR, played.case)
    history = replace(played, turns=tuple(told)).history()
    shown = judge_prompts().whole(readers=True).question(view, history, [3, 5])
    assert not any("TELLING" in message.content for message in shown.messages)


def test_wrong_and_missing_values_are_told_with_their_line():
    asked = question()
    answer = json.loads(judge_answer([(m.role, m.content) for m in asked.messages], 0))
    answer["line_4"]["veracity"] = "Nonsense"
    del answer["dialogue"]["goal"]
    with pytest.raises(Unreadable) as caught:
        asked.answer.read(json.dumps(answer))
    assert caught.value.kind == "invalid"
    first, second = caught.value.reasons
    assert first.startswith('line_4: veracity: found "Nonsense"')
    assert second.startswith("dialogue: goal: missing")


def test_dialogues_of_any_length_share_the_system_message_and_not_the_schema():
    short, long = dialogue(turns=1), dialogue(turns=3)
    prompts = judge_prompts().whole(readers=True)
    view = replace(judge_view(CAR, short.case), case="x")
    one = prompts.question(view, short.history(), [3])
    three = prompts.question(view, long.history(), [3, 5, 7])
    assert one.messages[0] == three.messages[0]
    assert list(one.answer.schema["properties"]) == ["line_4", "dialogue"]
    assert three.answer.schema["required"] == ["line_4", "line_6", "line_8", "dialogue"]


def test_texts_in_the_objects_of_an_answer_are_bounded_where_an_endpoint_takes_bounds():
    asked = question()
    request = Request(
        "m", asked.messages, Parameters(), asked.answer.schema, asked.answer.name, 0,
        bounds=asked.answer.bounds,
    )  # fmt: skip
    line = request.bounded_schema["properties"]["line_4"]
    assert line["properties"]["veracity_reason"]["maxLength"] > 0
    assert "maxLength" not in line["properties"]["veracity"]
    assert "maxLength" not in json.dumps(asked.answer.schema)


def test_the_length_of_an_answer_is_told_from_its_schema():
    asked = question()
    answer = {
        key: {
            name: "x" * (600 // 2 - 2) if "enum" not in value else max(value["enum"], key=len)
            for name, value in part["properties"].items()
        }
        for key, part in asked.answer.schema["properties"].items()
    }
    found = {key: len(json.dumps(part, indent=2)) for key, part in answer.items()}
    line, whole = answer_sizes(asked.answer)
    assert found["line_4"] == found["line_6"] == pytest.approx(line, rel=0.05)
    assert found["dialogue"] == pytest.approx(whole, rel=0.05)


def test_the_prompt_that_asks_once_about_a_dialogue(snapshot):
    shown = "\n\n".join(f"[{m.role}]\n{m.content}" for m in question().messages)
    assert shown == snapshot
    prompts = JudgePrompts(Templates(), mediation()).whole(readers=True)
    played = held()
    places = [turn.index for turn in played.answers()]
    view = replace(judge_view(pear_tree(), played.case), case="x")
    of_three = prompts.question(view, played.history(), places)
    assert "\n\n".join(f"[{m.role}]\n{m.content}" for m in of_three.messages) == snapshot
