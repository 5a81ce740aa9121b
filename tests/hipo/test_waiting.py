"""Functions that wait, called where an event loop runs."""

from __future__ import annotations

import asyncio
import warnings

import pytest

import hipo
from scenarios.errors import UsageError

RECIPE = {"models": {"default": "offline/rules"}, "scenarios": ["used_car"], "turns": [1], "n": 1}


@pytest.mark.anyio
async def test_in_a_notebook_it_is_told_what_to_do_and_a_thread_works(tmp_path):
    recipe = hipo.Recipe.model_validate(RECIPE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UsageError, match="an event loop is running") as told:
            hipo.generate(recipe, output=tmp_path / "run")
    assert "asyncio.to_thread" in told.value.hint
    assert not (tmp_path / "run").exists()
    run = await asyncio.to_thread(hipo.generate, recipe, output=tmp_path / "run")
    assert run.state().generated == 1
