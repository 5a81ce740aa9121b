"""Worked examples: what ships, files of the user's, draws, and what is never shown."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest

from prompts.environment import Templates
from prompts.tasks.example_file import read_examples
from prompts.tasks.items import SceneView, TaskItem
from prompts.tasks.prompts import TaskPrompts
from prompts.tasks.registry import load_task
from prompts.tasks.shipped_examples import shipped_examples
from scenarios.errors import InputError, UsageError
from scenarios.lines.library import gold_lines, scenarios_with
from scenarios.schemes.registry import load_scheme

SCENE = SceneView("Two talk.", "a", "A.", "b", "B.", "en (English)")
TURNS = (("initiator", "Who painted the wing?"), ("responder", "Nobody has painted it."))
ITEM = TaskItem("item", SCENE, TURNS, 1, 0, scenario="used_car")
ROW = {
    "scene": "Two talk about honey.", "question": "Is it yours?", "line": "Every drop.",
    "labels": {"intention": "Inform", "veracity": "falsification",
               "illocutionary": "Representatives", "goal": "deception"},
}  # fmt: skip


@pytest.fixture(scope="module")
def shipped(hipo):
    return shipped_examples(hipo)


@pytest.fixture(scope="module")
def prompts(hipo):
    return TaskPrompts(Templates(), hipo, load_task("hipo-utterance"), mode="icl")


def user(prompts, item=ITEM, draw=0):
    (asked,) = prompts.questions(item, draw=draw)
    return asked.question.messages[1].content


def lines_in(text):
    examples = text.partition("# Situation\n")[0]
    return [line[11:] for line in examples.splitlines() if line.startswith("RESPONDER: ")]


def written(folder, name, content):
    file = folder / name
    file.write_text(content, encoding="utf-8")
    return file


def test_as_many_examples_as_the_task_says_come_before_the_item_with_their_labels(prompts):
    shown = user(prompts)
    assert shown.startswith("# Examples\n")
    assert len(lines_in(shown)) == load_task("hipo-utterance").examples == 4
    answers = [
        json.loads(line.removeprefix("Right answer: "))
        for line in shown.splitlines()
        if line.startswith("Right answer: ")
    ]
    assert all(list(a) == ["intention", "veracity", "illocutionary", "goal"] for a in answers)


def test_draws_differ_and_each_is_the_same_for_every_item_and_process(hipo, prompts):
    drawn = [lines_in(user(prompts, draw=draw)) for draw in range(prompts.draws)]
    assert len(drawn) == 3
    assert len({tuple(lines) for lines in drawn}) == 3
    other = replace(ITEM, id="another", turns=(("initiator", "Well?"), ("responder", "So.")))
    assert lines_in(user(prompts, other, 1)) == drawn[1]
    again = TaskPrompts(Templates(), hipo, load_task("hipo-utterance"), mode="icl")
    assert lines_in(user(again, draw=2)) == drawn[2]
    seeded = TaskPrompts(Templates(), hipo, load_task("hipo-utterance"), mode="icl", seed=1)
    assert lines_in(user(seeded)) != drawn[0]
    assert seeded.fingerprint != prompts.fingerprint


def test_the_examples_of_a_draw_differ_in_scenario_and_in_every_label(hipo, shipped):
    for draw in range(10):
        first = shipped.order(hipo.declared, 0, draw)[:4]
        assert len({example.scenario for example in first}) >= 3
        for dimension in hipo.declared:
            shown = Counter(example.labels[dimension.id] for example in first)
            assert len(shown) >= 2
            assert max(shown.values()) <= 3 - (dimension.id == "veracity")
    for draw in range(10):
        first = shipped.order([hipo.goal], 0, draw)[:4]
        assert Counter(e.labels["goal"] for e in first).most_common()[0][1] == 2


def test_no_example_comes_from_the_scenario_of_the_item(prompts, shipped):
    for draw in range(3):
        for name in scenarios_with("exemplar"):
            shown = lines_in(user(prompts, replace(ITEM, scenario=name), draw))
            own = {example.line for example in shipped.examples if example.scenario == name}
            assert not own & set(shown)


def test_an_example_that_is_the_item_itself_is_left_out(prompts, shipped):
    for example in shipped.examples:
        turns = (("initiator", example.question), ("responder", example.line))
        for draw in range(3):
            shown = user(prompts, replace(ITEM, turns=turns), draw)
            assert example.line not in lines_in(shown)


def test_no_gold_line_is_an_example(shipped):
    gold = {line.text for name in scenarios_with("gold") for line in gold_lines(name).lines}
    assert not gold & {example.line for example in shipped.examples}
    assert not set(scenarios_with("gold")) & {example.scenario for example in shipped.examples}


def test_the_fact_of_an_example_is_shown_only_by_tasks_that_show_facts(hipo, shipped):
    assert all(example.fact for example in shipped.examples)
    facts = [example.fact.text for example in shipped.examples]
    fact = shipped.examples[0].fact
    for name, shows in (("hipo-cumulative", False), ("hipo-oracle", True)):
        prompts = TaskPrompts(Templates(), hipo, load_task(name), mode="icl")
        shown = user(prompts, replace(ITEM, fact=fact)).partition("# Situation\n")[0]
        assert any(text in shown for text in facts) is shows


def test_the_goal_behind_a_conversation_is_shown_by_examples_too(hipo):
    prompts = TaskPrompts(Templates(), hipo, load_task("hipo-conversation"), mode="icl")
    shown = user(prompts, replace(ITEM, target=None, standing=None))
    assert shown.count('Right answer: {"goal":') == 4


def test_no_examples_ship_for_other_schemes():
    with pytest.raises(UsageError, match="no examples ship for the scheme"):
        shipped_examples(load_scheme("face_acts"))


def test_the_labels_of_the_paper_have_examples_of_their_own(shipped):
    scheme = load_scheme("hipo@1")
    pool = shipped_examples(scheme)
    assert not {e.line for e in pool.examples} & {e.line for e in shipped.examples}
    assert all(example.fact and example.scenario for example in pool.examples)
    for dimension in (*scheme.declared, scheme.goal):
        shown = {example.labels[dimension.id] for example in pool.examples}
        assert shown == set(dimension.values), dimension.id
    assert not [
        e for e in pool.examples
        if (e.labels["goal"], e.labels["veracity"]) == ("truthful non-disclosure", "Quality")
    ]  # fmt: skip
    for task in ("hipo-utterance-paper", "hipo-cumulative-paper", "hipo-conversation"):
        asked = TaskPrompts(Templates(), scheme, load_task(task, scheme), mode="icl")
        item = ITEM if task != "hipo-conversation" else replace(ITEM, target=None, standing=None)
        for one in asked.questions(item):
            assert one.question.messages[1].content.count("Right answer: ") == 4


def test_jurors_and_evaluations_are_shown_the_same_examples_of_cross_examinations():
    cobra = load_scheme("cobra")
    pool = shipped_examples(cobra)
    assert {e.labels["commitment"] for e in pool.examples} > {"none", "beneficial", "detrimental"}
    prompts = TaskPrompts(Templates(), cobra, load_task("cobra-juror"), mode="icl")
    shown = user(prompts, ITEM).partition("# Situation\n")[0]
    assert shown.count("Right answer: ") == 4
    assert any(e.line in shown for e in pool.examples)


def test_a_juror_is_told_whom_the_labels_mean_where_the_witness_is_asked_by_her_own_side():
    prompts = TaskPrompts(Templates(), load_scheme("cobra"), load_task("cobra-juror"))
    (asked,) = prompts.questions(ITEM)
    assert (
        "the questioner of the labels is the side against them"
        in asked.question.messages[0].content
    )


def test_examples_of_emotions_say_who_speaks_to_whom_and_hold_numbers_as_numbers():
    pool = shipped_examples(load_scheme("cei"))
    example = next(e for e in pool.examples if e.id == "melted_ice_1")
    assert example.situation.endswith("Said by: fishmonger; to: driver.")
    assert example.question == ""
    assert example.labels == {
        "emotion": "anger", "valence": -0.67, "arousal": 0.67, "dominance": 0.33,
        "subtype": "sarcasm",
    }  # fmt: skip


@pytest.mark.parametrize("suffix", ["yaml", "jsonl"])
def test_a_file_of_ones_own_is_read_and_its_labels_through_the_aliases(tmp_path, hipo, suffix):
    rows = [{**ROW, "line": f"Drop {n}."} for n in range(5)]
    text = "\n".join(json.dumps(r) for r in rows) if suffix == "jsonl" else json.dumps(rows)
    pool = read_examples(written(tmp_path, f"mine.{suffix}", text), hipo)
    assert [example.labels["veracity"] for example in pool.examples] == ["Quality"] * 5
    task = load_task("hipo-utterance")
    prompts = TaskPrompts(Templates(), hipo, task, mode="icl", examples=pool)
    assert set(lines_in(user(prompts))) < {f"Drop {n}." for n in range(5)}


def test_a_line_of_json_ends_at_a_line_feed_alone(tmp_path, hipo):
    rows = [{**ROW, "line": f"Look:\u2028{n}\x85 and\u2029 {n}."} for n in range(2)]
    text = "\r\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    pool = read_examples(written(tmp_path, "mine.jsonl", text), hipo)
    assert [example.line for example in pool.examples] == [row["line"] for row in rows]


def test_examples_that_are_too_few_are_counted_in_one_message(tmp_path, hipo):
    pool = read_examples(written(tmp_path, "mine.yaml", json.dumps([ROW, ROW])), hipo)
    with pytest.raises(UsageError, match=r"4 examples are to be shown .*mine\.yaml has 2"):
        TaskPrompts(Templates(), hipo, load_task("hipo-utterance"), mode="icl", examples=pool)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.yaml", "- scene: x\n  line: y\n  labels: {mood: good}", r"a\.yaml:3: labels\.mood: .*scheme hipo@2"),
        ("a.yaml", "- scene: x\n  line: y\n  labels:\n    veracity: Maybe", r"a\.yaml:4: labels\.veracity: found 'Maybe', expected Quantity \|"),
        ("a.yaml", "- scene: x\n  labels: {goal: deception}", r"a\.yaml:1: line: found nothing"),
        ("a.yaml", "- scene: x\n  line: y\n  text: z\n  labels: {goal: lie}", r"a\.yaml:3: text: found the unknown field"),
        ("a.yaml", "scene: x\nline: y", r"a\.yaml:1: found a mapping .*expected a list of examples"),
        ("a.yaml", "[]", r"a\.yaml: found no examples"),
        ("a.jsonl", '{"scene": "x"', r"a\.jsonl:1: found broken JSON"),
        ("a.jsonl", '\n{"scene": "x", "line": "y", "labels": {"goal": "maybe"}}', r"a\.jsonl:2: labels\.goal: found 'maybe'"),
        ("a.jsonl", "[1]", r"a\.jsonl:1: "),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_file_is_said_with_its_line(tmp_path, hipo, name, text, message):
    with pytest.raises(InputError, match=message):
        read_examples(written(tmp_path, name, text), hipo)


def test_every_broken_example_is_named_at_once(tmp_path, hipo):
    text = "- scene: x\n  line: y\n  labels: {mood: good}\n- scene: x\n  labels: {goal: lie}"
    with pytest.raises(InputError) as raised:
        read_examples(written(tmp_path, "a.yaml", text), hipo)
    assert [problem.line for problem in raised.value.problems] == [3, 4]
