"""What read badly once, kind by kind, in what the grammar says and asks over the whole library."""

from __future__ import annotations

import itertools
import json
import re
from collections import defaultdict

import pytest

from pipeline.offline.engine import answer
from pipeline.offline.grammar import choices
from pipeline.offline.lexicon import load, tree
from pipeline.offline_judge.acts import ACTS, act_of
from pipeline.offline_judge.aims import aim_of, feeling_of
from prompts.actors import ActorPrompts, initiator_view, responder_view
from prompts.environment import Templates
from scenarios.catalogue import Catalogue
from scenarios.lines.library import spoken_stage_lines
from scenarios.schemes.registry import load_scheme
from scenarios.wording import content_stems
from tests.factories import make_case
from tests.unsaid import nobody_says

SCHEME = load_scheme("hipo")
SCENARIOS = Catalogue.load(environment={}).scenarios
DECEPTION, DISCREET = SCHEME.goal.values
TRIPLES = tuple(
    triple
    for triple in itertools.product(*(d.values for d in SCHEME.utterance_dimensions))
    if not nobody_says(*triple)
)
QUESTION = ("initiator", "Would you say that again?")
_OWNING_UP = re.compile(
    r"hold\w* (?:\w+ )?back|keep\w* (?:\w+ )?(?:from you|to myself)|kept it to|left out|"
    r"haven't told you everything|half an answer",
    re.IGNORECASE,
)


def lines_of(scenario):
    return spoken_stage_lines(Catalogue.load(environment={}).entry(scenario.id).template)


@pytest.fixture(scope="module")
def said():
    """Return (view, declared labels, line) for every scenario and some of the labels, as wanted."""
    actors = ActorPrompts(Templates(None), SCHEME)
    lines = []
    for number, scenario in enumerate(SCENARIOS.values()):
        for place, fact in enumerate(f for f in scenario.facts if f.owner == "responder"):
            for goal in SCHEME.goal.values:
                case = make_case(
                    scenario, fact=fact.id, goal=goal, turns=1, variation={"openings": "shared"}
                )
                view = responder_view(scenario, SCHEME, case)
                for triple in TRIPLES[(number + place) % 5 :: 5]:
                    wanted = dict(
                        zip((d.id for d in SCHEME.utterance_dimensions), triple, strict=True)
                    )
                    if goal == DISCREET and wanted["veracity"] == "Quality":
                        continue
                    asked = actors.responder(view, [QUESTION], tuple(wanted.items()))
                    messages = [(m.role, m.content) for m in asked.messages]
                    found = json.loads(answer(messages, number))
                    lines.append((view, {name: found[name] for name in wanted}, found))
    return lines


def test_a_line_says_something_about_somebody(said):
    """'Such things have a way of turning out more or less as they do.'"""
    empty = re.compile(
        r"as (?:they|it|such things) (?:do|does|go|come about|is)\b|it is what it is"
    )
    for _, _, answered in said:
        assert not empty.search(answered["utterance"].lower()), answered["utterance"]


def test_no_line_has_more_than_two_sentences(said):
    """'I'm sorry that things never come out one way. It's good to have let you know.'"""
    for _, declared, answered in said:
        if declared["veracity"] == "Quantity":  # mostly somebody else wrote the line
            continue
        sentences = len(re.findall(r"[.?!](?=\s|$)", answered["utterance"]))
        assert 1 <= sentences <= 2, answered["utterance"]


def test_two_sentences_share_no_word_that_carries_meaning(said):
    """'I hate keeping that from you. I'd hate it if you were disappointed in me.'"""
    for _, declared, answered in said:
        first, *second = re.split(r"(?<=[.?!]) ", answered["utterance"])
        if declared["veracity"] != "Quantity":
            assert not content_stems(first) & content_stems(" ".join(second)), (first, second)


def test_no_line_refers_to_a_thing_cut_out_of_the_fact(said):
    """'The word union had something to do with the microphone in the roof.'"""
    common = content_stems(" ".join(_without_slots()))
    for view, declared, answered in said:
        if declared["veracity"] in ("Quality", "Quantity"):
            continue
        known = content_stems(" ".join((view.situation, view.role, *view.claimed, view.other_role)))
        private = content_stems(f"{view.fact} {view.about}") - known
        told = private & content_stems(answered["utterance"]) - common
        assert not told, (told, answered["utterance"])


