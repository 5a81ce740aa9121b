"""``hipo qc``: quality control of annotations, level by level."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import typer

from hipo.app.metrics.qc import QcReport, quality_control
from hipo.app.metrics.qc_files import write_qc_files
from hipo.cli.agreement import BY, MAP, MEASUREMENT, SOURCES, notes_on
from hipo.cli.main import command_app
from hipo.cli.options.shared import PLUGINS
from hipo.cli.qc_json import qc_as_json
from hipo.cli.reports.label_agreement import bounds, figure
from hipo.cli.reports.oddities import oddity_lines
from hipo.cli.terminal.console import columns, one_line
from hipo.cli.terminal.errors import ExitCode
from hipo.cli.terminal.json_target import JSON, deliver
from quality.annotation_qc.findings import Finding, QcSettings, qc_settings
from quality.disagreement.report import DisagreementReport
from quality.statistics.bootstrap import Resampling
from quality.tables.measured import Numbers
from scenarios.errors import UsageError
from scenarios.plural import plural

app = command_app()
MOST_SHOWN = 20
"""Findings and items of one list that the text shows; files and JSON hold all."""
_LEVELS = {
    1: "level 1, the scheme: fields, labels, ranges",
    2: "level 2, each annotator: straight-lining, time, agreement with the others, self-contradiction",
    3: "level 3, agreement: splits and wide ranges",
}


@app.command("qc")
def print_qc(
    *,
    sources: list[str] = SOURCES,
    map_name: str | None = MAP,
    measurement: Numbers | None = MEASUREMENT,
    by: str | None = BY,
    released: list[Path] = typer.Option(
        [],
        "--released",
        metavar="FILE",
        help="Released answers of the same people on the same items, to hold raw exports against; "
        "repeatable.",
    ),
    released_map: str | None = typer.Option(
        None, "--released-map", metavar="NAME|FILE", help="Their map; default the one of --map."
    ),
    thresholds: list[str] = typer.Option(
        [],
        "--threshold",
        metavar="NAME=X",
        help=f"Another threshold: {', '.join(QcSettings.model_fields)}; repeatable.",
        show_default=False,
    ),
    output: Path | None = typer.Option(
        None,
        "-o",
        "--output",
        help="A new folder for flags.csv, adjudication.csv and gold.csv.",
    ),
    json_target: str | None = JSON,
    plugins: list[Path] | None = PLUGINS,
) -> int:
    """Check the annotations of people on four levels: scheme, annotators, agreement, adjudication.

    Of files the map, or else the header, says what columns stand for; of a run the answers of all studies, and of
    imported annotators, count. A finding asks somebody to look and decides nothing: disagreement
    is kept. Gold labels are those of a majority, else the expert's, each with a note.
    """
    if released_map is not None and not released:
        raise UsageError(
            "--released-map is of released answers, and none are named", "name them with --released"
        )
    report = quality_control(
        sources,
        map_name=map_name,
        numbers=measurement,
        by=by,
        released=released,
        released_map=released_map,
        settings=qc_settings(dict(map(_threshold, thresholds))),
        how=Resampling(),
    )
    if output is not None:
        write_qc_files(report, output)
    written = [f"written: {output}"] if output is not None else []
    deliver(
        lambda: qc_as_json(report), lambda: "\n\n".join([*_text(report), *written]), json_target
    )
    return ExitCode.DONE


def _threshold(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign:
        raise UsageError(
            f"the threshold {text!r} is no name with a value",
            "write --threshold straight_share=0.9",
        )
    return name.strip(), value.strip()


def _text(report: QcReport) -> Iterator[str]:
    if report.annotated.table is not None:
        yield "\n".join(oddity_lines(report.annotated.table))
    names = one_line(", ".join(report.annotators), 120)
    yield f"{plural(report.items, 'item')}, {plural(report.answers, 'answer')} by {names}{_changed(report)}"
    for level, title in _LEVELS.items():
        yield _level(report, level, title)
        if level == 1:
            yield _vocabulary(report)
    yield _agreement(report)
    if report.beside_others:
        yield _beside_others(report)
    if report.attention:
        yield _attention(report)
    for dimension in report.dimensions:
        yield from _disagreement(dimension)
    for name, rows in report.released:
        shown = [
            [row.group or "everything", row.annotator or "everybody", str(row.items),
             str(len(row.differing)), figure(row.share)]
            for row in rows
        ]  # fmt: skip
        yield f"{name}: raw answers against released ones\n" + columns(
            ["group", "annotator", "items", "differ", "same"], shown
        )


def _changed(report: QcReport) -> str:
    """Return a line with the thresholds that are not the usual ones; empty without any."""
    usual = QcSettings().model_dump()
    changed = [
        f"{name} {value}"
        for name, value in report.settings.model_dump().items()
        if value != usual[name]
    ]
    return f"\nthresholds: {', '.join(changed)}" if changed else ""


def _level(report: QcReport, level: int, title: str) -> str:
    counted = report.found(level)
    if not counted:
        return f"{title}\n  nothing found"
    found = [finding for finding in report.findings if finding.level == level]
    head = ", ".join(f"{count:,} {code}" for code, count in counted.most_common())
    lines = [f"{title}\n  {head}"]
    if len(found) > MOST_SHOWN:
        lines += [f"  {line}" for line in _by_annotator(found)]
    lines += [f"  {_finding(one)}" for one in found[:MOST_SHOWN]]
    if len(found) > MOST_SHOWN:
        lines.append(f"  ... and {len(found) - MOST_SHOWN:,} more, all of them in --json and -o")
    return "\n".join(lines)


def _by_annotator(found: Sequence[Finding]) -> Iterator[str]:
    """Say how many findings each annotator has: a list that ends early may leave people out."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for one in found:
        if one.annotator is not None:
            counts[one.annotator][one.code] += 1
    ranked = sorted(counts.items(), key=lambda entry: (-entry[1].total(), entry[0]))
    for who, codes in ranked[:MOST_SHOWN]:
        kinds = ", ".join(f"{count:,} {code}" for code, count in codes.most_common())
        yield one_line(f"{who}: {kinds}", 200)
    if len(ranked) > MOST_SHOWN:
        yield f"... and {plural(len(ranked) - MOST_SHOWN, 'annotator')} more with fewer"


