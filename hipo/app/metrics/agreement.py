"""How far annotators agree: of files or of a run, within one selection or between two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from hipo.app.metrics.annotated import Annotated, open_annotated
from quality.agreement.agreement import AgreementRow, agreement_table
from quality.agreement.annotations import Answer, by_group
from quality.agreement.comparisons import ReaderComparison, compared
from quality.agreement.labels import LabelAgreement, label_agreement_table
from quality.agreement.selections import AnnotationSelection, read_selection, selected
from quality.disagreement.difficulty import DifficultyRow, difficulty_table
from quality.statistics.bootstrap import Resampling
from quality.tables.measured import Numbers
from scenarios.annotations import HUMAN
from scenarios.errors import UsageError
from scenarios.plural import plural
from scenarios.schemes.model import Scheme


@dataclass(frozen=True, slots=True)
class GroupAgreement:
    """How far the annotators of one selection agree on the items of one group."""

    group: str
    """Empty: everything together."""
    items: int
    annotators: tuple[str, ...]
    rows: tuple[AgreementRow, ...]
    labels: tuple[LabelAgreement, ...]
    """How far they agree on each label."""
    difficulty: tuple[tuple[str, DifficultyRow], ...]
    """By dimension with labels: how many items are unanimous, decided by majority, or split."""

    @property
    def in_dialogues(self) -> bool:
        """Whether any dialogue has several items: intervals draw dialogues, which else are items."""
        return any(row.dialogues < row.items for row in self.rows)


@dataclass(frozen=True, slots=True)
class SelectionComparison:
    """Every reader of one selection beside every one of another, in one group."""

    group: str
    pairs: tuple[ReaderComparison, ...]


@dataclass(frozen=True, slots=True)
class AgreementReport:
    """What ``hipo agreement`` finds."""

    annotated: Annotated
    of: AnnotationSelection
    other: AnnotationSelection | None
    groups: tuple[GroupAgreement, ...]
    """Of the first selection; empty where there are two."""
    pairs: tuple[SelectionComparison, ...]


def agreement(
    sources: Sequence[str],
    *,
    map_name: str | None = None,
    numbers: Numbers | None = None,
    of: str = HUMAN,
    other: str | None = None,
    by: str | None = None,
    pairs: bool = False,
    how: Resampling | None = None,
) -> AgreementReport:
    """Compare what annotators said with each other, or one selection of them with another.

    Args:
        sources: files, or one run.
        map_name: what the columns of files stand for; None: their header says it.
        numbers: as what numbers count in files without a map; None: by a rule.
        of: ``KIND`` or ``KIND:WHO``: whose answers; ``majority`` as WHO is what most of a kind say.
        other: the reference they are compared with; None: with each other.
        by: what to group by; None: files by their groups, a run not at all; every other column is
            given beside all items together.
        pairs: whether every two annotators are also compared alone.
        how: how intervals are bootstrapped; 2,000 times from seed 42 if None.

    Raises:
        UsageError: there is no such file, map, run, annotator or column, no item has two answers, or
            a package is missing.
    """
    mine, theirs = read_selection(of), None if other is None else read_selection(other)
    if mine == theirs:
        raise UsageError(
            f"{of} is compared with itself, which says nothing",
            "leave --with out: annotators of one selection are compared with each other",
        )
    kinds = sorted({mine.kind} | ({theirs.kind} if theirs else set()))
    annotated = open_annotated(sources, map_name, kinds, numbers)
    there = {count.kind for count in annotated.counts}
    if annotated.table is None and (lacking := [kind for kind in kinds if kind not in there]):
        raise _nothing(annotated, lacking)
    scheme = annotated.scheme
    answers = selected(scheme, annotated.annotations(), mine)
    if theirs is None:
        _check_shared(annotated, answers, mine)
    against = None if theirs is None else selected(scheme, annotated.annotations(), theirs)
    groups = annotated.groups(by)
    return AgreementReport(
        annotated,
        mine,
        theirs,
        () if theirs else _agreements(scheme, answers, groups, how),
        tuple(_comparisons(scheme, answers, against, groups, how)) if theirs or pairs else (),
    )


def _nothing(annotated: Annotated, kinds: Sequence[str]) -> UsageError:
    labels: Counter[str] = Counter()
    for count in annotated.counts:
        labels[f"{count.kind}:{count.who}"] += count.labels
    given = ", ".join(f"{name} ({plural(number, 'label')})" for name, number in labels.items())
    return UsageError(
        f"{annotated.sources[0]} holds no annotation of kind {' or '.join(kinds)}",
        f"there are: {given}; choose with --of KIND[:WHO]" if given else "nothing is labelled",
    )


def _check_shared(annotated: Annotated, answers: Sequence[Answer], of: AnnotationSelection) -> None:
    """Raise where nobody labelled what somebody else did: every figure would be undefined."""
    first: dict[tuple[str, str], str] = {}
    for answer in answers:
        if first.setdefault((answer.item, answer.dimension), answer.annotator) != answer.annotator:
            return
    annotators = sorted({answer.annotator for answer in answers})
    if len(annotators) > 1:
        told = f"no item has answers of two annotators: {', '.join(annotators)} share none"
    else:
        told = f"{annotators[0] if annotators else of} is alone: agreement takes two annotators"
    others = dict.fromkeys(
        f"{count.kind}:{count.who}"
        for count in annotated.counts
        if count.kind != of.kind or of.who not in ("", count.who)
    )
    hint = "give the answers of others, too"
    if others:
        hint = f"compare with others by --with KIND[:WHO]; there are: {', '.join(others)}"
    elif annotated.table is not None:
        hint += ", or see whether the columns are what the table is read by (--map)"
    raise UsageError(f"{annotated.sources[0]}: {told}", hint)


def _comparisons(
    scheme: Scheme,
    answers: Sequence[Answer],
    against: Sequence[Answer] | None,
    groups: Mapping[str, str] | None,
    how: Resampling | None,
) -> Iterator[SelectionComparison]:
    others = dict(by_group(against or (), groups))
    for name, mine in by_group(answers, groups):
        reference = None if against is None else others[name]
        pairs = compared(scheme.dimensions, mine, reference, how=how)
        yield SelectionComparison(name, tuple(pairs))


def _agreements(
    scheme: Scheme,
    answers: Sequence[Answer],
    groups: Mapping[str, str] | None,
    how: Resampling | None,
) -> tuple[GroupAgreement, ...]:
    rows = agreement_table(scheme, answers, groups=groups, how=how)
    labels = label_agreement_table(scheme, answers, groups=groups, how=how)
    return tuple(
        GroupAgreement(
            group=name,
            items=len({answer.item for answer in mine}),
            annotators=tuple(sorted({answer.annotator for answer in mine})),
            rows=tuple(row for row in rows if row.group == name),
            labels=tuple(row for row in labels if row.group == name),
            difficulty=tuple(
                (d.id, difficulty_table(d, mine)[0])
                for d in scheme.dimensions
                if d.measurement != "interval" and any(a.dimension == d.id for a in mine)
            ),
        )
        for name, mine in by_group(answers, groups)
    )
