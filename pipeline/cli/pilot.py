"""``hipo generate --dry-run --pilot N``: play a few, verify them, and forecast the whole."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from pipeline.cli.api import generate_async
from pipeline.cli.screen import columns, dollars, number, plural
from pipeline.cli.verification import Wishes
from pipeline.cli.verified_generation import VerifiedPlay
from pipeline.recipe import Recipe
from pipeline.store.state import RunState
from quality.forecast import Forecast, Pilot, forecast
from scenarios.errors import UsageError

NOTHING = "nothing was accepted"


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


async def run_pilot(
    recipe: Recipe, wishes: Wishes, *, cases: int, accepted: int | None, planned: int
) -> Piloted:
    """Play and verify ``cases`` cases in a folder that is removed afterwards.

    The models are really asked, and what that costs is real; a budget holds for the pilot.

    Raises:
        UsageError: something does not exist or does not fit together, or nothing was played.
    """
    with tempfile.TemporaryDirectory(prefix="hipo-pilot-") as folder:
        run = await generate_async(
            recipe.with_changes({"n": cases}),
            output=Path(folder) / "pilot",
            play=VerifiedPlay(wishes),
            signals=True,
        )
        state = run.state()
    stopped = run.outcome.stopped if run.outcome else None
    return Piloted(forecast(_pilot(state, stopped)), accepted, planned, stopped)


def _pilot(state: RunState, stopped: str | None) -> Pilot:
    verdicts = state.verification.verdicts
    failed = sum(state.failed.values())
    if state.generated + failed == 0:
        raise UsageError(
            f"the pilot played nothing: {stopped or 'no case'}", "give it more budget, or try again"
        )
    return Pilot(
        generated=state.generated,
        failed=failed,
        accepted=verdicts.get("accepted", 0),
        pending=verdicts.get("pending", 0),
        discarded=verdicts.get("discarded", 0),
        cost_usd=None if state.unpriced_calls else state.cost_usd,
    )


def pilot_as_json(piloted: Piloted) -> dict[str, object]:
    """Return what ``hipo generate --dry-run --pilot N --format json`` prints.

    ``pilot``: an object with ``generated``, ``failed``, ``accepted``, ``pending``, ``discarded``,
    ``cost_usd`` (None: unknown) and ``stopped``; ``yield``: an object with ``share``, ``low`` and
    ``high`` (95 % interval); ``cost_per_dialogue`` and ``cost_per_accepted`` (None: unknown);
    ``whole``: an object with ``dialogues``, ``accepted``, ``accepted_low``, ``accepted_high`` and
    ``cost_usd`` if the plan is to be played, or with ``accepted``, ``dialogues``,
    ``dialogues_low``, ``dialogues_high`` (None: cannot be said), ``cost_usd``, ``cost_usd_low``
    and ``cost_usd_high`` if so many accepted ones are wanted.
    """
    told = piloted.forecast
    return {
        "pilot": {
            "generated": told.pilot.generated,
            "failed": told.pilot.failed,
            "accepted": told.pilot.accepted,
            "pending": told.pilot.pending,
            "discarded": told.pilot.discarded,
            "cost_usd": told.pilot.cost_usd,
            "stopped": piloted.stopped,
        },
        "yield": {"share": told.yield_share, "low": told.yield_low, "high": told.yield_high},
        "cost_per_dialogue": told.cost_per_dialogue,
        "cost_per_accepted": told.cost_per_accepted,
        "whole": _whole(piloted),
    }


def _whole(piloted: Piloted) -> dict[str, object]:
    told = piloted.forecast
    if piloted.accepted is None:
        n = piloted.dialogues
        return {
            "dialogues": n,
            "accepted": round(n * told.yield_share),
            "accepted_low": round(n * told.yield_low),
            "accepted_high": round(n * told.yield_high),
            "cost_usd": told.cost_of(n),
        }
    expected, best, worst = told.dialogues_for(piloted.accepted)
    return {
        "accepted": piloted.accepted,
        "dialogues": expected,
        "dialogues_low": best,
        "dialogues_high": worst,
        "cost_usd": told.cost_of(expected),
        "cost_usd_low": told.cost_of(best),
        "cost_usd_high": told.cost_of(worst),
    }


def pilot_as_text(piloted: Piloted) -> str:
    """Return the forecast the way ``hipo generate --dry-run --pilot N`` prints it."""
    told = piloted.forecast
    pilot = told.pilot
    played = f"{plural(pilot.generated, 'dialogue')}, {number(pilot.failed)} failed"
    verdicts = (
        f"{number(pilot.accepted)} accepted, {number(pilot.pending)} waiting for review, "
        f"{number(pilot.discarded)} discarded"
    )
    interval = f"95 % interval {_percent(told.yield_low)} to {_percent(told.yield_high)}"
    dear = f"{dollars(told.cost_per_accepted)} an accepted one"
    lines = [
        f"pilot: {played}; {verdicts}; {dollars(pilot.cost_usd)}",
        f"yield {_percent(told.yield_share)} ({interval})",
        f"{dollars(told.cost_per_dialogue)} a dialogue, {dear if pilot.accepted else NOTHING}",
    ]
    if piloted.stopped:
        lines.append(f"the pilot ended early: {piloted.stopped}")
    if piloted.accepted is None:
        n = piloted.dialogues
        lines.append(
            f"all {number(n)} dialogues: about {number(n * told.yield_share)} accepted "
            f"({number(n * told.yield_low)} to {number(n * told.yield_high)}), "
            f"{dollars(told.cost_of(n))}"
        )
        return "\n".join(lines)
    expected, best, worst = told.dialogues_for(piloted.accepted)
    rows = [
        [name, "more than can be said" if n is None else number(n), dollars(told.cost_of(n))]
        for name, n in (("expected", expected), ("at best", best), ("at worst", worst))
    ]
    title = f"for {number(piloted.accepted)} accepted dialogues:"
    return "\n".join([*lines, "", title, columns(["", "dialogues", "cost"], rows)])


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%"
