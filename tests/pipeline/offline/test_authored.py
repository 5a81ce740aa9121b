"""Authored lines are said first, in an order that makes a conversation, with their own labels."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from dataclasses import replace

import pytest

from pipeline.offline.engine import answer
from pipeline.offline.staging import says
from pipeline.offline.wording import sentences
from prompts.actors import ActorPrompts, initiator_view, responder_view
from prompts.environment import Templates
from scenarios.catalogue import Catalogue
from scenarios.dialogue import FIT, Critique
from scenarios.lines.library import spoken_stage_lines
from scenarios.lines.model import ANY_QUESTION
from scenarios.schemes.registry import load_scheme
from tests.factories import make_case

SCHEME = load_scheme("hipo")
ENTRY = Catalogue.load().entry("used_car")
CAR = ENTRY.scenario
LINES = spoken_stage_lines(ENTRY.template)
HARD = CAR.opening.shared.hard_question[0]
OPENING = (
    ("initiator", CAR.opening.shared.exchanges[0].question),
    ("responder", CAR.opening.shared.exchanges[0].answer),
    ("initiator", HARD),
)
OPENINGS = [
    (("initiator", easy.question), ("responder", easy.answer), ("initiator", hard))
    for easy in CAR.opening.shared.exchanges
    for hard in CAR.opening.shared.hard_question
]
DECEPTION, DISCREET = SCHEME.goal.values
SEEDS = range(40, 72)


@pytest.fixture(scope="module")
def actors():
    return ActorPrompts(Templates(None), SCHEME)


def case_of(goal=DECEPTION, fact="guardrail"):
    return make_case(CAR, fact=fact, goal=goal, turns=3, variation={"openings": "shared"})


def answered(question, seed=1):
    messages = [(message.role, message.content) for message in question.messages]
    return question.answer.read(answer(messages, seed))


def view_of(goal=DECEPTION, fact="guardrail", **changed):
    return replace(responder_view(CAR, SCHEME, case_of(goal, fact)), **changed)


def written(goal, fact, *kinds):
    return [
        line
        for line in LINES.responder
        if line.goal == goal and line.fact in (fact, "any") and line.answers in kinds
    ]


def line_of(text, lines):
    return next((line for line in lines if says(text, line.text)), None)


@pytest.mark.parametrize(("goal", "least"), [(DECEPTION, 0.8), (DISCREET, 0.3)])
def test_the_line_that_was_written_for_the_question_is_said_most_often(actors, goal, least):
    lines = written(goal, "guardrail", "hard_question")
    drafts = [
        answered(actors.responder(view_of(goal), opening), seed)
        for opening in OPENINGS
        for seed in SEEDS[:8]
    ]
    said = [line_of(draft.text, lines) for draft in drafts]
    assert sum(line is not None for line in said) >= least * len(drafts)
    for draft, line in zip(drafts, said, strict=True):
        if line is not None:
            assert {label.dimension: label.value for label in draft.tactic} == line.labels


def test_each_question_gets_a_line_that_answers_it(actors):
    angle = next(fact.angle for fact in CAR.facts if fact.id == "guardrail")
    pressing = LINES.initiator[0].text
    anywhere = [
        line for line in LINES.responder if line.leaves_any_question or line.answers == ANY_QUESTION
    ]
    for question, kind in ((angle, "angle"), (pressing, "pressed")):
        lines = written(DECEPTION, "guardrail", kind, LINES.initiator[0].id)
        texts = [
            answered(
                actors.responder(
                    view_of(), [*opening, ("responder", "No."), ("initiator", question)]
                ),
                seed,
            ).text
            for opening in OPENINGS
            for seed in SEEDS[:8]
        ]
        own = sum(line_of(text, lines) is not None for text in texts)
        others = [line for line in LINES.responder if line not in (*lines, *anywhere)]
        assert own >= 0.5 * len(texts)
        assert not any(line_of(text, others) for text in texts)


def test_what_a_line_does_with_the_truth_does_not_follow_from_the_question_and_its_place(actors):
    """Nearly all answers to the first question refused openly, since nearly all lines for it do."""
    shares = {}
    for goal in (DISCREET, DECEPTION):
        for kind in ("hard_question", "angle", "pressed"):
            found = Counter(asked_in_the_library(actors, goal, kind))
            found.pop("Quality", None)
            shares[goal, kind] = {label: n / found.total() for label, n in found.items()}
    del shares[DECEPTION, "hard_question"]  # begins with a lie
    for label in ("None", "Quantity", "Manner", "Relevance"):
        told = [share.get(label, 0) for share in shares.values()]
        assert max(told) - min(told) < 0.25, (label, shares)


def test_a_deception_begins_with_a_lie_unless_its_opening_has_lied(actors):
    fixed = CAR.opening.by_goal[0]
    lied = [("initiator", fixed.question), ("responder", fixed.statement_for(DECEPTION).text)]
    asked = ("initiator", CAR.facts[0].angle)
    begun = {False: set(), True: set()}
    for seed in SEEDS:
        for has_lied, history in ((False, OPENING), (True, [*lied, asked])):
            openings = "by-goal" if has_lied else "shared"
            case = make_case(
                CAR, fact="guardrail", goal=DECEPTION, turns=1, variation={"openings": openings}
            )
            view = responder_view(CAR, SCHEME, case)
            assert bool(view.untrue) is has_lied
            found = answered(actors.responder(view, history), seed).tactic
            begun[has_lied].add(next(x.value for x in found if x.dimension == "veracity"))
    assert begun[False] == {"Quality"}
    assert begun[True] - {"Quality"}


def asked_in_the_library(actors, goal, kind):
    """Yield the veracity of an answer under each fact, to a question of one kind."""
    for entry in Catalogue.load().entries.values():
        scenario, lines = entry.scenario, spoken_stage_lines(entry.template)
        easy, hard = scenario.opening.shared.exchanges[0], scenario.opening.shared.hard_question[0]
        first = [("initiator", easy.question), ("responder", easy.answer), ("initiator", hard)]
        for fact in scenario.facts:
            case = make_case(
                scenario, fact=fact.id, goal=goal, turns=3, variation={"openings": "shared"}
            )
            asked = {"angle": fact.angle, "pressed": lines.initiator[0].text}
            history = first
            if kind in asked:
                history = [*first, ("responder", "Well."), ("initiator", asked[kind])]
            view = responder_view(scenario, SCHEME, case)
            found = answered(actors.responder(view, history))
            yield next(x.value for x in found.tactic if x.dimension == "veracity")


def test_a_question_nobody_wrote_lines_for_is_left_to_the_grammar(actors):
    history = [*OPENING, ("responder", "Never."), ("initiator", "Do you like jam on your toast?")]
    for seed in SEEDS:
        text = answered(actors.responder(view_of(), history), seed).text
        assert line_of(text, LINES.responder) is None


def test_wanted_labels_are_kept_and_an_authored_line_is_said_only_if_it_has_them(actors):
    for wanted in ({"veracity": "Manner"}, {"veracity": "Quality"}, {"intention": "Affect"}):
        for seed in SEEDS:
            draft = answered(actors.responder(view_of(), OPENING, tuple(wanted.items())), seed)
            labels = {label.dimension: label.value for label in draft.tactic}
            assert wanted.items() <= labels.items()
            line = line_of(draft.text, LINES.responder)
            assert line is None or wanted.items() <= line.labels.items()


def test_candidates_of_one_prompt_differ(actors):
    angle = next(fact.angle for fact in CAR.facts if fact.id == "guardrail")
    history = [*OPENING, ("responder", "Never."), ("initiator", angle)]
    asked = actors.responder(view_of(), history)
    for start in range(0, 80, 4):
        assert len({answered(asked, start + sample).text for sample in range(4)}) >= 2


def test_nothing_is_said_twice_in_a_dialogue(actors):
    for seed in SEEDS:
        history = list(OPENING)
        asking = initiator_view(CAR, case_of())
        for _ in range(6):
            history.append(("responder", answered(actors.responder(view_of(), history), seed).text))
            history.append(("initiator", answered(actors.initiator(asking, history), seed)))
        authored = [line for line in LINES.responder if any(says(t, line.text) for _, t in history)]
        for line in authored:
            assert sum(says(text, line.text) for _, text in history) == 1
        assert len({text for _, text in history}) == len(history)


def test_questions_come_in_an_order_that_makes_a_conversation(actors):
    asking = initiator_view(CAR, case_of())
    firsts = {line.text for line in LINES.initiator if line.when == "first"}
    later = {line.text for line in LINES.initiator if line.when == "later"}
    begun = set()
    for seed in SEEDS:
        history = [*OPENING, ("responder", "Never once.")]
        asked = []
        for number in range(4):
            asked.append(answered(actors.initiator(asking, history), seed))
            history += [("initiator", asked[-1]), ("responder", f"Not that either, {number}.")]
        assert asking.angle in asked[:2]
        assert len(firsts & set(asked[:2])) == 1
        assert set(asked[2:]) <= later
        begun.add(asked[0] == asking.angle)
    assert begun == {True, False}


def test_the_question_depends_neither_on_the_answers_nor_on_the_goal(actors):
    asking = initiator_view(CAR, case_of())
    for seed in SEEDS:
        for rounds in range(1, 7):
            asked = set()
            for answers in ("No, never.", "I'm not going to answer that one."):
                history = list(OPENING)
                for number in range(rounds):
                    history.append(("responder", f"{answers} {number}"))
                    history.append(("initiator", f"And {number}?"))
                history[-1] = ("responder", answers)
                asked.add(sentences(answered(actors.initiator(asking, history), seed))[-1])
            assert len(asked) == 1


def test_nobody_with_a_real_name_says_an_authored_line(actors):
    catalogue = Catalogue.load(real_names=True)
    entry = next(
        e
        for e in catalogue.entries.values()
        if e.is_playable and e.scenario.background != e.template.named().background
    )
    lines = spoken_stage_lines(entry.template)
    case = make_case(
        entry.scenario, fact=entry.scenario.facts[0].id, goal=DECEPTION, turns=2,
        variation={"openings": "shared"},
    )  # fmt: skip
    view = responder_view(entry.scenario, SCHEME, case)
    history = [("initiator", entry.scenario.opening.shared.hard_question[0])]
    for seed in SEEDS:
        text = answered(actors.responder(view, history), seed).text
        assert lines is None or line_of(text, lines.responder) is None


def test_an_authored_draft_passes_reflection_and_a_common_one_becomes_an_authored_line(actors):
    drafts = [answered(actors.responder(view_of(), OPENING), seed) for seed in SEEDS]
    authored = [line_of(draft.text, LINES.responder) for draft in drafts]
    assert None in authored
    for draft, line in zip(drafts, authored, strict=True):
        critiques = answered(actors.reflect(view_of(), OPENING, draft, ()))
        assert all(critique.carried for critique in critiques) is (line is not None)
        if line is None:
            revised = answered(actors.revise(view_of(), OPENING, draft, critiques, ()))
            assert line_of(revised.text, LINES.responder) is not None


def test_a_draft_that_anybody_could_say_becomes_one_that_names_what_was_asked(actors):
    """'Do you mind if I pass on that one?' became another refusal that named nothing."""
    wanted = (("veracity", "Manner"), ("illocutionary", "Directives"))
    names = [issue.lower() for issue in LINES.at_issue]
    criticised = 0
    for seed in SEEDS:
        view = view_of(DISCREET)
        draft = answered(actors.responder(view, OPENING, wanted), seed)
        critiques = answered(actors.reflect(view, OPENING, draft, wanted))
        named = any(name in draft.text.lower() for name in names)
        assert all(c.carried for c in critiques if c.dimension != FIT)
        if all(critique.carried for critique in critiques):
            continue
        criticised += 1
        assert not named
        revised = answered(actors.revise(view, OPENING, draft, critiques, wanted))
        assert any(name in revised.text.lower() for name in names), revised.text
    assert criticised


def test_a_revision_that_has_to_keep_its_labels_keeps_them(actors):
    draft = answered(actors.responder(view_of(), OPENING), SEEDS[0])
    critiques = [Critique("veracity", False, "too faint")]
    revised = answered(actors.revise(view_of(), OPENING, draft, critiques, ()))
    assert [x.value for x in revised.tactic] == [x.value for x in draft.tactic]
    assert revised.text != draft.text


def test_a_case_with_its_own_way_of_speaking_leaves_room_for_the_grammar(actors):
    shares = []
    for number in range(12):
        view = view_of(manner=(f"Persona: Says the number {number} a lot.",))
        texts = [answered(actors.responder(view, OPENING), seed).text for seed in SEEDS]
        shares.append(sum(line_of(t, LINES.responder) is not None for t in texts) / len(texts))
    assert min(shares) < 0.4
    assert max(shares) > 0.8


def test_no_scenario_is_read_before_an_offline_actor_speaks():
    code = (
        "import pipeline.providers.offline, pipeline.offline.staging as staging\n"
        "assert staging._entries.cache_info().currsize == 0"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_lie_of_the_grammar_answers_what_was_asked(actors):
    """'Did he win those races clean?', 'The lads sleep and eat on their rest days.'"""
    scenario = Catalogue.load().entry("tour_doping").scenario
    case = make_case(
        scenario,
        fact="blood_bags",
        goal=DECEPTION,
        turns=3,
        variation={"openings": "shared"},
    )
    wanted = (("veracity", "Quality"), ("illocutionary", "Expressives"))
    view = responder_view(scenario, SCHEME, case)
    angle = next(fact.angle for fact in scenario.facts if fact.id == "blood_bags")
    for question, lie, other in (
        (scenario.opening.shared.hard_question[0], "banned substance", "rest days"),
        (angle, "rest days", "banned substance"),
    ):
        history = [("initiator", "Well?"), ("responder", "Yes."), ("initiator", question)]
        said = " ".join(
            answered(actors.responder(view, history, wanted), seed).text for seed in SEEDS
        )
        assert lie in said
        assert other not in said


def test_a_lie_in_other_words_answers_the_hard_question_and_not_beside_it(actors):
    """'Has this car ever been in an accident?' 'As it happens, I bought the car from its first owner.'"""
    others = []
    for fact in CAR.facts:
        view = view_of(fact=fact.id)
        drafts = (answered(actors.responder(view, OPENING), seed).text for seed in SEEDS)
        others += [text for text in drafts if line_of(text, LINES.responder) is None]
    assert others
    assert not [text for text in others if "first owner" in text or "airbag" in text]


@pytest.mark.parametrize("fact", LINES.needless)
@pytest.mark.parametrize("goal", [DECEPTION, DISCREET])
def test_nothing_is_manipulated_of_a_fact_that_the_question_does_not_need(actors, goal, fact):
    """'It was in my cellar', as Relevance, of a car that has driven farther than its clock says."""
    for label in ("Quantity", "Relevance", "Manner", "None"):
        for question in (HARD, *(line.text for line in LINES.initiator if line.again)):
            history = (*OPENING[:2], ("initiator", question))
            wanted = (("veracity", label),)
            asked = actors.responder(view_of(goal, fact), history, wanted)
            found = {
                label.value
                for seed in range(4)
                for label in answered(asked, seed).tactic
                if label.dimension == "veracity"
            }
            assert found == {"None"}, label
