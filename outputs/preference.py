"""Preference pairs from what generation already paid for: votes, revisions and verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from outputs.actor_prompts import ActorMessages
from outputs.dataset.columns import (
    DECEPTIVE,
    PROVENANCE,
    REPLACED,
    TURN,
    LabelValues,
    Reading,
    Row,
    is_labelled,
    label_columns,
    left_out_notes,
    provenance,
    was_replaced,
)
from outputs.dataset.manifest import Column
from outputs.export_kind import ExportKind, ExportOptions, ExportTask
from outputs.formats.registry import FORMATS
from outputs.formats.shape import RowFormat
from outputs.selection import SelectedDialogue
from outputs.sft import is_truthful, require_truthful_goals
from prompts.tolerant_json import squash
from scenarios.dialogue import Draft, Turn
from scenarios.errors import UsageError
from scenarios.schemes.model import Scheme

_OWN = (
    Column("origin", "text", "What preferred the better answer: vote, revision or verdict."),
    Column("score_chosen", "float", "Vote: mean similarity to the other candidates; else null."),
    Column(
        "score_rejected",
        "float",
        "Vote: as score_chosen. Revision: share of labels the draft carries. Verdict: null.",
    ),
    Column("rejected_arm", "text", "The arm of the worse answer."),
)


@dataclass(frozen=True, slots=True)
class _Preference:
    """One answer that was preferred to another at one place of a dialogue."""

    turn: Turn
    chosen: Draft
    rejected: Draft
    origin: str
    number: str
    rejected_arm: str
    score_chosen: float | None = None
    score_rejected: float | None = None


@dataclass
class PreferenceRows:
    """A prompt with a better and a worse answer; never two that say the same."""

    scheme: Scheme
    actors: ActorMessages
    row_format: RowFormat
    include_deception: bool = False
    subset: str = field(default="preference", init=False)
    reading: Reading = field(
        default=Reading(
            traces=True, wanted=True, rationales=True, verdicts=("accepted", "discarded")
        ),
        init=False,
    )
    _left_out: Counter[str] = field(default_factory=Counter, init=False)

    def __post_init__(self) -> None:
        if not self.row_format.pair_columns:
            raise UsageError(f"the format {self.row_format.name!r} has no form for pairs")
        if not self.include_deception:
            require_truthful_goals(self.scheme)
        self._labels = label_columns(self.scheme)
        self._values = LabelValues(self.scheme)
        self._is_labelled = is_labelled(self.scheme)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The columns of every row."""
        return (*PROVENANCE, TURN, *_OWN, *self._labels, *self.row_format.pair_columns)

    def rows(self, batch: Sequence[SelectedDialogue]) -> Iterator[Row]:
        """Yield the pairs of each dialogue that was not discarded, and those between dialogues."""
        kept = [s for s in batch if self._may_be_learnt(s)]
        better = [s for s in kept if s.verdict != "discarded"]
        for selected in better:
            for turn in selected.dialogue.turns:
                if self._is_labelled(turn) and not self._was_replaced(selected, turn):
                    yield from self._made(selected, _within(turn, selected.dialogue.arm))
        worse = [s for s in kept if s.verdict == "discarded"]
        for selected in better:
            if selected.verdict == "accepted":
                for other in worse:
                    yield from self._made(selected, self._between(selected, other))

    def notes(self) -> tuple[str, ...]:
        """Say what was left out, and which prompts nobody was sent."""
        return left_out_notes(self._left_out + self.actors.counts)

    def _was_replaced(self, selected: SelectedDialogue, turn: Turn) -> bool:
        if not was_replaced(selected, turn):
            return False
        self._left_out[REPLACED] += 1
        return True

    def _may_be_learnt(self, selected: SelectedDialogue) -> bool:
        if self.include_deception or is_truthful(self.scheme, selected):
            return True
        self._left_out[DECEPTIVE] += 1
        return False

    def _between(self, better: SelectedDialogue, worse: SelectedDialogue) -> Iterator[_Preference]:
        """Yield the first answer in which two arms differ, if it is what one was discarded for.

        Up to there they have said the same, so both answers belong to the same prompt.
        """
        pairs = zip(better.dialogue.turns, worse.dialogue.turns, strict=False)
        place = next(((a, b) for a, b in pairs if a.text != b.text), None)
        if place is None or not all(map(self._is_labelled, place)):
            return
        good, bad = place
        flagged = {flag.turn for flag in worse.flags}
        if flagged and not flagged & {None, bad.index}:
            return
        if self._was_replaced(better, good):
            return
        arm = worse.dialogue.arm
        yield _Preference(good, _draft(good), _draft(bad), "verdict", arm, arm)

    def _made(
        self, selected: SelectedDialogue, preferences: Iterator[_Preference]
    ) -> Iterator[Row]:
        for found in preferences:
            if same_words(found.chosen.text, found.rejected.text):
                self._left_out["pairs left out whose two sides say the same"] += 1
                continue
            yield self._row(selected, found)

    def _row(self, selected: SelectedDialogue, found: _Preference) -> Row:
        case, arm = selected.key
        turn = found.turn
        asked = self.actors.before(selected, turn)
        return {
            "id": f"{case}/{arm}/{turn.index}/{found.origin}/{found.number}",
            **provenance(selected),
            "turn": turn.index,
            "origin": found.origin,
            "score_chosen": found.score_chosen,
            "score_rejected": found.score_rejected,
            "rejected_arm": found.rejected_arm,
            **self._values.of(selected, turn),
            **self.row_format.pair(
                asked,
                self.actors.answer(asked, selected, found.chosen.text, found.chosen.tactic),
                self.actors.answer(asked, selected, found.rejected.text, found.rejected.tactic),
            ),
        }


