"""Sections of a report that go with one kind of labels, where a run has such labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from hipo.app.metrics.annotated import open_annotated
from hipo.app.metrics.intention import DEFAULT_TASK, intention_metrics
from hipo.app.metrics.qc import disagreements_of_run
from hipo.app.metrics.reasoning_run import checked_reasonings, forms_of_run
from hipo.app.metrics.strategic import KINDS, metrics_of, strategic_labels
from outputs.report.disagreement import disagreement_section
from outputs.report.intentions import intentions_section
from outputs.report.page import ReportSection
from outputs.report.reasonings import reasonings_section
from outputs.report.strategic import PLOTTED, strategic_section
from pipeline.run_material import load_material
from pipeline.store.queries.annotations import open_annotations
from pipeline.store.run_store import RunStore
from prompts.tasks.registry import shipped_tasks
from quality.persuasion.spoken_dialogues import FACE_ACT, INTENTION
from quality.reasoning.figures import reasoning_figures
from quality.strategic.formula import Formula
from quality.strategic.moves import STORED_COMMITMENT
from scenarios.annotations import HUMAN, VERIFIER
from scenarios.errors import UsageError
from scenarios.schemes.model import Scheme


def statistics_sections(
    folder: Path, name: str, scheme: Scheme, notice: Callable[[str], None]
) -> Iterator[ReportSection]:
    """Yield the sections that the labels of a run allow.

    Args:
        folder: the run.
        name: what it is called on the command line.
        scheme: whose labels it has.
        notice: is called with why a section is left out, e.g. for a package that is missing.
    """
    for build in _BUILDERS:
        try:
            section = build(folder, name, scheme)
        except UsageError as error:
            notice(f"the report lacks statistics: {error}")
            continue
        if section is not None:
            yield section


def _strategic(folder: Path, name: str, scheme: Scheme) -> ReportSection | None:
    """Return the section on strategic answers; None where no answer has a commitment."""
    with open_annotations(folder) as reader:
        if not reader.knows(STORED_COMMITMENT):
            return None
    annotated = open_annotated([str(folder)], None, KINDS)
    labels = strategic_labels(annotated.scheme, annotated.annotations())
    found = metrics_of(labels, Formula())
    if not found.discourses:
        return None
    return strategic_section(
        found.discourses,
        found.distributions,
        (*found.agreement, *found.against),
        found.outcome,
        name,
        titles=_titles(folder, dict.fromkeys(one.dialogue for one in found.discourses)),
    )


def _titles(folder: Path, dialogues: Iterable[str]) -> dict[str, str]:
    """Return the titles of the scenarios of those dialogues, ``case/arm``, that are drawn."""
    with RunStore.open(folder, readonly=True) as store:
        material = load_material(store)
        keys = {
            (case, arm): name
            for name in islice(dialogues, PLOTTED)
            for case, _, arm in [name.partition("/")]
        }
        return {
            keys[dialogue.key]: material.scenario_of(dialogue.case).title
            for dialogue in store.reader.of(list(keys))
        }


def _intentions(folder: Path, name: str, scheme: Scheme) -> ReportSection | None:
    """Return the section on face acts and intentions; None where no turn has such labels."""
    known = {dimension.id for dimension in scheme.dimensions}
    if not {INTENTION, FACE_ACT} <= known or DEFAULT_TASK not in shipped_tasks(scheme):
        return None
    found = intention_metrics([folder])
    statistics = found.statistics
    if statistics is None or not any(row.face_act or row.labelled for row in statistics.rows):
        return None
    return intentions_section(statistics, found.right, found.rules, found.questions, name)


def _reasonings(folder: Path, name: str, scheme: Scheme) -> ReportSection | None:
    """Return the section on reasoning in games; None where no verifier checked any claim."""
    if not _has(folder, VERIFIER):
        return None
    samples = checked_reasonings(folder)
    if not samples:
        return None
    return reasonings_section(reasoning_figures(samples, forms_of_run(folder, samples)), name)


def _disagreement(folder: Path, name: str, scheme: Scheme) -> ReportSection | None:
    """Return the section on people who disagree; None where no two people answered the same."""
    if not _has(folder, HUMAN):
        return None
    return disagreement_section(disagreements_of_run(folder), scheme, name)


def _has(folder: Path, kind: str) -> bool:
    with open_annotations(folder) as reader:
        return any(source.kind == kind for source in reader.sources())


_BUILDERS: Final[tuple[Callable[[Path, str, Scheme], ReportSection | None], ...]] = (
    _strategic,
    _intentions,
    _reasonings,
    _disagreement,
)