def _without_slots():
    """Yield every phrase of the grammar."""

    def texts(node):
        if isinstance(node, str):
            yield node
        for child in (
            node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
        ):
            yield from texts(child)

    for book in ("cores", "closers", "feelings", "asides"):
        yield from texts(load(book))


def test_a_line_around_a_claim_does_the_act_it_is_labelled_with():
    """'Please bear in mind that ...' as a directive: the scheme takes what follows."""
    acts = [tree("cores")[veracity] for veracity in ("Quantity", "Quality")]
    cores = [(act, line) for by_act in acts for act, lines in by_act.items() for line in lines]
    assert len(cores) > 30
    for act, core in cores:
        line = re.sub(r"\{\w+\}", "the tables are open until four", core.rpartition("| ")[2])
        assert act_of(line)[0] == act, line
        assert not re.search(r"glad (?:to|I can) say", line)


def test_a_line_asks_for_an_action_where_it_motivates_and_nowhere_else():
    """'Leave me that one question, please', to inform."""
    for veracity, act, mark in itertools.product(tree("cores"), ACTS, "td"):
        for why in ("Inform", "Convince", "Motivate"):
            for core in choices("cores", veracity, act, mark, why):
                line = re.sub(r"\{\w+\}", "the tables are open until four", core)
                assert (aim_of(line)[0] == "Motivate") == (why == "Motivate"), line


def test_every_wanted_label_is_said_in_answer_to_the_question_a_scene_is_about():
    actors = ActorPrompts(Templates(None), SCHEME)
    names = [d.id for d in SCHEME.utterance_dimensions]
    for number, scenario in enumerate(SCENARIOS.values()):
        shared, needless = scenario.opening.shared, lines_of(scenario).needless
        fact = next(fact.id for fact in scenario.facts if fact.id not in needless)
        first = shared.exchanges[0]
        history = [
            ("initiator", first.question),
            ("responder", first.answer),
            ("initiator", shared.hard_question[0]),
        ]
        for goal, triple in itertools.product(SCHEME.goal.values, TRIPLES[number % 7 :: 7]):
            wanted = tuple(zip(names, triple, strict=True))
            case = make_case(scenario, fact=fact, goal=goal, turns=1)
            view = responder_view(scenario, SCHEME, case)
            if ("veracity", "Quality") in wanted and goal == DISCREET:
                continue
            asked = actors.responder(view, history, wanted)
            found = json.loads(answer([(m.role, m.content) for m in asked.messages], number))
            assert tuple(found[name] for name in names) == triple, found["utterance"]


def test_a_declaration_makes_something_so_and_certifies_nothing(said):
    """'I hereby certify that I had never seen the paper': certifying does not make it so."""
    for veracity, by_act in tree("cores").items():
        for core in by_act.get("Declarations", ()):
            assert not re.search(r"certify|confirm|on record|acknowledge|noted|pronounce", core)
            assert act_of(re.sub(r"\{\w+\}", "the deposit", core))[0] == "Declarations", veracity
    assert act_of("I hereby certify that the tables are open until four.")[0] == "Representatives"
    assert act_of("I hereby put on record that nobody left.")[0] == "Representatives"
    for _, declared, answered in said:
        if declared["illocutionary"] == "Declarations" and declared["veracity"] != "Quantity":
            sentences = re.split(r"(?<=[.?!]) ", answered["utterance"])
            assert "Declarations" in {act_of(sentence)[0] for sentence in sentences}, sentences
            assert not re.search(
                "hereby (?:make|end|call)|guessing is over|my answer:",
                answered["utterance"].lower(),
            )


