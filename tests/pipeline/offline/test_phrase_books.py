"""What stands in the phrase books goes with its labels, and with whatever fills its slots."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from pipeline.offline.dice import Dice
from pipeline.offline.grammar import around_slots, listed
from pipeline.offline.lexicon import load, words
from pipeline.offline.manner import read_manner
from pipeline.offline.rationales import Reasons
from pipeline.offline.responding import Scene, phrasings, second_sentences, speak
from pipeline.offline.tactics import ACT, LIE, REPERTOIRE, VERACITY, Tactic
from scenarios.catalogue import Catalogue
from scenarios.lines.library import spoken_stage_lines
from tests.unsaid import nobody_says

SCENE = Scene(
    issues=("that room", "the door"),
    asks_for="what",
    topics=("the cake", "the key to the cloakroom", "the weather in the mountains"),
    details=("I sleep here myself", "there's a record of it in the office on the third floor"),
    lines=(),
    covers=("nobody has used the room since the spring", "the door was shut because it was cold"),
    manner=read_manner(""),
    said=frozenset(),
)
TIMES = {"today", "tomorrow", "tonight", "week", "month", "morning", "evening"}


def test_a_line_that_only_informs_strengthens_nothing() -> None:
    """The steps make what says "never" or "really" convince."""
    for veracity in REPERTOIRE[VERACITY]:
        for act in REPERTOIRE[ACT]:
            for line in listed("cores", veracity, act):
                mark, _, text = line.rpartition("| ")
                plain = "c" not in mark and "m" not in mark
                assert not plain or not words("strong") & set(text.lower().split()), line


BEFORE = re.compile(
    r"at odds|taken my silence|(?<!if )you took me|cross word|in anger|"
    r"(?:whatever|any vaguer word|every vaguer word)\b.*\b(?:said|mine)|any other version|"
    r"the whole argument|that you don't trust|that you can't trust|that you doubt|hurt by my|even about my"
)
"""What takes a quarrel, a silence or an earlier answer for granted, which there may not have been."""
PET_NAMES = re.compile(r"\b(?:poor (?:thing|dear)|you're a dear|the two of us|sit down with me)\b")


def test_no_line_of_the_books_takes_for_granted_what_was_not_said() -> None:
    """'Look, you look so hurt by my silence there', in answer to the first question."""
    for book in ("cores", "closers", "feelings"):
        for line in _lines(load(book)):
            assert not BEFORE.search(line), line
            assert not PET_NAMES.search(line), line


def test_what_is_declared_is_said_in_more_than_one_way() -> None:
    declared = [
        line.rpartition("| ")[2]
        for book in ("cores", "feelings")
        for by_act in load(book).values()
        for line in by_act.get("Declarations", ())
    ]
    assert sum("hereby" not in line for line in declared) / len(declared) > 0.2


def test_a_lie_for_any_fact_goes_with_joy_and_with_an_oath() -> None:
    """'I'm so relieved that I know no more about it than you do.'"""
    assert not [
        lie
        for told in load("asides")["lies"]
        for lie in listed("asides", "lies", told)
        if re.search("know (?:no more|as little)", lie)
    ]


def _lines(node: object) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    for child in (
        node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    ):
        yield from _lines(child)


def test_what_is_said_of_a_topic_names_no_time() -> None:
    """A topic may name one itself: "I'll make time for the taxi for tomorrow this week"."""
    for book in ("cores", "feelings"):
        for act in REPERTOIRE[ACT]:
            for line in listed(book, "Relevance", act):
                said = set(re.findall(r"\w+", line.lower()))
                assert "topic" not in said or not said & TIMES, line


def test_a_plain_lie_or_detail_gives_no_reason_and_strengthens_nothing() -> None:
    """The steps make what gives a reason, or says "never", convince."""
    assert SCENE.covers[1] not in SCENE.slots("Inform")["lie"]
    assert SCENE.covers[1] in SCENE.slots("Convince")["lie"]
    for entry in Catalogue.load().entries.values():
        lines = spoken_stage_lines(entry.template)
        for detail in lines.details if lines else ():
            assert not words("strong") & set(detail.text.lower().split()), detail.text
        for claim in lines.in_own_words.values() if lines else ():
            assert not re.search(r"\bnot one\b|\bnobody ever\b|\bso much as\b", claim), claim


