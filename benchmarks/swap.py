"""Swap items of offline dialogues: who reads the words alone, the fact alone, or both.

Every line stands there twice with the same words, so that a reader of the words alone is right in
one half by construction. What the fact alone tells is a matter of how often each fact is shown as
the own and as the other one. ``offline/judge`` has both; it knows most of these lines by heart, with
what they claim, so it is asked again with the lines of the scenario left out of its memory. MiniLM
has both, too, and knows nothing of what a line claims.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import orjson
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.probe_views import minilm
from benchmarks.report import Goal, Row
from pipeline.offline_judge import likeness, memory, utterance
from pipeline.offline_judge.engine import answer
from prompts.environment import Templates
from prompts.judges import JudgePrompts, JudgeView, judge_view
from scenarios.case import make_case
from scenarios.catalogue import Catalogue
from scenarios.schemes.registry import load_scheme

Item = dict[str, Any]
SAMPLES = 2_000
"""Bootstrap samples of scenarios."""


def run(*, quick: bool = False) -> list[Row]:
    """Play one deception for every fact (every scenario if quick), and measure its swap items."""
    with tempfile.TemporaryDirectory() as folder:
        items = _items(Path(folder), ["-n", "93"] if quick else [])
    scored = [item for item in items if item["status"] == "scored"]
    wanted = np.array([item["false"] for item in scored])
    scenarios = [item["scenario"] for item in scored]
    rows = [
        Row("swap: lines", len({item["line"] for item in items})),
        Row("swap: scored items wanted Quality", float(wanted.sum())),
        Row("swap: scored items wanted anything else", float((~wanted).sum())),
        *(
            Row(f"swap: items {status}", sum(item["status"] == status for item in items))
            for status in ("unchecked", "unresolved")
        ),
        Row("swap: question and words alone, right at best (by construction)", at_best(scored)),
        Row("swap: facts shown as own or other, mean imbalance", imbalance(scored)),
    ]
    by_heart = np.array([_is_known(item) for item in scored])
    rows += [
        Row("swap: scored items of lines known by heart", float(by_heart.sum())),
        Row("swap: scored items of other lines", float((~by_heart).sum())),
    ]
    rows += _reader("fact alone, probe", _probe(scored, wanted), wanted, scenarios)
    name = "MiniLM, words against what the fact makes false"
    rows += _reader(
        name, _by_meaning(scored, wanted, scenarios), wanted, scenarios, Goal.above(0.5)
    )
    known = _judged(scored)
    for name, those in (("lines known by heart", by_heart), ("other lines", ~by_heart)):
        if those.any():
            some = [scenario for scenario, is_one in zip(scenarios, those, strict=True) if is_one]
            rows += _reader(f"offline/judge, {name}", known[those], wanted[those], some)
    name = "offline/judge, its memory of the scenario left out"
    return rows + _reader(name, _judged_anew(scored), wanted, scenarios)


def _reader(
    name: str, guesses: Any, wanted: Any, scenarios: Sequence[str], goal: Goal | None = None
) -> list[Row]:
    """Return how often a reader is right, of all items and of each half; goal: of the low end."""
    right = guesses == wanted
    low, high = _interval(right, scenarios)
    return [
        Row(f"swap: {name}, right", float(right.mean())),
        Row(f"swap: {name}, 2.5th percentile", low, goal=goal),
        Row(f"swap: {name}, 97.5th percentile", high),
        Row(f"swap: {name}, right with the own fact", float(right[wanted].mean())),
        Row(f"swap: {name}, right with the other fact", float(right[~wanted].mean())),
    ]


def at_best(items: Sequence[Item]) -> float:
    """Return the share that whoever sees question and words alone is right in at most."""
    wanted: defaultdict[tuple[str, ...], Counter[bool]] = defaultdict(Counter)
    for item in items:
        wanted[item["scenario"], item["question"], item["utterance"]][item["false"]] += 1
    return sum(max(counts.values()) for counts in wanted.values()) / len(items)


def imbalance(items: Sequence[Item]) -> float:
    """Return the mean over facts of |own - other| / (own + other), how often each is shown."""
    shown: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for item in items:
        shown[item["scenario"], item["fact_shown"]][item["shown"]] += 1
    shares = [abs(one["own"] - one["other"]) / one.total() for one in shown.values()]
    return float(np.mean(shares))


def _items(folder: Path, some: Sequence[str]) -> list[Item]:
    """Return the swap items of deceptions about every fact."""
    hipo = [sys.executable, "-m", "hipo"]
    generate = [*hipo, "generate", "-o", str(folder / "run"), "--model", "offline/rules"]
    generate += ["--goals", "deception", "--turns", "3", "--strategy", "direct", "-q", *some]
    subprocess.run(generate, check=True)
    verify = [*hipo, "verify", str(folder / "run"), "--judge", "offline/judge", "-q"]
    subprocess.run(verify, check=True, stdout=subprocess.DEVNULL)
    export = [*hipo, "export", str(folder / "run"), "--to", "swap", "-o", str(folder / "set")]
    subprocess.run([*export, "--any", "--splits", "0,0,100", "-q"], check=True)
    lines = next((folder / "set").rglob("*.jsonl")).read_bytes().splitlines()
    return [orjson.loads(line) for line in lines]


def _probe(items: Sequence[Item], wanted: Any) -> Any:
    """Return what a linear probe guesses of the fact alone; no line is learnt from and guessed."""
    texts = [item["fact_text"] for item in items]
    groups = np.array([item["line"] for item in items])
    guesses = np.zeros(len(texts), bool)
    for learnt, held_out in GroupKFold(5).split(texts, wanted, groups):
        model = make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), LogisticRegression(C=10))
        model.fit([texts[i] for i in learnt], wanted[learnt])
        guesses[held_out] = model.predict([texts[i] for i in held_out])
    return guesses


def _by_meaning(items: Sequence[Item], wanted: Any, scenarios: Sequence[str]) -> Any:
    """Return what likeness in meaning tells of the words and the claims that the fact makes false.

    Nothing is known to this reader of what a line claims; no scenario is learnt from and guessed.
    """
    catalogue = Catalogue.load(environment={})
    features = []
    for item in items:
        claims = _encoded(_view(catalogue, item).fact.false_claims)
        words = _encoded((item["utterance"], f"{item['question']} {item['utterance']}"))
        alike = words @ claims.T
        features.append([*alike.max(axis=1), *alike.mean(axis=1)])
    guesses = np.zeros(len(items), bool)
    table, groups = np.array(features), np.array(scenarios)
    for learnt, held_out in GroupKFold(5).split(table, wanted, groups):
        model = make_pipeline(StandardScaler(), LogisticRegression())
        guesses[held_out] = model.fit(table[learnt], wanted[learnt]).predict(table[held_out])
    return guesses


@cache
def _encoded(texts: tuple[str, ...]) -> Any:
    return np.asarray(minilm().encode(list(texts), normalize_embeddings=True))


def _is_known(item: Item) -> bool:
    """Whether the offline judge knows the line of an item by heart."""
    return memory.recalled(item["utterance"], item["situation"]) is not None


def _judged_anew(items: Sequence[Item]) -> Any:
    """Return what the offline judge finds that knows no stage line of the item's scenario."""
    found = np.zeros(len(items), bool)
    for scenario in sorted({item["scenario"] for item in items}):
        with without_memory_of(scenario):
            those = [place for place, item in enumerate(items) if item["scenario"] == scenario]
            if any(_is_known(items[place]) for place in those):
                raise RuntimeError(f"the judge still knows lines of {scenario}")
            found[those] = _judged([items[place] for place in those])
    return found


