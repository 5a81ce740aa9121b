"""Each turn goes on from the one before: what was answered is taken up, pressed on or left alone."""

from __future__ import annotations

import re

import pytest

from pipeline.offline.dice import Dice
from pipeline.offline.engine import answer
from pipeline.offline.grammar import MARKS, listed
from pipeline.offline.hearing import FORMS, UNANSWERED, hear
from pipeline.offline.lexicon import tree
from pipeline.offline.manner import read_manner
from pipeline.offline.person import as_heard
from pipeline.offline.reading import read_prompt
from pipeline.offline.responding import Scene, phrasings, read_scene, speak
from pipeline.offline.staging import cast_of, staged_scene
from pipeline.offline.tactics import Tactic
from pipeline.offline.wording import sentences
from prompts.actors import ActorPrompts, initiator_view, responder_view
from prompts.environment import Templates
from scenarios.catalogue import Catalogue
from scenarios.lines.library import spoken_stage_lines
from scenarios.schemes.registry import load_scheme
from tests.factories import make_case

SCHEME = load_scheme("hipo")
CAR = Catalogue.load().entry("used_car").scenario
DECEPTION, DISCREET = SCHEME.goal.values
EASY = CAR.opening.shared.exchanges[0]
OPENING = (
    ("initiator", EASY.question),
    ("responder", EASY.answer),
    ("initiator", CAR.opening.shared.hard_question[0]),
)
SEEDS = range(60)
REFUSAL = "I'm not going to answer that one."
TRUE, FALSE = "I've driven it for three years myself", "a body shop painted the wing"


@pytest.fixture(scope="module")
def actors():
    return ActorPrompts(Templates(None), SCHEME)


def messages_of(question):
    return [(message.role, message.content) for message in question.messages]


def questions(actors, *answers, seeds=SEEDS):
    """Return what is asked after the answers, by seed."""
    case = make_case(CAR, fact="guardrail", turns=3, variation={"openings": "shared"})
    history = [*OPENING, ("responder", answers[0])]
    for number, text in enumerate(answers[1:]):
        history += [("initiator", f"And {number}?"), ("responder", text)]
    question = actors.initiator(initiator_view(CAR, case), history)
    return [question.answer.read(answer(messages_of(question), seed)) for seed in seeds]


def heard(text):
    case = make_case(CAR, fact="guardrail", turns=3, variation={"openings": "shared"})
    actors = ActorPrompts(Templates(None), SCHEME)
    asked = read_prompt(messages_of(actors.initiator(initiator_view(CAR, case), OPENING)))
    roles = asked.line("The other person", "Role"), asked.line("You", "Role")
    return hear(text, staged_scene(asked), *roles)


def test_what_was_told_comes_back_in_the_next_question(actors):
    """'You're welcome to pass it on that nobody has moved in.', 'What happened on that side?'"""
    asked = questions(actors, f"I'm glad you ask: {TRUE}.")
    assert any("you've driven it for three years yourself" in text.lower() for text in asked)


def test_a_lie_is_taken_up_like_a_truth(actors):
    reacted = []
    for clause in (TRUE, FALSE):
        forms = set()
        for text in questions(actors, f"For what it's worth, {clause}.", seeds=range(400)):
            said = as_heard(clause, "seller", "buyer")
            forms.add(re.sub(said, "...", sentences(text)[0], flags=re.IGNORECASE))
        reacted.append({form for form in forms if "?" not in form and ";" not in form})
    assert reacted[0] == reacted[1]
    assert len(reacted[0]) > 8


def test_a_thing_that_the_talk_was_turned_to_is_put_off_by_name(actors):
    topic = next(iter(staged_topics()))
    asked = questions(actors, f"We've hardly said a word about {topic}.")
    assert sum(topic in text.lower() for text in asked) > 10


def staged_topics():
    case = make_case(CAR, fact="guardrail", turns=3, variation={"openings": "shared"})
    actors = ActorPrompts(Templates(None), SCHEME)
    asked = read_prompt(messages_of(actors.initiator(initiator_view(CAR, case), OPENING)))
    return staged_scene(asked).lines.topics


def test_that_a_question_was_not_answered_is_said_once(actors):
    pressing = [line for form in UNANSWERED for line in listed("reactions", form, "press")]
    fixed = [max(line.lower().split("{"), key=len).split("}")[-1].strip() for line in pressing]

    def presses(text):
        return any(part in text.lower() for part in fixed)

    first = [text for text in questions(actors, REFUSAL) if presses(text)]
    assert first
    case = make_case(CAR, fact="guardrail", turns=3, variation={"openings": "shared"})
    for text in first[:3]:
        history = [*OPENING, ("responder", REFUSAL), ("initiator", text), ("responder", REFUSAL)]
        question = actors.initiator(initiator_view(CAR, case), history)
        again = [question.answer.read(answer(messages_of(question), seed)) for seed in SEEDS]
        assert not any(presses(one) for one in again)


