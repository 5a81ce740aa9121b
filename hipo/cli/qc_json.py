"""What ``hipo qc --json`` writes."""

from __future__ import annotations

from typing import Any

from hipo.app.metrics.qc import QcReport
from hipo.cli.reports.oddities import oddities_as_json
from hipo.cli.terminal.console import ends, plain
from quality.agreement.agreement import AgreementRow
from quality.disagreement.references import ReferenceRow
from quality.disagreement.report import DisagreementReport

_FINDING = "level code reason annotator item dimension value threshold"


def qc_as_json(report: QcReport) -> dict[str, Any]:
    """Return what ``hipo qc --json`` writes.

    ``settings``, the thresholds; ``findings`` of levels 1 to 3 and ``found``, their number by level and
    code; ``vocabulary``; ``agreement``; ``beside_others``, every annotator by dimension; ``attention``,
    who answered lines with known labels; by dimension ``given``, ``ratings``, ``difficulty``, ``lengths``, ``confused``, ``adjacency``, ``split_polarity``,
    ``polarity_matches``, ``means``, ``references``, ``to_adjudicate`` and ``gold`` with notes;
    ``released``; of files ``files`` and ``oddities``.
    """
    return {
        "scheme": report.annotated.scheme.name,
        "sources": list(report.annotated.sources),
        "settings": report.settings.model_dump(),
        **plain(report, "items annotators answers", annotators=list(report.annotators)),
        "found": {f"level {level}": dict(report.found(level)) for level in (1, 2, 3)},
        "findings": [plain(finding, _FINDING) for finding in report.findings],
        "vocabulary": [
            plain(
                row, "annotator dimension answers in_vocabulary harmonised unreadable blank",
                harmonised=[
                    {"written": written, "label": label, "answers": count}
                    for (written, label), count in row.harmonised.items()
                ],
                unreadable=dict(row.unreadable),
            )
            for row in report.vocabulary
        ],
        "agreement": [_agreement(row) for row in report.agreement],
        "beside_others": [
            plain(
                row, "annotator dimension items value interval others apart",
                interval=ends(row.interval),
            )
            for row in report.beside_others
        ],
        "attention": [
            plain(
                row, "annotator items failed interval right asked guessed chance",
                interval=ends(row.interval),
            )
            for row in report.attention
        ],
        "dimensions": [_dimension(one) for one in report.dimensions],
        "released": [
            {"dimension": name, "annotators": [_reference(row) for row in rows]}
            for name, rows in report.released
        ],
        **oddities_as_json(report.annotated.table),
    }  # fmt: skip


def _agreement(row: AgreementRow) -> dict[str, Any]:
    names = "group dimension statistic value interval items annotators note"
    return plain(row, names, interval=ends(row.interval))


def _dimension(report: DisagreementReport) -> dict[str, Any]:
    return {
        "dimension": report.dimension,
        "given": [plain(r, "group label answers share gold gold_share alike") for r in report.given],
        "ratings": [
            plain(r, "group dimension answers mean sd low median high") for r in report.ratings
        ],
        "difficulty": [plain(r, "group items unanimous majority split") for r in report.difficulty],
        "lengths": [plain(r, "group text items rho p") for r in report.lengths],
        "confused": [plain(r, "group first second count neighbours") for r in report.confused],
        "adjacency": [
            plain(r, "group pairs neighbours share expected") for r in report.adjacency
        ],
        "split_polarity": [
            plain(r, "group splits negative neutral positive mixed unrated share")
            for r in report.split_polarity
        ],
        "polarity_matches": [
            plain(r, "group answers same neutral opposite share") for r in report.polarity_matches
        ],
        "means": [plain(r, "group label dimension answers mean sd") for r in report.means],
        "references": [_reference(row) for row in report.references],
        "to_adjudicate": [
            plain(
                r, "item undecided said beside polarity reasons",
                said=dict(r.said), reasons=list(r.reasons),
                beside={who: dict(given) for who, given in r.beside.items()},
            )
            for r in report.to_adjudicate
        ],
        "gold": [plain(r, "item label basis note said", said=dict(r.said)) for r in report.gold],
    }  # fmt: skip


def _reference(row: ReferenceRow) -> dict[str, Any]:
    differing = [plain(one, "item annotator given reference") for one in row.differing]
    return plain(row, "group annotator items same share differing", differing=differing)
