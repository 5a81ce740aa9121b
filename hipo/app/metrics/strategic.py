"""Strategic metrics of labelled answers, of other people's files or of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from hipo.app.metrics.annotated import Annotated, open_annotated
from hipo.app.runs.folders import names_run
from quality.agreement.selections import dialogue_name, subject_name
from quality.strategic.comparison import (
    LabelLikeness,
    LikenessInDialogue,
    likeness,
    likeness_by_dialogue,
)
from quality.strategic.discourses import AnswerLabel, Discourse, discourses
from quality.strategic.distributions import Distribution, distribution
from quality.strategic.formula import Formula, formula_from
from quality.strategic.grouped import GroupedAnswers, grouped_answers
from quality.strategic.histograms import Histogram, histograms
from quality.strategic.model_pairs import PairedDifference, paired_differences
from quality.strategic.moves import LABELLED, QUALIFIED
from quality.strategic.outcome_model import OutcomeModel, outcome_models
from quality.strategic.shared_reasons import SharedReasons, shared_reasons
from quality.tables.oddities import Oddity
from scenarios.annotations import DECLARED, HUMAN, Annotation
from scenarios.errors import UsageError
from scenarios.schemes.model import Scheme
from scenarios.text_file import typed_path

DEFAULT_MAP: Final = "cobra"
KINDS: Final = (HUMAN, DECLARED, "juror", "external", "self")
"""Whose labels of a run are read; the first of them that there is are the reference of the others."""
_BY: Final = "write --by trial,asked_by, for one"
_MOST_DIALOGUES: Final = 20
"""In which those who are compared are compared apart."""


@dataclass(frozen=True, slots=True)
class StrategicMetrics:
    """What annotators say about strategic answers, and what follows from it."""

    formula: Formula
    discourses: tuple[Discourse, ...]
    """One per dialogue and annotator, with the metrics of every answer."""
    distributions: tuple[Distribution, ...]
    """One per discourse, in the same order."""
    histograms: tuple[Histogram, ...]
    """Of benefit and penalty, one per metric and dialogue."""
    agreement: tuple[LabelLikeness, ...]
    """Of the reference annotators with each other; empty where they are fewer than two."""
    against: tuple[LabelLikeness, ...]
    """Of the reference annotators with the others; empty where there are none."""
    against_by_dialogue: tuple[LikenessInDialogue, ...]
    """The same in each of up to twenty dialogues; empty where there is one, or more."""
    pairs: tuple[PairedDifference, ...]
    """Of models in pairs, how much nearer to the reference annotators the first is; empty without."""
    outcome: tuple[OutcomeModel, ...]
    """Of the reference annotators."""
    reasons: SharedReasons | None
    """Of three reference annotators and more; None where no answer has so many."""
    oddities: tuple[Oddity, ...] = ()
    """What was odd in files, by row."""
    by: tuple[str, ...] = ()
    """One or two columns that answers are counted by."""
    answers_by: Mapping[tuple[str, ...], int] = field(default_factory=dict)
    """Answers by what the columns say of them."""
    grouped: GroupedAnswers = field(default_factory=GroupedAnswers)
    """Labels, benefit and penalty by what the columns say; empty where there are none."""


def strategic_metrics(
    sources: Sequence[str | Path],
    *,
    map_name: str | None = None,
    against: Sequence[str] = (),
    pairs: Sequence[tuple[str, str]] = (),
    by: Sequence[str] = (),
    parameters: Mapping[str, object] | None = None,
) -> StrategicMetrics:
    """Compute benefit, penalty and their course for every dialogue and annotator.

    Example::

        found = strategic_metrics(["WMT_D_annotations.csv"], parameters={"variant": "as_released"})
        print([answer.metrics.bat for answer in found.discourses[0].answers])

    Args:
        sources: tables of answers and their labels, or one run.
        map_name: what the columns of files stand for: a map that ships, or the path of one; None:
            ``cobra``.
        against: annotators, models say, that the others are compared with: names, or of a run
            ``KIND`` or ``KIND:WHO``. Empty: of a run, everybody but the people (or, without people,
            but the speaker); of files nobody.
        pairs: models of those that are compared, two and two: which of both is nearer to the others.
        by: one or two columns to count answers by, whoever labelled them: ``trial`` and who
            ``asked_by`` (Table 2 of the paper), ``group``, or of a run ``scenario``, say.
        parameters: ``variant``, ``weights`` and ``threshold``; each has a default.

    Raises:
        UsageError: a file, run, map or parameter is none, or nothing of this is labelled.
    """
    formula = formula_from(parameters or {})
    names = [str(source) for source in sources]
    is_of_run = any(map(names_run, names))
    annotated = open_annotated(names, map_name if is_of_run else map_name or DEFAULT_MAP, KINDS)
    read = annotated.annotations()
    of_files = annotated.table is not None
    annotations = tuple(read) if of_files else strategic_labels(annotated.scheme, read)
    found = metrics_of(annotations, formula, against, pairs)
    if not found.discourses:
        raise _nothing(annotated)
    oddities = () if annotated.table is None else annotated.table.oddities
    found = replace(found, oddities=oddities, by=tuple(by))
    if not by:
        return found
    groups = _groups(annotated, annotations, by)
    named = {
        place: ", ".join(name or "-" for name in names)
        for place, names in groups.items()
        if any(names)
    }
    return replace(
        found,
        answers_by=dict(sorted(Counter(groups.values()).items())),
        grouped=grouped_answers(found.discourses, named, formula.threshold),
    )


def _groups(
    annotated: Annotated, annotations: Iterable[Annotation], by: Sequence[str]
) -> dict[tuple[str, int], tuple[str, ...]]:
    """Return what one column or two say of each answer, by its dialogue and turn."""
    if len(by) > 2 or len(set(by)) < len(by):
        raise UsageError(f"--by {','.join(by)}: answers are counted by one column or two", _BY)
    columns = [annotated.groups(name) or {} for name in by]
    return {
        (dialogue_name(one.subject), one.subject.turn): tuple(
            column.get(subject_name(one.subject), "") for column in columns
        )
        for one in annotations
        if one.subject.turn is not None
    }


def strategic_labels(scheme: Scheme, annotations: Iterable[Annotation]) -> tuple[Annotation, ...]:
    """Return the annotations of a run that are labels of strategic answers, however named.

    Args:
        scheme: of the run. Where it computes no strategic metrics itself, its own dimensions may
            mean anything, whatever they are called: then jurors' labels alone count.
        annotations: all of the run.
    """
    functions = (d.derived.function for d in scheme.dimensions if d.derived is not None)
    is_own = any(name.startswith(QUALIFIED) for name in functions)
    return tuple(a for a in annotations if is_own or a.dimension.startswith(QUALIFIED))


def metrics_of(
    annotations: Sequence[Annotation],
    formula: Formula,
    against: Sequence[str] = (),
    pairs: Sequence[tuple[str, str]] = (),
) -> StrategicMetrics:
    """Compute the metrics of annotations, which need not hold any; see :func:`strategic_metrics`.

    Raises:
        UsageError: there is nobody of a name in ``against`` or ``pairs``, or a label is none of its
            dimension.
    """
    found = discourses(_labels(annotations), formula)
    reference, others = _sides(found, against)
    return StrategicMetrics(
        formula=formula,
        discourses=tuple(found),
        distributions=tuple(distribution(one, formula.threshold) for one in found),
        histograms=tuple(histograms(found)),
        agreement=tuple(_agreement(reference, formula.threshold)),
        against=tuple(likeness(reference, others, threshold=formula.threshold) if others else ()),
        against_by_dialogue=_by_dialogue(reference, others, formula.threshold),
        pairs=tuple(
            paired_differences(
                reference, others, _known_pairs(others, pairs), threshold=formula.threshold
            )
        ),
        outcome=tuple(outcome_models(reference)),
        reasons=shared_reasons(reference),
    )


def _labels(annotations: Sequence[Annotation]) -> Iterable[AnswerLabel]:
    """Yield labels of single turns; one who answered under two configurations is two annotators."""
    configs: dict[tuple[str, str], dict[str, None]] = {}
    for one in annotations:
        configs.setdefault((one.kind, one.who), {})[one.config] = None
    for one in annotations:
        about = one.subject
        if one.kind in KINDS and about.turn is not None and about.part is None:
            name = _name(one)
            if one.kind == HUMAN and len(configs[one.kind, one.who]) > 1:
                name = f"{name} ({one.config})"
            dialogue = dialogue_name(about)
            dimension = one.dimension.removeprefix(QUALIFIED)
            yield AnswerLabel(dialogue, about.turn, name, dimension, one.value)


def _name(annotation: Annotation) -> str:
    who = annotation.who
    return who if annotation.kind == HUMAN else f"{annotation.kind}:{who}"


def _nothing(annotated: Annotated) -> UsageError:
    hint = f"they need labels of {', '.join(LABELLED)}"
    if annotated.table is None:
        hint += (
            f"; let a model give them: hipo verify {typed_path(annotated.sources[0])} --juror MODEL"
        )
    return UsageError("no answer is labelled with what strategic metrics are computed from", hint)


def _sides(
    found: Sequence[Discourse], against: Sequence[str]
) -> tuple[list[Discourse], list[Discourse]]:
    """Return the discourses of the reference annotators, and those that are compared with them."""
    annotators = list(dict.fromkeys(discourse.annotator for discourse in found))
    chosen: list[str] = []
    for name in against:
        meant = [a for a in annotators if a == name or a.startswith(f"{name}:")]
        if not meant:
            raise UsageError(
                f"there is no annotator {name!r} to compare with",
                f"annotators: {', '.join(annotators)}",
            )
        chosen += meant
    if not found:
        return [], []
    if not against:
        first = next(k for k in KINDS if any(_kind_of(a) == k for a in annotators))
        chosen = [a for a in annotators if _kind_of(a) != first]
    if len(set(chosen)) == len(annotators):
        raise UsageError("everybody is compared with, nobody is left", "name fewer with --with")
    reference = [d for d in found if d.annotator not in chosen]
    return reference, [d for d in found if d.annotator in chosen]


def _known_pairs(
    others: Sequence[Discourse], pairs: Sequence[tuple[str, str]]
) -> list[tuple[str, str]]:
    """Return pairs by the names of annotators; a model may be named without its kind."""
    known = list(dict.fromkeys(one.annotator for one in others))

    def meant(name: str) -> str:
        found = [one for one in known if name in (one, one.partition(":")[2])]
        if len(found) != 1:
            raise UsageError(
                f"{name!r} is {'several' if found else 'none'} of those that are compared",
                f"they are: {', '.join(known)}"
                if known
                else "name the models of files with --with",
            )
        return found[0]

    return [(meant(first), meant(second)) for first, second in pairs]


def _kind_of(annotator: str) -> str:
    kind = annotator.partition(":")[0]
    return kind if kind in KINDS[1:] else HUMAN


def _by_dialogue(
    reference: Sequence[Discourse], others: Sequence[Discourse], threshold: int
) -> tuple[LikenessInDialogue, ...]:
    shared = {one.dialogue for one in reference} & {one.dialogue for one in others}
    if not 1 < len(shared) <= _MOST_DIALOGUES:
        return ()
    return tuple(likeness_by_dialogue(reference, others, threshold=threshold))


def _agreement(found: Sequence[Discourse], threshold: int) -> Sequence[LabelLikeness]:
    if len({discourse.annotator for discourse in found}) < 2:
        return ()
    return likeness(found, None, threshold=threshold)