def test_the_reason_of_a_lie_says_what_is_false() -> None:
    line = "Look, you look so sad, and over nothing at all. Do cheer up."
    claim = "nothing comes in while the restaurant is shut"
    for seed in range(8):
        told = Reasons(line, "the till", "reporter", "").of(VERACITY, LIE, Dice(seed))
        assert "over nothing at all" in told
        told = Reasons("It was. Ask anybody.", "the till", "reporter", claim).of(
            VERACITY, LIE, Dice(seed)
        )
        assert claim in told


def test_a_second_sentence_goes_on_from_the_act_before_it() -> None:
    """'Is it okay if I skip that one? So let's drop the subject and get on.'"""
    for veracity in REPERTOIRE[VERACITY]:
        asked = Tactic("Motivate", veracity, "Directives", "d")
        assert veracity == "Relevance" or not second_sentences(asked, SCENE)
        assert phrasings(asked, SCENE)
    for veracity in ("Quantity", "Quality"):
        states, asks = (
            set(second_sentences(Tactic("Inform", veracity, act, "d"), SCENE))
            for act in ("Representatives", "Directives")
        )
        assert states
        assert asks
        assert not states & asks


def test_a_dialogue_hears_each_frame_of_a_line_once() -> None:
    """'As of now this is my answer: ...', in two answers one after the other."""
    tactic = Tactic("Convince", "Quantity", "Declarations", "t")
    frames = [
        part for line in listed("cores", "Quantity", "Declarations") for part in around_slots(line)
    ]
    for seed in range(20):
        first = speak(SCENE, tactic, Dice(seed))
        second = speak(replace(SCENE, said=frozenset((first,))), tactic, Dice(seed + 100))
        used = [{frame for frame in frames if frame in text.lower()} for text in (first, second)]
        assert not used[0] & used[1], (first, second)


def test_what_is_told_after_a_feeling_is_no_line_of_feeling() -> None:
    """'I'll be there for you, I know how it hurts: there's one in the box': the box would be left."""
    for veracity in REPERTOIRE[VERACITY]:
        for act in REPERTOIRE[ACT]:
            for line in listed("feelings", veracity, act):
                assert ": {" not in line, line


def test_no_second_sentence_takes_the_act_of_a_lie_that_answers_nothing() -> None:
    """'You look so sad, and over nothing at all. I'd be so sad if this came between us.'"""
    for act in REPERTOIRE[ACT]:
        assert not second_sentences(Tactic("Affect", LIE, act, "d"), SCENE)


def test_nothing_is_asked_promised_or_declared_where_a_statement_follows() -> None:
    """'Believe me when I say that', 'I'll say it under oath that', 'I hereby make this my answer'."""
    empty = re.compile(
        r"believe me when|take it from me that|under oath|swear to (?:it|this)|hereby (?:make|end|call)|"
        r"guessing is over|this is my answer:|happy to put it"
    )
    for line in _lines(load("cores")):
        assert not empty.search(line), line


def test_nothing_is_said_where_nobody_would_say_a_line_with_these_labels() -> None:
    """'I'm calling a truce here and now, it hurts me so that there's a new code on that phone.'"""
    for triple in product(*REPERTOIRE.values()):
        assert bool(phrasings(Tactic(*triple, "d"), SCENE)) != nobody_says(*triple), triple


def test_nobody_speaks_of_himself_as_of_somebody_else() -> None:
    """'I forgive you here and now, much as it hurts somebody who's been open with you.'"""
    other = re.compile(r"somebody (?:who's|with secrets)|my silence|hurt anybody")
    for line in _lines(load("feelings")):
        assert not other.search(line), line


def test_no_verb_agrees_with_a_topic_which_may_be_one_thing_or_many() -> None:
    """'As of now the number plates comes first.'"""
    for book in ("cores", "feelings", "closers"):
        for line in _lines(load(book)):
            assert not re.search(r"\{topic\} (?:is|was|has|would|\w+s)\b", line), line


def test_a_thing_is_named_once_in_a_line() -> None:
    """'As for that room, nobody has used the room since the spring.'"""
    tactic = Tactic("Inform", LIE, "Representatives", "d")
    scene = replace(SCENE, issues=("that room",), covers=SCENE.covers[:1])
    said = [speak(scene, tactic, Dice(seed)) for seed in range(60)]
    assert all(text.lower().count("room") == 1 for text in said if "spring" in text)
    assert len(set(said)) > 20


