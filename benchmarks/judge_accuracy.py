"""How often the offline judge gives the label a careful reader gives, on utterances by hand.

The utterances were written before the judge had been run on anything. Its weights for intention
were changed once after a look at these figures, its other rules after a look at dialogues of
``offline/rules`` and the library's openings: read the accuracies as a little flattering.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar, cast

from benchmarks.report import Row
from pipeline.offline_judge.engine import answer
from prompts.environment import Templates
from prompts.judges import JudgePrompts, JudgeView
from prompts.question import Question
from scenarios.dialogue import History
from scenarios.schemes.registry import load_scheme
from scenarios.yaml_source import read_yaml

T = TypeVar("T")

DATA = Path(__file__).parent / "data" / "judge_utterances.yaml"
DIMENSIONS = ("intention", "veracity", "illocutionary")


@dataclass(frozen=True, slots=True)
class Item:
    """An utterance written by hand in its scene, with its gold labels."""

    view: JudgeView
    question: str
    text: str
    gold: tuple[str, ...]
    """In the order of ``DIMENSIONS``."""


def items() -> Iterator[Item]:
    """Yield the utterances of all scenes."""
    for scene in _data()["scenes"]:
        for text, *gold in scene["utterances"]:
            yield Item(_view(scene), scene["question"], text, tuple(gold))


def strays() -> Iterator[Item]:
    """Yield sentences that belong to no scene, each put into one; they have no gold labels."""
    scenes = _data()["scenes"]
    for i, text in enumerate(_data()["strays"]):
        scene = scenes[i % len(scenes)]
        yield Item(_view(scene), scene["question"], text, ())


def _data() -> dict[str, Any]:
    return cast("dict[str, Any]", read_yaml(DATA).data)


def _view(scene: dict[str, Any]) -> JudgeView:
    initiator, responder = scene["people"]
    return JudgeView(
        situation=scene["situation"],
        initiator=initiator,
        initiator_description="Asks.",
        responder=responder,
        responder_description="Answers.",
        language="en (English)",
        about=scene["about"],
        fact=scene["fact"],
    )


def judge_answer(question: Question[T]) -> T:
    """Return what the offline judge answers to a question."""
    messages = [(message.role, message.content) for message in question.messages]
    return question.answer.read(answer(messages, 0))


@lru_cache(maxsize=1)
def judge_prompts() -> JudgePrompts:
    """Return the shipped prompts of the judges for the scheme that the labels by hand follow."""
    return JudgePrompts(Templates(None), load_scheme("hipo@1"))


def given(item: Item) -> tuple[str, ...]:
    """Return the labels the judge gives, in the order of ``DIMENSIONS``."""
    prompts = judge_prompts()
    history: History = (("initiator", item.question),)
    labels = judge_answer(prompts.turn(item.view, history, item.text))
    return tuple(str(label.value) for label in labels)


def run(*, quick: bool = False) -> list[Row]:
    """Measure accuracy per dimension, beside always giving the commonest label."""
    all_items = list(items())
    answers = [given(item) for item in all_items]
    rows = [Row("judge: utterances written by hand", float(len(all_items)))]
    for i, dimension in enumerate(DIMENSIONS):
        gold = [item.gold[i] for item in all_items]
        right = sum(labels[i] == label for labels, label in zip(answers, gold, strict=True))
        commonest = Counter(gold).most_common(1)[0][1]
        rows += [
            Row(f"judge: accuracy on {dimension}", right / len(gold)),
            Row(f"judge: commonest {dimension} label alone", commonest / len(gold)),
        ]
    return rows