def _finding(finding: Finding) -> str:
    about = [finding.annotator, finding.item, finding.dimension]
    where = ", ".join(part for part in about if part)
    value = f": {finding.value!r}" if finding.code in ("unknown_value", "harmonised") else ""
    return one_line(f"{finding.code} ({where}){value}: {finding.reason}", 200)


def _vocabulary(report: QcReport) -> str:
    rows = [
        [row.annotator, row.dimension, str(row.answers), str(row.in_vocabulary),
         str(sum(row.harmonised.values())), str(sum(row.unreadable.values())), str(row.blank)]
        for row in report.vocabulary
    ]  # fmt: skip
    header = [
        "annotator",
        "dimension",
        "answers",
        "as offered",
        "harmonised",
        "unreadable",
        "blank",
    ]
    return "words that were used\n" + columns(header, rows)


def _agreement(report: QcReport) -> str:
    rows = [
        [row.group or "everything", row.dimension, row.statistic, figure(row.value),
         bounds(row.interval), str(row.items)]
        for row in report.agreement
    ]  # fmt: skip
    header = ["group", "dimension", "statistic", "value", "95% interval", "items"]
    return "\n".join(["agreement", columns(header, rows), *notes_on(report.agreement)])


def _beside_others(report: QcReport) -> str:
    rows = [
        [row.annotator, row.dimension, figure(row.value), bounds(row.interval),
         "" if row.others is None else figure(row.others), str(row.items),
         "apart" if row.apart else ""]
        for row in report.beside_others
    ]  # fmt: skip
    header = [
        "annotator", "dimension", "with the others", "95% interval", "others together", "items", "",
    ]  # fmt: skip
    return "each annotator beside the others (Cohen's kappa; of numbers Spearman's rho)\n" + (
        columns(header, rows)
    )


def _attention(report: QcReport) -> str:
    rows = [
        [row.annotator, f"{row.failed} of {row.items}", bounds(row.interval),
         f"{row.right} of {row.asked}", f"{row.guessed:.1f}", f"{row.chance:.2g}"]
        for row in report.attention
    ]  # fmt: skip
    header = [
        "annotator", "failed", "95% interval", "questions right", "by guessing", "chance of that",
    ]  # fmt: skip
    return "attention items (lines with known labels)\n" + columns(header, rows)


def _given(report: DisagreementReport) -> Iterator[str]:
    """Yield which labels were given and are gold, and how ratings are spread."""
    shares = [
        [row.label, str(row.answers), figure(row.share), str(row.gold), figure(row.gold_share),
         str(row.alike)]
        for row in report.given
        if not row.group
    ]  # fmt: skip
    header = ["label", "answers", "share", "gold", "share", "pairs of annotators alike"]
    yield f"{report.dimension}: labels that were given, and gold labels\n" + columns(header, shares)
    if report.ratings:
        spread = [
            [row.dimension, row.group or "everything", str(row.answers),
             *map(figure, (row.mean, row.sd, row.low, row.median, row.high))]
            for row in report.ratings
        ]  # fmt: skip
        head = ["dimension", "group", "answers", "mean", "SD", "25%", "median", "75%"]
        yield f"{report.dimension}: ratings beside it\n" + columns(head, spread)
        beside = [
            [str(row.label), row.dimension, str(row.answers), figure(row.mean), figure(row.sd)]
            for row in report.means
            if not row.group
        ]
        yield (
            f"{report.dimension}: mean rating beside each gold label, or else the label given\n"
            + columns(["label", "dimension", "answers", "mean", "SD"], beside)
        )


