"""What the user of a data set should know of how it came about, in sentences."""

from __future__ import annotations

from outputs.dataset.columns import RowSource, left_out_notes
from outputs.dataset.manifest import ExportFacts
from outputs.export.facts import counts_to_note
from outputs.export.planning import only_imported
from outputs.export.splits import SplitPlan
from outputs.kinds.export_kind import KINDS, ExportOptions
from outputs.selecting.selection import OpenSelection

_ALL_TEST = (
    "every scenario is in the split test; a model that was tuned on these runs is to be asked the"
    " test split of --splits 80,10,10 alone"
)
_COARSE = (
    "one situation has {:.0%} of the dialogues and is in one split, of which the smallest was to get"
    " {:.0%}; --split-by dialogue divides imported dialogues one by one"
)


def told_by(source: RowSource) -> tuple[str, ...]:
    """Return the notes of a source; none where it takes none."""
    told: tuple[str, ...] = getattr(source, "notes", tuple)()
    if isinstance(told, str):
        raise TypeError(f"its notes are {told!r:.100}, expected a tuple of texts")
    return told


def export_notes(
    found: OpenSelection,
    options: ExportOptions,
    plan: SplitPlan,
    source: RowSource,
    facts: ExportFacts,
) -> tuple[str, ...]:
    """Return what was left out of a set that is written, and what its splits lack."""
    notes = [*told_by(source), *left_out_notes(counts_to_note(facts))]
    if plan.splits == ("test",) and KINDS.get(options.kind).fractions == plan.fractions:
        notes.append(_ALL_TEST)
    if len(plan.splits) > 1 and plan.by == "scenario" and only_imported(found):
        smallest = min(share for share in plan.fractions if share)
        if plan.largest > smallest:
            notes.append(_COARSE.format(plan.largest, smallest))
    notes += left_out_notes(found.people_remarks)
    written = {file.split for file in facts.files}
    notes += [
        f"no row fell into {split}"
        + (": nothing to train on; --splits 1,0,0 puts all there" if split == "train" else "")
        for split in plan.splits
        if split not in written
    ]
    notes += [
        f"dialogues of {run} left out because an earlier run has the same case and arm: {n:,}"
        for run, n in sorted(found.duplicates.items())
    ]
    notes += [
        f"dialogues of {scenario} with a text that was changed while the run was made: {n:,}; --newest"
        " leaves them out"
        for scenario, n in sorted(found.outdated.items())
    ]
    return tuple(notes)
