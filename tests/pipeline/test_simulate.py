from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import scenarios
from pipeline.planning.plan import Plan
from pipeline.playing import player
from pipeline.playing.player import CasePlayer
from pipeline.strategies.direct import Direct
from pipeline.tactics.tactics import TacticDesign
from prompts.actors import ActorPrompts
from prompts.environment import Templates
from scenarios.catalogue import Catalogue
from scenarios.dialogue import Draft, TacticLabel
from scenarios.errors import UsageError
from scenarios.fingerprint import seed_from
from scenarios.schemes.model import Scheme
from scenarios.variation import load_axes
from tests.factories import make_case, make_new_scenario

HOME = Path(scenarios.__file__).parent
HIPO = Scheme.model_validate(yaml.safe_load((HOME / "schemes/data/hipo.yaml").read_text()))
LIBRARY = Catalogue.load(environment={}).scenarios
USED_CAR = LIBRARY["used_car"]
AXES = load_axes()
PROMPTS = ActorPrompts(Templates(None), HIPO)
DECEPTION, NON_DISCLOSURE = HIPO.goal.values
RATIONALE = "because I say so in private"


def case_of(scenario=USED_CAR, **change):
    return make_case(scenario, **({"goal": DECEPTION, "turns": 2, "seed": 11} | change))


def fixed(goal, opening=0):
    """The question and the statement of an opening by goal."""
    chosen = USED_CAR.opening.by_goal[opening]
    return [chosen.question, chosen.statement_for(goal).text]


class Speaker:
    """Answers every call with its purpose and turn; keeps the prompts by role."""

    def __init__(self, veracity="Manner"):
        self.veracity = veracity
        self.prompts = {"initiator": [], "responder": []}
        self.contexts = []

    async def ask(self, question, ctx):
        self.contexts.append(ctx)
        self.prompts[ctx.role].append("\n".join(m.content for m in question.messages))
        if ctx.role == "initiator":
            assert question.answer.keys == ("utterance",)
            return f"question at {ctx.turn}"
        labels = {
            "intention": "Inform",
            "veracity": self.veracity,
            "illocutionary": "Representatives",
        }
        tactic = tuple(TacticLabel(k, v, RATIONALE, raw=v.lower()) for k, v in labels.items())
        return Draft(f"answer at {ctx.turn}", NON_DISCLOSURE, tactic)


async def play(case, speaker=None, **more):
    speaker = speaker or Speaker()
    simulator = CasePlayer(
        scenarios=more.pop("scenarios", LIBRARY),
        scheme=HIPO,
        prompts=PROMPTS,
        arm="an-arm",
        strategy=Direct(PROMPTS, speaker),
        asker=speaker,
        **more,
    )
    return await simulator.play(case, epoch=more.pop("epoch", 0))


@pytest.mark.anyio
async def test_a_dialogue_opens_as_fixed_and_then_alternates():
    dialogue = await play(case_of(turns=2))
    question, statement = fixed(DECEPTION)
    assert [(t.index, t.role, t.text, t.kind) for t in dialogue.turns] == [
        (0, "initiator", question, "opening"),
        (1, "responder", statement, "opening"),
        (2, "initiator", "question at 2", "improvised"),
        (3, "responder", "answer at 3", "improvised"),
        (4, "initiator", "question at 4", "improvised"),
        (5, "responder", "answer at 5", "improvised"),
    ]
    assert dialogue.arm == "an-arm"
    assert all(not t.tactic and t.trace is None for t in dialogue.turns if t.kind == "opening")


@pytest.mark.anyio
@pytest.mark.parametrize("most", [1_024, 1])
async def test_cases_that_differ_in_their_repetition_alone_are_planned_once(monkeypatch, most):
    planned, planned_turns = [], player.planned_turns

    def counted(scenario, case):
        planned.append(case)
        return planned_turns(scenario, case)

    monkeypatch.setattr(player, "planned_turns", counted)
    monkeypatch.setattr(player, "REMEMBERED_COURSES", most)
    speaker = Speaker()
    plays = CasePlayer(LIBRARY, HIPO, PROMPTS, "an-arm", Direct(PROMPTS, speaker), speaker)
    changes = [{}, {"repetition": 1}, {"goal": NON_DISCLOSURE}, {"turns": 1}, {"repetition": 2}]
    changes.append({"variation": {"opening": "1"}})
    for change in changes:
        case = case_of(**change)
        alone = await play(case)
        planned.pop()
        assert await plays.play(case) == alone
    assert len(planned) == (4 if most > 1 else 5)
    assert len(plays._known) <= most