def same_words(one: str, other: str) -> bool:
    """Return whether two utterances differ in nothing but case, spaces and punctuation."""
    return squash(one) == squash(other)


def _within(turn: Turn, arm: str) -> Iterator[_Preference]:
    """Yield what the trace of one utterance tells: what lost a vote, what was revised."""
    trace = turn.trace
    if trace is None:
        return
    said = _draft(turn)
    if trace.candidates:
        yield from _voted(turn, said, arm)
    for number, attempt in enumerate(trace.attempts[: trace.chosen]):
        verdicts = [critique.carried for critique in attempt.critiques]
        if verdicts and not all(verdicts):
            share = sum(verdicts) / len(verdicts)
            yield _Preference(turn, said, attempt.draft, "revision", str(number), arm, None, share)


def _voted(turn: Turn, said: Draft, arm: str) -> Iterator[_Preference]:
    """Yield each distinct candidate with a lower score than the one that was said."""
    trace = turn.trace
    if trace is None:
        return
    winner = trace.candidates[trace.chosen]
    seen: set[str] = set()
    for candidate in trace.candidates:
        lost = candidate.draft
        if lost is None or candidate.score is None or winner.score is None:
            continue
        if candidate is winner or candidate.score >= winner.score or squash(lost.text) in seen:
            continue
        seen.add(squash(lost.text))
        yield _Preference(
            turn, said, lost, "vote", str(candidate.sample), arm, winner.score, candidate.score
        )


def _draft(turn: Turn) -> Draft:
    return Draft(turn.text, turn.declared_goal or "", turn.tactic)


def _rows(scheme: Scheme, options: ExportOptions) -> PreferenceRows:
    shape = FORMATS.get(options.format)
    return PreferenceRows(scheme, ActorMessages(scheme), shape, options.include_deception)


KIND = ExportKind(
    name="dpo",
    about="pairs of honest answers, the better one and the worse one",
    tasks=(
        ExportTask(
            _rows, options=frozenset({"format", "include_deception"}), trains_responder=True
        ),
    ),
    pairs=True,
    where_from="pairs come from the strategies consistency and reflective, or from verdicts",
)
