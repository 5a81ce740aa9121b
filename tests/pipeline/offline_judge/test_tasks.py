"""The offline models answer the prompts of every task, in every mode, with the fact and without."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest

from pipeline.offline.lot import SAID, draw
from pipeline.offline_judge.engine import answer, answer_unprepared
from prompts.environment import Templates
from prompts.tasks.items import TaskItem, fact_view, scene_view, standing_question
from prompts.tasks.model import Task
from prompts.tasks.prompts import TaskPrompts
from prompts.tasks.registry import load_task, shipped_tasks
from scenarios.catalogue import Catalogue
from scenarios.lines.library import spoken_stage_lines
from scenarios.schemes.registry import load_scheme

SCHEME = load_scheme("hipo")
MODELS = {
    "judge": lambda messages, schema: answer(messages, 1),
    "reader": lambda messages, schema: answer_unprepared(messages, 1),
    "random": draw,
}
TASKS = [load_task(name, SCHEME) for name in shipped_tasks(SCHEME)]


@pytest.fixture(scope="module")
def lines():
    """Return what the responder says on the stage of one scenario, with its scenario."""
    entry = Catalogue.load(environment={}).entries["used_car"]
    return entry.scenario, spoken_stage_lines(entry.template).responder


def items(lines, subject="utterance"):
    scenario, said = lines
    question = " ".join(scenario.opening.shared.hard_question)
    for number, line in enumerate(said):
        turns = (("initiator", question), ("responder", line.text))
        fact = next(f.id for f in scenario.facts if line.fact in (f.id, "any"))
        yield (
            line,
            TaskItem(
                id=f"item {number}",
                scene=scene_view(scenario, "en"),
                turns=turns,
                target=1 if subject == "utterance" else None,
                standing=standing_question(turns, 1) if subject == "utterance" else None,
                fact=fact_view(scenario, fact),
                goal=line.goal,
                scenario="another",
                right={**line.labels, "goal": line.goal},
            ),
        )


def asked(prompts, item, reply):
    """Return what a model finds: a label by dimension, in however many questions."""
    explained = [part.found(reply(part.question)) for part in prompts.explain(item)]
    found = [
        label
        for question in prompts.questions(item, explained=explained)
        for label in question.found(reply(question.question))
    ]
    assert [label.fault for label in found] == [""] * len(found)
    return {label.dimension: label.value for label in found}, explained


def replies(model):
    def reply(question):
        messages = [(message.role, message.content) for message in question.messages]
        return MODELS[model](messages, question.answer.schema)

    return reply


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("task", "mode"), [(task, mode) for task in TASKS for mode in task.modes],
    ids=[f"{task.id}-{mode}" for task in TASKS for mode in task.modes],
)  # fmt: skip
def test_every_task_is_answered_in_every_mode(lines, task, mode, model):
    prompts = TaskPrompts(Templates(None), SCHEME, task, mode=mode)
    for _, item in list(items(lines, task.subject))[:3]:
        labels, explained = asked(prompts, item, replies(model))
        assert list(labels) == [dimension.id for dimension in prompts.dimensions]
        assert all(explained)


def accuracy(lines, task, model, dimension):
    prompts = TaskPrompts(Templates(None), SCHEME, load_task(task, SCHEME))
    right = [
        asked(prompts, item, replies(model))[0][dimension] == line.labels[dimension]
        for line, item in items(lines)
    ]
    return sum(right) / len(right)


@pytest.mark.parametrize("task", ["hipo-utterance-paper", "hipo-utterance", "hipo-oracle"])
def test_the_judge_knows_the_stage_lines_and_the_reader_has_to_read_them(lines, task):
    known = accuracy(lines, task, "judge", "illocutionary")
    read = accuracy(lines, task, "reader", "illocutionary")
    assert known > read > 1 / 5


def test_without_a_fact_the_reader_goes_by_the_words(lines):
    prompts = TaskPrompts(Templates(None), SCHEME, load_task("hipo-utterance", SCHEME))
    _, item = next(items(lines))
    words = {
        "I would rather not talk about that, and I will leave it there.": "None",
        "I have no idea, nobody ever told me anything about it.": "Quality",
    }
    for text, label in words.items():
        said = replace(item, turns=(item.turns[0], ("responder", text)))
        assert asked(prompts, said, replies("reader"))[0]["veracity"] == label


def test_the_fact_changes_what_the_reader_says_of_a_lie(lines):
    scenario, _ = lines
    _, item = next(items(lines))
    odometer = fact_view(scenario, "odometer")
    lie = odometer.false_claims[0]
    turns = (item.turns[0], ("responder", lie))
    said = replace(item, turns=turns, fact=odometer)
    oracle = load_task("judge-turn", SCHEME)
    shown = asked(TaskPrompts(Templates(None), SCHEME, oracle), said, replies("reader"))[0]
    assert shown["veracity"] == "Quality"
    # A task that tells the fact and not what it rules out: the judge knows its own library.
    alone = TaskPrompts(Templates(None), SCHEME, load_task("hipo-oracle", SCHEME))
    assert asked(alone, said, replies("judge"))[0]["veracity"] == "Quality"
    blind = load_task("hipo-utterance-paper", SCHEME)
    hidden = asked(TaskPrompts(Templates(None), SCHEME, blind), said, replies("reader"))[0]
    assert hidden["veracity"] != "Quality"


def test_options_under_letters_are_answered_by_their_letter(lines):
    own = {"asks": ["illocutionary"], "options": {"illocutionary": {"distractors": 2}}}
    task = Task.model_validate(
        {**load_task("hipo-utterance", SCHEME).model_dump(), **own, "id": "x"}
    )
    prompts = TaskPrompts(Templates(None), SCHEME, task)
    for model in MODELS:
        for _, item in list(items(lines))[:5]:
            assert (
                asked(prompts, item, replies(model))[0]["illocutionary"]
                in SCHEME.dimension("illocutionary").values
            )


def test_what_is_drawn_by_lot_is_spread_evenly_and_comes_again(lines):
    schema = {"properties": {"act": {"enum": ["a", "b", "c"]}, "why": {"type": "string"}}}
    drawn = [draw([("user", f"item {i}")], schema) for i in range(900)]
    assert drawn == [draw([("user", f"item {i}")], schema) for i in range(900)]
    counts = Counter(drawn)
    assert len(counts) == 3
    assert min(counts.values()) > 250
    assert all(f'"why":"{SAID}"' in one for one in counts)


def test_any_kind_of_answer_can_be_drawn():
    schema = {
        "properties": {
            "yes": {"type": "boolean"},
            "several": {"type": "array", "items": {"enum": ["a", "b"]}},
            "share": {"type": "number", "minimum": 2.0, "maximum": 3.0},
        }
    }
    for i in range(50):
        answer = json.loads(draw([("user", str(i))], schema))
        assert answer["yes"] in (True, False)
        assert answer["several"] in (["a"], ["b"])
        assert 2.0 <= answer["share"] <= 3.0
