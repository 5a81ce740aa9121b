"""Derive flags from judgements: each kind of disagreement has a code and a reason."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from prompts.judges import COHERENCE, MISLED
from prompts.scheme_text import label_text
from scenarios.dialogue import Dialogue
from scenarios.schemes.misleading import misleading_goals
from scenarios.schemes.model import LabelValue, Scheme
from scenarios.verdicts import Flag, Judgement

GOAL_SELF = "goal_self"
MISLED_EXTERNAL = "misled_external"
UNREADABLE = "judge_unreadable"


def self_code(dimension: str) -> str:
    """Return the code of a self-judgement that found another label."""
    return f"self_{dimension}"


def external_code(dimension: str) -> str:
    """Return the code of external judges who find a label not carried, or no coherence."""
    return f"external_{dimension}"


def judge_codes(scheme: Scheme) -> list[str]:
    """Return every code that judges of a scheme can lead to."""
    dimensions = [dimension.id for dimension in scheme.utterance_dimensions]
    return [
        *map(self_code, dimensions),
        GOAL_SELF,
        *map(external_code, [*dimensions, COHERENCE]),
        MISLED_EXTERNAL,
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
        *_self_flags(scheme, dialogue, own),
        *_panel_flags(scheme, dialogue, panel),
        *_unreadable_flags(dialogue, judgements),
    ]


def _self_flags(
    scheme: Scheme, dialogue: Dialogue, judgements: Iterable[Judgement]
) -> Iterable[Flag]:
    declared = {
        (turn.index, label.dimension): label.value
        for turn in dialogue.turns
        for label in turn.tactic
    }
    for judgement in judgements:
        if judgement.carried is not False or judgement.value is None:
            continue
        found = label_text(judgement.value)
        if judgement.turn is None:
            reason = f"assigned {dialogue.case.goal}, read as {found}"
            yield _flag(dialogue, None, GOAL_SELF, _because(reason, judgement.reason))
            continue
        said = _shown(declared.get((judgement.turn, judgement.dimension)))
        reason = _because(f"declared {said}, read as {found}", judgement.reason)
        yield _flag(dialogue, judgement.turn, self_code(judgement.dimension), reason)


def _panel_flags(scheme: Scheme, dialogue: Dialogue, panel: Iterable[Ballot]) -> Iterable[Flag]:
    misleading = misleading_goals(scheme)
    for ballot in panel:
        expected = True
        code = external_code(ballot.dimension)
        if ballot.turn is None and ballot.dimension == MISLED:
            if misleading is None or not dialogue.case.goal:
                continue
            expected = dialogue.case.goal in misleading
            code = MISLED_EXTERNAL
        share = ballot.objection(expected)
        if share is not None:
            reason = "; ".join(
                _because(vote.judge, vote.reason) for vote in ballot.against(expected)
            )
            yield _flag(dialogue, ballot.turn, code, _stated(ballot, expected, reason), share)


def _stated(ballot: Ballot, expected: bool, reason: str) -> str:
    """Say what was objected to, before who did and why."""
    if ballot.dimension == MISLED and ballot.turn is None:
        what = "the hearer is not misled" if expected else "the hearer is misled"
    elif ballot.dimension == COHERENCE:
        what = "does not go with the conversation"
    else:
        what = f"declared {_shown(ballot.votes[0].value)}, not carried"
    return f"{what} ({reason})"


def _unreadable_flags(dialogue: Dialogue, judgements: Iterable[Judgement]) -> Iterable[Flag]:
    """Yield one flag per judge and turn, however many dimensions the answer was about."""
    seen: set[tuple[object, ...]] = set()
    for j in judgements:
        key = (j.turn, j.source, j.judge)
        if not is_unreadable(j) or key in seen:
            continue
        seen.add(key)
        yield _flag(dialogue, j.turn, UNREADABLE, _because(f"{j.source} {j.judge}", j.reason))


def is_unreadable(judgement: Judgement) -> bool:
    """Whether a judgement is missing because the judge's answer could not be read."""
    if judgement.carried is not None:
        return False
    return judgement.source == "external" or judgement.value is None


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
    def carried(self) -> bool | None:
        """What more than half of the readable votes say; a tie says no. None: nobody voted."""
        if not self.readable:
            return None
        return 2 * sum(vote.carried is True for vote in self.readable) > len(self.readable)

    def against(self, expected: bool) -> tuple[Judgement, ...]:
        """Return the votes that say otherwise."""
        return tuple(vote for vote in self.readable if vote.carried is not expected)

    def objection(self, expected: bool) -> float | None:
        """Return the share of votes against ``expected`` if they are at least half, else None."""
        against = len(self.against(expected))
        if not against or 2 * against < len(self.readable):
            return None
        return against / len(self.readable)


def ballots(judgements: Iterable[Judgement]) -> list[Ballot]:
    """Gather the votes on each question, in the order in which questions first occur."""
    votes: dict[tuple[int | None, str], list[Judgement]] = {}
    for judgement in judgements:
        votes.setdefault((judgement.turn, judgement.dimension), []).append(judgement)
    return [Ballot(turn, dimension, tuple(cast)) for (turn, dimension), cast in votes.items()]
