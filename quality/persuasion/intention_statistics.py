"""What a corpus of persuasion holds, by speaker and face act, and how far annotators agree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from quality.agreement.annotations import Answer
from quality.agreement.coefficients import krippendorff_alpha
from quality.agreement.ratings import ratings
from quality.persuasion.intention_figures import BOTH
from quality.persuasion.runs_of_turns import SpokenTurn, runs_of_turns
from quality.persuasion.spoken_dialogues import FACE_ACT, INTENTION
from scenarios.schemes.model import Dimension, Scheme


@dataclass(frozen=True, slots=True)
class FaceActRow:
    """What one role does with one face act; either may be all."""

    role: str
    face_act: str
    turns: int
    labelled: int
    """Turns that have an intention."""
    runs: int
    """What is left of these where turns in a row with one intention are one."""
    alpha: float | None = None
    """Krippendorff's alpha of the intentions that annotators gave; None where it is undefined."""


@dataclass(frozen=True, slots=True)
class IntentionStatistics:
    """What a corpus holds.

    Source: Evaluating Intention Understanding in Persuasive Dialogues, table 3.
    """

    dialogues: int
    turns_per_dialogue: float | None
    words_per_turn: float | None
    """Words are what stands between spaces; both are None where nothing was said."""
    annotators: int
    """Who gave intentions."""
    rows: tuple[FaceActRow, ...]
    """By face act in the order of the scheme, then role, with totals; none for what nobody did."""
    mean_alpha: float | None
    """Over the rows of one role and one face act each.

    Source: Evaluating Intention Understanding in Persuasive Dialogues, appendix C.
    """


def intention_statistics(
    scheme: Scheme,
    dialogues: Mapping[str, Sequence[SpokenTurn]],
    answers: Iterable[Answer] = (),
) -> IntentionStatistics:
    """Count turns, labels and runs, and compute agreement.

    Args:
        scheme: with the dimensions ``face_act`` and ``intention``.
        dialogues: with the labels that are agreed on.
        answers: of the annotators, one by one; the face act of an item is the agreed one.
    """
    intention = scheme.dimension(INTENTION)
    given = [answer for answer in answers if answer.dimension == INTENTION]
    turns = [turn for spoken in dialogues.values() for turn in spoken]
    place_of = {
        f"{name}#{turn.index}": (turn.role, turn.face_act or "")
        for name, spoken in dialogues.items()
        for turn in spoken
    }
    roles = (*dict.fromkeys((*intention.of, *(turn.role for turn in turns))),)
    rows = [
        _row(role, face_act, dialogues, intention, _of(given, place_of, role, face_act))
        for face_act in (*scheme.dimension(FACE_ACT).values, BOTH)
        for role in (*roles, BOTH)
    ]
    single = [row.alpha for row in rows if row.role and row.face_act and row.alpha is not None]
    return IntentionStatistics(
        dialogues=len(dialogues),
        turns_per_dialogue=len(turns) / len(dialogues) if turns else None,
        words_per_turn=words_per_text(turn.text for turn in turns),
        annotators=len({answer.annotator for answer in given}),
        rows=tuple(row for row in rows if row.turns),
        mean_alpha=fmean(single) if single else None,
    )


def words_per_text(texts: Iterable[str]) -> float | None:
    """Return the mean number of words; None without texts."""
    counts = [len(text.split()) for text in texts]
    return fmean(counts) if counts else None


def _of(
    answers: Iterable[Answer], place_of: Mapping[str, tuple[str, str]], role: str, face_act: str
) -> Iterator[Answer]:
    for answer in answers:
        own_role, own_act = place_of.get(answer.item, ("?", "?"))
        if role in (BOTH, own_role) and face_act in (BOTH, own_act):
            yield answer


def _row(
    role: str,
    face_act: str,
    dialogues: Mapping[str, Sequence[SpokenTurn]],
    intention: Dimension,
    answers: Iterator[Answer],
) -> FaceActRow:
    def mine(own_role: str, own_act: str | None) -> bool:
        return role in (BOTH, own_role) and face_act in (BOTH, own_act)

    turns = [t for spoken in dialogues.values() for t in spoken if mine(t.role, t.face_act)]
    runs = [
        run
        for spoken in dialogues.values()
        for run in runs_of_turns(spoken)
        if mine(run.role, run.face_act)
    ]
    return FaceActRow(
        role=role,
        face_act=face_act,
        turns=len(turns),
        labelled=sum(turn.intention is not None for turn in turns),
        runs=len(runs),
        alpha=krippendorff_alpha(ratings(intention, answers)),
    )
