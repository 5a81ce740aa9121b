"""When failures stop a run: what can never work does, one filtered scenario does not."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from hipo.cli.terminal.errors import ENDINGS
from pipeline.calls.client import AnswerUnusable
from pipeline.executors.local import LocalExecutor
from pipeline.playing.runner import JobFailure, Runner
from pipeline.providers.errors import BadRequest, ContextExceeded, ServerFault
from pipeline.stopping.rules import (
    REFUSED_ALIKE,
    REFUSED_SCENARIOS,
    SAME_FAILURE,
    UNREADABLE_AT_FIRST,
    StopRules,
    alike,
)
from pipeline.stopping.stop import Stop

Job = tuple[str, Exception | None]
"""A scenario, and what playing one of its cases raises."""
DOCS = Path(__file__).resolve().parents[2] / "docs"


class Playing:
    """Plays cases of scenarios, each of which ends as it says."""

    def __init__(self) -> None:
        self.ended: list[str] = []

    def scenario_of(self, job: Job) -> str:
        return job[0]

    async def work(self, job: Job) -> str:
        if job[1] is not None:
            raise job[1]
        return job[0]

    async def record(self, job: Job, result: str) -> None:
        self.ended.append(f"{result} done")

    async def record_failure(self, job: Job, failure: JobFailure) -> None:
        self.ended.append(f"{job[0]} failed")


async def stream(jobs: Sequence[Job]) -> AsyncIterator[Job]:
    for job in jobs:
        yield job


async def play(
    jobs: Sequence[Job], *, scenarios: int = 31, worked: bool = False, width: int = 1
) -> tuple[Playing, Stop]:
    stage, stop = Playing(), Stop()
    rules = StopRules("dialogues failed", "go on", scenarios=scenarios, worked=worked)
    await Runner(stage, stop, rules).run(stream(jobs), LocalExecutor(width))
    return stage, stop


def of(scenario: str, count: int, error: Exception | None = None) -> list[Job]:
    return [(scenario, error)] * count


TOO_LONG = BadRequest("request (2302 tokens) exceeds the available context size (2048 tokens)")
FILTERED = BadRequest("the prompt was filtered: violence")


@pytest.mark.anyio
@pytest.mark.parametrize("width", [1, 8])
async def test_what_is_refused_throughout_stops_after_few_cases_though_plans_go_by_scenario(
    width: int,
) -> None:
    jobs = [job for scenario in "abcdef" for job in of(scenario, 1000, TOO_LONG)]
    stage, stop = await play(jobs, width=width)
    assert stop.code == "refused"
    assert len(stage.ended) <= REFUSED_ALIKE + REFUSED_SCENARIOS + width
    assert str(stop.reason).startswith("12 dialogues failed alike (bad_request)") or width > 1
    assert "exceeds the available context size" in str(stop.reason)
    assert stop.advice == "mend what it says, or take another model; then go on"


@pytest.mark.anyio
@pytest.mark.parametrize("place", [0, 1, 2])
async def test_one_filtered_scenario_does_not_end_a_run_and_all_its_cases_fail(place: int) -> None:
    scenarios = [of(name, 100) for name in "abc"]
    scenarios[place] = of("x", 300, FILTERED)
    stage, stop = await play([job for jobs in scenarios for job in jobs], width=4)
    assert not stop.requested
    assert stage.ended.count("x failed") == 300
    assert len(stage.ended) == 500


@pytest.mark.anyio
async def test_the_cases_of_a_refused_scenario_wait_until_another_is_tried() -> None:
    stage, stop = await play([*of("x", 100, FILTERED), *of("a", 2)])
    assert stage.ended[:REFUSED_ALIKE] == ["x failed"] * REFUSED_ALIKE
    assert stage.ended[REFUSED_ALIKE] == "a done"
    assert stage.ended.count("x failed") == 100
    assert not stop.requested


@pytest.mark.anyio
async def test_a_run_of_one_scenario_stops_after_ten_and_after_fifty_once_it_has_worked() -> None:
    stage, stop = await play(of("x", 1000, TOO_LONG), scenarios=1)
    assert (len(stage.ended), stop.code) == (REFUSED_ALIKE, "refused")
    jobs = [*of("x", 1), *of("x", 1000, TOO_LONG)]
    stage, stop = await play(jobs, scenarios=1)
    assert (len(stage.ended), stop.code) == (1 + SAME_FAILURE, "refused")
    stage, stop = await play(of("x", 1000, TOO_LONG), scenarios=1, worked=True)
    assert (len(stage.ended), stop.code) == (SAME_FAILURE, "refused")


@pytest.mark.anyio
async def test_refusals_that_differ_or_have_successes_between_them_do_not_stop_a_run() -> None:
    different = [
        (scenario, BadRequest(f"{word} is not allowed"))
        for word in ("weather", "sport", "love")
        for scenario in ("abc" * 3)
    ]
    _, stop = await play(different)
    assert not stop.requested
    mixed = [job for _ in range(50) for job in (*of("a", 3, TOO_LONG), *of("b", 1))]
    _, stop = await play(mixed)
    assert not stop.requested


@pytest.mark.anyio
async def test_models_that_refuse_whatever_they_are_asked_stop_a_run_like_endpoints_do() -> None:
    refusal = AnswerUnusable("refusal", "responder, turn-1: answer: found a refusal")
    _, stop = await play([job for name in "abc" for job in of(name, 9, refusal)])
    assert stop.code == "refused"
    _, stop = await play([*of("x", 100, refusal), *of("a", 1)])
    assert not stop.requested


@pytest.mark.anyio
async def test_unreadable_answers_stop_a_run_in_which_nothing_was_ever_done() -> None:
    prose = AnswerUnusable("unparseable", "responder: answer: found no JSON object")
    stage, stop = await play(of("a", 1000, prose))
    assert (len(stage.ended), stop.code) == (UNREADABLE_AT_FIRST, "refused")
    assert stop.advice == "take a larger model, or try --structured instruct; then go on"
    _, stop = await play(of("a", 1000, AnswerUnusable("truncated", "cut off")))
    assert stop.advice.startswith("raise --max-tokens")
    _, stop = await play([*of("a", 1), *of("a", 1000, prose)])
    assert not stop.requested
    _, stop = await play(of("a", 1000, prose), worked=True)
    assert not stop.requested


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (
            "request (2302 tokens) exceeds 2048",
            "request (99 tokens) exceeds 2048",
            True,
        ),
        ("filtered, id 7f3a-11", "filtered, id 0c92-40", True),
        ("the prompt is too long", "the prompt is filtered", False),
    ],
)
def test_messages_are_alike_but_for_numbers_and_ids(one: str, other: str, *, same: bool) -> None:
    assert (alike("bad_request", one) == alike("bad_request", other)) is same


@pytest.mark.anyio
async def test_the_page_for_nights_has_every_rule_with_its_numbers_and_its_exit_code() -> None:
    page = (DOCS / "overnight.md").read_text(encoding="utf-8")
    section = page.partition("## Stop rules")[2].partition("\n## ")[0]
    rules = {
        what.strip(): int(code)
        for what, code in re.findall(r"^\| ([^|]*) \| (\d+) \|$", section, re.MULTILINE)
    }
    jobs = {
        f"{SAME_FAILURE} dialogues in a row fail with the same passing fault of the endpoint": of(
            "a", SAME_FAILURE, ServerFault("502")
        ),
        f"{SAME_FAILURE} dialogues in a row fail with an error inside hipo or a plugin": of(
            "a", SAME_FAILURE, KeyError("k")
        ),
        f"{REFUSED_ALIKE} dialogues of at least {REFUSED_SCENARIOS} scenarios are refused alike, "
        "and none was done between them": [
            (f"scenario {number % REFUSED_SCENARIOS}", ContextExceeded("too long"))
            for number in range(REFUSED_ALIKE)
        ],
        f"{UNREADABLE_AT_FIRST} dialogues fail for unreadable answers, and none of the run was "
        "ever done": of("a", UNREADABLE_AT_FIRST, AnswerUnusable("unparseable", "prose")),
    }
    for what, failing in jobs.items():
        _, stop = await play(failing)
        assert rules[what] == ENDINGS[stop.code][0], what
        _, earlier = await play(failing[:-1])
        assert not earlier.requested
