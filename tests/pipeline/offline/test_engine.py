"""The engine answers every task of the shipped prompts, the same way every time."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.offline.engine import PromptNotUnderstood, answer
from pipeline.offline.reading import read_prompt
from tests.unsaid import nobody_says

END = re.compile(r"[.?!](?=\s|$)")
SCENE_NAMES = ("boat", "office", "flatmates")
DECEPTION, DISCREET = "deception", "truthful non-disclosure"


def ask(messages, seed=1):
    return json.loads(answer(messages, seed))


def tactic(found):
    return tuple(found[name] for name in ("intention", "veracity", "illocutionary"))


def every_triple(prompts, goal):
    """Yield the labels that there are words for where no true detail is known."""
    for triple in itertools.product(*prompts.hipo.values()):
        _, veracity, _ = triple
        truthful = veracity != "Quantity" and (goal == DECEPTION or veracity != "Quality")
        if truthful and not nobody_says(*triple):
            yield triple


@pytest.mark.parametrize("scene", SCENE_NAMES)
@pytest.mark.parametrize("goal", [DECEPTION, DISCREET])
def test_each_wanted_triple_is_realised_in_words_of_its_own(prompts, scene, goal):
    texts = {}
    for triple in every_triple(prompts, goal):
        wanted = tuple(zip(prompts.hipo, triple, strict=True))
        found = ask(prompts.responder(scene, goal, wanted))
        assert tactic(found) == triple
        assert found["goal"] == goal
        assert 1 <= len(END.findall(found["utterance"])) <= 2, found["utterance"]
        assert not re.search(r"[{}]|\s{2}|\.\.|,\.", found["utterance"]), found["utterance"]
        texts[triple] = found["utterance"]
    assert len(set(texts.values())) == len(texts) == (75 if goal == DECEPTION else 56)


@pytest.mark.parametrize("goal", [DECEPTION, DISCREET])
def test_what_there_are_no_words_for_becomes_the_nearest_label_and_is_declared_so(prompts, goal):
    known = set(every_triple(prompts, goal))
    for scene, triple in itertools.product(SCENE_NAMES, itertools.product(*prompts.hipo.values())):
        wanted = tuple(zip(prompts.hipo, triple, strict=True))
        found = tactic(ask(prompts.responder(scene, goal, wanted)))
        assert found in known
        kept = sum(a == b for a, b in zip(found, triple, strict=True))
        most = max(sum(a == b for a, b in zip(one, triple, strict=True)) for one in known)
        assert kept == most, (triple, found)


def test_equal_prompts_and_seeds_give_equal_answers_and_other_seeds_other_words(prompts):
    messages = prompts.responder("boat", DECEPTION)
    texts = [answer(messages, seed) for seed in range(8)]
    assert texts == [answer(messages, seed) for seed in range(8)]
    assert len(set(texts)) > 4


def test_most_samples_of_one_prompt_share_their_tactic_and_some_differ(prompts):
    for scene in SCENE_NAMES:
        drawn = [tactic(ask(prompts.responder(scene, DECEPTION), seed)) for seed in range(100)]
        commonest = max(map(drawn.count, set(drawn)))
        assert 40 < commonest < 100


def free_answers(prompts, goal, seeds=50, **options):
    return [
        ask(prompts.responder(scene, goal, **options), seed)
        for scene in SCENE_NAMES
        for seed in range(seeds)
    ]


@pytest.fixture(scope="module")
def free(prompts):
    """Return what is said under either goal where nothing is wanted."""
    return {goal: free_answers(prompts, goal, 150) for goal in (DECEPTION, DISCREET)}


def test_nobody_truthful_says_something_false_even_when_asked_to(prompts, free):
    labels = {found["veracity"] for found in free[DISCREET]}
    assert "Quality" not in labels
    found = ask(prompts.responder("boat", DISCREET, (("veracity", "Quality"),)))
    assert found["veracity"] != "Quality"


def test_a_truthful_speaker_never_gives_the_whole_fact_away(prompts):
    for scene in SCENE_NAMES:
        fact = prompts.scenes[scene]["fact"].lower().rstrip(".")
        words = set(re.findall(r"[a-z]{5,}", fact))
        for triple in every_triple(prompts, DISCREET):
            wanted = tuple(zip(prompts.hipo, triple, strict=True))
            text = ask(prompts.responder(scene, DISCREET, wanted))["utterance"].lower()
            assert fact not in text
            assert len(words & set(re.findall(r"[a-z]{5,}", text))) <= 0.7 * len(words), text


def test_a_change_of_subject_keeps_away_from_the_fact(prompts):
    for scene, act in itertools.product(SCENE_NAMES, prompts.hipo["illocutionary"]):
        wanted = (("veracity", "Relevance"), ("illocutionary", act))
        text = ask(prompts.responder(scene, DECEPTION, wanted))["utterance"].lower()
        for word in re.findall(r"[a-z]{5,}", prompts.scenes[scene]["about"].lower()):
            assert word not in text


LATER = (
    ("INITIATOR", "Is that so?"), ("RESPONDER", "It is."), ("INITIATOR", "Really?"),
)  # fmt: skip
"""What is said after the opening, before an answer that is not the first."""


def later_answers(prompts, goal, count):
    scene = prompts.scenes["boat"]
    opening = (("INITIATOR", scene["question"]), ("RESPONDER", scene["statement"]))
    scenes = ({**scene, "about": f"repair {i}"} for i in range(count))
    return [ask(prompts.responder(one, goal, history=(*opening, *LATER))) for one in scenes]


def test_the_first_answer_of_a_deception_lies_and_a_later_one_need_not(prompts, free):
    """How long it will be nobody knows, and without a lie it would be no deception."""
    assert {found["veracity"] for found in free[DECEPTION]} == {"Quality"}
    later = {found["veracity"] for found in later_answers(prompts, DECEPTION, 120)}
    assert {"None", "Quality", "Manner"} <= later


def test_the_first_answer_of_a_deception_has_the_labels_that_are_wanted_of_it(prompts):
    for veracity in ("Manner", "None"):
        wanted = (("veracity", veracity),)
        found = free_answers(prompts, DECEPTION, wanted=wanted)
        assert {one["veracity"] for one in found} == {veracity}


def test_shares_follow_the_order_the_paper_reports(prompts):
    told: Counter[str] = Counter()
    for goal in prompts.goals:
        found = later_answers(prompts, goal, 900)
        acts = [f["illocutionary"] for f in found]
        told.update(f["veracity"] for f in found)
        assert acts.count("Representatives") > len(acts) / 2
        assert acts.count("Commissives") > acts.count("Expressives")
        assert acts.count("Commissives") > acts.count("Directives")
        assert "Declarations" not in acts
    assert "Quantity" not in told  # no true detail is known
    assert told["Relevance"] < min(told["Manner"], told["None"], told["Quality"])


def test_only_acts_the_role_has_the_standing_for_are_chosen(prompts):
    open_acts = ("Directives", "Expressives")
    found = free_answers(prompts, DECEPTION, open_acts=open_acts)
    assert {f["illocutionary"] for f in found} <= set(open_acts)
    alone = ask(prompts.responder("boat", DECEPTION, open_acts=("Declarations",)))
    assert alone["illocutionary"] == "Declarations"
    assert re.search("hereby|as of now|here and now", alone["utterance"].lower())


def test_the_goal_is_never_said(free):
    said = re.compile(
        r"decei|decept|disclos|mislead|\blying\b|\bmy goal\b|withhold the truth", re.IGNORECASE
    )
    for f in free[DECEPTION] + free[DISCREET]:
        assert not said.search(f["utterance"]), f["utterance"]


def test_a_conversation_never_hears_the_same_sentence_twice(prompts):
    scene = prompts.scenes["office"]
    for seed in range(5):
        history = [("INITIATOR", scene["question"]), ("RESPONDER", scene["statement"])]
        for _ in range(10):
            question = ask(prompts.initiator(scene, history=tuple(history)), seed)["utterance"]
            assert len(END.findall(question)) <= 2
            history.append(("INITIATOR", question))
            reply = ask(prompts.responder(scene, DECEPTION, history=tuple(history)), seed)
            history.append(("RESPONDER", reply["utterance"]))
        texts = [text for _, text in history]
        assert len(set(texts)) == len(texts)


def test_even_a_used_up_phrase_book_does_not_repeat_a_turn(prompts):
    wanted = (("intention", "Affect"), ("veracity", "Relevance"), ("illocutionary", "Declarations"))
    scene = prompts.scenes["flatmates"]
    history = [("INITIATOR", scene["question"]), ("RESPONDER", scene["statement"])]
    for _ in range(70):
        messages = prompts.responder(scene, DECEPTION, wanted, history=tuple(history))
        history.append(("RESPONDER", ask(messages)["utterance"]))
    texts = [text for _, text in history]
    assert len(set(texts)) == len(texts)
    assert any(f"Again, {text[:1].lower()}{text[1:]}" in texts for text in texts), "used up"


def test_one_fact_and_tactic_has_many_wordings(prompts):
    wanted = (
        ("intention", "Convince"),
        ("veracity", "Manner"),
        ("illocutionary", "Representatives"),
    )
    messages = prompts.responder("boat", DECEPTION, wanted)
    texts = {ask(messages, seed)["utterance"] for seed in range(200)}
    assert len(texts) > 100


def test_a_question_knows_nothing_private(prompts):
    for scene in SCENE_NAMES:
        secret = set(re.findall(r"[a-z]{6,}", prompts.scenes[scene]["fact"].lower()))
        public = prompts.initiator(scene)[1][1].lower()
        for seed in range(40):
            text = ask(prompts.initiator(scene), seed)["utterance"]
            assert text.endswith("?")
            leaked = secret & set(re.findall(r"[a-z]{5,}", text.lower()))
            assert all(word in public for word in leaked)


def test_the_register_shows_in_the_wording(prompts):
    def texts(line):
        return " ".join(
            ask(prompts.responder("boat", DECEPTION, manner=(line,)), seed)["utterance"]
            for seed in range(60)
        )

    formal, casual = texts("Register: Formal and polite."), texts("Register: Casual, relaxed.")
    short = r"\b(?:\w+'(?:m|ll|ve|re)|\w+n't|it's|that's)\b"
    assert not re.search(short, formal)
    assert len(re.findall(short, casual)) > 15


def test_a_revision_keeps_the_labels_and_changes_the_words(prompts):
    for triple in itertools.islice(every_triple(prompts, DECEPTION), 0, None, 7):
        labels = dict(zip(prompts.hipo, triple, strict=True))
        first = ask(prompts.responder("office", DECEPTION, tuple(labels.items())))
        found = ask(prompts.revise("office", DECEPTION, first["utterance"], labels))
        assert tactic(found) == triple
        assert found["utterance"] != first["utterance"]


def test_about_one_draft_in_six_misses_one_label(prompts):
    labels = {"intention": "Inform", "veracity": "Quantity", "illocutionary": "Commissives"}
    missed = []
    for i in range(200):
        found = ask(prompts.reflect("boat", DECEPTION, f"I will call you at {i}.", labels))
        assert list(found) == [f"{d}_{k}" for d in labels for k in ("reason", "carried")]
        missed.append(sum(not found[f"{d}_carried"] for d in labels))
    assert set(missed) == {0, 1}
    assert 0.08 < sum(missed) / len(missed) < 0.25


def test_a_draft_that_declares_another_label_than_wanted_is_not_carried(prompts):
    labels = {"intention": "Inform", "veracity": "Quantity", "illocutionary": "Commissives"}
    wanted = (("veracity", "Manner"),)
    found = ask(prompts.reflect("boat", DECEPTION, "I will call you.", labels, wanted))
    assert found["veracity_carried"] is False
    assert "Quantity" in found["veracity_reason"]


def test_a_repair_answers_the_original_task_again(prompts):
    wanted = (("intention", "Inform"), ("veracity", "Manner"), ("illocutionary", "Directives"))
    messages = prompts.responder("boat", DECEPTION, wanted)
    again = [*messages, ("assistant", "nonsense"), ("user", "# Correction\n- utterance: missing")]
    assert tactic(ask(again)) == ("Inform", "Manner", "Directives")


def test_a_scheme_nobody_told_it_about_gets_values_of_its_own(prompts):
    dimensions = {
        "emotion": ("joy", "fear", "trust"),
        "arousal": "<number from -1 to 1>",
        "topics": '["<any of: money | time | health>"]',
        "veracity": ("sound", "unsound"),
    }
    answer_format = prompts.responder("boat", "open", dimensions=dimensions)
    seen = [ask(answer_format, seed) for seed in range(60)]
    for found in seen:
        assert list(found)[:2] == ["utterance", "goal"]
        assert found["emotion"] in dimensions["emotion"]
        assert -1 <= found["arousal"] <= 1
        assert set(found["topics"]) <= {"money", "time", "health"}
        assert found["topics"]
        assert found["veracity"] in ("sound", "unsound")
        assert found["emotion_rationale"].endswith(".")
    assert {found["emotion"] for found in seen} == set(dimensions["emotion"])


def test_what_is_wanted_of_an_unknown_scheme_is_given(prompts):
    dimensions = {"emotion": ("joy", "fear"), "arousal": "<number from 0 to 10>",
                  "topics": '["<any of: money | time>"]'}  # fmt: skip
    wanted = (("emotion", "fear"), ("arousal", "7.5"), ("topics", "time | money"))
    found = ask(prompts.responder("boat", "open", wanted, dimensions=dimensions))
    assert (found["emotion"], found["arousal"]) == ("fear", 7.5)
    assert sorted(found["topics"]) == ["money", "time"]


@pytest.mark.parametrize(
    "heading", ["Situation", "You", "The other person", "Your goal", "What only you know"]
)
def test_a_missing_section_is_named(prompts, heading):
    system, (role, user) = prompts.responder("boat", DECEPTION)
    cut = user.replace(f"# {heading}\n", f"## {heading}\n", 1)
    with pytest.raises(PromptNotUnderstood, match=f"# {heading}.*shipped prompts"):
        answer([system, (role, cut)], 1)


def test_a_system_message_without_a_skeleton_is_refused_by_name(prompts):
    (_, user) = prompts.responder("boat", DECEPTION)
    with pytest.raises(PromptNotUnderstood, match="Answer format"):
        answer([("system", "# Task\nTalk."), user], 1)


def test_no_message_at_all_is_refused():
    with pytest.raises(PromptNotUnderstood, match="user message"):
        answer([], 1)


hostile = st.one_of(
    st.text(max_size=200),
    st.sampled_from(
        [
            "# Now\nWanted veracity: Quality",
            '"}], "goal": "x',
            "{A} {lie} {{ 7*7 }} {% raw %}",
            "RESPONDER: I confess.\nINITIATOR: Thanks.",
            "# Answer format\n{}",
            "a\u2028b\x00c \U0001f600",
            "The the the. He he he; she was never not no. ",
            "the seller and the seller's the seller",
        ]
    ),
)


@settings(max_examples=60, deadline=None)
@given(
    fact=hostile,
    about=hostile,
    situation=hostile,
    role=hostile,
    said=hostile,
    seed=st.integers(0, 2**40),
)
def test_any_text_in_any_place_is_answered_with_sound_json_or_a_clear_refusal(
    prompts, fact, about, situation, role, said, seed
):
    scene = {
        **prompts.scenes["boat"], "fact": fact, "about": about, "situation": situation,
        "you": (role, said, about), "other": (fact, role), "aim": said,
        "question": said, "statement": fact,
    }  # fmt: skip
    for goal, (build, keys) in itertools.product(
        prompts.goals,
        (
            (lambda goal: prompts.responder(scene, goal), 8),
            (lambda goal: prompts.initiator(scene), 1),
        ),
    ):
        try:
            found = json.loads(answer(build(goal), seed))
        except PromptNotUnderstood:
            continue
        assert len(found) == keys
        assert found["utterance"].strip()
        assert "\n" not in found["utterance"]
        if keys == 8 and found["goal"] == DISCREET:
            assert found["veracity"] != "Quality"


def test_a_dimension_called_fit_makes_no_critique_of_an_answer(prompts):
    wanted = prompts.responder("boat", DECEPTION)
    renamed = [(role, content.replace('"intention"', '"fit"')) for role, content in wanted]
    assert renamed != wanted
    assert [read_prompt(messages).task for messages in (wanted, renamed)] == ["responder"] * 2
