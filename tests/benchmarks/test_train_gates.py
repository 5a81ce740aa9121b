"""The weights of the gates that ship are what the command learns from the lists that ship."""

from __future__ import annotations

import json

import numpy as np
import pytest

from benchmarks.train_gates import (
    FILES,
    SCALE,
    SMALLEST,
    Across,
    Material,
    authors,
    material,
    trained,
)


@pytest.mark.slow
@pytest.mark.parametrize("gate", FILES)
def test_the_weights_that_ship_are_learnt_from_the_lists_that_ship(gate):
    shipped = json.loads(FILES[gate].read_text(encoding="utf-8"))
    learnt = trained(gate)
    assert learnt["classes"] == shipped["classes"]
    assert abs(learnt["intercept"] - shipped["intercept"]) <= 1
    weights, others = learnt["weights"], shipped["weights"]
    # Where sums are taken in another order, the last digit may differ, and who is left out with it.
    both = {name: (weights.get(name, 0), others.get(name, 0)) for name in {*weights, *others}}
    off = {
        name: (one, other)
        for name, (one, other) in both.items()
        if abs(one - other) > 1 and max(abs(one), abs(other)) > SMALLEST * SCALE + 1
    }
    assert off == {}


def test_no_line_is_learnt_from_as_said_and_as_not_said():
    for gate in FILES:
        data = material(gate)
        said = {text for text, is_said in zip(data.texts, data.said, strict=True) if is_said}
        rest = {text for text, is_said in zip(data.texts, data.said, strict=True) if not is_said}
        assert not said & rest


def test_the_threshold_keeps_both_shares_of_false_alarms():
    names = authors()
    count = len(names)
    said, like, library = np.full(count, 2.0), np.arange(100) / 100, np.arange(200) / 400
    scores = np.concatenate([said, like, library])
    by = [names[at % count] for at in range(len(scores))]
    data = Material(
        [str(at) for at in range(len(scores))],
        by,
        [True] * count + [False] * 300,
        [False] * (count + 100) + [True] * 200,
    )
    nowhere = np.zeros(len(scores), bool)
    rates = Across(data, scores, nowhere)
    assert rates.threshold == 0.97
    beside = nowhere.copy()
    beside[count] = True
    assert Across(data, scores, beside).threshold == 0.98
    table = rates.table()
    assert [row.split()[0] for row in table] == ["all", *names]
    assert f"found 1.000 of {count:4}  like words 0.020 of  100" in table[0]
