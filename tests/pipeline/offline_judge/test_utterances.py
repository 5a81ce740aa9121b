"""The utterances that measure the judge are many, distinct, and labelled within the scheme."""

from __future__ import annotations

from benchmarks.judge_accuracy import DIMENSIONS, given, items
from scenarios.schemes.registry import load_scheme


def test_every_gold_label_is_one_of_its_dimension():
    scheme = load_scheme("hipo")
    everything = list(items())
    assert len({item.text for item in everything}) == len(everything) >= 150
    for item in everything:
        for dimension, label in zip(DIMENSIONS, item.gold, strict=True):
            assert label in scheme.dimension(dimension).values, item.text


def test_every_label_is_needed_somewhere():
    scheme = load_scheme("hipo")
    for i, dimension in enumerate(DIMENSIONS):
        used = {item.gold[i] for item in items()}
        assert used == set(scheme.dimension(dimension).values)


def test_the_judge_beats_giving_one_label_always():
    everything = list(items())
    answers = [given(item) for item in everything]
    for i in range(len(DIMENSIONS)):
        gold = [item.gold[i] for item in everything]
        right = sum(a[i] == g for a, g in zip(answers, gold, strict=True))
        assert right > max(gold.count(label) for label in set(gold))
