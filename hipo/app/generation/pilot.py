"""Play a few cases of a plan, verify them, and forecast the whole."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from hipo.app.estimates.accepted_costs import AcceptedCosts, AcceptedShare
from hipo.app.generation.generate import generate_prepared
from hipo.app.generation.plan_estimates import estimate_plan
from hipo.app.generation.verified import VerifiedPlay
from hipo.app.options.verification import VerificationOverrides
from hipo.app.preparation.prepared import Prepared
from hipo.app.running.watching import Watcher
from pipeline.playing.runner import RunOutcome
from pipeline.stopping.stop import CONFIGURATION, MustStop
from pipeline.store.queries.charges import Charges
from pipeline.store.queries.status import RunState
from quality.forecast import Forecast, Pilot, forecast
from scenarios.errors import UsageError

LONGEST_WAIT_S = 60.0
"""For an endpoint that is away: somebody sits in front of a forecast."""


@dataclass(frozen=True, slots=True)
class Piloted:
    """A forecast, and what it was asked for."""

    forecast: Forecast
    accepted: int | None
    """Accepted dialogues that are wanted; None: the plan is to be played."""
    dialogues: int
    """Dialogues of the whole plan."""
    stopped: str | None
    """Why the pilot ended early, if it did."""
    costs: AcceptedCosts | None
    """What accepted utterances of the plan cost with each model of the price list."""


async def run_pilot(
    prepared: Prepared,
    overrides: VerificationOverrides,
    *,
    cases: int,
    accepted: int | None,
    watcher: Watcher | None = None,
    cut_off: Callable[[Charges], None] = lambda _: None,
) -> Piloted:
    """Play and verify ``cases`` cases, watched, in a folder that is removed afterwards.

    The models are really asked, and what that costs is real; a budget holds for the pilot.
    ``cut_off`` is told what was spent where there is nothing to forecast from.

    Raises:
        UsageError: something does not exist or does not fit together, or is to be asked in batches.
        MustStop: it was stopped before anything was played.
    """
    if prepared.recipe.limits.batch:
        raise UsageError(
            "--pilot keeps nothing, and what is asked in batches would be lost if it is interrupted",
            "leave out --batch, or limits.batch of the recipe: batches take half of what is told then",
        )
    with tempfile.TemporaryDirectory(prefix="hipo-pilot-") as folder:
        play, place = VerifiedPlay(overrides), Path(folder) / "pilot"
        planned = estimate_plan(prepared, place, play=play)
        run = await generate_prepared(
            _impatient(prepared.of_size(cases)), place, play=play, watcher=watcher, signals=True
        )
        state = run.state()
    outcome = run.outcome
    if not state.settled:
        cut_off(state)
    found = forecast(_pilot(state, outcome))
    share = AcceptedShare("pilot", found.pilot.accepted, found.pilot.generated + found.pilot.failed)
    costs = None if planned.accepted is None else planned.accepted.at(share)
    return Piloted(found, accepted, prepared.dialogues, outcome.stopped, costs)


def _impatient(prepared: Prepared) -> Prepared:
    """Return what is to be played so that nobody waits long for a server that is away."""
    limits = prepared.recipe.limits
    wait_s = min(LONGEST_WAIT_S, limits.wait_for_endpoint)
    return replace(
        prepared, recipe=prepared.recipe.with_changes({"limits": {"wait_for_endpoint": wait_s}})
    )


def _pilot(state: RunState, outcome: RunOutcome) -> Pilot:
    verdicts = state.verification.verdicts
    if not state.settled:
        raise MustStop(
            f"the pilot played nothing: {outcome.stopped or 'no case'}",
            code=outcome.stop_code or CONFIGURATION,
            advice=outcome.advice,
        )
    return Pilot(
        generated=state.generated,
        failed=sum(state.failed.values()),
        accepted=verdicts.get("accepted", 0),
        pending=verdicts.get("pending", 0),
        discarded=verdicts.get("discarded", 0),
        cost_usd=None if state.unpriced_calls else state.cost_usd,
    )
