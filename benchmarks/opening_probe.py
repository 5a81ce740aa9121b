"""Whether the fixed opening gives the goal away: the goal from its words alone.

Every statement of the openings by goal is read by three probes, each trained on all other
scenarios. A probe says nothing by its accuracy alone: with few scenarios chance is wide. So each
stands beside what it reaches when the two labels are swapped within scenarios at random, which
leaves the texts, their number and their likeness as they are. An opening that gives nothing away
lies between the 5th and the 95th percentile of that: below is a leak, too.

The word probe may be looked at while statements are written. The other two are *held out*: they
say something only as long as nobody writes against them. ``--quick`` runs the word probe alone.

Shared openings are the same text under both goals, so every probe must be right in exactly half.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from benchmarks.probe_views import minilm
from benchmarks.report import Goal, Row
from scenarios.catalogue import Catalogue
from scenarios.openings import HARD_QUESTION, OPENING, OPENINGS, opening_lines
from scenarios.spec import Scenario
from scenarios.wording import words

GOALS = ("deception", "truthful non-disclosure")
SWAPS = 200
SEED = 0
LOW, HIGH = 5, 95

Labels = NDArray[np.int64]
Guess = Callable[[Labels], Labels]
"""Learn from the labels of the texts that were trained on; return guesses for the others."""


@dataclass(frozen=True, slots=True)
class OpeningLine:
    """What is said before anything is improvised, where, and under which goal."""

    scenario: str
    goal: int
    """Index into ``GOALS``."""
    text: str


@dataclass(frozen=True, slots=True)
class Probe:
    """A way of guessing the goal of texts from other texts."""

    name: str
    held_out: bool
    prepare: Callable[[Sequence[str], Sequence[str]], Guess]
    """Make what does not depend on labels of the texts to learn from, and of those to guess."""


@dataclass(frozen=True, slots=True)
class OpeningReading:
    """How well one probe reads the goal, and how well it reads swapped labels."""

    accuracy: float
    low: float
    high: float


def statements(scenarios: Sequence[Scenario]) -> list[OpeningLine]:
    """Return every statement of every opening by goal."""
    return [
        OpeningLine(scenario.id, label, opening.statement_for(goal).text)
        for scenario in scenarios
        for opening in scenario.opening.by_goal
        for label, goal in enumerate(GOALS)
    ]


def shared(scenarios: Sequence[Scenario]) -> list[OpeningLine]:
    """Return everything up to the hard question of every shared opening, under both goals."""
    return [
        OpeningLine(scenario.id, label, text)
        for scenario in scenarios
        if scenario.opening.shared is not None
        for label, goal in enumerate(GOALS)
        for text in _openings(scenario, goal)
    ]


def _openings(scenario: Scenario, goal: str) -> Iterator[str]:
    opening = scenario.opening.shared
    for easy in range(len(opening.exchanges) if opening else 0):
        for hard in range(len(opening.hard_question) if opening else 0):
            drawn = {OPENINGS: "shared", OPENING: str(easy), HARD_QUESTION: str(hard)}
            lines = opening_lines(scenario, scenario.facts[0].id, goal, drawn)
            yield " ".join(line.text for line in lines)


def read(lines: Sequence[OpeningLine], probe: Probe, swaps: int = SWAPS) -> OpeningReading:
    """Guess the goal of each line from those of the other scenarios.

    Args:
        lines: of at least two scenarios.
        probe: what guesses.
        swaps: how often the labels are swapped within scenarios at random.
    """
    names = sorted({line.scenario for line in lines})
    place = np.array([names.index(line.scenario) for line in lines])
    truth = np.array([line.goal for line in lines])
    flips = np.random.default_rng(SEED).integers(0, 2, (swaps, len(names)))
    # The first row of labels is the true one.
    labelled = np.vstack([truth, truth ^ flips[:, place]])
    right = np.zeros(len(labelled))
    for name in range(len(names)):
        inside = place == name
        known, asked = (
            [line.text for line, there in zip(lines, mask, strict=True) if there]
            for mask in (~inside, inside)
        )
        guess = probe.prepare(known, asked)
        for row, labels in enumerate(labelled):
            right[row] += np.sum(guess(labels[~inside]) == labels[inside])
    shares = right / len(lines)
    low, high = np.percentile(shares[1:], [LOW, HIGH])
    return OpeningReading(float(shares[0]), float(low), float(high))


def _naive_bayes(known: Sequence[str], asked: Sequence[str]) -> Guess:
    """Count words (Laplace smoothing); ties go to the first goal."""
    vocabulary = {word: i for i, word in enumerate(sorted({w for t in known for w in words(t)}))}
    train, test = (_counts(texts, vocabulary) for texts in (known, asked))

    def guess(labels: Labels) -> Labels:
        scores = []
        for label in range(len(GOALS)):
            counts = train[labels == label].sum(axis=0) + 1
            prior = np.log(np.sum(labels == label) + 1)
            scores.append(test @ np.log(counts / counts.sum()) + prior)
        return np.argmax(np.array(scores), axis=0)

    return guess


def _counts(texts: Sequence[str], vocabulary: dict[str, int]) -> NDArray[np.float64]:
    table = np.zeros((len(texts), len(vocabulary)))
    for row, text in enumerate(texts):
        for word in words(text):
            if word in vocabulary:
                table[row, vocabulary[word]] += 1
    return table


def _characters(known: Sequence[str], asked: Sequence[str]) -> Guess:
    from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415 heavy, dev extra

    vectors = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True)
    return _regression(vectors.fit_transform(known), vectors.transform(asked))


def _meanings(known: Sequence[str], asked: Sequence[str]) -> Guess:
    return _regression(*(np.array([_embedded(text) for text in part]) for part in (known, asked)))


@cache
def _embedded(text: str) -> NDArray[np.float32]:
    return np.asarray(minilm().encode([text], normalize_embeddings=True)[0])


def _regression(train, test) -> Guess:  # type: ignore[no-untyped-def]
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 heavy, dev extra

    def guess(labels: Labels) -> Labels:
        return np.asarray(LogisticRegression(max_iter=1000).fit(train, labels).predict(test))

    return guess


PROBES = (
    Probe("words, naive Bayes", held_out=False, prepare=_naive_bayes),
    Probe("characters 3-5, logistic regression", held_out=True, prepare=_characters),
    Probe("MiniLM, logistic regression", held_out=True, prepare=_meanings),
)


def rows_of(scenarios: Sequence[Scenario], probes: Sequence[Probe] = PROBES) -> Iterator[Row]:
    """Yield what each probe reads off the openings by goal, and off the shared ones."""
    by_goal, alike = statements(scenarios), shared(scenarios)
    for probe in probes:
        found = read(by_goal, probe)
        name = f"openings by goal, {len(by_goal)} statements: {probe.name}"
        yield Row(
            f"{name}: accuracy, at least percentile {LOW} of swapped labels",
            found.accuracy,
            goal=Goal.above(found.low) if probe.held_out else None,
        )
        yield Row(
            f"{name}: accuracy, at most percentile {HIGH} of swapped labels",
            found.accuracy,
            goal=Goal.below(found.high) if probe.held_out else None,
        )
        if not probe.held_out:
            yield Row(f"{name}: percentile {LOW} of swapped labels", found.low)
            yield Row(f"{name}: percentile {HIGH} of swapped labels", found.high)
        if alike:
            chance = abs(read(alike, probe, swaps=1).accuracy - 0.5)
            yield Row(
                f"shared openings, {len(alike)} texts: {probe.name}: distance from one half",
                chance,
                goal=Goal.below(0.0),
            )


def run(*, quick: bool = False) -> list[Row]:
    """Probe the library; ``quick`` leaves out the probes that are held out."""
    scenarios = [s for s in Catalogue.load(environment={}).scenarios.values() if s.scheme == "hipo"]
    probes = [probe for probe in PROBES if not (quick and probe.held_out)]
    return list(rows_of(scenarios, probes))
