"""Sections of a report that go with one kind of labels, where a run has such labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from hipo.app.strategic_metrics import COMMITMENT, KINDS, metrics_of, strategic_labels
from outputs.report.page import ReportSection
from outputs.report.strategic import strategic_section
from pipeline.store.queries.annotations import open_annotations
from quality.strategic.formula import Formula
from scenarios.schemes.model import Scheme


def statistics_sections(folder: Path, name: str, scheme: Scheme) -> Iterator[ReportSection]:
    """Yield the sections that the labels of a run allow.

    Args:
        folder: the run.
        name: what it is called on the command line.
        scheme: whose labels it has.
    """
    for build in _BUILDERS:
        section = build(folder, name, scheme)
        if section is not None:
            yield section


def _strategic(folder: Path, name: str, scheme: Scheme) -> ReportSection | None:
    """Return the section on strategic answers; None where no answer has a commitment."""
    with open_annotations(folder) as reader:
        if not reader.knows(COMMITMENT):
            return None
        labels = strategic_labels(scheme, reader.annotations(KINDS))
    found = metrics_of(labels, Formula())
    if not found.discourses:
        return None
    return strategic_section(
        found.discourses,
        found.distributions,
        (*found.agreement, *found.against),
        found.outcome,
        name,
    )


_BUILDERS: Final[tuple[Callable[[Path, str, Scheme], ReportSection | None], ...]] = (_strategic,)
