"""A scenario with a flow is played: who speaks, what each is told, and what is kept of it."""

from __future__ import annotations

import asyncio
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.planning.plan import Plan
from pipeline.playing.player import CasePlayer
from pipeline.store.run_store import RunStore
from pipeline.strategies.direct import Direct
from pipeline.tactics.tactics import TacticDesign
from prompts.actors import ActorPrompts
from prompts.environment import Templates
from scenarios import flow
from scenarios.dialogue import Draft, TacticLabel
from scenarios.errors import UsageError
from scenarios.fingerprint import seed_from
from scenarios.flow import drawn_rounds, planned_turns
from scenarios.run_configuration import RunConfiguration
from scenarios.variation import choose_axes, load_axes
from tests.flows import make_flow_case, make_hearing, make_watched

SCHEME = make_watched()
HEARING = make_hearing()
PROMPTS = ActorPrompts(Templates(), SCHEME)


class Cast:
    """Answers every call with its turn, and keeps what it was asked."""

    def __init__(self):
        self.asked = []

    async def ask(self, question, ctx):
        self.asked.append((ctx, "\n".join(message.content for message in question.messages)))
        if ctx.role == "initiator":
            return f"words at {ctx.turn}"
        return Draft(f"words at {ctx.turn}", "", (TacticLabel("move", "tell"),))


def played(case, cast=None, **parts):
    cast = cast or Cast()
    player = CasePlayer(
        scenarios={HEARING.id: HEARING}, scheme=SCHEME, prompts=PROMPTS, arm="arm",
        strategy=Direct(PROMPTS, cast), asker=cast, **parts,
    )  # fmt: skip
    return asyncio.run(player.play(case))


def test_phases_say_who_speaks_and_what_is_fixed():
    case = make_flow_case()
    dialogue = played(case)
    (rounds,) = {(len(dialogue.turns) - 2) / 2}
    assert rounds in (2, 3)
    assert [t.role for t in dialogue.turns] == [
        "clerk", *["counsel", "first_witness"] * int(rounds), "clerk",
    ]  # fmt: skip
    assert dialogue.turns[0].text == "Please state your name."
    assert [t.kind for t in dialogue.turns] == [
        "opening",
        *["improvised"] * (len(dialogue.turns) - 1),
    ]
    assert [t.role for t in dialogue.answers()] == ["counsel", "first_witness"] * int(rounds)
    assert len(dialogue.answers()) == case.turns
    assert {t.declared_goal for t in dialogue.turns} == {None}


def test_rounds_are_drawn_by_the_case_and_whatever_its_goal():
    drawn = {drawn_rounds(HEARING, repetition=r, seed=7) for r in range(20)}
    assert drawn == {(1, 2, 1), (1, 3, 1)}
    one, other = (planned_turns(HEARING, make_flow_case(language=code)) for code in ("en", "de"))
    assert one == other


def test_the_lengths_of_a_plan_are_drawn_once_and_only_in_phases_that_vary(monkeypatch):
    drawn = []
    monkeypatch.setattr(flow, "seed_from", lambda *of: drawn.append(of) or seed_from(*of))
    plan = Plan(SCHEME, [HEARING], n=50, seed=7)
    cases = list(plan)
    assert len(drawn) == 50
    for _ in range(3):
        assert plan.exchanges == plan.improvised.labelled == sum(case.turns for case in cases)
        assert {one.labelled for one in plan.lengths} == {case.turns for case in cases}
    assert len(drawn) == 100
    assert {phase for _, _, _, phase, _ in drawn} == {"examination"}


def test_a_role_is_told_its_own_facts_and_nobody_elses():
    cast = Cast()
    played(make_flow_case(), cast)
    facts = {fact.id: fact.text for fact in HEARING.facts}
    for ctx, text in cast.asked:
        speaker = re.search(r"^Speaker: (.+)$", text, re.MULTILINE)[1].lower().replace(" ", "_")
        held = {name for name, fact in facts.items() if fact in text}
        assert held == {fact.id for fact in HEARING.private(speaker)}, (ctx, speaker)


def test_who_is_not_labelled_is_asked_for_words_alone():
    cast = Cast()
    played(make_flow_case(), cast)
    by_role = {"clerk": "initiator", "counsel": "responder", "first witness": "responder"}
    for ctx, text in cast.asked:
        speaker = re.search(r"^Speaker: (.+)$", text, re.MULTILINE)[1].lower()
        assert ctx.role == by_role[speaker]
        assert ('"move"' in text) == (speaker != "clerk")
        assert ('"way"' in text) == (speaker == "first witness")


def test_the_plan_counts_what_will_be_said():
    plan = Plan(SCHEME, [HEARING], n=9)
    cases = list(plan)
    assert len({case.id for case in cases}) == 9
    assert {(case.fact, case.goal) for case in cases} == {("", "")}
    turns = [planned_turns(HEARING, case) for case in cases]
    assert [case.turns for case in cases] == [sum(t.labelled for t in of) for of in turns]
    others = sum(t.text is None and not t.labelled for of in turns for t in of)
    assert (plan.improvised.labelled, plan.improvised.others) == (plan.exchanges, others)
    assert plan.exchanges == sum(case.turns for case in cases)
    assert sum(map(plan.questions, cases)) == others


