from __future__ import annotations

from pathlib import Path

import pytest
import yaml

import scenarios
from pipeline.calls.asking import TurnTask
from pipeline.calls.client import AnswerUnusable
from pipeline.critics.reflection import Reflection
from pipeline.strategies.consistency import Consistency
from pipeline.strategies.direct import Direct
from pipeline.strategies.reflective import Reflective
from prompts.actors import ActorPrompts
from prompts.environment import Templates
from prompts.role_views import responder_view
from scenarios.dialogue import FIT, Critique, Draft, TacticLabel
from scenarios.fingerprint import seed_from
from scenarios.schemes.model import Scheme
from scenarios.spec import Scenario
from tests.factories import make_case
from tests.letter_encoder import LetterEncoder

HOME = Path(scenarios.__file__).parent
HIPO = Scheme.model_validate(yaml.safe_load((HOME / "schemes/data/hipo.yaml").read_text()))
USED_CAR = Scenario.model_validate(
    yaml.safe_load((HOME / "library/products/used_car.yaml").read_text())
)
PROMPTS = ActorPrompts(Templates(None), HIPO)
CASE = make_case(USED_CAR, fact="guardrail")
TASK = TurnTask(
    case=CASE,
    turn=3,
    view=responder_view(USED_CAR, HIPO, CASE),
    history=(("initiator", "Was it ever hit?"), ("responder", "No."), ("initiator", "Sure?")),
    wanted=(("veracity", "Manner"),),
    epoch=2,
)
CARRIED = tuple(Critique(d.id, True, "yes") for d in HIPO.utterance_dimensions)
NOT_CARRIED = (Critique("intention", True, "yes"), Critique("veracity", False, "too plain"))


def draft(text: str) -> Draft:
    labels = {"intention": "Inform", "veracity": "Manner", "illocutionary": "Representatives"}
    return Draft(text, "deception", tuple(TacticLabel(k, v, "why") for k, v in labels.items()))