def test_a_true_detail_is_told_only_where_it_answers_a_part_of_the_question():
    """'I'm grateful for one thing, that I leave tomorrow', to 'has there been any smoking?'"""
    actors = ActorPrompts(Templates(None), SCHEME)
    told = asked = 0
    for number, scenario in enumerate(SCENARIOS.values()):
        lines = lines_of(scenario)
        true = [one.text for one in lines.responder if one.labels["veracity"] == "Quantity"]
        true += [f" {detail.text}" for detail in lines.details]
        shared = scenario.opening.shared
        exchanges = [(e.question, e.answer) for e in shared.exchanges]
        opening = [
            (who, t)
            for e in exchanges
            for who, t in zip(("initiator", "responder"), e, strict=True)
        ]
        questions = [shared.hard_question[0], "How do you know?"]
        for fact, goal, question in itertools.product(
            scenario.facts, SCHEME.goal.values, questions
        ):
            case = make_case(scenario, fact=fact.id, goal=goal, turns=1)
            view = responder_view(scenario, SCHEME, case)
            history = [*opening, ("initiator", question)]
            prompt = actors.responder(view, history, (("veracity", "Quantity"),))
            found = json.loads(answer([(m.role, m.content) for m in prompt.messages], number))
            asked += question != "How do you know?" and fact.id not in lines.needless
            if found["veracity"] == "Quantity":
                told += 1
                assert any(text[2:].rstrip(".") in found["utterance"] for text in true)
                assert question != "How do you know?"
    assert told == asked


def test_lines_of_every_label_are_about_equally_long(said):
    """'I'm so sorry.' to affect, and two long sentences to motivate: the length gives the label away."""
    for name in ("intention", "veracity"):
        lengths = defaultdict(list)
        for _, declared, answered in said:
            lengths[declared[name]].append(len(answered["utterance"]))
        means = {label: sum(found) / len(found) for label, found in lengths.items()}
        assert max(means.values()) - min(means.values()) < 8, means


def test_the_words_of_every_label_are_about_equally_long(said):
    """'I'm torn about it, I feel one thing one day and another the next': short words gave feelings away."""
    for name in ("intention", "veracity"):
        lengths = defaultdict(list)
        for _, declared, answered in said:
            text = answered["utterance"]
            lengths[declared[name]].append(len(text) / len(text.split()))
        means = {label: sum(found) / len(found) for label, found in lengths.items()}
        assert max(means.values()) - min(means.values()) < 0.15, means


def test_a_line_that_affects_is_all_feeling(said):
    """'You will have it in writing that the tables are open. It warms my heart a little.'"""
    felt = [
        answered["utterance"] for _, declared, answered in said if declared["intention"] == "Affect"
    ]
    assert len(felt) > 100
    assert all(feeling_of(text) for text in felt)
    assert not feeling_of("The tables are open until four. It hurts me that you'd think otherwise.")
    assert not feeling_of("Thank you for asking: the tables are open until four.")


def test_whoever_deceives_does_not_own_up_to_keeping_something_back(said):
    """'I am holding something back about the staff, and I am telling you that I am.'"""
    for view, _, answered in said:
        if view.goal == DECEPTION:
            assert not _OWNING_UP.search(answered["utterance"]), answered["utterance"]


def test_the_responder_does_not_bring_up_what_nobody_asked_about(said):
    """'The passenger airbag played a part in that.'"""
    for view, declared, answered in said:
        if declared["veracity"] != "Quality":  # whoever lies says what is to be believed
            assert view.about.lower() not in answered["utterance"].lower()


def test_reasons_quote_the_line_or_name_what_the_fact_is_about(said):
    """'It passes on something the other person should know.'"""
    for view, _, answered in said:
        about = view.about[:1].lower() + view.about[1:]
        for dimension in ("intention", "veracity", "illocutionary"):
            reason = answered[f"{dimension}_rationale"]
            assert '"' in reason or about in reason, reason


def test_reasons_for_one_label_differ_from_line_to_line(said):
    reasons = [answered["veracity_rationale"] for _, _, answered in said]
    assert len(set(reasons)) > 0.6 * len(reasons)


def test_questions_differ_within_a_dialogue_and_over_the_library():
    """'Could you take me through it from the beginning?', twelve times in 36 dialogues."""
    actors = ActorPrompts(Templates(None), SCHEME)
    asked = []
    for number, scenario in enumerate(SCENARIOS.values()):
        fact = scenario.facts[0].id
        case = make_case(
            scenario, fact=fact, goal=DECEPTION, turns=2, variation={"openings": "shared"}
        )
        view = initiator_view(scenario, case)
        history = [("initiator", scenario.opening.shared.hard_question[0])]
        for turn in range(3):
            history.append(("responder", f"Not at all, {turn}."))
            question = actors.initiator(view, history)
            messages = [(m.role, m.content) for m in question.messages]
            history.append(("initiator", question.answer.read(answer(messages, number))))
        asked += [text for who, text in history[1:] if who == "initiator"]
    assert len(set(asked)) == len(asked)
