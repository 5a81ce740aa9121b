"""Readers against gold: known figures from scripted answers, and gold kept out of all else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import quality
from benchmarks.judge_accuracy import JUDGE, judge_prompts, measured, shown
from prompts.tasks.answers import BlindLabel
from quality.gold import against_gold, gold_items
from scenarios.lines.model import GoldLine
from scenarios.schemes.registry import load_scheme

ROOT = Path(quality.__file__).parent.parent
READERS_OF_GOLD = {
    Path("quality/gold.py"),
    Path("outputs/evaluation_items/gold.py"),
    Path("hipo/app/review/gold_run.py"),
    Path("hipo/app/review/attention.py"),
    Path("hipo/app/review/agreement.py"),
}
"""Outside ``scenarios/lines``: what measures readers, and what shows the lines to people."""
NAMES_OF_GOLD = re.compile(r"\b(gold_lines|gold_items|GoldLines?|quality\.gold)\b")
DIMENSIONS = ("intention", "veracity", "illocutionary")


def line(name, intention, veracity, act):
    return GoldLine.model_validate(
        {
            "id": name, "fact": "a", "goal": "deception", "text": "So.", "question": "Why?",
            "labels": dict(zip(DIMENSIONS, (intention, veracity, act), strict=True)),
        }
    )  # fmt: skip


def read(*values):
    return [BlindLabel(d, v, None, "") for d, v in zip(DIMENSIONS, values, strict=True)]


def test_scripted_answers_give_exactly_the_known_figures():
    gold = [
        line("a", "Inform", "Quality", "Representatives"),
        line("b", "Inform", "Quality", "Directives"),
        line("c", "Convince", "None", "Commissives"),
        line("d", "Affect", "Manner", "Expressives"),
        line("e", "Motivate", "Relevance", "Directives"),
    ]
    found = {
        "a": read("Inform", "Quality", "Representatives"),
        "b": read("Convince", "Quality", "Directives"),
        "c": read("Convince", "Manner", "Commissives"),
        "d": None,
    }
    intention, veracity, act = against_gold(
        "reader", load_scheme("hipo"), [("used_car", one) for one in gold], found
    )
    assert intention.labels == ("Inform", "Convince", "Motivate", "Affect")
    assert intention.matrix == ((1, 1, 0, 0), (0, 1, 0, 0), (0, 0, 0, 0), (0, 0, 0, 0))
    assert intention.unread == (0, 0, 0, 1)
    assert (intention.items, intention.tally.failed) == (4, 1)
    assert intention.accuracy.value == 2 / 4
    convince = intention.classes[1]
    assert (convince.support, convince.precision.value, convince.recall.value) == (1, 1 / 2, 1.0)
    assert veracity.accuracy.value == 2 / 4
    assert veracity.classes[1].f1.value == 1.0
    assert act.accuracy.value == 3 / 4


def test_a_reader_who_gives_golds_own_labels_is_always_right_and_the_table_says_so():
    items = gold_items()
    found = {item.line.id: read(*(item.line.labels[d] for d in DIMENSIONS)) for item in items}
    lines = [(item.scenario.id, item.line) for item in items]
    for table in against_gold("reader", load_scheme("hipo"), lines, found):
        assert table.accuracy.value == 1.0
        assert table.items == len(items)
        assert "accuracy 1.00 [0.98, 1.00]" in shown(table)


def test_a_reader_sees_scene_fact_question_and_line_and_no_label_of_gold():
    for item in gold_items():
        user = item.question(judge_prompts()).messages[-1].content
        for text in (
            item.view.scene.situation,
            item.view.fact.text,
            item.line.question,
            item.line.text,
        ):
            assert " ".join(text.split()) in " ".join(user.split())
        assert item.line.labels["intention"] not in user.split()
        assert "{" not in item.line.text


def test_a_model_is_asked_about_every_line_it_is_to_read():
    tables = measured(JUDGE, most=6)
    assert [(table.model, table.dimension, table.items) for table in tables] == [
        (JUDGE, dimension, 6) for dimension in DIMENSIONS
    ]


@pytest.mark.parametrize("room", ["scenarios", "prompts", "pipeline", "quality", "outputs", "hipo"])
def test_nothing_reads_gold_but_what_measures_with_it(room):
    for path in (ROOT / room).rglob("*.py"):
        place = path.relative_to(ROOT)
        if place not in READERS_OF_GOLD and not place.is_relative_to("scenarios/lines"):
            assert not NAMES_OF_GOLD.search(path.read_text("utf-8")), place


def test_no_engine_that_speaks_or_judges_offline_names_the_folder_of_gold():
    for folder in ("pipeline/offline", "pipeline/offline_judge"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".py", ".yaml"):
                assert "gold" not in path.read_text("utf-8").replace("golden", ""), path