@pytest.mark.anyio
async def test_the_statement_fits_the_goal():
    dialogue = await play(case_of(goal=NON_DISCLOSURE))
    assert [turn.text for turn in dialogue.turns[:2]] == fixed(NON_DISCLOSURE)
    assert fixed(NON_DISCLOSURE)[1] != fixed(DECEPTION)[1]


@pytest.mark.anyio
async def test_the_drawn_wordings_open_the_dialogue():
    dialogue = await play(case_of(variation={"opening": "1"}), axes={"opening": AXES["opening"]})
    assert [turn.text for turn in dialogue.turns[:2]] == fixed(DECEPTION, 1)


@pytest.mark.anyio
@pytest.mark.parametrize("goal", [DECEPTION, NON_DISCLOSURE])
async def test_a_shared_opening_ends_with_the_hard_question_of_the_first_exchange(goal):
    speaker, scenario = Speaker(), make_new_scenario()
    drawn = {"openings": "shared", "opening": "1", "hard_question": "1"}
    case = make_case(scenario, goal=goal, turns=2, variation=drawn)
    dialogue = await play(case, speaker, scenarios={scenario.id: scenario})
    shared = scenario.opening.shared
    assert [(t.role, t.text, t.kind) for t in dialogue.turns] == [
        ("initiator", shared.exchanges[1].question, "opening"),
        ("responder", shared.exchanges[1].answer, "opening"),
        ("initiator", shared.hard_question[1], "opening"),
        ("responder", "answer at 3", "improvised"),
        ("initiator", "question at 4", "improvised"),
        ("responder", "answer at 5", "improvised"),
    ]
    assert [(c.role, c.turn) for c in speaker.contexts] == [
        ("responder", 3), ("initiator", 4), ("responder", 5),
    ]  # fmt: skip
    assert shared.hard_question[1] in speaker.prompts["responder"][0]


@pytest.mark.anyio
async def test_a_responder_turn_keeps_what_the_actor_declared_even_where_it_contradicts_itself():
    case = case_of(goal=NON_DISCLOSURE, turns=1)
    turn = (await play(case, Speaker(veracity="Quality"))).turns[3]
    assert turn.declared_goal == NON_DISCLOSURE
    assert [(t.dimension, t.value, t.raw) for t in turn.tactic][1] == (
        "veracity",
        "Quality",
        "quality",
    )
    assert turn.tactic[1].rationale == RATIONALE
    assert turn.trace.strategy == "direct"


@pytest.mark.anyio
async def test_calls_are_seeded_by_run_case_turn_and_purpose():
    speaker = Speaker()
    case = case_of(turns=2)
    await play(case, speaker)
    assert [(c.role, c.turn, c.purpose) for c in speaker.contexts] == [
        ("initiator", 2, "initiator"),
        ("responder", 3, "responder"),
        ("initiator", 4, "initiator"),
        ("responder", 5, "responder"),
    ]
    assert [c.seed for c in speaker.contexts] == [
        seed_from(11, case.id, c.turn, c.purpose) for c in speaker.contexts
    ]


@pytest.mark.anyio
async def test_a_retry_reaches_every_call_as_its_epoch():
    speaker = Speaker()
    simulator = CasePlayer(LIBRARY, HIPO, PROMPTS, "an-arm", Direct(PROMPTS, speaker), speaker)
    await simulator.play(case_of(), 3)
    assert {c.epoch for c in speaker.contexts} == {3}


@pytest.mark.anyio
async def test_the_responder_is_told_its_goal_its_fact_and_what_was_said():
    speaker = Speaker()
    await play(case_of(turns=2), speaker)
    fact = USED_CAR.facts[0]
    first, second = speaker.prompts["responder"]
    for prompt in (first, second):
        assert f"Goal: {DECEPTION}" in prompt
        assert fact.text in prompt
        assert fact.about in prompt
    assert all(other.text not in second for other in USED_CAR.facts[1:])
    assert "question at 2" in first
    assert "answer at 3" not in first
    assert "answer at 3" in second
    assert "question at 4" in second


@pytest.mark.anyio
async def test_the_initiator_hears_what_was_said_and_nothing_else():
    speaker = Speaker()
    dialogue = await play(case_of(turns=2), speaker)
    first, second = speaker.prompts["initiator"]
    for text in (turn.text for turn in dialogue.turns[:2]):
        assert text in first
    assert "answer at 3" in second
    assert RATIONALE not in second


secrets = st.text("qxzj", min_size=6, max_size=12)


