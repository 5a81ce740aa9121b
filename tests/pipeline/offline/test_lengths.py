"""How long lines are tells little of what they do."""

from __future__ import annotations

from collections import Counter
from itertools import product
from statistics import mean

from pipeline.offline.dice import Dice
from pipeline.offline.responding import phrasings, speak
from pipeline.offline.tactics import ACT, INTENTION, REPERTOIRE, VERACITY, Tactic
from tests.pipeline.offline.test_phrase_books import SCENE


def test_no_line_stands_for_every_third_of_its_labels() -> None:
    """The one nearest to the length drawn was said over and over, so that its length told the label."""
    for why, how, act in [
        ("Motivate", "None", "Directives"),
        ("Affect", "None", "Commissives"),
        ("Affect", "Quality", "Expressives"),
    ]:
        said = Counter(speak(SCENE, Tactic(why, how, act, "d"), Dice(seed)) for seed in range(200))
        assert max(said.values()) < 70, said.most_common(1)


def test_how_long_a_line_is_tells_little_of_its_label() -> None:
    """Lies were longer than other lines."""
    long: dict[tuple[str, str], list[int]] = {}
    for why, how, act in product(*REPERTOIRE.values()):
        tactic = Tactic(why, how, act, "d")
        for seed in range(12 if phrasings(tactic, SCENE) else 0):
            text = speak(SCENE, tactic, Dice(seed))
            for dimension, label in zip(REPERTOIRE, (why, how, act), strict=True):
                long.setdefault((dimension, label), []).append(len(text))
    for dimension in (INTENTION, VERACITY, ACT):
        means = [mean(found) for (name, _), found in long.items() if name == dimension]
        assert max(means) - min(means) < 9, (dimension, means)