def test_a_question_stays_at_two_sentences_and_is_no_speech(actors):
    for said in (REFUSAL, f"I'm glad you ask: {TRUE}.", "I'd say that it's yes and no."):
        for text in questions(actors, said, REFUSAL):
            assert len(sentences(text)) <= 2, text
            assert len(text.split()) <= 40, text


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (REFUSAL, "refused"),
        ("I'd sooner not go into the car's history.", "refused"),
        ("Honestly, it depends on how you look at it.", "vague"),
        ("What can I tell you? Fine weather.", ""),
        ("It does me good just to talk to somebody.", "felt"),
        ("Please don't be cross with me, as if I'd been hiding something from you.", "felt"),
        ("You can write down that I have got nothing to hide.", "told"),
    ],
)
def test_what_kind_of_answer_it_was_is_heard_in_its_words(text, form):
    assert heard(text).form == form


def test_no_feeling_is_heard_as_something_told():
    """'Please don't be so upset, now that you've heard everything there is to hear.'"""
    books = tree("feelings").values()
    lines = [line for by_act in books for lines in by_act.values() for line in lines]
    plain = [f"{MARKS.sub('', line)}." for line in lines if "{" not in line]
    assert plain
    assert [text for text in plain if heard(text).form in {"told", ""}] == []


@pytest.mark.parametrize(
    ("clause", "said"),
    [
        ("I sleep here myself", "you sleep here yourself"),
        ("I was in my kitchen, and I'm no cook", "you were in your kitchen, and you're no cook"),
        ("we do that sum every Friday", "you do that sum every Friday"),
        ("nobody told you", ""),
        ("young people like us", "young people like you"),
    ],
)
def test_what_somebody_says_of_itself_is_turned_round(clause, said):
    assert as_heard(clause, "seller", "buyer") == said


def test_between_two_who_are_close_nobody_knows_who_we_are():
    assert as_heard("we posted them", "husband", "wife") == ""
    assert as_heard("I posted them", "husband", "wife") == "you posted them"


def scene_after(*answered, **changed):
    found = {
        "topics": ("the cake",), "issues": ("that room",), "asks_for": "what",
        "details": ("I sleep here myself",), "lines": (), "covers": (), "manner": read_manner(""),
        "said": frozenset(), "answered": answered, **changed,
    }  # fmt: skip
    return Scene(**found)


COMPLETE = re.compile(r"everything|all (?:along|there is)|kept nothing|\bhid(?:e|den|ing)\b")


def test_who_has_refused_does_not_claim_to_have_told_everything():
    """'That one stays unanswered.', and then 'I've told you all there is to it.'"""
    for aim in ("Inform", "Affect"):
        for act in ("Representatives", "Commissives", "Directives", "Expressives"):
            tactic = Tactic(aim, "Quality", act, "d")
            said = {speak(scene_after("refused"), tactic, Dice(seed)) for seed in range(40)}
            assert not any(COMPLETE.search(text) for text in said), (aim, act)
            assert phrasings(tactic, scene_after("refused"))
    before = {
        speak(scene_after(), Tactic("Inform", "Quality", "Representatives", "d"), Dice(n))
        for n in range(40)
    }
    assert any(COMPLETE.search(text) for text in before)


def test_a_later_answer_goes_on_from_the_one_before_and_a_lie_like_a_truth():
    leads = tuple(lead.lower() for lead in listed("asides", "onwards", "refused", "told"))
    for veracity in ("Quantity", "Quality"):
        tactic = Tactic("Inform", veracity, "Representatives", "d")
        cover = ("nobody else has a key",)
        scenes = scene_after("refused", covers=cover), scene_after(covers=cover)
        said, first = ([speak(s, tactic, Dice(n)).lower() for n in range(60)] for s in scenes)
        assert any(text.startswith(leads) for text in said)
        assert not any(text.startswith(leads) for text in first)
    ways = {FORMS[veracity] for veracity in ("Quantity", "Quality")}
    assert ways == {"told"}


def test_nobody_turns_to_a_thing_again_that_was_put_off(actors):
    topic, *others = staged_topics()
    case = make_case(
        CAR, fact="guardrail", goal=DISCREET, turns=3, variation={"openings": "shared"}
    )
    history = [*OPENING, ("responder", f"I'm sorry about {topic}."), ("initiator", "And then?")]
    asked = read_prompt(messages_of(actors.responder(responder_view(CAR, SCHEME, case), history)))
    assert read_scene(asked, cast_of(asked, DISCREET)).topics == tuple(others)


def test_of_two_vague_answers_one_of_which_stands_in_the_other_the_whole_is_heard():
    """'There's always something or other.', 'There's always something, you say.'"""
    found = hear("Roughly, there's always something or other.", None, "seller", "buyer")
    assert found.vague == "there's always something or other"


def test_a_written_line_is_heard_before_a_second_sentence():
    """'So let's come to the spelling of technical words next' was heard as a change of subject."""
    lines = spoken_stage_lines(Catalogue.load().entry(CAR.id).template)
    line = next(one for one in lines.responder if one.labels["veracity"] == "Quantity")
    topic = lines.topics[0]
    assert heard(f"{line.text} So let's go on to {topic}.").form == "told"
