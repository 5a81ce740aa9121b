"""How often a judge gives the labels of the gold lines: per dimension and label, with confusion.

``offline/judge`` is measured by default. It was tuned on stage lines and on what ``offline/rules``
says, never on gold. A model at HIPO_BENCH_URL is measured in its place:

    python -m benchmarks.judge_accuracy
    HIPO_BENCH_URL=http://127.0.0.1:8080/v1 HIPO_BENCH_MODEL=smol python -m benchmarks.judge_accuracy
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar, cast

from benchmarks.report import Row, table
from pipeline.offline_judge.engine import answer
from pipeline.providers.errors import ProviderError
from pipeline.providers.protocol import Provider, Request
from pipeline.providers.registry import build_provider, parse_model
from prompts.environment import Templates
from prompts.judges import JudgePrompts, JudgeView
from prompts.question import Question
from prompts.responses import Unreadable
from prompts.tasks.answers import BlindLabel
from prompts.tasks.items import FactView, SceneView
from quality.evaluation.scores import ClusteredEstimate, Scores
from quality.gold import GoldItem, Read, against_gold, gold_items
from scenarios.arms import Parameters
from scenarios.schemes.registry import load_scheme
from scenarios.yaml_source import read_yaml

T = TypeVar("T")

DATA = Path(__file__).parent / "data" / "strays.yaml"
JUDGE = "offline/judge"
URL, MODEL = "HIPO_BENCH_URL", "HIPO_BENCH_MODEL"


def strays() -> Iterator[tuple[JudgeView, str, str]]:
    """Yield sentences that belong to no scene, each put into one, with a question before it."""
    data = cast("dict[str, Any]", read_yaml(DATA).data)
    for i, text in enumerate(data["strays"]):
        scene = data["scenes"][i % len(data["scenes"])]
        initiator, responder = scene["people"]
        seen = SceneView(
            situation=scene["situation"],
            initiator=initiator,
            initiator_description="Asks.",
            responder=responder,
            responder_description="Answers.",
            language="en (English)",
        )
        view = JudgeView(f"stray {i}", seen, FactView(scene["about"], scene["fact"]))
        yield view, scene["question"], text


def judge_answer(question: Question[T]) -> T:
    """Return what the offline judge answers to a question."""
    messages = [(message.role, message.content) for message in question.messages]
    return question.answer.read(answer(messages, 0))


@lru_cache(maxsize=1)
def judge_prompts() -> JudgePrompts:
    """Return the shipped prompts of the judges for the scheme of the gold lines."""
    return JudgePrompts(Templates(None), load_scheme("hipo"))


async def readings(items: Sequence[GoldItem], provider: Provider, model: str) -> Read:
    """Ask a model about every gold line, one after the other.

    None where the answer could not be read; a line to which no answer came is left out.
    """
    read: dict[str, Sequence[BlindLabel] | None] = {}
    for item in items:
        question = item.question(judge_prompts())
        request = Request(
            model,
            question.messages,
            Parameters(temperature=0.0, max_tokens=1024),
            question.answer.schema,
            question.answer.name,
            seed=0,
        )
        try:
            reply = await provider.send(request, 600.0)
            read[item.line.id] = question.answer.read(reply.choices[0].text)
        except Unreadable:
            read[item.line.id] = None
        except ProviderError:
            continue
    return read


def measured(name: str, *, base_url: str | None = None, most: int | None = None) -> list[Scores]:
    """Return how a model's labels stand to gold, dimension by dimension."""
    model = parse_model(name)
    items = gold_items()[:most]

    async def ask() -> Read:
        provider = build_provider(model, base_url=base_url)
        try:
            return await readings(items, provider, model.model)
        finally:
            await provider.close()

    lines = [(item.scenario.id, item.line) for item in items]
    return against_gold(name, load_scheme("hipo"), lines, asyncio.run(ask()))


def run(*, quick: bool = False) -> list[Row]:
    """Measure accuracy and macro-F1 per dimension, beside always giving the commonest label."""
    rows: list[Row] = []
    for found in _tables():
        name = f"{found.model} on gold: {found.dimension}"
        rows += [
            Row(f"{name}, lines", float(found.items)),
            Row(f"{name}, accuracy", found.accuracy.value or 0.0),
            Row(f"{name}, macro F1", found.macro_f1.value or 0.0),
            Row(f"{name}, commonest label alone", found.majority.accuracy or 0.0),
        ]
    return rows


def _tables() -> list[Scores]:
    url = os.environ.get(URL)
    if url is None:
        return measured(JUDGE)
    return measured(f"compatible/{os.environ.get(MODEL, 'smol')}", base_url=url)


def shown(found: Scores) -> str:
    """Return one dimension as Markdown: the figures of each label, then the confusion."""
    heads = [*found.labels, "unreadable"]
    lines = [
        f"## {found.model}: {found.dimension}, {found.items} lines",
        "",
        f"accuracy {_share(found.accuracy)}, macro F1 {_share(found.macro_f1)}",
        "",
        f"| gold | lines | precision | recall | F1 | {' | '.join(heads)} |",
        f"|{'---|' * (5 + len(heads))}",
    ]
    for one, row, lost in zip(found.classes, found.matrix, found.unread, strict=True):
        figures = [_share(one.precision), _share(one.recall), _share(one.f1)]
        cells = [one.label, one.support, *figures, *row, lost]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join([*lines, ""])


def _share(found: ClusteredEstimate) -> str:
    if found.value is None:
        return "\u2013"
    bounds = found.by_case
    around = f" [{bounds.low:.2f}, {bounds.high:.2f}]" if bounds else ""
    return f"{found.value:.2f}{around}"


if __name__ == "__main__":
    print("\n".join(map(shown, _tables())))
    print(table(run()) if URL not in os.environ else "")
