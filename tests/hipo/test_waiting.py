"""Functions that wait, called where an event loop runs, as in a notebook."""

from __future__ import annotations

import asyncio
import signal
import threading

import pytest

import hipo
from hipo.app.running.waiting import waited_for

RECIPE = {"models": {"default": "offline/rules"}, "scenarios": ["used_car"], "turns": [1], "n": 1}


@pytest.mark.anyio
async def test_in_a_notebook_functions_return_when_they_are_through(tmp_path):
    recipe = hipo.Recipe.model_validate(RECIPE)
    run = hipo.generate(recipe, output=tmp_path / "run")
    assert run.state().generated == 1
    assert hipo.verify(run, judges=["offline/judge"]).outcome.done == 1


@pytest.mark.anyio
async def test_an_error_is_that_of_what_was_waited_for():
    async def fail() -> None:
        raise hipo.UsageError("this is wrong", "do that")

    with pytest.raises(hipo.UsageError, match="this is wrong"):
        waited_for(fail())


def test_whoever_interrupts_a_notebook_stops_what_runs_in_it():
    cleaned = []

    async def work() -> None:
        try:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            await asyncio.sleep(60)
        finally:
            cleaned.append(threading.current_thread())

    async def cell() -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # as kernels do
        waited_for(work())

    handler = signal.getsignal(signal.SIGINT)
    try:
        with pytest.raises(KeyboardInterrupt):
            asyncio.run(cell())
    finally:
        signal.signal(signal.SIGINT, handler)
    assert cleaned
    assert cleaned != [threading.main_thread()]
