"""Report sections: headline numbers, and the funnel from plan to export."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from outputs.plots.bars import FunnelStage, funnel_chart
from outputs.reliability.judge_agreement import ConfirmedShare
from outputs.report.data_sets import data_sets_table
from outputs.report.gathered import OFFLINE, Gathered
from outputs.report.outcome_sums import OUTCOMES, OutcomeSums, outcome_sums
from outputs.report.page import Block, Grid, Plot, Remark, ReportSection, Table, Tile, Tiles
from outputs.report.policies import asked_rules, policy_blocks
from outputs.report.unread import unread_rules
from outputs.report.wording import (
    NOTHING,
    count,
    dollars,
    moment,
    part,
    percent,
    reasons,
    untold,
    untold_cost,
)
from scenarios.plural import plural

_CONFIRMED = {"self-judgement": "self-consistency", "external judgement": "external agreement"}


def notices(run: Gathered) -> tuple[Remark, ...]:
    """Return what readers must know before anything else."""
    notes = []
    if run.offline:
        notes.append(
            Remark(
                "Demonstration baseline: these dialogues were written by built-in rules (offline), "
                "not by a language model. They show how the pipeline works; they are no training "
                "data, and their numbers say nothing about any model.",
                tone="warning",
            )
        )
    judges = {(vote.source, vote.judge) for vote in run.votes}
    if run.offline and any(judge.partition("/")[0] == OFFLINE for _, judge in judges):
        notes.append(
            Remark(
                "The embedded judge knows the lines that were written for the library by heart: its "
                "agreement with them measures nothing.",
                tone="warning",
            )
        )
    both = {j for s, j in judges if s == "self"} & {j for s, j in judges if s == "external"}
    if both:
        notes.append(
            Remark(
                f"{', '.join(sorted(both))} judged both as the generator's second reading and as "
                "the external judge: the two views are not independent.",
                tone="warning",
            )
        )
    if run.material.recipe.real_names and not run.imported:
        notes.append(
            Remark(
                "Persons and organisations bear their real names. The dialogues and what is "
                "presented in them as private knowledge are invented.",
                tone="warning",
            )
        )
    if not run.policies:
        return tuple(notes)
    rules = asked_rules(run)
    if rules is None:
        unknown = (
            "A gate of a plugin is not there, so that nobody knows which languages the gates read; "
            "hipo report --plugin FILE loads it."
        )
        return (*notes, Remark(unknown, tone="warning"))
    return (*notes, *unread_rules(run.languages, rules))


def overview_section(run: Gathered) -> ReportSection:
    """Return the numbers that matter most."""
    scenarios = {ending.scenario for ending in run.endings if ending.status == "generated"}
    accepted = sum(e.n for e in run.endings if e.verdict == "accepted")
    decided = (
        f"verified by the policy {', '.join(run.policies)}"
        if run.policies
        else "that people decided on"
    )
    tiles = [
        Tile(count(run.generated), "dialogues", f"of {count(run.state.planned)} planned"),
        Tile(
            count(sum(u.n for u in run.utterances)),
            "labelled answers",
            f"in {plural(len(scenarios), 'scenario')}",
        ),
        Tile(
            percent(accepted / run.verified) if run.verified else NOTHING,
            "accepted",
            f"of {count(run.verified)} {decided}{_flagged_all_the_same(run)}"
            if run.verified
            else "not verified yet",
        ),
        *_confirmed(run),
    ]
    tokens = run.state.prompt_tokens + run.state.completion_tokens
    beyond = untold(run.state.bound_tokens)
    remark = f"{plural(run.state.calls, 'call')}, {count(tokens)} tokens{beyond}"
    if beyond_cost := untold_cost(run.state):
        remark += f"; {beyond_cost}"
    tiles.append(Tile(dollars(run.state.cost_usd), "cost", remark))
    by_arm = outcome_sums(run, lambda part: part.arm)
    arms = tuple((name, *by_arm.get(arm, OutcomeSums()).cells) for arm, name in run.arms.items())
    lead = (
        f"Label scheme {run.scheme.title} ({run.scheme.name}); "
        f"state of {moment(run.state.updated)}."
    )
    table = Table("Who wrote what", ("strategy · model", *OUTCOMES), arms)
    return ReportSection("overview", "At a glance", lead, (Tiles(tuple(tiles)), table))


def _flagged_all_the_same(run: Gathered) -> str:
    """Say how many of the accepted dialogues are flagged, so that their share is not misread."""
    flagged = sum(e.n for e in run.endings if e.verdict == "accepted" and e.flagged)
    if not flagged:
        return ""
    people = sum(
        e.n for e in run.endings
        if e.verdict == "accepted" and e.flagged and e.by in ("review", "expert")
    )  # fmt: skip
    why = "which lets these flags pass" if not people else f"{count(people)} of them by people"
    return f"; {count(flagged)} of the accepted are flagged, {why}"


def _confirmed(run: Gathered) -> Iterator[Tile]:
    """Yield the share of labels that judges confirm; one program in both chairs counts once."""
    declared = {d.id for d in run.scheme.declared}
    for source, seat in run.seats.items() or (("external", ""),):
        name = _CONFIRMED.get(seat, "labels found again")
        votes = [v for v in run.votes if v.source == source and v.dimension in declared]
        votes = [vote for vote in votes if not vote.whole]
        if not votes and run.votes:
            continue
        confirmed = ConfirmedShare(sum(v.yes for v in votes), sum(v.judged for v in votes))
        who = ", ".join(sorted({vote.judge for vote in votes}))
        judged = f"{plural(confirmed.judged, 'label')} judged by {who}"
        none = "no declared label was judged" if run.verified else "not verified yet"
        yield Tile(percent(confirmed.value), name, judged if confirmed.judged else none)


def funnel_section(run: Gathered) -> ReportSection:
    """Return how many dialogues got how far, and why the others did not."""
    verdicts: Counter[str] = Counter()
    deciders: Counter[tuple[str, str]] = Counter()
    for ending in run.endings:
        if ending.verdict is not None:
            verdicts[ending.verdict] += ending.n
            deciders[ending.verdict, ending.by] += ending.n
    settled = verdicts["accepted"] + verdicts["discarded"]
    people = sum(n for (verdict, by), n in deciders.items() if by in ("review", "expert"))
    verified = run.verified > 0
    stages = [
        _stage("Planned", run.state.planned, run.state.planned),
        _stage("Generated", run.generated, run.state.planned),
        _stage("Verified" if run.policies or not verified else "With a verdict", run.verified, run.state.planned),
        _stage("Reviewed or cleared", settled if verified else None, run.state.planned),
        _stage("Accepted", verdicts["accepted"] if verified else None, run.state.planned),
        _stage(
            "Exported", run.options.exported, run.state.planned,
            unknown=_uncounted(run),
        ),
    ]  # fmt: skip
    losses = _losses(run, verdicts, deciders)
    numbers = Table(
        "Dialogues by stage", ("stage", "dialogues"), tuple((s.label, s.text) for s in stages)
    )
    drawn = funnel_chart(stages, label=", ".join(f"{s.label}: {s.text}" for s in stages))
    blocks: list[Block] = [Grid((Plot("Dialogues", drawn, numbers), losses))]
    if verified:
        others = f", the policy on the others ({', '.join(run.policies)})" if run.policies else ""
        text = (
            f"People decided on {count(people)} of the {plural(settled, 'dialogue')} that {'is' if settled == 1 else 'are'} settled"
            f"{others}. A dialogue can have several flags, so that counts of flags add up to more."
        )
        blocks += [Remark(text), *policy_blocks(run)]
    if run.options.exports:
        blocks.append(data_sets_table(run.options.exports))
    elif run.options.exported is None:
        note = (
            "No data set of this run is recorded. What an older hipo exported is counted if named:"
        )
        blocks.append(Remark(note, f"hipo report {run.run} --export DIR"))
    lead = "What is left after each stage, and what was lost on the way."
    return ReportSection("funnel", "From plan to export", lead, tuple(blocks))


def _uncounted(run: Gathered) -> str:
    """Say why it is not known how many accepted dialogues have left."""
    if not run.options.exports:
        return "none recorded"
    taken = any(export.verdict == "accepted" for export in run.options.exports)
    return "not known" if taken else "no set of accepted ones"


def _losses(run: Gathered, verdicts: Counter[str], deciders: Counter[tuple[str, str]]) -> Table:
    """Return how many dialogues were lost between two stages, and why."""
    failed, pending = Counter(run.state.failed), run.state.pending
    rows = [
        ("planned → generated", failed.total() + pending,
         _listed(reasons(failed), f"not played yet {pending:,}" if pending else "")),
        ("generated → verified", run.generated - run.verified,
         f"not verified yet: hipo verify {run.run}" if run.generated > run.verified else ""),
    ]  # fmt: skip
    if run.verified > 0:
        waiting = f"waiting for people, flagged: {_codes(run, 'pending')}"
        rows += [
            ("verified → reviewed", verdicts["pending"], waiting if verdicts["pending"] else ""),
            ("reviewed → accepted", verdicts["discarded"], _discarded(run, deciders)),
        ]
    if run.options.exported is not None:
        left = verdicts["accepted"] - run.options.exported
        rows.append(("accepted → exported", max(0, left), "left out by the export's options"))
    return Table(
        "Where dialogues were lost, and why",
        ("from → to", "lost", "reasons"),
        tuple((name, count(lost), why if lost else "") for name, lost, why in rows),
    )


def _stage(
    label: str, value: int | None, planned: int, *, unknown: str = "not known"
) -> FunnelStage:
    return FunnelStage(label, value, unknown if value is None else part(value, planned))


def _codes(run: Gathered, verdict: str) -> str:
    codes = Counter[str]()
    for flagged in run.flagged:
        if flagged.verdict == verdict:
            codes[flagged.code] += flagged.n
    return reasons(codes)


def _discarded(run: Gathered, deciders: Counter[tuple[str, str]]) -> str:
    by = {name: n for (verdict, name), n in deciders.items() if verdict == "discarded"}
    people = by.get("review", 0) + by.get("expert", 0)
    flags = _codes(run, "discarded")
    return _listed(
        f"by people {people:,}" if people else "",
        f"by the policy {by['policy']:,}" if by.get("policy") else "",
        f"flagged: {flags}" if flags else "",
    )


def _listed(*parts: str) -> str:
    return "; ".join(text for text in parts if text)
