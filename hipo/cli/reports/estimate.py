"""Estimates of a run and of judging it, and the forecast of a pilot: for programs and for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hipo.app.estimates import judging_estimate
from hipo.app.estimates import playing as estimates
from hipo.app.estimates.batches import MOST_HOURS, USUAL_HOURS, BatchEstimate
from hipo.app.estimates.judging_estimate import JudgeEstimate, JudgingEstimate, anew_in_words
from hipo.app.estimates.playing import Estimate
from hipo.app.estimates.row_yields import RowYield
from hipo.app.generation.plan_estimates import PlanEstimate
from hipo.cli.reports.accepted import accepted_as_json, accepted_as_text
from hipo.cli.reports.budget_coverage import coverage_in_words
from hipo.cli.reports.quota import quota_estimate_as_json, quota_estimate_as_text
from hipo.cli.terminal.console import columns, dollars, number, plain
from scenarios.margins import unmet_in_words
from scenarios.plural import plural

if TYPE_CHECKING:
    from hipo.app.generation.pilot import Piloted

NOTHING = "nothing was accepted"


def plan_as_json(planned: PlanEstimate) -> dict[str, object]:
    """Return what ``hipo generate --dry-run --format json`` prints.

    What :func:`estimate_as_json` returns; ``verification``: what
    :func:`judging_as_json` returns, null where nobody asked for it.
    ``cost_usd`` is the sum of both, ``generation_usd`` that of generating; null if any is unknown.
    ``budget``: how far it reaches, null without one or where nothing costs: an object with ``budget_usd``,
    ``budget_tokens``, ``spent_usd``, ``spent_tokens``, ``before_usd``, ``before_tokens`` (of a study's models
    before), ``share`` (of what is still to be paid for) and ``dialogues`` (about so many to be played).
    ``unmet_tactics``: wanted shares that the rules put out of reach, a list of objects with
    ``dimensions``, ``labels``, ``target`` and ``achieved`` (the share to expect). ``rows``: the most
    rows that data sets of the plan can have, a list of objects with ``kind``, ``most`` and ``why``.
    ``packs``: how many scenarios are selected, by where they come from. ``batches``: with
    ``--batch`` an object with ``rounds`` (batches that a dialogue waits for, one after the other),
    ``longest_rounds`` (the same of the longest), ``most_rounds``, ``waves`` (how often all live
    dialogues are replaced) and ``usual_hours``.
    ``at_providers``: requests of earlier commands that lie at providers and are counted once more.
    ``disk_bytes``: about what the database of the run grows by. ``quota``: what
    :func:`quota_estimate_as_json` returns, null without one. ``accepted_utterances``: what
    :func:`accepted_as_json` returns, null of an empty plan.
    """
    judging = planned.judging
    return {
        **estimate_as_json(planned.generation),
        "verification": None if judging is None else judging_as_json(judging),
        "generation_usd": planned.generation.cost_usd,
        "cost_usd": planned.cost_usd,
        "budget": None
        if planned.covered is None
        else plain(
            planned.covered,
            "budget_usd budget_tokens spent_usd spent_tokens before_usd before_tokens share dialogues",
        ),
        "unmet_tactics": [margin.fields() for margin in planned.unmet],
        "rows": [plain(row, "kind most why") for row in planned.rows],
        "packs": dict(planned.packs),
        "batches": batches_as_json(planned.batches),
        "at_providers": planned.at_providers,
        "disk_bytes": planned.disk_bytes,
        "quota": None if planned.quota is None else quota_estimate_as_json(planned.quota),
        "accepted_utterances": None
        if planned.accepted is None
        else accepted_as_json(planned.accepted),
    }


def plan_as_text(planned: PlanEstimate) -> str:
    """Return the estimate the way ``hipo generate --dry-run`` prints it."""
    blocks = [estimate_as_text(planned.generation, has_quota=planned.quota is not None)]
    if planned.packs:
        counts, line_end, rest = blocks[0].partition("\n")
        blocks[0] = f"{counts}, from {packs_in_words(planned.packs)}{line_end}{rest}"
    if planned.unmet:
        blocks.append(unmet_in_words(planned.unmet))
    if planned.judging is not None:
        total = f"in all {dollars(planned.cost_usd)}"
        blocks += ["Verifying:", judging_as_text(planned.judging), total]
    if planned.batches is not None:
        blocks.append(batches_as_text(planned.batches))
    if planned.at_providers:
        blocks.append(at_providers_as_text(planned.at_providers))
    if planned.covered is not None:
        blocks.append(coverage_in_words(planned.covered, planned.generation.dialogues))
    if planned.generation.dialogues:
        blocks.append(_on_disk(planned.disk_bytes, planned.generation.dialogues))
    if planned.rows:
        blocks.append(_rows(planned.rows))
    if planned.quota is not None:
        blocks.append(quota_estimate_as_text(planned.quota))
    if planned.accepted is not None:
        blocks.append(accepted_as_text(planned.accepted))
    return "\n\n".join(blocks)


def batches_as_json(batches: BatchEstimate | None) -> dict[str, object] | None:
    """Return how long batches take, for programs; None where nothing travels in batches."""
    if batches is None:
        return None
    return plain(batches, "rounds longest_rounds most_rounds waves usual_hours")


def batches_as_text(
    batches: BatchEstimate, what: str = "dialogue", *, repaired: bool = True
) -> str:
    """Say how often each ``what`` waits for batches, and for how long; ``repaired``: repairs come on top."""
    waves = "" if batches.waves == 1 else f", {batches.waves:,} times as not all go at once"
    one = batches.most_rounds == 1
    rounds = f"{batches.rounds:.3g} round{'' if one else 's'} for {'an' if what == 'item' else 'a'} {what}"
    if not batches.rounds == batches.longest_rounds == batches.most_rounds:
        rounds += (
            f", {batches.longest_rounds:.3g} for the longest, {batches.most_rounds:.3g} at most"
        )
    return (
        f"in batches: {rounds}{', and repairs on top' if repaired else ''}{waves}; some {batches.usual_hours:,.0f} h where a"
        f" batch is back within {USUAL_HOURS:.0f} h, and it may take {MOST_HOURS:.0f}"
    )


def _on_disk(size: int, dialogues: int) -> str:
    """Say what the database grows by, in all and by dialogue."""
    return f"on disk about {size / 1e6:,.1f} MB more in all, {size / dialogues / 1e3:,.1f} kB a dialogue"


def _rows(rows: Sequence[RowYield]) -> str:
    """Say how many rows data sets of the plan can have."""
    cells = [[row.kind, number(row.most), row.why] for row in rows]
    return "Rows of data sets:\n" + columns(["hipo export --to", "at most", ""], cells)


def packs_in_words(packs: Mapping[str, int]) -> str:
    """Say how many scenarios are played, and of which packs."""
    scenarios = plural(sum(packs.values()), "scenario")
    if len(packs) == 1:
        return f"{scenarios} ({next(iter(packs))})"
    parts = ", ".join(f"{pack} {count:,}" for pack, count in packs.items())
    return f"{scenarios} ({parts})"


def estimate_as_json(estimate: Estimate) -> dict[str, object]:
    """Return what ``hipo generate --dry-run --format json`` prints.

    ``cases``, ``exchanges``: counts of the plan; ``dialogues``: still to be played; ``present``:
    those of the plan that are there already; ``outside``: dialogues of the run that the plan does
    not have. ``arms``: a list of objects with ``id``,
    ``strategy``, ``dialogues`` and ``calls`` (objects with ``kind``, ``role``, ``expected``
    and ``most`` requests, and the ``samples`` that the expected ones bring). ``models``: a list of
    objects with ``model``, ``calls``, ``prompt_tokens``, ``completion_tokens`` and ``cost_usd`` (None: no price is known). ``cost_usd``: the sum, None if
    any is unknown. ``note``: what the estimate rests on.
    """
    arms = [
        {
            "id": arm.arm.id,
            "strategy": arm.arm.strategy,
            "dialogues": arm.dialogues,
            "calls": [
                plain(
                    calls,
                    "kind role expected most samples",
                    expected=round(calls.requests),
                    most=round(calls.most_requests),
                    samples=round(calls.expected),
                )
                for calls in arm.calls
            ],
        }
        for arm in estimate.arms
    ]
    return plain(
        estimate,
        "cases dialogues present outside exchanges arms models cost_usd",
        arms=arms,
        note=estimates.NOTE,
    )


def estimate_as_text(estimate: Estimate, *, has_quota: bool = False) -> str:
    """Return the estimate the way ``hipo generate --dry-run`` prints it.

    With a quota the plan is only what is drawn next: nothing of the run is expected to be in it.
    """
    counts = (
        plural(estimate.cases, "case"),
        plural(estimate.dialogues, "dialogue"),
        plural(estimate.exchanges, estimate.turn_unit) + " per arm",
    )
    lines = [", ".join(counts)]
    if estimate.present:
        lines.append(f"{plural(estimate.present, 'dialogue')} more are there already")
    if estimate.outside:
        where = "there already" if has_quota else "not in this plan"
        lines.append(f"{plural(estimate.outside, 'dialogue')} of the run are {where}")
    lines.append("")
    rows = []
    for arm in estimate.arms:
        for calls in arm.calls:
            expected, at_most = number(calls.requests), number(calls.most_requests)
            most = "" if expected == at_most else f"at most {at_most}"
            about = "" if not most else "about "
            each = calls.in_one(calls.model)
            if each > 1:
                most = ", ".join(filter(None, [most, f"{each} samples each"]))
            rows.append(
                [arm.arm.strategy, number(arm.dialogues), estimate.speakers.get(calls.kind, calls.kind),
                 f"{about}{expected}", most]
            )  # fmt: skip
    lines += [columns(["strategy", "dialogues", "call", "calls", ""], rows), ""]
    rows = [
        [m.model, number(m.calls), number(m.prompt_tokens), number(m.completion_tokens),
         dollars(m.cost_usd)]
        for m in estimate.models
    ]  # fmt: skip
    header = ["model", "calls", "prompt tokens", "answer tokens", "cost"]
    lines += [columns(header, rows), "", f"({estimates.NOTE})"]
    if estimate.cut or estimate.singly:
        lines.append("")
    lines += [
        f"{model.model}: {number(model.calls)} calls, {number(model.prompt_tokens)} prompt tokens,"
        f" {dollars(model.cost_usd)} where its endpoint answers one sample a request"
        for model in estimate.singly
    ]
    lines += [
        f"{cut.strategy}, {cut.kind}: an answer has some {number(cut.answer_tokens)} tokens and may have"
        f" {number(cut.max_tokens)}: it is cut off, and cannot be read; raise max_tokens"
        for cut in estimate.cut
    ]
    return "\n".join(lines)


def judging_as_json(estimate: JudgingEstimate) -> dict[str, object]:
    """Return what ``hipo verify --dry-run --format json`` prints.

    ``dialogues``: generated ones; ``anew``: those of them that were judged in another way before and are
    judged again, ``labelled_anew``: the same of jurors; ``calls``; ``judges``: a list of objects with ``source``,
    ``judge``, ``dialogues`` (yet to be judged), ``calls``, ``prompt_tokens``,
    ``completion_tokens``, ``cost_usd`` (None: no price is known) and ``longest_answer`` (None of
    offline judges and those not asked once about a dialogue; else ``lines``, the labelled utterances of the
    longest dialogue, ``tokens`` that the answer has about, ``allowed`` ones, and ``advised``, how many
    to allow; None: it has room); ``cost_usd``; ``note``.
    """
    figures = "dialogues calls prompt_tokens completion_tokens cost_usd"
    judges = [
        {
            **plain(judge.seat, "source judge"),
            **plain(judge, figures),
            "longest_answer": None
            if judge.longest_answer is None
            else plain(judge.longest_answer, "lines tokens allowed advised"),
        }
        for judge in estimate.judges
    ]
    fields = "dialogues anew labelled_anew calls judges cost_usd"
    return plain(estimate, fields, judges=judges, note=judging_estimate.NOTE)


def judging_as_text(estimate: JudgingEstimate) -> str:
    """Return the estimate the way ``hipo verify --dry-run`` prints it."""
    rows = [
        [judge.seat.source, judge.seat.judge, number(judge.dialogues), number(judge.calls),
         number(judge.prompt_tokens), number(judge.completion_tokens), dollars(judge.cost_usd)]
        for judge in estimate.judges
    ]  # fmt: skip
    header = ["", "judge", "dialogues", "calls", "prompt tokens", "answer tokens", "cost"]
    counts = f"{plural(estimate.dialogues, 'dialogue')}, {plural(estimate.calls, 'call')} to make"
    lines = [counts, "", columns(header, rows), "", f"({judging_estimate.NOTE})"]
    if estimate.anew:
        lines += ["", anew_in_words(estimate.anew)]
    if estimate.labelled_anew:
        lines += ["", anew_in_words(estimate.labelled_anew, by_jurors=True)]
    return "\n".join([*lines, *filter(None, map(_too_long, estimate.judges))])


def at_providers_as_text(requests: int) -> str:
    """Return what an estimate says of requests that lie at providers in batches."""
    return (
        f"{plural(requests, 'request')} of an earlier command in batches paid for and not"
        " used yet: --batch picks them up, and they are counted once more above"
    )


def _too_long(judge: JudgeEstimate) -> str:
    """Warn of an answer that would be cut; empty where there is room."""
    longest = judge.longest_answer
    if longest is None or longest.advised is None:
        return ""
    return (
        f"\n{judge.seat.role}: its answer on the longest dialogue, with "
        f"{plural(longest.lines, 'labelled utterance')}, has about {number(longest.tokens)} tokens, "
        f"and {number(longest.allowed)} are allowed; an answer that is cut cannot be read: give "
        f"--judge-max-tokens {longest.advised}"
    )


def pilot_as_json(piloted: Piloted) -> dict[str, object]:
    """Return what ``hipo generate --dry-run --pilot N --format json`` prints.

    ``pilot``: an object with ``generated``, ``failed``, ``accepted``, ``pending``, ``discarded``,
    ``cost_usd`` (None: unknown) and ``stopped``; ``yield``: an object with ``share``, ``low`` and
    ``high`` (95 % interval); ``cost_per_dialogue`` and ``cost_per_accepted`` (None: unknown);
    ``whole``: an object with ``dialogues``, ``accepted``, ``accepted_low``, ``accepted_high`` and
    ``cost_usd`` if the plan is to be played, or with ``accepted``, ``dialogues``,
    ``dialogues_low``, ``dialogues_high`` (None: cannot be said), ``cost_usd``, ``cost_usd_low``
    and ``cost_usd_high`` if so many accepted ones are wanted. ``accepted_utterances``: as in
    :func:`plan_as_json`, with the yield of the pilot.
    """
    forecast = piloted.forecast
    return {
        "pilot": plain(
            forecast.pilot,
            "generated failed accepted pending discarded cost_usd",
            stopped=piloted.stopped,
        ),
        "yield": {
            "share": forecast.yield_share,
            "low": forecast.yield_low,
            "high": forecast.yield_high,
        },
        "cost_per_dialogue": forecast.cost_per_dialogue,
        "cost_per_accepted": forecast.cost_per_accepted,
        "whole": _whole(piloted),
        "accepted_utterances": None if piloted.costs is None else accepted_as_json(piloted.costs),
    }


def _whole(piloted: Piloted) -> dict[str, object]:
    forecast = piloted.forecast
    if piloted.accepted is None:
        n = piloted.dialogues
        return {
            "dialogues": n,
            "accepted": round(n * forecast.yield_share),
            "accepted_low": round(n * forecast.yield_low),
            "accepted_high": round(n * forecast.yield_high),
            "cost_usd": forecast.cost_of(n),
        }
    expected, best, worst = forecast.dialogues_for(piloted.accepted)
    return {
        "accepted": piloted.accepted,
        "dialogues": expected,
        "dialogues_low": best,
        "dialogues_high": worst,
        "cost_usd": forecast.cost_of(expected),
        "cost_usd_low": forecast.cost_of(best),
        "cost_usd_high": forecast.cost_of(worst),
    }


def pilot_as_text(piloted: Piloted) -> str:
    """Return the forecast the way ``hipo generate --dry-run --pilot N`` prints it."""
    told = _forecast_as_text(piloted)
    return told if piloted.costs is None else f"{told}\n\n{accepted_as_text(piloted.costs)}"


def _forecast_as_text(piloted: Piloted) -> str:
    forecast = piloted.forecast
    pilot = forecast.pilot
    played = f"{plural(pilot.generated, 'dialogue')}, {number(pilot.failed)} failed"
    verdicts = (
        f"{number(pilot.accepted)} accepted, {number(pilot.pending)} waiting for review, "
        f"{number(pilot.discarded)} discarded"
    )
    interval = f"95 % interval {_percent(forecast.yield_low)} to {_percent(forecast.yield_high)}"
    dear = f"{dollars(forecast.cost_per_accepted)} an accepted one"
    lines = [
        f"pilot: {played}; {verdicts}; {dollars(pilot.cost_usd)}",
        f"yield {_percent(forecast.yield_share)} ({interval})",
        f"{dollars(forecast.cost_per_dialogue)} a dialogue, {dear if pilot.accepted else NOTHING}",
    ]
    if piloted.stopped:
        left = f"; {number(pilot.unjudged)} not judged count as not accepted"
        lines.append(f"the pilot ended early: {piloted.stopped}{left if pilot.unjudged else ''}")
    if piloted.accepted is None:
        n = piloted.dialogues
        lines.append(
            f"all of {plural(n, 'dialogue')}: about {number(n * forecast.yield_share)} accepted "
            f"({number(n * forecast.yield_low)} to {number(n * forecast.yield_high)}), "
            f"{dollars(forecast.cost_of(n))}"
        )
        return "\n".join(lines)
    expected, best, worst = forecast.dialogues_for(piloted.accepted)
    rows = [
        [name, "more than can be said" if n is None else number(n), dollars(forecast.cost_of(n))]
        for name, n in (("expected", expected), ("at best", best), ("at worst", worst))
    ]
    title = f"for {number(piloted.accepted)} accepted dialogues:"
    return "\n".join([*lines, "", title, columns(["", "dialogues", "cost"], rows)])


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%"