@contextmanager
def without_memory_of(scenario: str) -> Iterator[None]:
    """Leave the stage lines of a scenario, and all that was read by them, out of what the judge knows."""
    kept = tuple(one for one in memory.remembered() if one[1].scenario != scenario)
    made_of_it = (
        memory._by_ending,
        likeness.stage_likeness,
        utterance.utterance_label,
        utterance.line_treatment,
        utterance.misleads,
    )
    with (
        patch.object(memory, "remembered", lambda: kept),
        patch.object(likeness, "remembered", lambda: kept),
    ):
        for cached in made_of_it:
            cached.cache_clear()
        try:
            yield
        finally:
            for cached in made_of_it:
                cached.cache_clear()


def _judged(items: Sequence[Item]) -> Any:
    """Return whether the offline judge finds a lie in each item when it is shown the fact."""
    scheme = load_scheme("hipo")
    prompts = JudgePrompts(Templates(None), scheme)
    catalogue = Catalogue.load(environment={})
    found = []
    for item in items:
        history = (("initiator", item["question"]),)
        question = prompts.turn(_view(catalogue, item), history, item["utterance"])
        said = answer([(m.role, m.content) for m in question.messages], 0)
        labels = {label.dimension: label.value for label in question.answer.read(said)}
        found.append(labels["veracity"] == "Quality")
    return np.array(found)


def _view(catalogue: Catalogue, item: Item) -> JudgeView:
    """Return what a judge knows who is shown the fact of an item."""
    scenario = catalogue.scenarios[item["scenario"]]
    case = make_case(
        scheme=scenario.scheme, scenario=scenario.id, scenario_fingerprint=scenario.fingerprint,
        fact=item["fact_shown"], goal=item["goal"], turns=1, language=item["language"],
        variation={}, repetition=0, seed=0,
    )  # fmt: skip
    return judge_view(scenario, case)


def _interval(right: Any, scenarios: Sequence[str]) -> tuple[float, float]:
    """Return the 2.5th and 97.5th percentile of the share right, over resampled scenarios."""
    names = sorted(set(scenarios))
    by_name = {name: right[[s == name for s in scenarios]] for name in names}
    random = np.random.default_rng(0)
    shares = [
        np.concatenate([by_name[name] for name in random.choice(names, len(names))]).mean()
        for _ in range(SAMPLES)
    ]
    low, high = np.percentile(shares, [2.5, 97.5])
    return float(low), float(high)