def test_a_larger_plan_holds_the_smaller_one():
    small, large = ({case.id for case in Plan(SCHEME, [HEARING], n=n)} for n in (3, 8))
    assert small < large


def test_a_scenario_is_played_for_its_own_goals():
    assigned = make_watched(
        assigned="mood",
        dimensions=[
            {
                "id": "mood", "level": "dialogue", "question": "Which mood?",
                "labels": [{"id": m, "definition": m} for m in ("calm", "cross", "gay")],
            },
            *make_watched().model_dump(mode="json", by_alias=True)["dimensions"],
        ],
    )  # fmt: skip
    scenario = make_hearing(goals=["cross", "gay"])
    assert {case.goal for case in Plan(assigned, [scenario])} == {"cross", "gay"}
    with pytest.raises(UsageError, match="made for these goals"):
        Plan(assigned, [scenario], goals=["calm"])


def test_axes_of_question_and_answer_do_not_apply_and_wordings_do():
    axes = choose_axes(["persona", "register", "opening"], load_axes())
    (case,) = Plan(SCHEME, [HEARING], axes=axes)
    drawn = dict(case.variation)
    assert set(drawn) == {"register", "wording_oath"}
    said = played(case, axes=axes).turns[0].text
    assert said == HEARING.flow[0].text[int(drawn["wording_oath"])]


def test_labels_are_wanted_of_those_whom_they_concern():
    plan = Plan(SCHEME, [HEARING], n=60)
    design = TacticDesign.balanced(SCHEME, plan.contexts())
    assert design.unmet == ()
    wanted = []
    for case in plan:
        answers = [turn for turn in planned_turns(HEARING, case) if turn.labelled]
        wanted += [
            (turn.role, dict(design.wanted(case, HEARING, place, turn.role)))
            for place, turn in enumerate(answers)
        ]
    moves = {"counsel": {"ask", "press"}, "first_witness": {"tell", "dodge"}}
    for role, labels in wanted:
        assert labels["move"] in moves[role]
        assert ("way" in labels) == (labels["move"] == "dodge")
    for role, of_role in moves.items():
        assert {labels["move"] for who, labels in wanted if who == role} == of_role


def test_a_dialogue_of_any_roles_is_stored_and_read_back(tmp_path):
    dialogue = played(make_flow_case())
    with RunStore.create(tmp_path / "run", RunConfiguration()) as store:

        async def write():
            store.add_arm("arm", {"strategy": "direct", "models": {}, "settings": {}})
            await store.add_cases([dialogue.case])
            await store.finish(dialogue, 0)

        asyncio.run(write())
        (back,) = store.dialogues()
    assert back.turns == dialogue.turns
    assert back.answers() == dialogue.answers()


words = st.text("abcdefghijklmnopqrstuvwxyz", min_size=4, max_size=9)


@st.composite
def plays(draw):
    """Any roles and facts on any side, each with words of its own, and any flow."""
    keys = draw(st.lists(words, min_size=2, max_size=4, unique=True))
    labelled = draw(st.lists(st.booleans(), min_size=len(keys), max_size=len(keys)))
    labelled[0] = True
    roles = {
        key: {"name": f"role {key}", "description": "Is there.", "aim": "talk", "labelled": flag}
        for key, flag in zip(keys, labelled, strict=True)
    }
    owners = draw(st.lists(st.sampled_from(keys), max_size=5))
    facts = [
        {
            "id": f"fact{i}",
            "owner": owner,
            "about": f"matter{i}",
            "text": f"Secret{i} of {owner}{i}.",
        }
        for i, owner in enumerate(owners)
    ]
    phases = draw(st.lists(st.permutations(keys), min_size=1, max_size=3))
    flow = [
        {"id": f"phase{i}", "who": who, "rounds": draw(st.sampled_from([1, 2, [1, 3]]))}
        for i, who in enumerate(phases)
    ]
    return make_hearing(roles=roles, facts=facts, flow=flow)


@settings(max_examples=20, deadline=None)
@given(plays())
def test_no_request_for_a_role_holds_the_fact_of_another(scenario):
    scheme = make_watched(
        dimensions=[
            {
                "id": "move", "level": "utterance", "question": "What is done?",
                "labels": [{"id": "tell", "definition": "T."}, {"id": "ask", "definition": "A."}],
            }
        ]
    )  # fmt: skip
    prompts, cast = ActorPrompts(Templates(), scheme), Cast()
    player = CasePlayer(
        scenarios={scenario.id: scenario}, scheme=scheme, prompts=prompts, arm="arm",
        strategy=Direct(prompts, cast), asker=cast,
    )  # fmt: skip
    (case,) = Plan(scheme, [scenario])
    dialogue = asyncio.run(player.play(case))
    assert len(cast.asked) == len(dialogue.turns)
    for ctx, text in cast.asked:
        role = dialogue.turns[ctx.turn].role
        for fact in scenario.facts:
            assert (fact.text in text) == (fact.owner == role)
            assert (f"{fact.about}:" in text) == (fact.owner == role)