def test_a_feeling_and_what_goes_with_it_do_not_say_the_same() -> None:
    """'I do feel for you, you know. You've got a lot to worry about, I do feel for you.'"""
    for veracity, by_act in load("feelings").items():
        closers = listed("closers", "Affect", veracity, "any")
        parts = {part for closer in closers for part in closer.split(", ") if len(part.split()) > 3}
        for line in (line for lines in by_act.values() for line in lines):
            assert not [part for part in parts if part in line], line


def test_what_i_am_glad_to_say_is_a_statement_and_stands_under_no_feeling() -> None:
    """'I'm glad I can at least tell you that there's a number against your name.'"""
    glad = re.compile(r"\b(?:glad|happy|pleased)\b.*\b(?:tell|say|promise)\b")
    for by_act in load("cores").values():
        assert not [line for line in by_act.get("Expressives", ()) if glad.search(line)]


def test_who_strengthens_after_an_answer_may_turn_to_a_thing_of_the_scene() -> None:
    """'So carry on, please.', in every fifth dialogue of any scenario."""
    tactic = Tactic("Motivate", "Quantity", "Representatives", "t")
    said = [speak(replace(SCENE, details=("it rains",)), tactic, Dice(seed)) for seed in range(80)]
    assert sum(any(topic in text for topic in SCENE.topics) for text in said) > 8


def test_no_way_in_agrees_or_explains() -> None:
    """'Are you smoking again?' 'Yeah, not a puff', or 'You see, I'm sorry you've had to wait.'"""
    agreeing = {
        "yeah,",
        "yes,",
        "right,",
        "all right,",
        "fair enough,",
        "you see,",
        "with respect,",
    }
    for leads in load("asides")["leads"].values():
        assert not agreeing & set(leads)


def test_a_line_has_one_way_in() -> None:
    """'As for that, what I can tell you is that a body shop painted the wing.'"""
    framed = [
        line.rpartition("| ")[2].partition(" {")[0]
        for veracity in ("Quantity", LIE, "Manner")
        for line in listed("cores", veracity, "Representatives")
        if len(line.partition(" {")[0].split()) > 3
    ]
    scene = replace(SCENE, answered=("told",))
    for veracity, why, seed in product(
        ("Quantity", LIE, "Manner"), ("Inform", "Convince"), range(60)
    ):
        text = speak(scene, Tactic(why, veracity, "Representatives", "d"), Dice(seed)).lower()
        assert not [frame for frame in framed if f", {frame} " in text], text


def test_nothing_that_wants_no_answer_is_labelled_as_a_question() -> None:
    """'Has anybody told you that the suspensions are decided at my desk?' tells, and asks nothing."""
    tells = re.compile(r"^(?:did you know|have I told you|ha(?:s|ve)n?'?t? (?:any|no|you)\w* )")
    for veracity in ("Quantity", LIE):
        for line in listed("cores", veracity, "Directives"):
            assert not tells.search(line.rpartition("| ")[2]), line


def test_nobody_swears_to_what_he_has_hedged() -> None:
    """'As far as I know, the wing is as it was. That's the plain truth.'"""
    hedged = re.compile(r"as far as I know|for what it's worth|I think|if I'm not mistaken")
    for veracity in ("Quantity", LIE):
        for line in listed("cores", veracity, "Representatives"):
            assert line.startswith("c| ") or not hedged.search(line), line


def test_nobody_speaks_of_what_was_told_where_nothing_was() -> None:
    """'You sound so upset, now that I've told you everything', in the first answer."""
    telling = re.compile(r"told you (?:everything|the whole|all)|than I've told|open with you")
    for act in REPERTOIRE[ACT]:
        felt = Tactic("Affect", LIE, act, "d")
        first = " ".join(template for template, _ in phrasings(felt, SCENE))
        assert not telling.search(first), act
    lies = {True: replace(SCENE, covers=(), claimed=True), False: replace(SCENE, covers=())}
    for told, scene in lies.items():
        assert any("told you" in lie for lie in scene.slots("Inform")["lie"]) == told


def test_few_vague_lines_are_sorry_for_being_vague() -> None:
    """'I'm sorry it's so vague: it's a bit of this and a bit of that.'"""
    lines = listed("cores", "Manner", "Expressives")
    named = [line for line in lines if re.search(r"vague(?!\})|hazy|clear|put it", line)]
    assert len(named) / len(lines) < 0.1


