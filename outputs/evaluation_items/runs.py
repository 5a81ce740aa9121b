"""The items of a run: what an export of it would hold, without writing it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from outputs.dataset.columns import by_case, left_out_notes
from outputs.evaluation_items.rows import READ_BY, benchmark_item, swap_item
from outputs.evaluation_items.sets import NOBODY_JUDGED
from outputs.export.facts import opening_of
from outputs.rows.agreed_labels import blind_judges
from outputs.rows.benchmark_prompts import BenchmarkPrompts
from outputs.rows.benchmark_set import BenchmarkRows
from outputs.rows.swap_set import SwapRows
from outputs.selecting.selection import OpenSelection, opened
from outputs.selecting.wish import Selection, WantedVerdict
from prompts.tasks.items import fact_view
from quality.evaluation.item import EvaluationItem
from quality.evaluation.item_set import ItemSet
from scenarios.annotations import VERIFIER
from scenarios.errors import UsageError
from scenarios.located import Located
from scenarios.schemes.misleading import ruled_out_by_truth
from scenarios.text_file import typed_path

_READ = tuple(READ_BY.values())
"""What labels of readers are called when models are held against them."""
_NO_ITEM = "dialogues not asked about, with no label that was declared, decided or given by most"


def load_run(folder: Path, *, verdict: WantedVerdict = "accepted") -> ItemSet:
    """Read the items of a run: its utterances, its conversations, and its lies for swapping.

    Args:
        folder: of the run.
        verdict: ``accepted``, or ``any`` for every dialogue that was generated.

    Raises:
        UsageError: there is no such run, it is not verified where accepted dialogues are asked
            for, holds the gold lines, or has no labelled utterance.
    """
    declared = Selection((folder,), verdict, labels="declared")
    with opened(declared) as found:
        openings, seen = Counter[str](), set[tuple[str, str]]()
        items = {item.id: item for item in _items(found, openings, seen)}
        adjudicated = replace(found, selection=replace(declared, labels="adjudicated"))
        selections = [adjudicated]
        if found.runs[0].annotations.has(VERIFIER):
            selections.append(replace(found, selection=replace(declared, labels="verifier")))
        for one in selections:
            for item in _items(one, Counter(), set(), read=True):
                # Where nobody declared anything, as in imported dialogues, readers alone make an item.
                known = items.setdefault(item.id, item)
                read = {name: item.references[name] for name in _READ if name in item.references}
                items[item.id] = replace(known, references={**known.references, **read})
        without = len(seen - {(item.case, item.arm) for item in items.values()})
        notes = left_out_notes({_NO_ITEM: without} if without else {})
        swapped = list(_swapped(adjudicated))
        run = found.runs[0]
        judges = blind_judges(run.state.verification.judged)
        recipe = run.material.recipe.name
    if not items:
        more = "take every dialogue with --any" if verdict == "accepted" else "generate some first"
        hint = f"{more}; where speakers declare no label, people have to (hipo review serve {typed_path(folder)})"
        raise UsageError(f"{folder} has no labelled utterance to ask about", hint)
    agreed = any("agreed" in item.references for item in items.values())
    return ItemSet(
        name=run.name,
        kind="run",
        scheme=run.scheme,
        items=(*items.values(), *swapped),
        judges=judges,
        recipe=recipe,
        openings=dict(openings),
        notes=(*notes, *(() if agreed else (NOBODY_JUDGED.format(name=folder),))),
    )


def _items(
    found: OpenSelection, openings: Counter[str], seen: set[tuple[str, str]], *, read: bool = False
) -> Iterator[EvaluationItem]:
    """Yield the items of a benchmark set; count dialogues by fixed lines, and name all in ``seen``.

    With ``read`` only of cases of which experts or people labelled something, the goal among it.
    """
    prompts = BenchmarkPrompts(found.scheme, (), ())
    source = BenchmarkRows(found.scheme, prompts=prompts, listed=found.lists_people)
    for batch in by_case(found.dialogues(rationales=False)):
        seen.update(one.key for one in batch)
        openings.update(filter(None, map(opening_of, batch)))
        if read and not any(one.read or one.expert_goal is not None for one in batch):
            continue
        scenario, case = batch[0].scenario, batch[0].dialogue.case
        claims = fact_view(scenario, case.fact).false_claims if case.fact else ()
        for row in source.rows(batch):
            yield benchmark_item(Located(row, "run"), found.scheme, claims=claims)


def _swapped(found: OpenSelection) -> Iterator[EvaluationItem]:
    """Yield the items of a swap set, where the scheme has a label that lies have."""
    if next(ruled_out_by_truth(found.scheme), None) is None:
        return
    source = SwapRows(found.scheme)
    for batch in by_case(found.dialogues(rationales=False)):
        for row in source.rows(batch):
            item = swap_item(Located(row, "run"), found.scheme)
            if item is not None:
                yield item
