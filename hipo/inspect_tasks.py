"""The tasks of benchmark and swap sets for inspect_ai, under the names ``hipo/hipo_utterance`` etc.

inspect asks the models; items, prompts, the reading of replies and figures are those of
``hipo evaluate``. Nothing else in hipo imports inspect_ai: it finds this module by its entry point.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import orjson
from inspect_ai import Task
from inspect_ai import task as inspect_task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, GenerateConfig
from inspect_ai.scorer import (
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    accuracy,
    metric,
    scorer,
    stderr,
)
from inspect_ai.solver import TaskState, generate

from outputs.evaluation_items.sets import load_set
from pipeline.calls.records import REFUSAL
from pipeline.store.answers import EvaluationSeat, StoredAnswer
from prompts.environment import Templates
from prompts.question import Message
from prompts.tasks.modes import MODES, Mode
from prompts.tasks.part import TaskQuestion
from prompts.tasks.prompts import TaskPrompts
from prompts.tasks.registry import load_task
from quality.evaluation.item import EvaluationItem
from quality.evaluation.item_set import ItemSet
from quality.evaluation.replies import Replied, read_replies, result_of
from quality.evaluation.result_row import ResultRow, is_right
from quality.evaluation.scores import ClusteredEstimate
from quality.evaluation.scoring import score
from quality.evaluation.scoring_results import SWAP, scored_answers
from quality.evaluation.swaps import swap_score
from scenarios.errors import UsageError
from scenarios.spelling import suggestion

_FINISH: Final = {"max_tokens": "length", "model_length": "length", "content_filter": REFUSAL}
"""Ends of a reply as inspect and hipo call them; every other one is ``stop``."""
_ROW: Final = "row"
"""Where a score keeps the row of results that it is made of."""


@dataclass(frozen=True, slots=True)
class Asking:
    """Which items are asked about, and how; the arguments of a task."""

    task: str
    dataset: str
    mode: str
    reference: str
    split: str
    scheme: str
    draw: int


@dataclass(frozen=True, slots=True)
class AskedSet:
    """The items of one set that a task is put to, with the question about each."""

    items: ItemSet
    asked: Mapping[str, tuple[EvaluationItem, TaskQuestion]]
    """By the id of the item."""
    dimensions: tuple[str, ...]
    """What is scored: what is asked about, has one label, and some reference tells."""


@inspect_task
def hipo_utterance(
    dataset: str,
    *,
    mode: str = "zero-shot",
    reference: str = "declared",
    split: str = "",
    scheme: str = "",
    draw: int = 0,
) -> Task:
    """Ask for the labels of single utterances, each with the question that it answers.

    Args:
        dataset: an exported benchmark set: its folder, or one of its files.
        mode: ``zero-shot``, ``cot`` or ``icl``.
        reference: ``declared``, ``agreed``, ``people``, ``adjudicated`` or ``verifier``.
        split: ``train``, ``validation`` or ``test``; empty is all.
        scheme: id or file of the scheme, where the set does not carry it.
        draw: which draw of worked examples is shown (``icl``).
    """
    return _task(Asking("hipo-utterance", dataset, mode, reference, split, scheme, draw))


@inspect_task
def hipo_cumulative(
    dataset: str,
    *,
    mode: str = "zero-shot",
    reference: str = "declared",
    split: str = "",
    scheme: str = "",
    draw: int = 0,
) -> Task:
    """Ask for the labels of utterances after all that was said before; see ``hipo_utterance``."""
    return _task(Asking("hipo-cumulative", dataset, mode, reference, split, scheme, draw))


@inspect_task
def hipo_conversation(
    dataset: str,
    *,
    mode: str = "zero-shot",
    reference: str = "declared",
    split: str = "",
    scheme: str = "",
    draw: int = 0,
) -> Task:
    """Ask for the goal behind whole conversations; see ``hipo_utterance``."""
    return _task(Asking("hipo-conversation", dataset, mode, reference, split, scheme, draw))


@inspect_task
def hipo_oracle(
    dataset: str,
    *,
    mode: str = "zero-shot",
    reference: str = "declared",
    split: str = "",
    scheme: str = "",
    draw: int = 0,
) -> Task:
    """Ask with the private fact shown: how far anybody could get; see ``hipo_utterance``."""
    return _task(Asking("hipo-oracle", dataset, mode, reference, split, scheme, draw))


@inspect_task
def hipo_swap(
    dataset: str, *, mode: str = "zero-shot", split: str = "", scheme: str = "", draw: int = 0
) -> Task:
    """Ask about lies beside the fact that makes them false, and beside another.

    Args:
        dataset: an exported swap set.
        mode: see ``hipo_utterance``, as for the others.
        split: see there.
        scheme: see there.
        draw: see there.
    """
    return _task(Asking("hipo-swap", dataset, mode, SWAP, split, scheme, draw))


@scorer(metrics=[accuracy()])
def labels(
    *, task: str, dataset: str, mode: str, reference: str, split: str, scheme: str, draw: int
) -> Scorer:
    """Read the labels of a reply; each is right or wrong, and what cannot be read is wrong.

    The arguments are those of the task: logs can be scored again where the set is.
    """
    asked = asked_set(Asking(task, dataset, mode, reference, split, scheme, draw))

    async def score_reply(state: TaskState, target: Target) -> Score:
        item, question = asked.asked[str(state.sample_id)]
        finish = _FINISH.get(str(state.output.stop_reason), "stop")
        read = read_replies((question,), (Replied(state.output.completion, finish),))
        seat = EvaluationSeat(task, mode, draw, state.epoch - 1, str(state.model), "")
        row = result_of(
            item,
            seat,
            StoredAnswer(item.id, read.status, code=read.code, reason=read.reason,
                         content=read.content()),
            set_fingerprint=asked.items.fingerprint,
            scheme=asked.items.scheme.name,
        )  # fmt: skip
        right = item.references[reference]
        faults = [f"{name}: {fault}" for name, fault in row.faults.items()]
        return Score(
            value={
                name: float(is_right(row.labels.get(name), right[name]))
                if name in right
                else math.nan
                for name in asked.dimensions
            },
            answer=orjson.dumps(dict(row.labels)).decode(),
            explanation="; ".join([*faults, row.reason] if row.reason else faults) or None,
            metadata={_ROW: row.to_dict()},
        )

    return score_reply  # type: ignore[no-any-return, unused-ignore]


@metric
def figures(dimension: str, reference: str, values: list[str]) -> Metric:
    """Return macro-F1, and 95 % intervals over cases, as ``hipo evaluate`` has them.

    Of swap items: the accuracy beside either fact, their mean, and the share of lines that are
    right beside both.

    Args:
        dimension: what was asked about.
        reference: whose labels are right.
        values: the labels of the dimension, in the order of the scheme.
    """

    def of_scores(scores: list[SampleScore]) -> dict[str, float]:
        rows = [ResultRow.model_validate((one.score.metadata or {})[_ROW]) for one in scores]
        found = [
            (key, replace(answer, groups={}))
            for row in rows
            for key, answer in scored_answers(row, [dimension])
            if key.reference == reference
        ]
        answers = [answer for _, answer in found]
        if not found:
            return {}
        if reference == SWAP:
            swap = swap_score(found[0][0], answers)
            named = {"own": swap.own, "other": swap.other, "mean": swap.mean, "both": swap.both}
        else:
            scored = score(found[0][0], answers, values)
            named = {"macro_f1": scored.macro_f1, "accuracy": scored.accuracy}
        told = {key: n for name, value in named.items() for key, n in _numbers(name, value)}
        # The accuracy itself is a metric of inspect's own.
        return {key: n for key, n in told.items() if key != "accuracy"}

    return of_scores  # type: ignore[no-any-return, unused-ignore]


@lru_cache(maxsize=8)
def asked_set(how: Asking) -> AskedSet:
    """Return the items of a set with the question about each.

    Items of other splits are left out, and those that the reference says nothing about.

    Raises:
        UsageError: the set cannot be read, does not fit the task, or nothing of it is left.
        InputError: a row of it is no item.
    """
    items = load_set(Path(how.dataset), scheme=how.scheme or None)
    task = load_task(how.task, items.scheme)
    prompts = TaskPrompts(Templates(), items.scheme, task, mode=_mode(how.mode))
    asked = {}
    for item in items.for_task(task):
        if how.reference in item.references and how.split in ("", item.split):
            (question,) = prompts.questions(item.asked, draw=how.draw)
            asked[item.id] = (item, question)
    if not asked:
        there = sorted({one for item in items.items for one in item.references})
        where = f" in the split {how.split}" if how.split else ""
        raise UsageError(
            f"{how.dataset} has no item for the task {how.task} with a label that is"
            f" {how.reference}{where}",
            f"its labels are: {', '.join(there) or 'none'}",
        )
    told = {name for item, _ in asked.values() for name in item.references[how.reference]}
    single = (d.id for d in prompts.dimensions if d.measurement != "multi")
    return AskedSet(items, asked, tuple(name for name in single if name in told))


def _task(how: Asking) -> Task:
    # Logs may be scored again from another folder.
    how = replace(how, dataset=str(Path(how.dataset).resolve()))
    asked = asked_set(how)
    scheme = asked.items.scheme
    samples = [_sample(*found, how.reference) for found in asked.asked.values()]
    return Task(
        dataset=MemoryDataset(samples, name=asked.items.name),
        solver=generate(),
        scorer=labels(**asdict(how)),
        metrics={
            dimension: [
                accuracy(),
                stderr(cluster="case"),
                figures(dimension, how.reference, list(scheme.dimension(dimension).values)),
            ]
            for dimension in asked.dimensions
        },
        config=GenerateConfig(temperature=0.0),
        metadata={
            "scheme": scheme.name,
            "set": asked.items.fingerprint,
            "reference": how.reference,
        },
    )


def _sample(item: EvaluationItem, question: TaskQuestion, reference: str) -> Sample:
    return Sample(
        id=item.id,
        input=[_chat(message) for message in question.question.messages],
        target=orjson.dumps(dict(item.references[reference])).decode(),
        metadata={
            "case": item.case,
            "scenario": item.scenario,
            "category": item.category,
            "turn": item.turn,
            "strategy": item.strategy,
            "generator": item.generator,
            "split": item.split,
            "options": {name: list(shown) for name, shown in question.options.items()},
        },
    )


def _chat(message: Message) -> Any:
    kind = ChatMessageSystem if message.role == "system" else ChatMessageUser
    return kind(content=message.content)


def _mode(name: str) -> Mode:
    """Return a mode that asks one question about an item.

    Raises:
        UsageError: there is no such mode, or it asks two.
    """
    possible: dict[str, Mode] = {mode: mode for mode in MODES if mode != "two-phase"}
    if name not in possible:
        raise UsageError(
            f"the tasks for inspect have no mode {name!r}",
            suggestion(name, possible, listing="modes"),
        )
    return possible[name]


def _numbers(name: str, estimate: ClusteredEstimate) -> list[tuple[str, float]]:
    """Return a figure and its interval over cases by name; what is undefined is left out."""
    if estimate.value is None:
        return []
    near = estimate.by_case
    bounds = [] if near is None else [(f"{name}_low", near.low), (f"{name}_high", near.high)]
    return [(name, estimate.value), *bounds]
