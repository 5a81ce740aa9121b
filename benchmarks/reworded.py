"""How many reworded gold lines ``hipo contamination`` finds, and how often it is wrong.

A line is reworded by replacing one word in four by words of other lines, or by swapping neighbours.
The similarity from which on lines count was chosen on other draws of such rewordings, of these gold
lines. False alarms: the lines of half of the scenarios against those of the other half.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from benchmarks.report import Goal, Row
from outputs.contamination.contamination import RowSet, Settings, compare
from outputs.contamination.reworded_lines import FEWEST_WORDS
from quality.gold import gold_items
from scenarios.wording import split_words


def replaced(text: str, rng: random.Random, vocabulary: Sequence[str]) -> str:
    """Return a text with one word in four replaced."""
    words = text.split()
    first = rng.randrange(4)
    return " ".join(
        rng.choice(vocabulary) if place % 4 == first else word for place, word in enumerate(words)
    )


def swapped(text: str, rng: random.Random) -> str:
    """Return a text with its words swapped two by two."""
    words = text.split()
    for place in range(rng.randrange(2), len(words) - 1, 2):
        words[place], words[place + 1] = words[place + 1], words[place]
    return " ".join(words)


def share_found(checked: Sequence[str], reference: Sequence[str]) -> float:
    """Return in which share of the checked lines a reworded one of the reference is seen."""
    rows = [RowSet(n, lambda t=t: ({"text": x} for x in t)) for n, t in (("a", checked), ("b", reference))]  # fmt: skip
    found = compare(rows[0], rows[1], Settings()).reworded
    return 0.0 if found is None else found.rows / len(checked)


def run(*, quick: bool = False) -> list[Row]:
    """Reword, and look for what was reworded."""
    by_scenario: dict[str, list[str]] = {}
    for item in gold_items():
        by_scenario.setdefault(item.scenario.id, []).append(item.line.text)
    lines = [by_scenario[name] for name in sorted(by_scenario)]
    others, held_out = (
        [line for part in half for line in part] for half in (lines[::2], lines[1::2])
    )
    long = [line for line in held_out if len(split_words(line)) >= FEWEST_WORDS]
    vocabulary = [word for line in others for word in line.split()]
    seeds = range(2 if quick else 20)
    ways: dict[str, Callable[[str, random.Random], str]] = {
        "one word in four replaced": lambda text, rng: replaced(text, rng, vocabulary),
        "neighbours swapped": swapped,
    }
    rows = []
    for name, reword in ways.items():
        shares = []
        for seed in seeds:
            rng = random.Random(seed)
            shares.append(share_found([reword(line, rng) for line in long], held_out))
        mean = sum(shares) / len(shares)
        rows.append(Row(f"reworded: recall, {name}", mean, "", Goal.above(0.95)))
    unseen = [line for line in long if line not in others]
    rows.append(Row("reworded: false alarms", share_found(unseen, others), "", Goal.below(0.02)))
    return rows
