"""What can be learnt from a set of labels: linear probes on other scenarios than they learnt from.

Lines are told apart by a linear probe (ridge) on embeddings by MiniLM, each text embedded once, in
five folds of whole scenarios: from the line alone, with the question it answers, with all that was
said before, with the private fact, and, without any embedding, from what ``hipo audit`` calls
shortcuts. Where two texts are shown, the probe also has the product of their embeddings, since no
linear probe could see otherwise how they belong together. Each figure stands beside the commonest
label of the scenario, counted on the very lines that are guessed, which no probe is told.

Gold lines and swap items are guessed by the same probes: learnt from the set of labels, without the
scenario that is guessed.

    python -m benchmarks.probe                                 # offline dialogues of the library
    python -m benchmarks.probe --run DIR                       # a verified run of a model instead
    python -m benchmarks.probe --smollm2 DIR [--steps N]       # a fine-tuned SmolLM2 instead, which takes long

What is learnt from offline dialogues is the grammar that made them, on either side of the split:
*template recognition*. That training helps can be shown with lines that models wrote.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.probe_items import LIE, NO_LIE, ProbeItem, ProbeSets, offline_run, sets_of
from benchmarks.probe_ridge import NestedRidge
from benchmarks.probe_smollm2 import ASKED, BATCH, STEPS, read
from benchmarks.probe_views import VIEWS, EmbeddedView, View
from benchmarks.report import Row
from outputs.audit.cross_fit import FOLDS, grouped_folds
from outputs.audit.null_labels import codes
from quality.statistics.bootstrap import Interval, Resampling, intervals

SEED = 0
RESAMPLING = Resampling(resamples=10_000, seed=SEED)
DIMENSIONS = ("intention", "veracity", "illocutionary", "goal")
Columns = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ProbeScore:
    """How often a reader is right on lines of one set, beside the commonest label of each scenario."""

    name: str
    view: str
    dimension: str
    lines: int
    accuracy: float
    floor: float
    """The share of the lines that have the commonest label of their scenario."""
    constant: float
    """The share of the lines that have the label that is commonest of all."""
    gain: float
    """Accuracy less the floor."""
    gain_interval: Interval | None


def commonest(labels: Sequence[str], scenarios: Sequence[str]) -> Flags:
    """Return which lines have the label that is commonest in their scenario (ties: the first)."""
    truth, within = np.array(labels), np.array(scenarios)
    right = np.zeros(len(truth), bool)
    for scenario in sorted(set(scenarios)):
        inside = within == scenario
        values, counts = np.unique(truth[inside], return_counts=True)
        right[inside] = truth[inside] == values[np.argmax(counts)]
    return right


def clustered(columns: Columns, scenarios: Sequence[str]) -> list[Interval | None]:
    """Return an interval of the mean of each column over resampled scenarios.

    Args:
        columns: shape ``(lines, columns)``.
        scenarios: of each line; all lines of one are drawn together.
    """
    numbered = codes(scenarios)
    sums = np.array([columns[numbered == n].sum(axis=0) for n in range(int(numbered.max()) + 1)])
    sizes = np.bincount(numbered).astype(np.float64)

    def means(weights: Columns) -> Columns:
        return (weights @ sums) / (weights @ sizes)[:, None]

    return list(intervals(means, len(sizes), RESAMPLING))


def score(
    name: str, view: str, dimension: str, items: Sequence[ProbeItem], guesses: Sequence[str]
) -> ProbeScore:
    """Count how often guesses are right, and how much oftener than the floor."""
    truth = [item.labels[dimension] for item in items]
    scenarios = [item.scenario for item in items]
    right = np.array(truth) == np.array(guesses)
    floor = commonest(truth, scenarios)
    gain = right.astype(np.float64) - floor
    (around,) = clustered(gain[:, None], scenarios)
    return ProbeScore(
        name, view, dimension, len(items), float(right.mean()), float(floor.mean()),
        max(Counter(truth).values()) / len(truth), float(gain.mean()), around,
    )  # fmt: skip


def fold_of(scenarios: Sequence[str]) -> dict[str, int]:
    """Return the fold of every scenario, numbered from 0."""
    names = sorted(set(scenarios))
    sizes = codes(scenarios)
    folds = grouped_folds(sizes, SEED)
    return {name: int(folds[sizes == number][0]) for number, name in enumerate(names)}


def probe(sets: ProbeSets, views: Sequence[View] = VIEWS) -> list[ProbeScore]:
    """Guess the labels of every set from the set of labels, one fold of scenarios after the other."""
    others = {"gold": sets.gold, "swap": sets.swap}
    texts = [
        text
        for item in (*sets.label, *sets.gold, *sets.swap)
        for text in (item.line, item.question, item.fact, *item.history)
    ]
    embedded = EmbeddedView(texts)
    folds = fold_of([item.scenario for item in sets.label])
    values = {d: sorted({item.labels[d] for item in sets.label}) for d in DIMENSIONS}
    found = []
    for view in views:
        asked = {"label": sets.label, **(others if view.everywhere else {})}
        items = [item for those in asked.values() for item in those]
        names = np.array([name for name, those in asked.items() for _ in those])
        columns = view.of(items, embedded)
        fold = np.array([folds.get(item.scenario, FOLDS) for item in items])
        ridge = NestedRidge(columns, fold, names == "label")
        guesses = ridge.guess(np.column_stack([_coded(items, values[d], d) for d in DIMENSIONS]))
        for place, dimension in enumerate(DIMENSIONS):
            said = np.array(values[dimension])[guesses[:, place]]
            for name, those in asked.items():
                guessed = said[names == name]
                if name != "swap":
                    found.append(score(name, view.name, dimension, those, guessed))
                elif dimension == "veracity":
                    lies = [LIE if label == LIE else NO_LIE for label in guessed]
                    found.append(score(name, view.name, dimension, those, lies))
    return found


def _coded(items: Sequence[ProbeItem], values: Sequence[str], dimension: str) -> NDArray[np.int64]:
    """Number labels; 0 also for what is not learnt from and has none, or one that is never guessed."""
    known = {value: number for number, value in enumerate(values)}
    return np.array([known.get(item.labels.get(dimension, ""), 0) for item in items])


def shared_lines(items: Sequence[ProbeItem]) -> float:
    """Return the share of lines that stand, word for word, in another scenario, too."""
    where: dict[str, set[str]] = {}
    for item in items:
        where.setdefault(item.line, set()).add(item.scenario)
    return sum(len(where[item.line]) > 1 for item in items) / len(items)


def heading(sets: ProbeSets) -> str:
    """Say what was learnt from, and what may be concluded from it."""
    models = ", ".join(sets.models)
    lines = f"{len(sets.label):,} lines by {models}"
    if sets.offline:
        return f"Template recognition: {lines}"
    return f"Learnt from {lines}"


def page(sets: ProbeSets, scores: Sequence[ProbeScore]) -> str:
    """Return one table per set: readers down, dimensions across."""
    scenarios = len({item.scenario for item in sets.label})
    told = (
        f"{scenarios} scenarios, {FOLDS} folds of whole scenarios; {shared_lines(sets.label):.0%} of"
        " the lines stand word for word in another scenario, too. Accuracy, and in brackets what it"
        " is above the commonest label of the scenario with a 95 % interval over scenarios."
    )
    parts = [f"### {heading(sets)}", "", told, ""]
    return "\n".join([*parts, *tables(scores)])


def tables(scores: Sequence[ProbeScore]) -> list[str]:
    """Return one table for each set, with the floors above the readers."""
    parts = []
    for name in dict.fromkeys(one.name for one in scores):
        those = [one for one in scores if one.name == name]
        across = [d for d in DIMENSIONS if any(one.dimension == d for one in those)]
        parts += [
            f"**{name}**, {those[0].lines:,} lines",
            "",
            f"| read | {' | '.join(across)} |",
            f"|---|{'---|' * len(across)}",
            f"| *commonest label of the scenario* | {' | '.join(_floors(those, across))} |",
            f"| *one label throughout* | {' | '.join(_constants(those, across))} |",
        ]
        for view in dict.fromkeys(one.view for one in those):
            by = {one.dimension: one for one in those if one.view == view}
            parts.append(f"| {view} | {' | '.join(_shown(by[d]) for d in across)} |")
        parts.append("")
    return parts


def _floors(scores: Sequence[ProbeScore], across: Sequence[str]) -> list[str]:
    floors = {one.dimension: one.floor for one in scores}
    return [f"*{floors[dimension]:.3f}*" for dimension in across]


def _constants(scores: Sequence[ProbeScore], across: Sequence[str]) -> list[str]:
    shares = {one.dimension: one.constant for one in scores}
    return [f"*{shares[dimension]:.3f}*" for dimension in across]


def _shown(one: ProbeScore) -> str:
    around = one.gain_interval
    bounds = f", {around.low:+.3f} to {around.high:+.3f}" if around else ""
    return f"{one.accuracy:.3f} ({one.gain:+.3f}{bounds})"


def rows_of(sets: ProbeSets, scores: Sequence[ProbeScore]) -> list[Row]:
    """Return the figures one by one."""
    rows = [Row("probe: lines that stand in another scenario, too", shared_lines(sets.label))]
    for one in scores:
        name = f"probe: {heading(sets).partition(':')[0]}, {one.name}, {one.view}: {one.dimension}"
        rows += [
            Row(f"{name}, accuracy", one.accuracy),
            Row(f"{name}, above the commonest label of the scenario", one.gain),
        ]
        if one.gain_interval:
            rows += [
                Row(f"{name}, 2.5th percentile of that", one.gain_interval.low),
                Row(f"{name}, 97.5th percentile of that", one.gain_interval.high),
            ]
    return rows


def small_model(
    sets: ProbeSets, folder: Path, *, steps: int, batch: int, most: int, folds: int
) -> str:
    """Fine-tune a small model without a fold of scenarios, ask it about those, and so on.

    Args:
        sets: what is learnt from, and what else is asked.
        folder: of the base model.
        steps: of the optimiser.
        batch: lines of a step.
        most: lines of each set that are asked of a fold.
        folds: how many are held out, one after the other.
    """
    fold = fold_of([item.scenario for item in sets.label])
    labels = {d: sorted({item.labels[d] for item in sets.label}) for d in DIMENSIONS}
    found = [
        read(
            folder,
            [item for item in sets.label if fold[item.scenario] != held],
            {
                name: [item for item in items if fold.get(item.scenario) == held]
                for name, items in (("label", sets.label), ("gold", sets.gold))
            },
            labels,
            steps=steps,
            batch=batch,
            most=most,
        )
        for held in range(folds)
    ]
    scores = []
    for model, name in found[0].answers:
        asked = [item for one in found for item in one.asked[name]]
        answers = [answer for one in found for answer in one.answers[model, name]]
        reader = f"SmolLM2, {model}"
        scores += [score(name, reader, d, asked, [a[d] for a in answers]) for d in DIMENSIONS]
    first, last = (
        [np.mean(one.losses[at]) for one in found] for at in (slice(10), slice(-10, None))
    )
    asked_of = len({item.scenario for one in found for item in one.asked["label"]})
    told = (
        f"SmolLM2 with LoRA: {steps} steps of {batch} lines in"
        f" {sum(one.seconds for one in found):,.0f} s for {folds} of {FOLDS} folds, loss"
        f" {np.mean(first):.2f} in the first ten and {np.mean(last):.2f} in the last ten. Asked of"
        f" {asked_of} scenarios that it has not seen: few are too few for intervals to be trusted."
    )
    return "\n".join([f"### {heading(sets)}", "", told, "", *tables(scores)])


def run(*, quick: bool = False) -> list[Row]:
    """Learn from offline dialogues of the whole library (some of them if quick)."""
    with tempfile.TemporaryDirectory() as folder:
        sets = sets_of(offline_run(Path(folder), quick=quick), Path(folder))
        return rows_of(sets, probe(sets))


def main() -> None:
    """Print the tables as Markdown."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.probe", description=__doc__)
    parser.add_argument("--run", type=Path, help="a verified run; default: one is made offline")
    parser.add_argument("--quick", action="store_true", help="fewer dialogues, noisier")
    parser.add_argument(
        "--smollm2", type=Path, help="the folder of a small base model to ask instead"
    )
    parser.add_argument("--steps", type=int, default=STEPS, help="of its fine-tuning")
    parser.add_argument("--batch", type=int, default=BATCH, help="lines of a step")
    parser.add_argument(
        "--folds",
        type=int,
        default=1,
        choices=range(1, FOLDS + 1),
        metavar="N",
        help=f"of {FOLDS}: how many are held out, one after the other",
    )
    parser.add_argument(
        "--asked", type=int, default=ASKED, help="lines of each set that it is asked"
    )
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = asked.run or offline_run(Path(folder), quick=asked.quick)
        sets = sets_of(source, Path(folder))
        if asked.smollm2 is None:
            print(page(sets, probe(sets)))
        else:
            how = {"steps": asked.steps, "batch": asked.batch, "most": asked.asked}
            print(small_model(sets, asked.smollm2, folds=asked.folds, **how))


if __name__ == "__main__":
    main()