def _disagreement(report: DisagreementReport) -> Iterator[str]:
    yield from _given(report)
    rows = [
        [row.group or "everything", str(row.items), str(row.unanimous), str(row.majority),
         str(row.split)]
        for row in report.difficulty
    ]  # fmt: skip
    header = ["group", "items", "unanimous", "majority", "split"]
    yield f"{report.dimension}: how hard the items are\n" + columns(header, rows)
    if report.lengths:
        yield f"{report.dimension}: words of a text, and agreement on it\n" + columns(
            ["group", "text", "items", "Spearman rho", "p"],
            [
                [
                    row.group or "everything",
                    row.text,
                    str(row.items),
                    figure(row.rho),
                    figure(row.p),
                ]
                for row in report.lengths
            ],
        )
    pairs = [
        [str(pair.first), str(pair.second), str(pair.count), _yes(pair.neighbours)]
        for pair in report.confused
        if not pair.group
    ][:MOST_SHOWN]
    if pairs:
        yield f"{report.dimension}: labels given to one item\n" + columns(
            ["label", "and", "pairs of annotators", "neighbours"], pairs
        )
    if report.adjacency:
        near = [
            [row.group or "everything", str(row.pairs), str(row.neighbours), figure(row.share),
             figure(row.expected)]
            for row in report.adjacency
        ]  # fmt: skip
        yield f"{report.dimension}: disagreements between neighbours on the wheel\n" + columns(
            ["group", "disagreements", "neighbours", "share", "by chance"], near
        )
    yield from _coherence(report)
    yield from _references(report)
    yield _adjudication(report)


def _coherence(report: DisagreementReport) -> Iterator[str]:
    if report.polarity_matches:
        rows = [
            [row.group or "everything", str(row.answers), str(row.same), str(row.neutral),
             str(row.opposite), figure(row.share)]
            for row in report.polarity_matches
        ]  # fmt: skip
        header = ["group", "answers", "same side", "middle", "other side", "share"]
        yield f"{report.dimension}: ratings beside the side of the label\n" + columns(header, rows)
    if report.split_polarity:
        rows = [
            [row.group or "everything", str(row.splits), str(row.negative), str(row.neutral),
             str(row.positive), str(row.mixed), str(row.unrated), figure(row.share)]
            for row in report.split_polarity
        ]  # fmt: skip
        header = ["group", "splits", "negative", "neutral", "positive", "mixed", "unrated", "share"]
        yield f"{report.dimension}: which side splits are on\n" + columns(header, rows)


def _references(report: DisagreementReport) -> Iterator[str]:
    if report.references:
        rows = [
            [row.group or "everything", row.annotator or "everybody", str(row.items),
             str(row.same), figure(row.share)]
            for row in report.references
        ]  # fmt: skip
        yield f"{report.dimension}: annotators against the gold labels of the source\n" + columns(
            ["group", "annotator", "items", "same", "share"], rows
        )


def _adjudication(report: DisagreementReport) -> str:
    """Return level 4: what is for the expert, and on what gold labels rest."""
    rests: dict[str, int] = {}
    for row in report.gold:
        rests[row.basis] = rests.get(row.basis, 0) + 1
    head = ", ".join(f"{count:,} {basis}" for basis, count in rests.items())
    lines = [f"{report.dimension}: level 4, gold labels\n  {head}"]
    waiting = [item for item in report.to_adjudicate if item.undecided]
    lines.append(
        f"  for the expert: {plural(len(waiting), 'item')} without a majority, "
        f"{len(report.to_adjudicate) - len(waiting):,} for ratings far apart"
    )
    for item in waiting[:MOST_SHOWN]:
        said = ", ".join(f"{who} {label!r}" for who, label in item.said.items())
        side = "" if item.polarity in (None, "mixed", "unrated") else f"; all {item.polarity}"
        lines.append(f"  {one_line(f'{item.item}: {said}{side}', 200)}")
    if len(waiting) > MOST_SHOWN:
        lines.append(f"  ... and {len(waiting) - MOST_SHOWN:,} more, all of them in --json and -o")
    return "\n".join(lines)


def _yes(value: bool | None) -> str:
    return "" if value is None else "yes" if value else "no"