@given(
    name=st.sampled_from(sorted(LIBRARY)),
    fact_text=secrets,
    about=secrets,
    aim=secrets,
    goal=st.sampled_from(HIPO.goal.values),
    turns=st.integers(1, 3),
    balanced=st.booleans(),
)
@settings(max_examples=20, deadline=None)
def test_nothing_private_ever_reaches_the_initiator(
    name, fact_text, about, aim, goal, turns, balanced
):
    scenario = LIBRARY[name]
    own = scenario.roles["responder"].model_copy(update={"aim": f"AIM {aim}"})
    fact = scenario.facts[0].model_copy(
        update={"text": f"FACT {fact_text}", "about": f"ABOUT {about}"}
    )
    claims = tuple(c.model_copy(update={"text": f"CLAIM {c.id}"}) for c in scenario.claims)
    scenario = scenario.model_copy(
        update={
            "facts": (fact, *scenario.facts[1:]),
            "roles": {**scenario.roles, "responder": own},
            "claims": claims,
        }
    )
    plan = Plan(HIPO, [scenario], turns=(turns,), goals=(goal,), axes=AXES)
    case = next(iter(plan))
    speaker = Speaker()
    simulator = CasePlayer(
        scenarios={name: scenario},
        scheme=HIPO,
        prompts=PROMPTS,
        arm="an-arm",
        strategy=Direct(PROMPTS, speaker),
        asker=speaker,
        axes=AXES,
        design=TacticDesign.balanced(HIPO, plan.contexts()) if balanced else None,
    )
    coroutine = simulator.play(case)
    with pytest.raises(StopIteration) as finished:
        coroutine.send(None)
    dialogue = finished.value.value
    spoken = "\n".join(turn.text for turn in dialogue.turns)
    labels = [label for d in HIPO.dimensions for label in (d.id, *d.values)]
    private = [fact.text, fact.about, own.aim, RATIONALE, "CLAIM ", "Wanted ", "Goal: "]
    private += [label.definition for d in HIPO.dimensions for label in d.labels]
    assert len(speaker.prompts["initiator"]) == turns
    for prompt in speaker.prompts["initiator"]:
        assert [secret for secret in private if secret in prompt and secret not in spoken] == []
        assert [x for x in labels if f'"{x}"' in prompt or f": {x}\n" in prompt] == []
    assert all(fact.text in prompt for prompt in speaker.prompts["responder"])


@pytest.mark.anyio
async def test_each_role_is_told_its_own_manner():
    axes = {"persona": AXES["persona"]}
    plan = Plan(HIPO, [USED_CAR], axes=axes)
    case = next(
        c
        for c in plan
        if dict(c.variation)["persona_initiator"] != dict(c.variation)["persona_responder"]
    )
    speaker = Speaker()
    await play(case, speaker, axes=axes)
    drawn = dict(case.variation)
    texts = {role: AXES["persona"].text(drawn[f"persona_{role}"]) for role in speaker.prompts}
    for role, other in (("initiator", "responder"), ("responder", "initiator")):
        assert all(texts[role] in prompt for prompt in speaker.prompts[role])
        assert all(texts[other] not in prompt for prompt in speaker.prompts[role])


@pytest.mark.anyio
async def test_wanted_tactics_are_asked_for_and_recorded():
    plan = Plan(HIPO, [USED_CAR], turns=(2,))
    design = TacticDesign.balanced(HIPO, plan.contexts())
    case = next(iter(plan))
    speaker = Speaker()
    dialogue = await play(case, speaker, design=design)
    for exchange, prompt in enumerate(speaker.prompts["responder"]):
        wanted = design.wanted(case, USED_CAR, exchange)
        assert dialogue.turns[3 + 2 * exchange].wanted == wanted
        assert all(f"Wanted {name}: {label}" in prompt for name, label in wanted)


@pytest.mark.anyio
async def test_without_a_design_nothing_is_wanted():
    speaker = Speaker()
    dialogue = await play(case_of(), speaker)
    assert {turn.wanted for turn in dialogue.turns} == {()}
    assert all("Wanted " not in p.split("# Now")[-1] for p in speaker.prompts["responder"])


@pytest.mark.anyio
async def test_a_case_of_an_unknown_scenario_is_refused_by_name():
    stranger = USED_CAR.model_copy(update={"id": "stranger"})
    with pytest.raises(UsageError, match="unknown scenario 'stranger'"):
        await play(case_of(stranger))


@pytest.mark.anyio
async def test_a_case_of_an_unknown_fact_is_refused_by_name():
    with pytest.raises(UsageError, match="has no fact 'nothing'"):
        await play(case_of(fact="nothing"))
