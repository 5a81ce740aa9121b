"""How many jobs a command does side by side."""

from __future__ import annotations

from hipo.app.preparation.prepared import Prepared
from pipeline.endpoints.run_link import LocalRun
from pipeline.executors.local import LocalExecutor, width_for
from pipeline.executors.width import FollowingWidth
from pipeline.providers.rate_limiter import ModelAddress
from pipeline.recipes.recipe import Limits

LIVE_JOBS = 5_000
"""Dialogues that are played side by side where each waits for a batch most of the time."""


def executor_for(limits: Limits, link: LocalRun, models: int = 1) -> LocalExecutor:
    """Return what does as many jobs at once as keep the models of a run busy.

    Args:
        limits: of the recipe; a number of requests in flight says how many jobs that are.
        link: the run, whose places are followed where there is no such number.
        models: that take turns at the jobs.
    """
    if limits.batch:
        return LocalExecutor(LIVE_JOBS * models)
    if limits.max_concurrency is None:
        return LocalExecutor(FollowingWidth(link.limiters))
    return LocalExecutor(width_for(limits.max_concurrency) * models)


def playing_executor(prepared: Prepared, link: LocalRun) -> LocalExecutor:
    """Return what plays a run: dialogues that wait for one of its models leave the others busy."""
    limits, specs = prepared.recipe.limits, [use.spec for use in prepared.uses.values()]
    if limits.batch:
        return executor_for(limits, link)
    asked = {ModelAddress(spec.provider, spec.base_url, spec.model) for spec in specs}
    return executor_for(limits, link, len(asked))
