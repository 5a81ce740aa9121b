"""Statistics of a collection of scenarios: counts, lengths, similarity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from scenarios.checks.checked_scenario import Similarity
from scenarios.languages import is_in_english
from scenarios.spec import Scenario
from scenarios.wording import resemblance, sentences, words


@dataclass(frozen=True, slots=True)
class Lengths:
    """Least, mean and most of a count."""

    least: int
    mean: float
    most: int

    @classmethod
    def of(cls, counts: Iterable[int]) -> Lengths:
        """Summarise counts; none at all give zeros."""
        all_counts = list(counts) or [0]
        return cls(min(all_counts), sum(all_counts) / len(all_counts), max(all_counts))


@dataclass(frozen=True, slots=True)
class Closest:
    """The two texts of a kind that are most alike."""

    score: float
    """In [-1, 1] for meanings (cosine), in [0, 1] for wordings (Jaccard)."""
    between: tuple[str, str]
    """Ids of the scenarios, or ``scenario/fact``."""


@dataclass(frozen=True, slots=True)
class Alike:
    """How much texts resemble each other at most; None where there are no two to compare."""

    facts: Closest | None
    """Between two facts of one scenario."""
    backgrounds: Closest | None
    """Between the backgrounds of two scenarios."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """The figures of a collection of scenarios."""

    scenarios: int
    facts: int
    categories: Mapping[str, tuple[int, int]]
    """Scenarios and facts by category."""
    pairs: Mapping[str, int]
    """Pairs of a claim and a fact by what was decided: false, misleads, true, open."""
    facts_per_scenario: Lengths
    background_sentences: Lengths
    words: Mapping[str, Lengths]
    """Words of the texts of a kind: ``background``, ``statement``, ``fact`` and so on."""
    wording: Alike
    """Jaccard similarity of words and word pairs."""
    meaning: Alike | None
    """Cosine similarity of embeddings of texts in English; None where no model is at hand."""


def measure(scenarios: Sequence[Scenario], similarity: Similarity | None = None) -> Statistics:
    """Count and compare the texts of scenarios whose placeholders are filled.

    Args:
        scenarios: at least one makes sense, none is allowed.
        similarity: compares meanings, where an embedding model is at hand.
    """
    return Statistics(
        scenarios=len(scenarios),
        facts=sum(len(s.facts) for s in scenarios),
        categories=_categories(scenarios),
        pairs=_pairs(scenarios),
        facts_per_scenario=Lengths.of(len(s.facts) for s in scenarios),
        background_sentences=Lengths.of(len(sentences(s.background)) for s in scenarios),
        words={
            kind: Lengths.of(len(words(text)) for text in texts)
            for kind, texts in _texts(scenarios).items()
            if texts
        },
        wording=_alike(scenarios, _resemblances),
        meaning=None
        if similarity is None
        else _alike([*filter(is_in_english, scenarios)], similarity),
    )


def _categories(scenarios: Sequence[Scenario]) -> dict[str, tuple[int, int]]:
    counts: dict[str, tuple[int, int]] = {}
    for scenario in sorted(scenarios, key=lambda s: s.category):
        number, facts = counts.get(scenario.category, (0, 0))
        counts[scenario.category] = (number + 1, facts + len(scenario.facts))
    return counts


def _pairs(scenarios: Sequence[Scenario]) -> dict[str, int]:
    facts = [fact for scenario in scenarios for fact in scenario.facts]
    return {
        "false": sum(len(fact.makes_false) for fact in facts),
        "misleads": sum(len(fact.misleads) for fact in facts),
        "true": sum(len(fact.makes_true) for fact in facts),
        "open": sum(len(fact.leaves_open) for fact in facts),
    }


def _texts(scenarios: Sequence[Scenario]) -> dict[str, list[str]]:
    openings = [opening for s in scenarios for opening in s.opening.by_goal]
    shared = [s.opening.shared for s in scenarios if s.opening.shared is not None]
    easy = [exchange for opening in shared for exchange in opening.exchanges]
    return {
        "background": [s.background for s in scenarios],
        "easy question": [exchange.question for exchange in easy],
        "easy answer": [exchange.answer for exchange in easy],
        "hard question": [text for opening in shared for text in opening.hard_question],
        "question": [opening.question for opening in openings],
        "statement": [s.text for opening in openings for s in opening.statements.values()],
        "angle": [fact.angle for s in scenarios for fact in s.facts if fact.angle],
        "fact": [fact.text for s in scenarios for fact in s.facts],
    }


def _alike(scenarios: Sequence[Scenario], similarity: Similarity) -> Alike:
    facts = [
        found
        for s in scenarios
        for found in _closest(
            [f"{s.id}/{fact.id}" for fact in s.facts], [fact.text for fact in s.facts], similarity
        )
    ]
    backgrounds = _closest([s.id for s in scenarios], [s.background for s in scenarios], similarity)
    return Alike(
        facts=max(facts, key=lambda closest: closest.score, default=None),
        backgrounds=next(backgrounds, None),
    )


def _closest(
    names: Sequence[str], texts: Sequence[str], similarity: Similarity
) -> Iterator[Closest]:
    """Yield the pair most alike, the first of several; nothing where there are not two texts."""
    if len(texts) < 2:
        return
    rows = [list(row) for row in similarity(texts, texts)]
    left, right = max(combinations(range(len(texts)), 2), key=lambda pair: rows[pair[0]][pair[1]])
    yield Closest(float(rows[left][right]), (names[left], names[right]))


def _resemblances(left: Sequence[str], right: Sequence[str]) -> list[list[float]]:
    return [[resemblance(a, b) for b in right] for a in left]
