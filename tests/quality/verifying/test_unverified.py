"""What is left to verify: who has yet to judge, and what is embedded ahead."""

from __future__ import annotations

import asyncio
import pickle
from dataclasses import replace

import numpy as np
import pytest

from quality.gates.runner import GateChecks
from quality.gates.settings import gate_settings
from quality.verification import unverified
from quality.verification.unverified import missing_epochs
from scenarios.verdicts import JudgeRun
from tests.quality.scripted import ARM, HIPO, Asker, Oracle, self_judge
from tests.quality.verifying.bench import Bench, filled

pytestmark = pytest.mark.anyio


async def test_what_is_left_to_verify_can_be_sent_to_another_process(store):
    (played,) = await filled(store, 1)
    setup = Bench(store).setup()
    task = await setup.task(played)
    sent = pickle.loads(pickle.dumps(task))
    assert sent == task
    assert [setup.judge(ARM, seat).seat for seat, _ in sent.seats] == [s for s, _ in task.seats]


def test_who_has_yet_to_judge_follows_from_the_newest_run_of_each_judge():
    own = self_judge(Asker(Oracle())).seat
    done = JudgeRun("c", "a", "self", own.judge, own.config, 0, readable=True)
    broken = JudgeRun("c", "a", "self", own.judge, own.config, 2, readable=False)
    older = JudgeRun("c", "a", "self", own.judge, "another", 0, readable=True)
    assert missing_epochs([own], []) == [0]
    assert missing_epochs([own], [done]) == [None]
    assert missing_epochs([own], [older]) == [0]
    assert missing_epochs([own], [broken]) == [None]
    assert missing_epochs([own], [broken], retry=True) == [3]


class CountingEncoder:
    """Embeds a text as a unit vector, and counts texts."""

    def __init__(self):
        self.texts = []

    async def encode(self, texts):
        self.texts += texts
        return np.eye(max(8, len(texts)), dtype=np.float32)[: len(texts)]


async def test_the_next_page_is_embedded_while_the_dialogues_of_one_are_judged(store, monkeypatch):
    monkeypatch.setattr(unverified, "PAGE", 2)
    monkeypatch.setattr(unverified, "PAGES_AHEAD", 1)
    played = await filled(store, 6)
    encoder = CountingEncoder()
    every = replace(GateChecks.of(gate_settings({}), HIPO, encoder), sparing=None)
    setup = Bench(store).setup(checks=every)
    tasks = setup.tasks(played, stopped=lambda: False, count_present=lambda _: None)
    first = await anext(tasks)
    for _ in range(5):
        await asyncio.sleep(0)
    assert len(encoder.texts) == 4, "two of the page that is judged, two of the next"
    rest = [task async for task in tasks]
    assert [task.dialogue for task in (first, *rest)] == played
    assert len(encoder.texts) == 6


async def test_what_is_embedded_ahead_is_given_up_where_verification_stops(store, monkeypatch):
    monkeypatch.setattr(unverified, "PAGE", 2)
    played = await filled(store, 6)
    checks = GateChecks.of(gate_settings({}), HIPO, CountingEncoder())
    left = iter((False, False, True))
    before = asyncio.all_tasks()
    tasks = (
        Bench(store)
        .setup(checks=checks)
        .tasks(played, stopped=lambda: next(left), count_present=lambda _: None)
    )
    assert [task.dialogue async for task in tasks] == played[:1]
    assert asyncio.all_tasks() <= before, "nothing is left that nobody waits for"