class ScriptedAsker:
    """Gives the answers of a script, one after the other, and notes what it was asked."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []

    async def ask(self, question, ctx):
        self.asked.append((question, ctx))
        return self.answers.pop(0)

    async def ask_many(self, question, ctx, *, k):
        self.asked.append((question, ctx))
        return [self.answers.pop(0) for _ in range(k)]

    @property
    def contexts(self):
        return [ctx for _, ctx in self.asked]

    def prompt(self, index):
        return "\n".join(m.content for m in self.asked[index][0].messages)


def direct(asker):
    return Direct(PROMPTS, asker)


def reflective(asker, **settings):
    return Reflective(PROMPTS, asker, Reflection(PROMPTS, asker), **settings)


class LengthCritic:
    """A critic that is a program: no draft may have more than four letters."""

    async def critique(self, task, draft, revision):
        return (Critique("length", len(draft.text) <= 4, f"{len(draft.text)} letters"),)


@pytest.mark.anyio
async def test_a_program_can_be_the_critic():
    asker = ScriptedAsker(draft("far too long"), draft("ok"))
    spoken = await Reflective(PROMPTS, asker, LengthCritic(), max_revisions=3).utter(TASK)
    assert [a.draft.text for a in spoken.trace.attempts] == ["far too long", "ok"]
    assert {ctx.role for ctx in asker.contexts} == {"responder"}
    assert "12 letters" in asker.prompt(1)


@pytest.mark.anyio
async def test_direct_says_the_first_answer():
    asker = ScriptedAsker(draft("It is fine."))
    spoken = await direct(asker).utter(TASK)
    assert spoken.draft == draft("It is fine.")
    assert (spoken.trace.strategy, spoken.trace.attempts) == ("direct", ())
    ((question, ctx),) = asker.asked
    assert question == PROMPTS.responder(TASK.view, TASK.history, TASK.wanted)
    assert (ctx.role, ctx.case, ctx.purpose) == ("responder", CASE.id, "responder")
    assert (ctx.turn, ctx.epoch) == (3, 2)
    assert ctx.seed == seed_from(7, CASE.id, 3, "responder")


@pytest.mark.anyio
async def test_every_strategy_passes_on_the_wanted_tactic():
    for strategy, answers in (
        (direct, [draft("a")]),
        (reflective, [draft("a"), NOT_CARRIED, draft("b")]),
    ):
        asker = ScriptedAsker(*answers)
        await strategy(asker).utter(TASK)
        assert all("Wanted veracity: Manner" in asker.prompt(i) for i in range(len(asker.asked)))
    asker = ScriptedAsker(draft("a"), draft("b"))
    await Consistency(PROMPTS, asker, LetterEncoder(), k=2).utter(TASK)
    assert "Wanted veracity: Manner" in asker.prompt(0)


@pytest.mark.anyio
async def test_a_draft_that_carries_its_tactic_is_said_as_it_is():
    asker = ScriptedAsker(draft("good"), CARRIED)
    spoken = await reflective(asker, max_revisions=3).utter(TASK)
    assert spoken.draft == draft("good")
    assert [(a.draft.text, a.critiques) for a in spoken.trace.attempts] == [("good", CARRIED)]
    assert spoken.trace.chosen == 0
    assert [ctx.role for ctx in asker.contexts] == ["responder", "reflector"]


@pytest.mark.anyio
async def test_a_line_that_does_not_fit_is_revised_although_it_carries_its_labels():
    unfit = (*CARRIED, Critique(FIT, False, "It answers another question."))
    asker = ScriptedAsker(draft("poor"), unfit, draft("better"))
    spoken = await reflective(asker).utter(TASK)
    assert spoken.draft == draft("better")
    assert spoken.trace.attempts[0].critiques == unfit
    assert "fit: to be changed: It answers another question." in asker.prompt(2)


@pytest.mark.anyio
async def test_a_draft_that_does_not_is_revised_once_and_not_reflected_on_again():
    asker = ScriptedAsker(draft("poor"), NOT_CARRIED, draft("better"))
    spoken = await reflective(asker).utter(TASK)
    assert spoken.draft == draft("better")
    assert [(a.draft.text, a.critiques) for a in spoken.trace.attempts] == [
        ("poor", NOT_CARRIED),
        ("better", ()),
    ]
    assert spoken.trace.chosen == 1
    assert [ctx.purpose for ctx in asker.contexts] == ["responder", "reflect-0", "revise-0"]
    assert [ctx.role for ctx in asker.contexts] == ["responder", "reflector", "responder"]
    assert "poor" in asker.prompt(1)
    assert "too plain" in asker.prompt(2)


@pytest.mark.anyio
async def test_revisions_go_on_until_one_carries_or_none_is_left():
    asker = ScriptedAsker(draft("1"), NOT_CARRIED, draft("2"), CARRIED)
    spoken = await reflective(asker, max_revisions=2).utter(TASK)
    assert [a.draft.text for a in spoken.trace.attempts] == ["1", "2"]
    assert spoken.trace.attempts[1].critiques == CARRIED

    asker = ScriptedAsker(draft("1"), NOT_CARRIED, draft("2"), NOT_CARRIED, draft("3"))
    spoken = await reflective(asker, max_revisions=2).utter(TASK)
    assert [a.draft.text for a in spoken.trace.attempts] == ["1", "2", "3"]
    assert spoken.draft == draft("3")
    assert asker.contexts[-1].purpose == "revise-1"
    assert len({ctx.seed for ctx in asker.contexts}) == 5


@pytest.mark.anyio
async def test_without_revisions_there_is_nothing_to_reflect_on():
    asker = ScriptedAsker(draft("only"))
    spoken = await reflective(asker, max_revisions=0).utter(TASK)
    assert [a.draft.text for a in spoken.trace.attempts] == ["only"]
    assert len(asker.asked) == 1


@pytest.mark.anyio
async def test_the_direct_answer_and_the_reflective_draft_are_the_same_question():
    once, revised = ScriptedAsker(draft("a")), ScriptedAsker(draft("a"), CARRIED)
    await direct(once).utter(TASK)
    await reflective(revised).utter(TASK)
    assert once.asked[0] == revised.asked[0]


@pytest.mark.anyio
async def test_consistency_says_the_candidate_nearest_the_others():
    asker = ScriptedAsker(draft("ccc"), draft("aab"), draft("aaab"), draft("aab"))
    spoken = await Consistency(PROMPTS, asker, LetterEncoder()).utter(TASK)
    trace = spoken.trace
    assert [c.draft.text for c in trace.candidates] == ["ccc", "aab", "aaab", "aab"]
    assert [c.sample for c in trace.candidates] == [0, 1, 2, 3]
    scores = [c.score for c in trace.candidates]
    assert trace.chosen == 1 == scores.index(max(scores))
    assert spoken.draft == trace.candidates[1].draft


@pytest.mark.anyio
async def test_a_candidate_that_repeats_a_line_votes_but_is_not_elected():
    # "No." stands in the history of the task; "Manner" is a label, and no line of the talk
    asker = ScriptedAsker(draft("no"), draft("aaa"), draft("NO!"), draft("Manner"))
    spoken = await Consistency(PROMPTS, asker, LetterEncoder()).utter(TASK)
    assert (spoken.draft.text, spoken.trace.chosen) == ("aaa", 1)
    assert all(candidate.score is not None for candidate in spoken.trace.candidates)
    assert [note.split(" was ")[0] for note in spoken.trace.notes] == [
        "candidate 0", "candidate 2", "candidate 3",
    ]  # fmt: skip
    same = ScriptedAsker(*[draft("No.")] * 4)
    spoken = await Consistency(PROMPTS, same, LetterEncoder()).utter(TASK)
    assert (spoken.draft.text, spoken.trace.notes) == ("No.", ())


@pytest.mark.anyio
async def test_unreadable_candidates_stay_in_the_trace_without_a_vote():
    unreadable = AnswerUnusable("unparseable", "no JSON object")
    asker = ScriptedAsker(unreadable, draft("ccc"), draft("aab"), draft("aaab"))
    spoken = await Consistency(PROMPTS, asker, LetterEncoder()).utter(TASK)
    first, *others = spoken.trace.candidates
    assert (first.sample, first.draft, first.score) == (0, None, None)
    assert first.error == "unparseable: no JSON object"
    assert all(c.draft and c.score is not None and c.error is None for c in others)
    assert spoken.draft == spoken.trace.candidates[spoken.trace.chosen].draft
    assert spoken.draft.text.startswith("aa")


@pytest.mark.anyio
async def test_a_failure_to_answer_is_not_swallowed():
    class Failing(ScriptedAsker):
        async def ask(self, question, ctx):
            raise AnswerUnusable("refusal", "the model declined")

    with pytest.raises(AnswerUnusable, match="the model declined"):
        await reflective(Failing()).utter(TASK)


def labelled(text, veracity):
    said = draft(text)
    labels = tuple(
        TacticLabel(t.dimension, veracity if t.dimension == "veracity" else t.value, "why")
        for t in said.tactic
    )
    return Draft(text, said.goal, labels)


CANDIDATES = (
    labelled("aaa", "Manner"), labelled("aab", "Manner"), labelled("ccc", "Quality"),
    labelled("ccb", "Quality"), labelled("cbb", "Quality"),
)  # fmt: skip


@pytest.mark.anyio
async def test_a_vote_by_modal_labels_is_one_among_those_with_the_commonest_labels():
    drafts = (*CANDIDATES, labelled("aaaa", "None"), labelled("aaaaa", "Relevance"))
    by_text = Consistency(PROMPTS, ScriptedAsker(*drafts), LetterEncoder(), k=7)
    assert (await by_text.utter(TASK)).draft.text.startswith("a")
    voting = Consistency(PROMPTS, ScriptedAsker(*drafts), LetterEncoder(), k=7, vote="modal-labels")
    spoken = await voting.utter(TASK)
    assert spoken.draft.text == "ccb"
    scores = [candidate.score for candidate in spoken.trace.candidates]
    assert [score is None for score in scores] == [True, True, False, False, False, True, True]
    assert [c.draft for c in spoken.trace.candidates] == list(drafts)
    (note,) = spoken.trace.notes
    assert "modal-labels" in note
    assert note.endswith(": 0, 1, 5, 6")


@pytest.mark.anyio
async def test_where_no_labels_are_commonest_all_candidates_vote():
    drafts = [labelled("aaa", "Manner"), labelled("aab", "Quality"), labelled("ccc", "None")]
    spoken = await Consistency(
        PROMPTS, ScriptedAsker(*drafts), LetterEncoder(), k=3, vote="modal-labels"
    ).utter(TASK)
    assert all(candidate.score is not None for candidate in spoken.trace.candidates)


@pytest.mark.anyio
async def test_one_candidate_alone_with_its_labels_is_not_elected_unseen():
    drafts = [
        labelled("aaa", "Manner"),
        AnswerUnusable("unparseable", "torn"),
        labelled("c", "None"),
    ]
    spoken = await Consistency(
        PROMPTS, ScriptedAsker(*drafts), LetterEncoder(), k=3, vote="modal-labels"
    ).utter(TASK)
    assert spoken.draft.text == "aaa"
