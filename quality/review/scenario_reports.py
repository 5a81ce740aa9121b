"""Problems with scenarios that reviewers reported, for their authors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pipeline.store.reviews import ReviewStore
from scenarios.reviews import Sheet


@dataclass(frozen=True, slots=True)
class ScenarioReport:
    """One report."""

    scenario: str
    fact: str
    dialogue: str
    """``case/arm`` of the dialogue it was noticed in."""
    annotator: str
    """Code."""
    problem: str


def scenario_reports(store: ReviewStore, sheets: Iterable[Sheet]) -> list[ScenarioReport]:
    """Return the reports of some answers, sorted by scenario and fact."""
    reports = []
    for sheet in sheets:
        if sheet.opinion is None or not sheet.opinion.scenario_problem:
            continue
        case = store.dialogues.ending(sheet.item.id).case
        reports.append(
            ScenarioReport(
                scenario=case.scenario,
                fact=case.fact,
                dialogue=sheet.item.id,
                annotator=sheet.annotator,
                problem=sheet.opinion.scenario_problem,
            )
        )
    return sorted(reports, key=lambda report: (report.scenario, report.fact, report.dialogue))
