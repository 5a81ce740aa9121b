"""Learn the weights by which the gates ``refusal`` and ``goal_stated`` know what they look for.

    python -m benchmarks.train_gates            writes the weights that ship
    python -m benchmarks.train_gates --across   prints what is found of each author's lines by a
                                                model trained without them, and writes nothing

It learns from the lines of ``benchmarks/data/wordings/seen``, a folder an author, and takes what
is said in the library, on stage and in gold lines, for words of people, whatever its goal is, and
what people say to each other everywhere, in ``everyday.jsonl``.
Logistic regression is scikit-learn's (``hipo[audit]``).
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from benchmarks.wordings import AFTERWARDS, FOLDER, authors, lines
from prompts.refusals import DOUBTFUL, shown_beside
from prompts.refusals import WEIGHTS as REFUSAL_WEIGHTS
from prompts.wording_model import SCALE, WordClasses, features, share
from quality.gates.goal_stated import WEIGHTS as GOAL_WEIGHTS
from scenarios.lines.library import flow_lines, gold_lines, scenarios_with, stage_lines

CLASSES = FOLDER / "classes.yaml"
FILES = {"goal_stated": GOAL_WEIGHTS, "refusal": REFUSAL_WEIGHTS}
CLEAN = ("clean_goal", "clean_refusal")
FOUND, LIBRARY, EVERYDAY = "found", "library", "everyday"
"""Kinds of lines, beside those of the files of like words: those to be found, and what people say."""
LIBRARY_WEIGHT = 0.6
"""What a line of the library counts beside one that was written for a list."""
STRENGTH = 100.0
"""The inverse of the weight of the penalty on large weights."""
FEWEST_LINES = 2
"""Lines that have a feature, for it to have a weight."""
TOLERANCE = 1e-6
"""Of the gradient, at the end."""
SMALLEST = 0.2
"""Weights below this are left out."""
MOST_FLAGGED = {
    "goal_stated": {"clean_goal": 0.0175, "clean_refusal": 0.02, LIBRARY: 0.01, EVERYDAY: 0.005},
    "refusal": {"clean_goal": 0.02, "clean_refusal": 0.02, LIBRARY: 0.01, EVERYDAY: 0.003},
}
"""By gate, the shares of lines of each kind that may be flagged by models that were not trained with
their author; they decide the threshold. Where one of them decides alone, it stays below the goal of 2 %: a
share of some hundred lines by others comes out above its mean as often as below. A line that is taken for a
refusal is paid for once more, one that is taken for a goal is looked at."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Material:
    """Lines to learn from."""

    texts: Sequence[str]
    authors: Sequence[str]
    kinds: Sequence[str]
    """What each is, as :data:`MOST_FLAGGED` names it; or to be found."""

    def are(self, kind: str) -> NDArray[np.bool_]:
        """Return which lines are of a kind."""
        return np.array(self.kinds) == kind


def beside(gate: str, text: str) -> bool:
    """Return whether a gate finds what it looks for without its model, where that is in doubt."""
    return gate == "refusal" and shown_beside(text)


def material(gate: str) -> Material:
    """Return the lines of all authors, and those of the library, shared out among the authors."""
    names = authors()
    rows = [
        (text, author, FOUND if name == gate else name)
        for author in (*names, AFTERWARDS)
        for name in (gate, *CLEAN)
        for text in lines(f"seen/{author}", name)
    ]
    for place, scenario in enumerate(sorted({*scenarios_with("stage"), *scenarios_with("gold")})):
        author = names[place % len(names)]
        rows += [(text, author, LIBRARY) for text in _in_library(scenario)]
    for name, kind in (("spoken", LIBRARY), ("everyday", EVERYDAY)):
        shared = enumerate(lines("seen", name))
        rows += [(text, names[place % len(names)], kind) for place, text in shared]
    return Material(*zip(*dict.fromkeys(rows), strict=True))


def _in_library(scenario: str) -> list[str]:
    staged, flow, gold = stage_lines(scenario), flow_lines(scenario), gold_lines(scenario)
    texts = [line.text for line in gold.lines] if gold else []
    written = (*staged.initiator, *staged.responder, *staged.details) if staged else ()
    texts += [line.text for line in written]
    texts += staged.in_own_words.values() if staged else ()
    phases = flow.flow.values() if flow else ()
    moments = [moment for roles in phases for said in roles.values() for moment in said]
    return [*texts, *(line.text for moment in moments for line in moment)]


@dataclass(frozen=True)
class Fitted:
    """A model before its numbers are rounded."""

    names: list[str]
    weights: Array
    intercept: float

    def scores(self, found: Sequence[set[str]]) -> Array:
        """Return the score of each text."""
        return np.asarray(_rows(found, self.names) @ self.weights + self.intercept)


