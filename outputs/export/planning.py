"""Plan the splits of an export: what is alike stays together, and what is left apart is counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from outputs.contamination.kept_together import (
    AlikeDialogues,
    AlikeScenarios,
    alike_situations,
    led_by,
)
from outputs.export.splits import SplitPlan, group_of, group_of_case, plan_splits
from outputs.kinds.export_kind import ExportOptions
from outputs.selecting.selection import OpenSelection
from scenarios.errors import UsageError
from scenarios.spec import Scenario


def planned_splits(found: OpenSelection, options: ExportOptions) -> SplitPlan:
    """Return which scenario, fact or imported dialogue belongs to which split.

    Scenarios that tell one situation are in one split, and so are those of which one holds most
    dialogues of the other, and dialogues that are nearly the same where these are divided, unless
    there would be fewer groups than splits then. All generated
    dialogues of the runs count, whatever is selected, so that exports of the same state of the same
    runs are divided alike. Where there is one split, or facts are divided, dialogues are not compared.

    Raises:
        UsageError: there are fewer groups than splits, or dialogues are to be divided one by one that
            were not imported.
    """
    by, imported = options.split_by, only_imported(found)
    if by == "dialogue" and not imported:
        raise UsageError(
            "--split-by dialogue is for imported dialogues: generated ones share scenes, facts and lines",
            "divide by scenarios, or by facts (--split-by fact)",
        )
    tallies, there = found.tallies(by_case=by == "dialogue"), played(found)
    names = {group_of(by, tally) for tally in tallies}
    used = sum(fraction > 0 for fraction in options.fractions)
    together: list[AlikeScenarios] = []
    dialogues: AlikeDialogues | None = None
    if used > 1 and by != "fact":
        together = alike_situations(there) if by == "scenario" else []
        divided = partial(group_of_case, by)
        # Of scenarios that were added since, if the run goes on, nothing is divided.
        counted = (one for one in found.every_dialogue() if divided(one.case) in names)
        dialogues = AlikeDialogues.of(counted, found.scheme, divided)
        further = [*together, *dialogues.scenarios()]
        if len(set(led_by(names, further).values())) >= used:
            together = further
    plan = plan_splits(
        tallies,
        {scenario.id: scenario.category for scenario in there},
        situations=led_by(names, together),
        by=by,
        fractions=options.fractions,
        seed=options.seed,
        tags=one_tag_each(there),
        imported=imported,
    )
    across = 0 if dialogues is None else dialogues.across(plan.groups)
    return replace(plan, together=tuple(together), across=across)


def only_imported(found: OpenSelection) -> bool:
    """Return whether nobody generated any of the dialogues here."""
    return all(arm.is_imported for run in found.runs for arm in run.arms.values())


def played(found: OpenSelection) -> list[Scenario]:
    """Return the scenarios of the runs that have dialogues."""
    ids = {tally.scenario for run in found.runs for tally in run.corpus.tallies()}
    return [scenario for scenario in found.scenarios if scenario.id in ids]


def one_tag_each(scenarios: Sequence[Scenario]) -> Mapping[str, str]:
    """Return the tag of each scenario by its id; nothing unless each has just one.

    Where each has one, a tag is part of the design, as who stands above whom is in CEI.
    """
    if any(len(scenario.tags) != 1 for scenario in scenarios):
        return {}
    return {scenario.id: scenario.tags[0] for scenario in scenarios}
