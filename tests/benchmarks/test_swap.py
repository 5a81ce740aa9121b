"""What is printed of swap items beside readers: what words alone can reach, and how facts are shown."""

from __future__ import annotations

import pytest

from benchmarks.swap import at_best, imbalance, without_memory_of
from pipeline.offline_judge.memory import remembered
from pipeline.offline_judge.truth import MANIPULATIONS, Matter
from pipeline.offline_judge.utterance import BY_HEART, JudgedLine, utterance_label
from scenarios.catalogue import Catalogue


def item(line, fact, shown, words="No."):
    return {
        "scenario": "s", "line": line, "question": "Well?", "utterance": words,
        "fact_shown": fact, "shown": shown, "false": shown == "own",
    }  # fmt: skip


def test_words_that_stand_there_twice_are_read_right_in_half():
    assert at_best([item("1", "a", "own"), item("1", "b", "other")]) == 0.5
    told = [item("1", "a", "own"), item("2", "b", "other", "Never.")]
    assert at_best(told) == 1.0


def test_the_imbalance_is_the_mean_over_facts():
    items = [
        item("1", "a", "own"), item("1", "b", "other"),
        item("2", "a", "own"), item("2", "c", "other"),
        item("3", "b", "own"), item("3", "a", "other"),
    ]  # fmt: skip
    # a: 2 own, 1 other; b: one of each; c: other alone
    assert imbalance(items) == pytest.approx((1 / 3 + 0 + 1) / 3)


def test_a_line_that_was_read_by_heart_is_read_anew_without_the_memory_of_its_scenario():
    known = next(line for _, line in remembered() if line.false_claims and line.claims)
    scene = Catalogue.load(environment={}).scenarios[known.scenario].background
    matter = Matter(known.fact, "", known.questions[0], scene, known.false_claims)
    line = JudgedLine(known.text, matter, remembers=True)

    def reason() -> str:
        return utterance_label(line, tuple(MANIPULATIONS))[1]

    assert reason().startswith(BY_HEART)
    with without_memory_of(known.scenario):
        assert BY_HEART not in reason()
    assert reason().startswith(BY_HEART)
