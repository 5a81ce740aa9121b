"""``hipo review agreement``: what people answered, beside each other, gold and programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import typer

from hipo.app.runs.folders import find_run
from hipo.cli.main import RUN
from hipo.cli.reports.label_agreement import bounds, drawn_text, figure, label_as_json, labels_text
from hipo.cli.terminal.console import Format, columns, ends, plain, write_json
from scenarios.plural import plural

if TYPE_CHECKING:
    from hipo.app.review.agreement import StudyAgreement
    from quality.agreement.comparisons import ReaderComparison
    from quality.human_readings import HumanReadings


def print_agreement(
    run: str = RUN,
    study: str | None = typer.Option(None, "--study", help="Which study, where there are several."),
    output_format: Format = typer.Option("text", "--format", help="json: see docs/json-shapes.md."),
) -> None:
    """Print how well people agree; of gold lines also with the gold labels.

    Of gold lines each reader is held against programs, too. There are no figures before two people have answered the same lines. Programs are the readings
    that the gold labels were settled from, and the judges of hipo verify RUN.
    """
    from hipo.app.review.agreement import study_agreement  # noqa: PLC0415 - statistics

    found = study_agreement(find_run(run), study)
    if output_format == "json":
        write_json(agreement_as_json(found))
    else:
        print("\n\n".join(_text(found)))


def agreement_as_json(found: StudyAgreement) -> dict[str, object]:
    """Return what ``hipo review agreement --format json`` prints.

    ``study``; ``lines`` and ``canary`` of gold lines; ``human_readings``: how many people answered
    lines that another of them answered, too; ``readers``: by code the ``lines`` and ``dialogues`` of each; then,
    once there are two, ``agreement``, ``labels`` (agreement on each label), ``against_gold`` and ``against_programs``.
    """
    readings = found.readings
    return {
        **plain(found, "study lines canary"),
        "human_readings": len(readings.readers),
        "readers": {one.code: plain(one, "lines dialogues") for one in readings.readers},
        "agreement": [
            plain(row, "dimension statistic value interval items dialogues annotators",
                  interval=ends(row.interval))
            for row in readings.agreement
        ],
        "labels": [label_as_json(row) for row in readings.labels],
        "against_gold": [_comparison(one) for one in readings.against_gold],
        "against_programs": [_comparison(one) for one in readings.against_programs],
    }  # fmt: skip


def _comparison(one: ReaderComparison) -> dict[str, Any]:
    names = "reader other dimension items same kappa interval labels matrix by_label"
    labels = [label_as_json(row) for row in one.by_label]
    return plain(one, names, interval=ends(one.interval), by_label=labels)


def _text(found: StudyAgreement) -> Iterator[str]:
    from hipo.cli.agreement import confusion_text, notes_on  # noqa: PLC0415 - statistics
    from quality.agreement.labels import LABEL_MEASURES  # noqa: PLC0415 - statistics

    readings = found.readings
    head = [] if found.canary is None else [f"{plural(found.lines, 'gold line')}, {found.canary}"]
    yield "\n".join([*head, *_readers(readings)])
    if not readings.readers:
        return
    rows = [
        [row.dimension, row.statistic, figure(row.value), bounds(row.interval), str(row.items)]
        for row in readings.agreement
    ]
    figures = columns(["dimension", "statistic", "value", "95% interval", "items"], rows)
    drawn = drawn_text(
        readings.agreement, in_dialogues=any(r.dialogues < r.items for r in readings.agreement)
    )
    by_label = labels_text(readings.labels)
    said = ["people with each other", figures, drawn, *notes_on(readings.agreement), by_label]
    yield "\n".join(part for part in said if part)
    if readings.against_gold:
        yield "each person against the gold labels\n" + _table(readings.against_gold)
        yield from map(confusion_text, readings.against_gold)
    if readings.against_programs:
        yield "each person against readings by programs\n" + _table(readings.against_programs)
    yield f"label by label: {LABEL_MEASURES}"


def _readers(readings: HumanReadings) -> Iterator[str]:
    yield f"human readings: {len(readings.readers)}"
    for reader in readings.readers:
        counts = ((reader.lines, "line"), (reader.dialogues, "dialogue"))
        yield f"  {reader.code}  {' and '.join(plural(n, what) for n, what in counts if n)}"
    if readings.alone:
        people = "1 person has" if readings.alone == 1 else f"{readings.alone} people have"
        yield f"{people} answered lines that nobody else has; they count from the second reader on"


def _table(compared: Sequence[ReaderComparison]) -> str:
    rows = [
        [
            one.reader,
            one.other,
            one.dimension,
            figure(one.same),
            figure(one.kappa),
            bounds(one.interval),
            str(one.items),
        ]
        for one in compared
    ]
    header = ["person", "against", "dimension", "same", "Cohen kappa", "95% interval", "lines"]
    return columns(header, rows)
