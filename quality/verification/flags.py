"""Derive flags from judgements: each kind of disagreement has a code and a reason."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from prompts.scheme_text import label_text
from quality.judges.comparison import expected
from scenarios.dialogue import Dialogue
from scenarios.schemes.model import Scheme
from scenarios.terms import LabelValue
from scenarios.verdicts import Flag, Judgement

GOAL = "goal"
"""Stands in codes for the dimension that is assigned, whatever a scheme calls it."""
UNREADABLE = "judge_unreadable"


def code_of(scheme: Scheme, judgement: Judgement) -> str:
    """Return the code of judges who find another label than is expected.

    That is ``self_veracity`` or ``external_coherence`` of an utterance, and ``goal_self`` or
    ``misled_external`` of a dialogue.
    """
    if judgement.turn is not None:
        return f"{judgement.source}_{judgement.dimension}"
    name = GOAL if judgement.dimension == scheme.assigned else judgement.dimension
    return f"{name}_{judgement.source}"


def judge_codes(scheme: Scheme) -> list[str]:
    """Return every code that judges of a scheme can lead to."""
    dimensions = [dimension.id for dimension in scheme.utterance_dimensions]
    readers = [dimension.id for dimension in scheme.read_dimensions("utterance")]
    goal = [GOAL] if scheme.assigned else []
    return [
        *(f"self_{dimension}" for dimension in dimensions),
        *(f"{name}_self" for name in goal),
        *(f"external_{dimension}" for dimension in [*dimensions, *readers]),
        *(f"{name}_external" for name in goal),
        *(f"{dimension.id}_external" for dimension in scheme.read_dimensions("dialogue")),
        UNREADABLE,
    ]


def judgement_flags(
    scheme: Scheme, dialogue: Dialogue, judgements: Sequence[Judgement]
) -> list[Flag]:
    """Return a flag for every disagreement and every answer that could not be read.

    External judges are a panel: at least half of them have to object. The severity of their flag
    is the share of votes against.
    """
    own = [judgement for judgement in judgements if judgement.source == "self"]
    panel = ballots(judgement for judgement in judgements if judgement.source == "external")
    return [
        *(_flagged(scheme, dialogue, (one,), None) for one in own if one.carried is False),
        *(
            _flagged(scheme, dialogue, ballot.against, share)
            for ballot in panel
            if (share := ballot.objection) is not None
        ),
        *_unreadable_flags(dialogue, judgements),
    ]


def _flagged(
    scheme: Scheme, dialogue: Dialogue, against: Sequence[Judgement], severity: float | None
) -> Flag:
    """Return the flag of judges who object to the same: what they expected to find, and found."""
    one = against[0]
    turn = next((t for t in dialogue.turns if t.index == one.turn), None)
    dimension = next((d for d in scheme.dimensions if d.id == one.dimension), None)
    if dimension is None:  # a judge of a plugin may ask what no scheme does
        what = one.dimension
    else:
        verb = "expected" if dimension.by == "reader" else "declared" if turn else "assigned"
        what = f"{verb} {_shown(expected(scheme, dialogue, turn, dimension))}"
    said = [_because(_found(vote), vote.reason) for vote in against]
    if severity is not None:
        said = [f"{vote.judge}: {words}" for vote, words in zip(against, said, strict=True)]
    reason = f"{what}, {said[0]}" if severity is None else f"{what} ({'; '.join(said)})"
    return _flag(dialogue, one.turn, code_of(scheme, one), reason, severity)


def _found(vote: Judgement) -> str:
    return "not carried" if vote.value is None else f"read as {label_text(vote.value)}"


def _unreadable_flags(dialogue: Dialogue, judgements: Iterable[Judgement]) -> Iterable[Flag]:
    """Yield one flag per judge and turn, however many dimensions the answer was about."""
    seen: set[tuple[object, ...]] = set()
    for j in judgements:
        key = (j.turn, j.source, j.judge)
        if j.readable or key in seen:
            continue
        seen.add(key)
        who = f"{j.source} {j.judge}"
        reason = _because(who, j.reason.removeprefix(f"{who}, "))
        yield _flag(dialogue, j.turn, UNREADABLE, reason)


def _flag(
    dialogue: Dialogue, turn: int | None, code: str, reason: str, severity: float | None = None
) -> Flag:
    return Flag(dialogue.case.id, dialogue.arm, turn, code, reason, severity)


def _because(statement: str, reason: str) -> str:
    return f"{statement}: {reason}" if reason else statement


def _shown(value: LabelValue | None) -> str:
    return "nothing" if value is None else label_text(value)


@dataclass(frozen=True, slots=True)
class Ballot:
    """All votes of a panel on one dimension of one turn, or of the dialogue."""

    turn: int | None
    dimension: str
    votes: tuple[Judgement, ...]
    """Unreadable ones too."""

    @property
    def readable(self) -> tuple[Judgement, ...]:
        """The votes that count."""
        return tuple(vote for vote in self.votes if vote.carried is not None)

    @property
    def against(self) -> tuple[Judgement, ...]:
        """Return the votes of those who find something else than is expected."""
        return tuple(vote for vote in self.readable if vote.carried is False)

    @property
    def objection(self) -> float | None:
        """Return the share of votes against if they are at least half, else None."""
        against = len(self.against)
        if not against or 2 * against < len(self.readable):
            return None
        return against / len(self.readable)


def ballots(judgements: Iterable[Judgement]) -> list[Ballot]:
    """Gather the votes on each question, in the order in which questions first occur."""
    votes: dict[tuple[int | None, str], list[Judgement]] = {}
    for judgement in judgements:
        votes.setdefault((judgement.turn, judgement.dimension), []).append(judgement)
    return [Ballot(turn, dimension, tuple(cast)) for (turn, dimension), cast in votes.items()]
