"""Ask what the labels of a run or a data set can be read from, besides the words that carry them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from hipo.app.runs.folders import RUNS, is_run
from hipo.app.runs.run import RunLike, folder_of
from outputs.audit.auditing import audit_dialogues, check_installed
from outputs.audit.ceilings import judge_ceilings
from outputs.audit.findings import Audit, Ceiling, write_audit
from outputs.audit.preference_audit import audit_preferences, holds_preferences
from outputs.audit.run_corpus import MOST, run_corpus
from outputs.audit.set_corpus import scheme_of, set_corpus, turns_of
from outputs.audit.swap_audit import audit_swaps, holds_swaps
from outputs.dataset.reader import row_set
from outputs.dataset.told_audit import AUDIT
from outputs.selecting.selection import opened
from outputs.selecting.wish import Selection
from pipeline.store.queries.report import open_figures
from pipeline.store.queries.report_rows import NamedCount
from scenarios.errors import UsageError
from scenarios.schemes.model import Scheme


def audit(
    source: RunLike, *, seed: int = 0, most: int = MOST, output: str | Path | None = None
) -> Audit:
    """Guess goal and labels from what should tell nothing, and from the surface of the words.

    Everything is guessed for scenarios that were not learnt from, beside what permuted labels
    reach. The audit of a run is kept in it, as ``audit.json``, for its report and for the cards of
    data sets; that of a set is not: the set is as it was exported.

    Example::

        for finding in audit("runs/trial").shortcuts:
            print(finding.probe, finding.dimension, finding.score, finding.floor)

    Args:
        source: a run, or the file or folder of a data set that was exported.
        seed: of folds, permutations and resamples; the same one gives the same audit.
        most: dialogues that are looked at, where there are more.
        output: another file to write the audit to, as JSON.

    Raises:
        UsageError: there is neither run nor data set, it lacks what is needed, or scikit-learn is
            missing.
    """
    check_installed()
    if most < 1:
        raise UsageError(f"an audit of {most} dialogues is none", "give at least 1")
    path = _data_set(source)
    if path is not None:
        found, kept = audit_set(path, seed=seed, most=most), None
    else:
        folder = folder_of(source)
        found, kept = _audit_run(folder, seed=seed, most=most), folder / AUDIT
    target = kept if output is None else Path(output)
    if target is not None:
        write_audit(target, found)
    return found


def audit_set(path: Path, *, seed: int = 0, most: int = MOST) -> Audit:
    """Audit a data set on disk by what its rows hold.

    Raises:
        UsageError: it cannot be read, or its rows lack what is needed.
    """
    rows = row_set(path, path.name)
    first = next(iter(rows.rows()), None)
    if first is not None and holds_preferences(first):
        return audit_preferences(rows, seed=seed, most=most)
    if first is not None and holds_swaps(first):
        return audit_swaps(rows, seed=seed, most=most)
    corpus = set_corpus(rows, scheme_of(path), most=most, seed=seed)
    return audit_dialogues(corpus, seed=seed)


def audit_export(folder: Path, selection: Selection, name: str) -> Audit:
    """Audit the rows of an export with what its runs know of the dialogues behind them.

    Args:
        folder: of the rows.
        selection: what they were made of.
        name: of the export.

    Raises:
        UsageError: the rows have no labels to be guessed.
    """
    rows = replace(row_set(folder), name=name)
    first = next(iter(rows.rows()))
    if holds_preferences(first):
        return audit_preferences(rows)
    if holds_swaps(first):
        return audit_swaps(rows)
    with opened(selection) as found:
        corpus = run_corpus(found, name=name, only=turns_of(rows))
        goals = {dialogue.goal for dialogue in corpus.dialogues}
        if not goals or (len(goals) == 1 and not corpus.dimensions):
            raise UsageError(
                "--max-shortcut finds no labels of answers in this kind of rows", "leave it out"
            )
        return audit_dialogues(corpus, ceilings=_ceilings(found.scheme, selection.runs))


def _ceilings(scheme: Scheme, runs: Iterable[Path]) -> dict[str, Ceiling]:
    """Return what judges of runs reach who know the fact and do not see the labels."""
    counts: list[NamedCount] = []
    for run in runs:
        with open_figures(run) as figures:
            counts += figures.named(scheme.assigned)
    return judge_ceilings(scheme, counts)


def _audit_run(folder: Path, *, seed: int, most: int) -> Audit:
    with opened(Selection((folder,), "any")) as found:
        corpus = run_corpus(found, name=found.runs[0].name, most=most, seed=seed)
        return audit_dialogues(corpus, seed=seed, ceilings=_ceilings(found.scheme, [folder]))


def _data_set(source: RunLike) -> Path | None:
    """Return the path of a data set; None where a run is meant."""
    if not isinstance(source, str | Path):
        return None
    path = Path(source)
    if is_run(path) or is_run(RUNS / path) or not path.exists():
        return None
    return path