def fit(data: Material, found: Sequence[set[str]], chosen: NDArray[np.bool_]) -> Fitted:
    """Learn from some of the lines."""
    some = [one for one, use in zip(found, chosen, strict=True) if use]
    counted = Counter(feature for one in some for feature in one)
    names = sorted(name for name, count in counted.items() if count >= FEWEST_LINES)
    said = data.are(FOUND)[chosen]
    rows, counts = _rows(some, names), np.where(data.are(LIBRARY)[chosen], LIBRARY_WEIGHT, 1.0)
    leaning = _leaning(rows, said, counts)
    model = LogisticRegression(C=STRENGTH, tol=TOLERANCE, max_iter=10_000)
    with threadpool_limits(1):  # sums in another order end elsewhere, and weights are shipped
        model.fit(rows @ diags(leaning), said, sample_weight=counts)
    return Fitted(names, model.coef_[0] * leaning, float(model.intercept_[0]))


def _leaning(rows: csr_matrix, said: NDArray[np.bool_], counts: Array) -> Array:
    """Return how much more features of one side alone count than those that both sides have.

    Source: Wang and Manning 2012 (NBSVM), with their interpolation.
    """
    there = (rows > 0).astype(float)
    one, other = 1 + there[said].sum(axis=0), 1 + counts[~said] @ there[~said]
    ratio = np.abs(np.log((one / one.sum()) / (other / other.sum()))).A1
    return np.asarray((1 + ratio / ratio.mean()) / 2)


def _rows(found: Sequence[set[str]], names: Sequence[str]) -> csr_matrix:
    place = {name: at for at, name in enumerate(names)}
    known = [[place[feature] for feature in sorted(one) if feature in place] for one in found]
    counts = [len(some) for some in known]
    values = np.repeat([share(len(one)) for one in found], counts)
    starts = np.concatenate([[0], np.cumsum(counts)])
    columns = [at for some in known for at in some]
    return csr_matrix((values, columns, starts), shape=(len(found), len(names)))


@dataclass(frozen=True)
class Across:
    """Scores by models that were trained without the author of the line."""

    data: Material
    scores: Array
    beside: NDArray[np.bool_]
    """Whether a gate flags a line with any threshold."""
    most: Mapping[str, float]
    """By kind of line, the share that may be flagged."""

    @property
    def threshold(self) -> float:
        """Return the lowest number for which scores above it keep all shares of false alarms."""
        known = np.array(self.data.authors) != AFTERWARDS
        return max(
            self._above(self.data.are(kind) & known, most) for kind, most in self.most.items()
        )

    def _above(self, lines_of: NDArray[np.bool_], most: float) -> float:
        rest = np.sort(self.scores[lines_of & ~self.beside])[::-1]
        left = int(most * lines_of.sum()) - (lines_of & self.beside).sum()
        return float(rest[max(0, left)])

    def table(self) -> list[str]:
        """Return a line an author: what is found, and what is flagged of each kind of other lines."""
        over = (self.scores > self.threshold) | self.beside
        by = np.array(self.data.authors)
        owns = {"all": by != AFTERWARDS, **{author: by == author for author in authors()}}
        kinds = {kind: self.data.are(kind) for kind in (FOUND, *self.most)}
        return [
            f"{name:10}"
            + "".join(
                f"  {kind} {np.mean(over[own & what]):.3f} of {sum(own & what):4}"
                for kind, what in kinds.items()
                if any(own & what)
            )
            for name, own in owns.items()
        ]


def across(gate: str) -> Across:
    """Score each author's lines by a model that was trained with all the others'."""
    data, classes = material(gate), WordClasses(word_classes(gate))
    found = list(map(partial(features, classes=classes), data.texts))
    scores = np.zeros(len(found))
    for author in authors():
        own = np.array(data.authors) == author
        model = fit(data, found, ~own)
        scores[own] = model.scores([one for one, use in zip(found, own, strict=True) if use])
    sure = np.array([beside(gate, text) for text in data.texts]) & (scores >= DOUBTFUL / SCALE)
    return Across(data, scores, sure, MOST_FLAGGED[gate])


def word_classes(gate: str) -> dict[str, str]:
    """Return the words of each class that the model of a gate has."""
    listed = yaml.safe_load(CLASSES.read_text(encoding="utf-8"))[gate]
    return {name: " ".join(words.split()) for name, words in listed.items()}


def trained(gate: str) -> dict[str, object]:
    """Return what the file of a gate holds, but for the threshold."""
    classes, data = word_classes(gate), material(gate)
    found = list(map(partial(features, classes=WordClasses(classes)), data.texts))
    model = fit(data, found, np.full(len(found), fill_value=True))
    weights = {
        name: round(float(weight) * SCALE)
        for name, weight in zip(model.names, model.weights, strict=True)
        if abs(weight) >= SMALLEST
    }
    return {"classes": classes, "intercept": round(model.intercept * SCALE), "weights": weights}


def main() -> None:
    """Train both models, or print what models find of authors they do not know."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.train_gates", description=__doc__)
    parser.add_argument("--across", action="store_true", help="print rates, write nothing")
    only = parser.parse_args().across
    for gate, path in FILES.items():
        rates = across(gate)
        print("\n".join([f"{gate}, above a score of {rates.threshold:.2f}", *rates.table()]))
        if not only:
            write(path, {**trained(gate), "threshold": math.floor(rates.threshold * SCALE) + 1})


def write(path: Path, model: dict[str, object]) -> None:
    """Write a model, a line an entry: changes can be seen."""
    text = json.dumps(model, indent=0, sort_keys=True, ensure_ascii=False)
    path.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
