"""Quality control of annotations, levels 1 to 4, from files or from the reviews of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hipo.app.metrics.annotated import Annotated, open_annotated
from pipeline.store.reviews import ReviewStore
from quality.agreement.agreement import AgreementRow, agreement_table
from quality.agreement.annotations import Answer, RawAnswer, Timing
from quality.agreement.annotators import AnnotatorAgreement, annotator_agreement
from quality.agreement.selections import AnnotationSelection, selected, subject_name
from quality.annotation_qc.attention_scores import (
    AttentionScore,
    attention_findings,
    attention_scores,
)
from quality.annotation_qc.findings import Finding, QcSettings
from quality.annotation_qc.qc import annotation_qc
from quality.annotation_qc.schema import check_schema
from quality.disagreement.adjudication import ExpertLabel
from quality.disagreement.lengths import Words
from quality.disagreement.references import ReferenceRow, against_released
from quality.disagreement.report import DisagreementReport, disagreement_report
from quality.disagreement.vocabulary import VocabularyRow, vocabulary_table
from quality.review.answer_table import item_name, timings
from quality.statistics.bootstrap import Resampling
from quality.tables.checking import CheckedTable, read_files
from quality.tables.measured import Numbers
from scenarios.annotations import ADJUDICATED, HUMAN
from scenarios.errors import UsageError
from scenarios.reviews import AttentionAnswer
from scenarios.schemes.model import Scheme
from scenarios.terms import LabelValue, RoleKey

_KINDS = (HUMAN, ADJUDICATED)
PEOPLE = AnnotationSelection(HUMAN)


@dataclass(frozen=True, slots=True)
class QcReport:
    """What quality control finds, level by level."""

    annotated: Annotated
    settings: QcSettings
    """The thresholds."""
    items: int
    annotators: tuple[str, ...]
    answers: int
    findings: tuple[Finding, ...]
    """Levels 1 to 3."""
    vocabulary: tuple[VocabularyRow, ...]
    """How the answers of each annotator were worded."""
    agreement: tuple[AgreementRow, ...]
    """Level 3: over everything (group ""), then by group."""
    beside_others: tuple[AnnotatorAgreement, ...]
    """Every annotator beside the others, by dimension."""
    attention: tuple[AttentionScore, ...]
    """Of a run: every annotator who was given attention items."""
    dimensions: tuple[DisagreementReport, ...]
    """Level 4, and how people disagree, of every labelled dimension."""
    released: tuple[tuple[str, tuple[ReferenceRow, ...]], ...]
    """By dimension what annotators exported against what was released under their names."""

    def found(self, level: int) -> Counter[str]:
        """Return how many findings of a level there are, by code."""
        return Counter(finding.code for finding in self.findings if finding.level == level)


@dataclass(frozen=True, slots=True)
class _Material:
    """What the levels run over."""

    raw: Sequence[RawAnswer]
    times: Sequence[Timing]
    required: Sequence[str] | None
    roles: Mapping[str, RoleKey]
    """item -> whose words it is, as far as that is known."""
    gold: Mapping[str, Mapping[str, LabelValue]]
    """dimension -> item -> label."""
    notes: Mapping[str, str]
    """item -> what is remarked about it."""
    attention: Sequence[AttentionScore] = ()


def quality_control(
    sources: Sequence[str],
    *,
    map_name: str | None = None,
    numbers: Numbers | None = None,
    by: str | None = None,
    released: Sequence[Path] = (),
    released_map: str | None = None,
    settings: QcSettings | None = None,
    how: Resampling | None = None,
) -> QcReport:
    """Run the four levels.

    Args:
        sources: files, or one run.
        map_name: what the columns of files stand for; None: their header says it.
        numbers: as what numbers count in files without a map; None: by a rule.
        by: what to group by; see :func:`hipo.app.metrics.agreement.agreement`.
        released: tables with what was released of the same answers under the same names.
        released_map: their map; that of the files if None.
        settings: thresholds; those of CEI if None.
        how: how intervals are bootstrapped; 2,000 times from seed 42 if None.

    Raises:
        UsageError: no such file, map, run or column, no answer at all, or a package is missing.
    """
    settings = settings or QcSettings()
    annotated = open_annotated(sources, map_name, _KINDS, numbers)
    groups, words = annotated.groups_and_words(by)
    asked = _asked(annotated.scheme)
    material = _of_reviews(annotated) if annotated.table is None else _of_table(annotated.table)
    checked = annotation_qc(
        asked,
        material.raw,
        material.times,
        settings=settings,
        required=material.required,
        roles=material.roles,
    )
    if not checked.answers:
        raise UsageError(
            f"nobody has answered anything in {', '.join(annotated.sources)}",
            "quality control is of the answers of people",
        )
    return QcReport(
        annotated=annotated,
        settings=settings,
        items=len({answer.item for answer in checked.answers}),
        annotators=tuple(sorted({answer.annotator for answer in checked.answers})),
        answers=len(checked.answers),
        findings=(*checked.findings, *attention_findings(material.attention, settings)),
        vocabulary=tuple(vocabulary_table(asked, material.raw)),
        agreement=tuple(agreement_table(asked, checked.answers, groups=groups, how=how)),
        beside_others=tuple(annotator_agreement(asked, checked.answers)),
        attention=tuple(material.attention),
        dimensions=_disagreements(
            asked, checked.answers, material, words=words, groups=groups, settings=settings
        ),
        released=_against(checked.answers, asked, released, released_map or map_name),
    )


def disagreements_of_run(folder: Path) -> tuple[DisagreementReport, ...]:
    """Return how people disagree on every labelled dimension of a run; empty without answers.

    Raises:
        UsageError: an annotator answered an item twice.
    """
    annotated = open_annotated([str(folder)], None, _KINDS)
    asked, material = _asked(annotated.scheme), _of_run(annotated)
    _, words = annotated.groups_and_words(None)
    answers = check_schema(asked, material.raw, required=material.required).answers
    return _disagreements(asked, answers, material, words=words, groups=None, settings=None)


def _disagreements(
    asked: Scheme,
    answers: Sequence[Answer],
    material: _Material,
    *,
    words: Words,
    groups: Mapping[str, str] | None,
    settings: QcSettings | None,
) -> tuple[DisagreementReport, ...]:
    given = {answer.dimension for answer in answers}
    return tuple(
        disagreement_report(
            asked, dimension, answers, groups=groups, gold=material.gold.get(dimension.id),
            expert=_experts(material, dimension.id), words=words, settings=settings,
        )
        for dimension in asked.dimensions
        if dimension.measurement in ("nominal", "ordinal") and dimension.id in given
    )  # fmt: skip


def _asked(scheme: Scheme) -> Scheme:
    """Return the scheme with the dimensions that somebody is asked for."""
    asked = tuple(d for d in scheme.dimensions if d.derived is None)
    return scheme.model_copy(update={"dimensions": asked})


def _of_table(table: CheckedTable) -> _Material:
    gold: dict[str, dict[str, LabelValue]] = {}
    for answer in table.gold:
        gold.setdefault(answer.dimension, {})[answer.item] = answer.value
    notes = {dialogue.id: dialogue.notes for dialogue in table.table.dialogues}
    items = {answer.item: answer.dialogue for answer in (*table.table.answers, *table.table.gold)}
    return _Material(
        raw=table.raw,
        times=table.table.timings,
        required=table.required,
        roles=table.table.roles,
        gold=gold,
        notes={item: notes[dialogue] for item, dialogue in items.items()},
    )


def _of_run(annotated: Annotated) -> _Material:
    """Gather the answers of every study and of imported annotators, and what experts decided."""
    answers: list[Answer] = []
    if any(annotation.kind == HUMAN for annotation in annotated.annotations()):
        answers = selected(annotated.scheme, annotated.annotations(), PEOPLE)
    gold: dict[str, dict[str, LabelValue]] = {}
    for one in annotated.annotations():
        if one.kind == ADJUDICATED and one.value is not None:
            gold.setdefault(one.dimension, {})[subject_name(one.subject)] = one.value
    computed = {dimension.id for dimension in annotated.scheme.derived}
    raw = [answer for answer in answers if answer.dimension not in computed]
    return _Material(raw, (), None, {}, gold, {})


def _of_reviews(annotated: Annotated) -> _Material:
    """Gather the same with the time that answers took and with what experts noted."""
    times: list[Timing] = []
    notes: dict[str, str] = {}
    attention: list[AttentionAnswer] = []
    with ReviewStore.open(Path(annotated.sources[0])) as store:
        for study in store.studies.all():
            times += timings(store.sheets.sheets(study))
            attention += store.attention.given(study.id)
            items = {item.seq: item for item, _ in store.sheets.items(study)}
            for decided in store.sheets.adjudications(study).values():
                item = items[decided.item]
                for label in decided.labels:
                    notes[item_name(item, label.turn)] = decided.note
    found = _of_run(annotated)
    by_role = any(dimension.depends_on_role for dimension in annotated.scheme.dimensions)
    return replace(
        found,
        roles=annotated.groups("role") or {} if by_role and found.raw else {},
        times=times,
        notes=notes,
        attention=attention_scores(attention),
    )


def _experts(material: _Material, dimension: str) -> dict[str, ExpertLabel]:
    settled = material.gold.get(dimension, {})
    return {
        item: ExpertLabel(label, material.notes.get(item, "")) for item, label in settled.items()
    }


def _against(
    answers: Sequence[Answer], scheme: Scheme, released: Sequence[Path], map_name: str | None
) -> tuple[tuple[str, tuple[ReferenceRow, ...]], ...]:
    if not released:
        return ()
    if map_name is None:
        raise UsageError(
            "nothing says what the columns of the released files stand for",
            "--released-map NAME|MAP.yaml",
        )
    known = read_files(released, map_name)
    found = (
        (dimension.id, tuple(against_released(dimension, answers, known.answers)))
        for dimension in scheme.dimensions
    )
    rows = tuple((name, some) for name, some in found if some and some[0].items)
    if not rows:
        raise UsageError(
            "no released answer is by the same annotator on the same item",
            "items are joined by group and name, annotators by name",
        )
    return rows
