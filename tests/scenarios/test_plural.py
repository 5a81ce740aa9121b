"""One of a thing is told as one."""

import re
from pathlib import Path

import pytest

from scenarios.plural import enumerated, first_of, in_dollars, plural

ROOMS = ("scenarios", "prompts", "pipeline", "quality", "outputs", "hipo")
NOUNS = "dialogues|cases|utterances|calls|requests|items|rows|labels|texts|annotators"
BARE = re.compile(rf'f"[^"]*(?<!of )(?<!the )\{{[a-z_.]+:,\}} ({NOUNS})\b')
ENOUGH = {"none of {played:,} dialogues was", "{self.curve.generated:,} dialogues are distinct"}
"""There are always many of these."""


@pytest.mark.parametrize(
    ("count", "told"), [(0, "0 rows"), (1, "1 row"), (2, "2 rows"), (1200, "1,200 rows")]
)
def test_one_of_a_thing_has_no_s(count: int, told: str) -> None:
    assert plural(count, "row") == told


@pytest.mark.parametrize(
    ("amount", "told"),
    [
        (0, "$0.00"),
        (-1e-17, "$0.00"),
        (0.000031, "$0.000031"),
        (0.0304, "$0.0304"),
        (1234.567, "$1,234.57"),
    ],
)
def test_an_amount_of_dollars_that_is_not_nothing_never_looks_like_it(
    amount: float, told: str
) -> None:
    assert in_dollars(amount) == told


@pytest.mark.parametrize(
    ("names", "all_of_them", "two_of_them"),
    [
        (["Ann"], "Ann", "Ann"),
        (["Ann", "Ben"], "Ann and Ben", "Ann, Ben"),
        (["Ann", "Ben", "Cleo"], "Ann, Ben and Cleo", "Ann, Ben and 1 more"),
    ],
)
def test_names_are_told_all_of_them_or_the_first(
    names: list[str], all_of_them: str, two_of_them: str
) -> None:
    assert (enumerated(names), first_of(names, 2)) == (all_of_them, two_of_them)


def test_no_sentence_counts_with_a_noun_that_is_always_plural() -> None:
    root = Path(__file__).parents[2]
    found = [
        f"{path.relative_to(root)}: {line.strip()}"
        for room in ROOMS
        for path in (root / room).rglob("*.py")
        for line in path.read_text("utf-8").splitlines()
        if BARE.search(line) and not any(known in line for known in ENOUGH)
    ]
    assert found == []