def test_what_is_declared_is_said_before_what_is_told() -> None:
    """'I'm at home of an evening, I hereby settle that': the first main clause states something."""
    for veracity in ("Quantity", LIE):
        lines = [line.rpartition("| ")[2] for line in listed("cores", veracity, "Declarations")]
        assert not [line for line in lines if line.startswith("{")]
        assert sum("as of" in line for line in lines) < len(lines) / 3


def test_a_vague_feeling_still_answers() -> None:
    """'Is it only pictures, or do they hear us as well?' 'I'm so sorry, my feelings about it are complicated.'"""
    answers = re.compile(
        r"it's (?:such )?(?:complicated|a (?:long story|bit of|muddle)|one of those|sometimes)|depends on|"
        r"\b(?:it has its|have their) ups and downs"
    )
    for act in REPERTOIRE[ACT]:
        for line in listed("feelings", "Manner", act):
            assert answers.search(line), line


def test_a_lie_of_feeling_is_false_whatever_the_fact_and_whoever_hears_it() -> None:
    """'Please don't be so upset over nothing at all', to an official whom the fact would not upset."""
    false = re.compile(
        r"as if (?:I|there) (?:was|had|knew)|as if I'd been hiding|I hadn't told|hide (?:from|a thing)|"
        r"something to hide|more to it|nothing (?:whatsoever )?behind|no secret|told you every|the whole of it|"
        r"telling you everything|as open with you|everything there is"
    )
    for act in REPERTOIRE[ACT]:
        for line in listed("feelings", LIE, act):
            assert false.search(line), line
            assert not re.search(r"over nothing|nothing (?:there|left|in it) to be", line), line


def test_no_line_comforts_somebody_who_may_not_be_sad() -> None:
    """'Please don't be so sad, you'll have me crying along with you', to a moderator of a forum."""
    close = re.compile(
        r"cheer up|be (?:so )?sad|be there for you if it (?:all )?get|with your worries|worry alone|blush|"
        r"can't sleep|come what may"
    )
    for veracity in ("Relevance", "Manner"):
        for act in REPERTOIRE[ACT]:
            for line in listed("feelings", veracity, act):
                assert not close.search(line), line


def test_a_lie_for_any_fact_stays_one_after_a_truth() -> None:
    """'What I've told you is how it is', after a true detail; 'there's a good deal less to it than people think'."""
    told = re.compile(r"less to it|as I've told you|what I've told you")
    for when in load("asides")["lies"]:
        assert not [lie for lie in listed("asides", "lies", when) if told.search(lie)]


def test_what_leads_up_to_an_answer_is_not_its_act() -> None:
    """'I'm glad you ask: ...', 'I'm sorry, it's only this: ...', 'I'll leave you with this much: ...'."""
    leads = re.compile(
        r"glad you ask|it's only this|to disappoint you:|to let you down there:|let-down|"
        r"I.ll leave you with|have this|let you have|give you one thing|stand by it:"
    )
    for by_act in load("cores").values():
        for act in ("Expressives", "Commissives"):
            for line in by_act.get(act, ()):
                assert not leads.search(line), line
    refused = (listed("asides", "onwards", before, "refused") for before in ("told", "vague"))
    assert not [lead for leads in refused for lead in leads if re.search("stop|no more", lead)]


def test_a_statement_of_feeling_shows_no_feeling_of_the_speaker_in_a_clause_of_its_own() -> None:
    """'You've every right to be upset that I won't answer that, and I feel awful', as a statement."""
    own = re.compile(
        r"\b(?:hurts|upsets|makes) me\b|\bI (?:do )?(?:feel|hate|wish)\b|me (?:in tears|good)\b"
    )
    for by_act in load("feelings").values():
        assert not [line for line in by_act.get("Representatives", ()) if own.search(line)]


def test_what_tells_something_does_not_refuse_to_tell_more() -> None:
    """'It began at the back, and I hereby close the case': who will tell no more refuses, by the steps."""
    closing = re.compile(r"\bclos(?:e|ed|ing)\b|\blast word on\b|\bdropping\b")
    for veracity in ("Quantity", LIE):
        assert not [
            line for line in listed("cores", veracity, "Declarations") if closing.search(line)
        ]
