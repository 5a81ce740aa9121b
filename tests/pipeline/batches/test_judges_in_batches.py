"""Judges and jurors in batches: what they are asked about a dialogue waits for one batch, not for many."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hipo.app.generation.generate import generate
from hipo.app.generation.plan_estimates import estimate_plan
from hipo.app.generation.verified import VerifiedPlay
from hipo.app.options.verification import VerificationOverrides
from hipo.app.preparation.prepared import prepare
from hipo.app.verification.jury import estimate_jury, hear_jurors
from hipo.app.verification.jury_request import JuryRequest
from hipo.app.verification.verify import verify
from pipeline.store.run_store import RunStore
from tests.pipeline.batches.runs import recipe
from tests.pipeline.integration.records import rows
from tests.wire.server import WireServer, actors_and_judges


@pytest.fixture
def run(server: WireServer, tmp_path: Path) -> Path:
    """Return a run of four dialogues of two exchanges that was not played in batches."""
    server.answer = actors_and_judges
    folder = tmp_path / "run"
    generate(recipe(server, n=4, turns=[2], limits={"batch": False}), output=folder)
    return folder


def judged_by(server: WireServer, **more: object) -> VerificationOverrides:
    return VerificationOverrides(
        judges=["openai/judge"], base_url=server.openai_url, embeddings=False, batch=True, **more
    )


def sizes(server: WireServer) -> list[tuple[str, int]]:
    return sorted((b.requests[0][1]["model"], len(b.requests)) for b in server.batches.made)


@pytest.mark.parametrize("style", ["commit", "verify"])
def test_what_judges_are_asked_about_dialogues_goes_into_one_batch_of_each_model(
    style: str, server: WireServer, run: Path
) -> None:
    verify(run, overrides=judged_by(server, judge_style=style, foils=0))
    assert sizes(server) == [("judge", 12), ("rules", 12)]  # two utterances and the whole
    assert rows(run, "select verdict, count(*) from decisions group by 1") == [("accepted", 4)]


def test_wrong_labels_that_a_judge_is_shown_wait_for_one_batch_more(
    server: WireServer, run: Path
) -> None:
    verify(run, overrides=judged_by(server, judge_style="verify", foils=8))
    foiled = [
        purpose
        for (purpose,) in rows(run, "select purpose from requests where model = 'openai/judge'")
        if purpose == "external-foil"
    ]
    assert sizes(server) == [("judge", 12), ("judge", len(foiled)), ("rules", 12)]
    assert len(foiled) > 8


def test_a_judge_whose_requests_are_refused_takes_nothing_from_the_others(
    server: WireServer, run: Path
) -> None:
    server.batches.faults.errored, server.batches.faults.once = 1.0, True
    verify(run, overrides=judged_by(server))
    assert rows(run, "select verdict, count(*) from decisions group by 1") == [("accepted", 4)]
    asked = Counter(model for (model,) in rows(run, "select model from requests where code = 'ok'"))
    assert (asked["openai/judge"], len(server.batches.made)) == (12, 3)


def test_dialogues_that_are_judged_while_they_are_made_wait_for_one_batch_more(
    server: WireServer, tmp_path: Path
) -> None:
    server.answer = actors_and_judges
    play = VerifiedPlay(judged_by(server))
    generate(recipe(server, n=4, turns=[2]), output=tmp_path / "run", play=play)
    assert sizes(server) == [("judge", 12), *[("rules", 4)] * 4, ("rules", 12)]


@pytest.mark.parametrize(
    ("options", "rounds"),
    [
        ({}, 5),
        ({"judge_style": "verify"}, 6),
        ({"judges": [], "base_url": None, "self_judgement": False}, 4),
    ],
)
def test_the_estimate_counts_the_rounds_of_judges(
    options: dict[str, Any], rounds: int, server: WireServer, tmp_path: Path
) -> None:
    play = VerifiedPlay(replace(judged_by(server), **options))
    planned = estimate_plan(prepare(recipe(server, n=4, turns=[2])), tmp_path / "run", play=play)
    assert planned.batches is not None
    assert planned.batches.longest_rounds == rounds


def test_what_a_juror_is_asked_about_dialogues_goes_into_one_batch(
    server: WireServer, run: Path
) -> None:
    overrides = VerificationOverrides(base_url=server.openai_url, batch=True)
    asyncio.run(hear_jurors(run, JuryRequest(models=["openai/one", "openai/two"]), overrides))
    assert sizes(server) == [("one", 8), ("two", 8)]


def test_a_juror_that_is_asked_for_each_label_apart_waits_for_one_batch_too(
    server: WireServer, run: Path
) -> None:
    overrides = VerificationOverrides(base_url=server.openai_url, batch=True)
    asked = JuryRequest(models=["openai/one"], task="hipo-utterance-paper", scheme="hipo")
    with RunStore.open(run, readonly=True) as store:
        planned = estimate_jury(store, asked, overrides)
    asyncio.run(hear_jurors(run, asked, overrides))
    assert sizes(server) == [("one", 32)]
    assert (planned.calls, planned.rounds) == (8 * 4, 1)
