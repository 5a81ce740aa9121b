"""Look at evaluations again: the page from what is stored, and results as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from hipo.app.evaluation.people import people_beside_models
from hipo.app.runs.folders import RUNS, find_run
from outputs.evaluation.beside_paper import beside_paper
from outputs.evaluation.evaluated import Evaluated
from outputs.evaluation.own_results import own_results
from outputs.evaluation.writing import WrittenEvaluation, read_evaluation, write_evaluation
from outputs.export.facts import code_version
from outputs.result_tables.model import ResultBlock
from outputs.result_tables.paper import paper_results
from quality.evaluation.evaluation_record import RECORD
from scenarios.errors import UsageError

BESIDE_A_RUN = "evaluation"
"""Where the evaluation of a run lies in its folder."""
_PAPERS = "hipo"
"""The scheme that the paper is about, in whatever version."""


def evaluation_folder(name: str | Path) -> Path:
    """Return the folder of an evaluation: itself, a run that has one, or one of these in ./runs.

    Raises:
        UsageError: there is none.
    """
    places = [Path(name), RUNS / name]
    for place in (found for folder in places for found in (folder, folder / BESIDE_A_RUN)):
        if (place / RECORD).exists():
            return place
    raise UsageError(
        f"{name} holds no evaluation: there is no {RECORD}",
        "give a folder that hipo evaluate wrote to with -o",
    )


def report_evaluation(name: str | Path) -> WrittenEvaluation:
    """Score the stored answers of an evaluation anew, and write its figures and its page.

    Args:
        name: its folder, or a run that has one.

    Raises:
        UsageError: there is no evaluation, or its rows are about another set.
        InputError: a file of it is damaged.
    """
    return write_evaluation(evaluation_folder(name), code_version())


def result_blocks(
    names: Sequence[str | Path],
    *,
    people: str | Path | None = None,
    paper: bool = True,
    by_label: bool = False,
) -> list[ResultBlock]:
    """Return the results of some evaluations, and those that the paper printed.

    Args:
        names: folders of evaluations, or of runs that have one; none: what was printed.
        people: a run with a quiz: what people scored, beside models on the very same items.
        paper: whether the printed results are there, in a block of their own; beside corpora of
            other schemes alone they are not.
        by_label: whether precision, recall and F1 of every label have tables, too.

    Raises:
        UsageError: nothing is asked for, there is no such evaluation, or no such quiz.
        InputError: a file of an evaluation is damaged.
    """
    if not names and (people is not None or by_label or not paper):
        raise UsageError("there is nothing to print", "name the folder of an evaluation")
    folders = [evaluation_folder(name) for name in names]
    evaluations = [read_evaluation(folder) for folder in folders]
    blocks = []
    schemes = {one.record.set.scheme.partition("@")[0] for one in evaluations}
    paper = paper and (not schemes or _PAPERS in schemes)
    if evaluations:
        run = None if people is None else find_run(str(people))
        among = list(_among_people(evaluations, folders, run))
        shown = [one.shown for one in evaluations]
        own = own_results(shown, among_people=among, by_label=by_label)
        together = beside_paper(shown, paper_results()) if paper else None
        tables = own.tables if together is None else (*own.tables, together)
        blocks.append(own.model_copy(update={"tables": tables}))
    if paper:
        blocks.append(paper_results())
    return blocks


def _among_people(
    evaluations: Sequence[Evaluated], folders: Sequence[Path], run: Path | None
) -> Iterator[Evaluated]:
    if run is None:
        return
    for one, folder in zip(evaluations, folders, strict=True):
        found = people_beside_models(folder, run).scores
        yield Evaluated(one.record, found, marks=one.marks).shown
