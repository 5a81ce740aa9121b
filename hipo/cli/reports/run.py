"""The state of a run: for programs, and for people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hipo.cli.reports.next_step import next_steps
from hipo.cli.terminal.console import columns, dollars, moment, number, one_line, plain, reasons
from hipo.cli.terminal.errors import say
from outputs.report.wording import bill, untold
from pipeline.store.answering_models import changed_models
from pipeline.store.queries.charges import Charges
from pipeline.store.queries.status import ArmState, RunState
from pipeline.store.sqlite import database_bytes
from scenarios.plural import plural
from scenarios.text_file import typed_path

if TYPE_CHECKING:
    from hipo.app.runs.run import GeneratedRun

SHOWN = 4
"""Names of a model that changed that are shown."""


def state_as_json(
    folder: Path, state: RunState, quota: list[dict[str, object]] | None = None
) -> dict[str, object]:
    """Return what ``hipo runs show RUN --format json`` prints.

    ``name``, ``folder``, ``state``; ``planned``, ``generated``, ``failed`` (count by reason code),
    ``pending``: dialogues; ``calls``: requests sent, ``cached_calls``: samples that were there
    already; ``charged``: an object with ``usd`` and ``tokens``, what counts against a budget, and
    ``bound_usd`` and ``bound_tokens``, the part of them that is a bound; ``tokens``: an object with ``prompt``, ``completion``, ``cached``, ``reasoning``;
    ``cost_usd`` (None: unknown) and ``unpriced_calls``: requests that are not in it; ``arms``: a
    list of objects with ``id``, ``strategy``, ``models``, ``settings``, ``generated``, ``failed``;
    ``verification``: an object with ``judged`` (dialogues by judge), ``flagged`` (dialogues) and
    ``verdicts`` (dialogues by verdict); ``answering_models``: a list of objects with ``role``,
    ``model`` (asked for), ``reply_model`` and ``system_fingerprint`` (what the endpoint says),
    ``requests``, ``first_at``, ``last_at`` and ``changed`` (whether the endpoint of the role said
    something else at other times); ``batches``: what lies at providers, a list of objects with
    ``model``, ``remote`` (what the provider calls it), ``state`` (``intended``, ``submitted`` or
    ``ended``), ``requests`` that nothing is recorded of, and ``since``;
    ``disk_bytes``: size of the database; ``created`` and ``updated``: UTC, ISO 8601; ``next``: what can be
    done with the run, the most likely first.

    ``quota``: what :func:`hipo.cli.reports.quota.quota_as_json` returns; None: the run has none.
    """
    tokens = ("prompt", "completion", "cached", "reasoning")
    return plain(
        state,
        "name folder state planned generated failed pending calls cached_calls tokens cost_usd "
        "unpriced_calls charged arms verification answering_models batches quota disk_bytes "
        "created updated next",
        folder=str(folder),
        tokens={kind: getattr(state, f"{kind}_tokens") for kind in tokens},
        charged=charged_as_json(state),
        arms=[_arm(arm) for arm in state.arms],
        verification=plain(state.verification, "judged flagged verdicts"),
        answering_models=_answering(state),
        batches=[
            plain(batch, "model remote state requests since", since=moment(batch.since))
            for batch in state.batches
        ],
        quota=quota,
        disk_bytes=database_bytes(folder),
        created=moment(state.created),
        updated=moment(state.updated),
        next=next_steps(folder, state),
    )


def state_as_text(folder: Path, state: RunState) -> str:
    """Return the state of a run the way ``hipo runs show RUN`` prints it."""
    dialogues = f"{number(state.generated)} of {plural(state.planned, 'dialogue')} generated"
    if state.failed:
        dialogues += f", {number(sum(state.failed.values()))} failed ({reasons(state.failed)})"
    prompt = f"{number(state.prompt_tokens)} prompt tokens ({number(state.cached_tokens)} cached)"
    completion = f"{number(state.completion_tokens)} completion tokens"
    lines = [
        f"{state.name}  ({folder})",
        f"{state.state}; {dialogues}, {number(state.pending)} pending",
        _calls(state),
        f"{prompt}, {completion} ({number(state.reasoning_tokens)} reasoning){untold(state.bound_tokens)}",
        cost_of(state),
        *_killed(state),
        *batches_of(state),
        *changes_of(state),
        *_verification(state),
        f"begun {moment(state.created)}, last changed {moment(state.updated)}",
        _disk_use(folder, state),
        "",
        columns(
            ["arm", "strategy", "model", "generated", "failed"],
            [
                [arm.id[:8], arm.arm.strategy, arm.arm.model,
                 number(arm.generated), number(arm.failed)]
                for arm in state.arms
            ],
        ),
    ]  # fmt: skip
    first, *others = next_steps(folder, state)
    return "\n".join([*lines, "", f"next: {first}", *(f"  or: {step}" for step in others)])


def _verification(state: RunState) -> list[str]:
    """Return who judged how much, and the verdicts, where there are any."""
    counts = state.verification
    lines = []
    if counts.judged:
        judged = ", ".join(f"{number(n)} by {judge}" for judge, n in counts.judged.items())
        lines.append(f"judged: {judged}")
    if counts.verdicts:
        verdicts = ", ".join(f"{number(n)} {verdict}" for verdict, n in counts.verdicts.items())
        lines.append(f"verdicts: {verdicts}; {number(counts.flagged)} flagged")
    return lines


def charged_as_json(of: Charges) -> dict[str, object]:
    """Return what counts against a budget, and which part of it is a bound."""
    return {
        "usd": of.charged_usd,
        "tokens": of.charged_tokens,
        "bound_usd": of.bound_usd,
        "bound_tokens": of.bound_tokens,
    }


def charges_in_words(charges: Charges) -> str:
    """Return what calls have cost, and how much more they can have cost where usage is unknown."""
    unknown = charges.unpriced_calls
    return (
        bill(charges.cost_usd, unknown, charges.bound_usd) if unknown else dollars(charges.cost_usd)
    )


def say_spent(charges: Charges) -> None:
    """Tell people what was paid for dialogues that are not kept; nothing where that was nothing."""
    if charges.calls and charges.cost_usd != 0:
        say(f"{plural(charges.calls, 'call')}, {charges_in_words(charges)}; nothing is kept")


def cost_of(state: RunState) -> str:
    """Return what a run has cost, and how much more it can have cost where usage is unknown."""
    unknown = state.unpriced_calls + state.calls_in_flight
    return bill(state.cost_usd, unknown, state.bound_usd) if unknown else dollars(state.cost_usd)


def _killed(state: RunState) -> list[str]:
    """Return a line where a process of the run was killed with requests in flight."""
    if not state.calls_lost:
        return []
    lost = plural(state.calls_lost, "call")
    return [f"a process of this run was killed: up to {lost} in flight, which count at their worst"]


def batches_of(state: RunState) -> list[str]:
    """Return a line for each batch that lies at a provider, or whose replies were not used yet."""
    where = {
        "intended": "was about to be sent",
        "submitted": "lies at the provider",
        "ended": "came back; nobody has asked for its replies yet",
    }
    return [
        f"{batch.model}: a batch of {plural(batch.requests, 'request')} {where[batch.state]}"
        f" since {moment(batch.since)} ({batch.remote or 'no name yet'}); --batch picks it up"
        for batch in state.batches
    ]


def changes_of(state: RunState) -> list[str]:
    """Return a line for each endpoint that answered as another model or state in mid-run."""
    return [
        f"the model behind {model} ({role}) changed in mid-run: {', then '.join(names[:SHOWN])}"
        + (f" and {number(len(names) - SHOWN)} more" if len(names) > SHOWN else "")
        for (role, model), names in changed_models(state.answering).items()
    ]


def summary(run: GeneratedRun) -> str:
    """Return what generating a run has just done, and where it is."""
    state, outcome = run.state(), run.outcome
    failed = sum(outcome.failed.values())
    lines = []
    idle = run.calls == 0 and not outcome.done and not failed and not outcome.unjudged
    if idle and outcome.stopped is None:
        there = plural(state.generated, "dialogue")
        lines.append(f"0 calls, nothing to do: {there} there already")
    else:
        lines.append(
            f"{number(outcome.done)} generated, {number(failed)} failed, "
            f"{number(outcome.present)} there already; {plural(run.calls, 'call')}"
        )
    if state.failed:
        lines.append(f"failed in all: {reasons(state.failed)}")
        first = next(run.endings(status="failed"), None)
        if first is not None and first.reason:
            lines.append(f"  the first, {first.id}: {one_line(first.reason, 160)}")
        lines.append(
            f"  the reasons: hipo show {typed_path(run.folder)} --failed; again: --retry-failed"
        )
    if outcome.unjudged:
        lines.append(
            f"not judged: {reasons(outcome.unjudged)}; hipo verify {typed_path(run.folder)}, or the same "
            "command, tries them again"
        )
    lines.append(so_far(state))
    lines += [*batches_of(state), *changes_of(state)]
    lines.append(f"in {run.folder}")
    return "\n".join(lines)


def so_far(state: RunState) -> str:
    """Return what there is of a run, and what its calls came to in all its life."""
    tokens = state.prompt_tokens + state.completion_tokens
    return (
        f"run so far: {plural(state.generated, 'dialogue')}, {_calls(state)}, "
        f"{number(tokens)} tokens{untold(state.bound_tokens)}, {cost_of(state)}"
    )


def spending_as_json(of: Charges) -> dict[str, object]:
    """Return what calls have cost, how many have no known cost, and what counts against a budget."""
    return {
        "cost_usd": of.cost_usd,
        "unpriced_calls": of.unpriced_calls,
        "charged": charged_as_json(of),
    }


def _calls(state: RunState) -> str:
    """Return the requests sent, and how many more answers were there already."""
    reused = f", {number(state.cached_calls)} more answered from the run itself"
    return f"{plural(state.calls, 'call')}{reused if state.cached_calls else ''}"


def _disk_use(folder: Path, state: RunState) -> str:
    size = database_bytes(folder)
    each = f", {size / state.generated / 1e3:.1f} kB a dialogue" if state.generated else ""
    return f"{size / 1e6:,.1f} MB on disk{each}"


def _arm(arm: ArmState) -> dict[str, object]:
    return {
        "id": arm.id,
        **arm.arm.fields(),
        "generated": arm.generated,
        "failed": arm.failed,
    }


def _answering(state: RunState) -> list[dict[str, object]]:
    changed = changed_models(state.answering)
    return [
        plain(
            one,
            "role model reply_model system_fingerprint requests first_at last_at changed",
            first_at=moment(one.first_at),
            last_at=moment(one.last_at),
            changed=(one.role, one.model) in changed,
        )
        for one in state.answering
    ]
