"""What is announced for a run, finished or not, is what is then played and asked."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from hipo.app.generation.generate import PlayContext, generate_prepared, play_plan
from hipo.app.generation.plan_estimates import PlanEstimate, estimate_plan
from hipo.app.generation.verified import VerifiedPlay
from hipo.app.options.verification import VerificationOverrides
from hipo.app.running.watching import Silent
from hipo.app.runs.resumption import prepare_for
from hipo.app.runs.run import Run
from pipeline.playing.runner import Progress, RunOutcome
from pipeline.recipes.recipe import Recipe
from pipeline.stopping.stop import Stop
from tests.wire.faults import Faults
from tests.wire.server import WireServer

Play = Callable[[PlayContext], Awaitable[RunOutcome]]
SCENARIOS = ["used_car", "wedding_ring"]
QUICK = {"gates": {"off": ["near_duplicate"]}, "self_judgement": False}
"""Without the model that compares texts, and with no judge that a server here could not be."""


class StopAfter(Silent):
    """Asks for a stop once so many dialogues are durable, as somebody at the keyboard would."""

    def __init__(self, stop: Stop, dialogues: int) -> None:
        self._stop = stop
        self._left = dialogues

    def see(self, progress: Progress) -> None:
        if progress.kind != "present":
            self._left -= 1
        if self._left <= 0:
            self._stop.request("seen enough")


def stopped_after(dialogues: int) -> Play:
    async def play(stage: PlayContext) -> RunOutcome:
        return await play_plan(replace(stage, watching=StopAfter(stage.stop, dialogues)))

    return play


def stopped_at_request(server: WireServer, number: int) -> Play:
    """Ask for a stop when so many requests have arrived, before the last of them is answered."""

    async def play(stage: PlayContext) -> RunOutcome:
        loop, answer = asyncio.get_running_loop(), server.answer

        def answer_and_stop(messages: Sequence[tuple[str, str]], seed: int) -> str:
            if server.count >= number:
                loop.call_soon_threadsafe(stage.stop.request, "seen enough")
            return answer(messages, seed)

        server.answer = answer_and_stop
        try:
            return await play_plan(stage)
        finally:
            server.answer = answer

    return play


def recipe(n: int, **changes: object) -> Recipe:
    data = {
        "models": {"default": "offline/rules"}, "scenarios": SCENARIOS, "n": n,
        "limits": {"max_concurrency": 3}, "verification": QUICK, **changes,
    }  # fmt: skip
    return Recipe.model_validate(data)


def go_on(
    folder: Path, wanted: Recipe, *, play: Play | None = None, retry_failed: bool = False
) -> tuple[PlanEstimate, Run]:
    """Announce, then play; return both."""
    prepared = prepare_for(folder, wanted, "always")  # arms may join
    verified = play if isinstance(play, VerifiedPlay) else None
    told = estimate_plan(prepared, folder, play=verified, retry_failed=retry_failed)
    run = asyncio.run(generate_prepared(prepared, folder, play=play, retry_failed=retry_failed))
    return told, run


def played(run: Run) -> int:
    assert run.outcome is not None
    return run.outcome.done + sum(run.outcome.failed.values())


def expected_calls(told: PlanEstimate) -> float:
    return sum(calls.expected for arm in told.generation.arms for calls in arm.calls)


def test_a_smaller_number_on_an_unfinished_run_is_announced_by_its_cases(tmp_path: Path) -> None:
    run = tmp_path / "run"
    go_on(run, recipe(60), play=stopped_after(20))
    there = Run(run).state().generated
    told, after = go_on(run, recipe(there + 1))
    assert told.generation.dialogues > 1, "the cases of the smaller plan are others"
    assert told.generation.dialogues == played(after)
    assert expected_calls(told) == after.calls
    assert told.generation.present == there + 1 - told.generation.dialogues
    assert told.generation.outside == there - told.generation.present


def test_replies_of_a_dialogue_that_was_broken_off_are_not_announced_again(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with WireServer() as server:
        model = {"default": {"model": "compatible/m", "base_url": server.openai_url}}
        wanted = recipe(12, models=model, turns=[3])
        # A dialogue takes five requests: after six to nine of them one at least is half played.
        told, first = go_on(run, wanted, play=stopped_at_request(server, 6))
        assert expected_calls(told) == 12 * 5
        assert first.calls > first.state().generated * 5, "some dialogue was broken off"
        told, second = go_on(run, wanted)
        assert expected_calls(told) == second.calls
        assert first.calls + second.calls == server.count == 12 * 5


passes = st.lists(
    st.fixed_dictionaries(
        {
            "n": st.integers(1, 40),
            "stop": st.integers(1, 30),
            "arms": st.sampled_from([["direct"], ["direct", "reflective"], ["reflective"]]),
            "broken": st.sampled_from([0.0, 0.3]),
            "retry_failed": st.booleans(),
            "scenarios": st.sampled_from([SCENARIOS, SCENARIOS[:1]]),
        }
    ),
    min_size=2,
    max_size=3,
)


# Every example plays runs: one that fails says enough without being made smaller.
@settings(max_examples=4, deadline=None, phases=(Phase.explicit, Phase.generate))
@given(passes=passes, verify=st.booleans())
def test_dialogues_announced_are_those_played_on_any_unfinished_run(
    passes: list[dict[str, object]], verify: bool
) -> None:
    with tempfile.TemporaryDirectory() as home, WireServer(keep=False) as server:
        run = Path(home) / "run"
        model = {"default": {"model": "compatible/m", "base_url": server.openai_url}}
        for wish in passes[:-1]:
            server.faults = Faults(rates={"prose": float(str(wish["broken"]))})
            wanted = recipe(
                int(str(wish["n"])), models=model, turns=[1, 2],
                strategies=wish["arms"], scenarios=wish["scenarios"],
            )  # fmt: skip
            go_on(run, wanted, play=stopped_after(int(str(wish["stop"]))))
        server.faults = Faults()
        wish = passes[-1]
        wanted = recipe(
            int(str(wish["n"])), models=model, turns=[1, 2],
            strategies=wish["arms"], scenarios=wish["scenarios"],
        )  # fmt: skip
        before = Run(run).state()
        play = VerifiedPlay(VerificationOverrides(judges=("offline/judge",))) if verify else None
        retry = bool(wish["retry_failed"])
        told, after = go_on(run, wanted, play=play, retry_failed=retry)
        state = after.state()
    assert told.generation.dialogues == played(after)
    settled = before.generated + sum(before.failed.values())
    again = sum(before.failed.values()) - sum(state.failed.values())
    assert told.generation.present + told.generation.outside + again == settled
    if verify:
        assert told.judging is not None
        assert {judge.dialogues for judge in told.judging.judges} == {state.generated}


def test_a_run_with_enough_accepted_dialogues_is_announced_as_nothing_to_do(
    tmp_path: Path,
) -> None:
    run = tmp_path / "run"
    play = VerifiedPlay(
        VerificationOverrides(judges=("offline/judge",), policy="gates"), accepted=4
    )
    told, first = go_on(run, recipe(4), play=play)
    assert told.generation.dialogues > 0
    assert first.state().verification.verdicts["accepted"] >= 4
    told, second = go_on(run, recipe(4), play=play)
    assert (told.generation.dialogues, played(second), second.calls) == (0, 0, 0)
    assert told.judging is not None
    assert told.judging.calls == 0


@pytest.mark.parametrize("accepted", [3, 8])
def test_the_next_round_towards_accepted_dialogues_goes_beyond_what_is_there(
    tmp_path: Path, accepted: int
) -> None:
    run = tmp_path / "run"
    go_on(run, recipe(6))
    play = VerifiedPlay(
        VerificationOverrides(judges=("offline/judge",), policy="gates"), accepted=accepted
    )
    told, _ = go_on(run, recipe(6), play=play)
    assert told.generation.present == 6
    assert told.generation.dialogues > 0
