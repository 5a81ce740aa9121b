"""What ``hipo generate`` does once its options are read; other commands play what they prepared."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hipo.app.generation.generate import generate_prepared
from hipo.app.generation.plan_estimates import PlanEstimate, estimate_plan
from hipo.app.preparation.prepared import Prepared
from hipo.app.running.watching import Watcher
from hipo.app.runs.run import GeneratedRun
from hipo.cli.options.workers import Workers
from hipo.cli.reports.estimate import plan_as_json, plan_as_text
from hipo.cli.reports.quota import quota_as_json, quota_as_text
from hipo.cli.reports.run import state_as_json, summary
from hipo.cli.reports.saturation import saturation_as_json, saturation_as_text
from hipo.cli.terminal.console import Format, others_apart, write_json
from hipo.cli.terminal.errors import ended, say
from hipo.cli.terminal.progress import watcher
from hipo.cli.terminal.wrapping import write_text

if TYPE_CHECKING:
    from hipo.app.generation.quota import QuotaFill
    from hipo.app.generation.saturation import SaturatedPlay
    from hipo.app.generation.verified import VerifiedPlay


def run_prepared(
    prepared: Prepared,
    folder: Path,
    *,
    retry_failed: bool = False,
    workers: Workers = None,
    output_format: Format = "text",
    quiet: bool = False,
    watching: Watcher | None = None,
    play: VerifiedPlay | None = None,
    ending: SaturatedPlay | None = None,
) -> int:
    """Generate what was prepared as the command line does, and return the exit code.

    Raises:
        StoppedEarly: the run ended early, e.g. interrupted; it can be continued.
    """

    def announce(_: Prepared) -> None:
        if play is not None:
            play.check(prepared)
        if not quiet:
            _announce(estimate_plan(prepared, folder, play=play, retry_failed=retry_failed))

    with others_apart():
        run = asyncio.run(
            generate_prepared(
                prepared,
                folder,
                retry_failed=retry_failed,
                watcher=watching or watcher(quiet=quiet, name=folder.name),
                signals=True,
                on_ready=announce,
                play=ending or play,
                workers=workers,
            )
        )
    if output_format == "json":
        write_json(_as_json(run, play, ending))
    elif not quiet:
        write_text(_as_text(run, prepared, play, ending))
    outcome = run.outcome
    failed = run.state().failed or outcome.unjudged
    return ended(outcome, failed=failed, folder=run.folder)


def _as_json(
    run: GeneratedRun, play: VerifiedPlay | None, ending: SaturatedPlay | None
) -> dict[str, object]:
    """Return the state of a run, and what judging it at once and ending at saturation add to it.

    ``unjudged``: with ``--verify``, dialogues that could not be judged just now, by reason code.
    """
    fill = _quota_of(run.folder, play)
    quota = None if fill is None else quota_as_json(fill)
    state = state_as_json(run.folder, run.state(), quota)
    if play is not None:
        state["unjudged"] = dict(run.outcome.unjudged)
    if ending is None or ending.curve is None:
        return state
    return {**state, "saturation": saturation_as_json(ending.curve)}


def _as_text(
    run: GeneratedRun, prepared: Prepared, play: VerifiedPlay | None, ending: SaturatedPlay | None
) -> str:
    """Return the summary of a run, what judges said, and what it went on for."""
    parts = [summary(run)]
    if play is not None:
        from hipo.cli.reports.verification import verification_tables  # noqa: PLC0415 - statistics

        parts.append(verification_tables(run.folder))
    if (fill := _quota_of(run.folder, play)) is not None:
        parts.append("\n" + quota_as_text(fill))
    if ending is not None and ending.curve is not None:
        parts.append("\n" + saturation_as_text(ending.curve, ending.share, prepared.recipe.vary))
    return "\n".join(parts)


def _quota_of(folder: Path, play: VerifiedPlay | None) -> QuotaFill | None:
    """Return how a run stands to its quota; None where it was played without."""
    if play is None or play.quota is None:
        return None
    from hipo.app.generation.quota import quota_fill  # noqa: PLC0415 - few runs have one

    return quota_fill(folder)


def _announce(planned: PlanEstimate) -> None:
    """Say what a run will take that costs something, or may; and what of a quota is out of reach."""
    if planned.quota is not None and (lost := planned.quota.fill.of_state("out of reach")):
        listed = "\n".join(f"  {cell.tally.cell.name}: {cell.why}" for cell in lost)
        say(f"cells of the quota that are out of reach and not tried:\n{listed}")
    if planned.cost_usd is None or planned.cost_usd > 0:
        # the run itself says what is unmet, and its models are chosen
        say(plan_as_text(replace(planned, unmet=(), accepted=None)))
        say("")


def print_plan(
    prepared: Prepared,
    folder: Path,
    play: VerifiedPlay | None,
    output_format: Format,
    *,
    retry_failed: bool,
) -> None:
    """Say what generating into a folder would take."""
    for remark in prepared.remarks:
        say(remark)
    with others_apart():
        planned = estimate_plan(prepared, folder, play=play, retry_failed=retry_failed)
    if output_format == "json":
        write_json(plan_as_json(planned))
    else:
        write_text(plan_as_text(planned))
