"""What of the runs a data set does not hold, and why: counts by reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Self

from outputs.selecting.selection import OpenSelection
from scenarios.plural import plural

NOT_SELECTED: Final = "not_selected"
IN_EARLIER_RUN: Final = "in_earlier_run"
ROWS_LEFT_OUT: Final = "rows_left_out"
DECEPTIVE: Final = "deceptive"
MISSED_GOAL: Final = "missed_goal"
UNLABELLED: Final = "unlabelled"
REPLACED_BY_EXPERTS: Final = "replaced_by_experts"
UNREASONED: Final = "unfit_reasons"
NO_QUESTION: Final = "no_question"
NO_LIE: Final = "no_lie"
LIES_LEFT_OUT: Final = "lies_left_out"
NO_INTENTION: Final = "no_intention"
PAIRS_LEFT_OUT: Final = "pairs_left_out"
WORSE_SIDE: Final = "worse_side"
OTHER_PAIRS: Final = "pairs_of_other_kinds"
NOTHING_WANTED: Final = "nothing_wanted"
SAME_STANDING: Final = "same_standing"
DRAFT_KEPT: Final = "draft_not_revised"
SAME_ANSWERS: Final = "same_answers"
ONE_ANSWER: Final = "one_answer"
NO_ROW: Final = "no_row"
UNDECIDED: Final = "undecided"
NO_REASON: Final = "no_reason"
TELLING_REASON: Final = "telling_reason"
INCOMPLETE: Final = "incomplete"
WORDS: Final[Mapping[str, str]] = {
    NOT_SELECTED: "not asked for (scenarios, goals, strategies, arms, languages, newest)",
    "pending": "pending: people have to decide",
    "discarded": "discarded",
    UNDECIDED: "not verified",
    IN_EARLIER_RUN: "of a case and arm that an earlier run of the set has",
    ROWS_LEFT_OUT: "all of whose rows were left out",
    DECEPTIVE: "that are deceptive: nobody is taught from those without leave",
    MISSED_GOAL: "in which an expert found another goal than the assigned one",
    UNLABELLED: "without an utterance that has the labels of a row",
    REPLACED_BY_EXPERTS: "whose labels an expert replaced",
    UNREASONED: "whose rationales are missing or may give the fact away",
    NO_QUESTION: "in which nobody but the labelled role says anything of their own",
    NO_LIE: "without a lie",
    LIES_LEFT_OUT: "whose lies give no items, or were there already",
    NO_INTENTION: "without an intention that is agreed on",
    PAIRS_LEFT_OUT: "all of whose pairs were left out",
    WORSE_SIDE: "to whose answers those of another dialogue are preferred",
    OTHER_PAIRS: "whose pairs are of kinds that were not asked for (--pairs)",
    NOTHING_WANTED: "in which no labels were wanted, and nothing else prefers an answer",
    SAME_STANDING: "whose answers stand alike for judges, wanted labels and verdicts",
    DRAFT_KEPT: "whose drafts were not revised, so that there is no second answer",
    SAME_ANSWERS: "in which another strategy said the same",
    ONE_ANSWER: "with one answer alone to each prompt",
    NO_ROW: "of which no row of this kind can be made",
}
"""Reasons for dialogues, in the order in which they are told."""
_WAYS: Final[Mapping[str, str]] = {
    "pending": "hipo review serve RUN, or --any takes them",
    "discarded": "--any takes them",
    UNDECIDED: "hipo verify RUN, or --any takes them",
    DECEPTIVE: "--include-deception takes them",
}
"""What brings them in, for whoever made the set."""
_ROWS: Final[Mapping[str, str]] = {
    NO_REASON: "without a reason for what they answer (--rationale)",
    TELLING_REASON: "whose reasons may give the fact away (--rationale)",
    INCOMPLETE: "of somebody who did not give all labels",
    "duplicate": "the same as another row",
    "overlap": "overlap with another set",
    "balance": "of labels or tags that are commoner than the rarest (--balance)",
}


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What of the generated dialogues did not come into a set, and which rows did not."""

    generated: int = 0
    """Dialogues that the runs hold, failed cases not counted."""
    taken: int = 0
    """Those that rows were made of."""
    dialogues: Mapping[str, int] = field(default_factory=dict)
    """By reason; with ``taken`` they add up to ``generated``."""
    rows: Mapping[str, int] = field(default_factory=dict)
    """Rows that could have been made, by reason."""

    def sentences(self, *, ways: bool = False) -> Iterator[str]:
        """Yield one line for what was taken, and one for each reason.

        Args:
            ways: whether commands are named that bring left out dialogues in.
        """
        share = f" ({self.taken / self.generated:.0%})" if self.generated else ""
        yield f"{self.taken:,} of {plural(self.generated, 'dialogue')}{share} {'is' if self.taken == 1 else 'are'} in the set"
        for reason in self.reasons(ways=ways):
            yield f"left out: {reason}"

    def reasons(self, *, ways: bool = False) -> Iterator[str]:
        """Yield what was left out for each reason; see :meth:`sentences`."""
        for reason, n in self.dialogues.items():
            way = f" ({_WAYS[reason]})" if ways and reason in _WAYS else ""
            yield f"{plural(n, 'dialogue')} {WORDS.get(reason, reason)}{way}"
        for reason, n in self.rows.items():
            yield f"{plural(n, 'row')} {_ROWS.get(reason, reason)}"

    def plain(self) -> dict[str, object]:
        """Return it as plain data."""
        return {
            "generated": self.generated,
            "taken": self.taken,
            "dialogues": dict(self.dialogues),
            "rows": dict(self.rows),
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """Return what :meth:`plain` was made from.

        Raises:
            KeyError, TypeError, ValueError: it was made from something else.
        """
        counts = [
            {str(k): int(n) for k, n in plain[name].items()} for name in ("dialogues", "rows")
        ]
        return cls(int(plain["generated"]), int(plain["taken"]), *counts)


def left_out(
    found: OpenSelection, taken: int, rows: Mapping[str, int], without_row: Mapping[str, int]
) -> LeftOut:
    """Count what an export of these runs left out.

    Args:
        found: the runs; its dialogues have been gone through.
        taken: dialogues that rows were made of.
        rows: rows that were left out, by reason.
        without_row: selected dialogues that gave no row, by reason.
    """
    verdicts: Counter[str] = Counter()
    for run in found.runs:
        kept = found.corpus_filter(run)
        if kept is not None:
            counts = run.corpus.verdict_counts(replace(kept, verdicts=None))
            verdicts.update({verdict or UNDECIDED: n for verdict, n in counts.items()})
    generated = sum(t.n for run in found.runs for t in run.corpus.tallies())
    accepted_alone = found.selection.verdict == "accepted"
    reasons = {NOT_SELECTED: generated - verdicts.total()}
    if accepted_alone:
        reasons |= {name: verdicts[name] for name in ("pending", "discarded", UNDECIDED)}
    reasons[IN_EARLIER_RUN] = found.duplicates.total()
    reasons |= _in_order(without_row, WORDS)
    return LeftOut(
        generated,
        taken,
        {reason: n for reason, n in reasons.items() if n > 0},
        {reason: n for reason, n in _in_order(rows, _ROWS).items() if n},
    )


def _in_order(counts: Mapping[str, int], words: Mapping[str, str]) -> dict[str, int]:
    """Return the counts in the order of the words, then those of other reasons by name."""
    known = [reason for reason in words if reason in counts]
    others = sorted(counts.keys() - words.keys())
    return {reason: counts[reason] for reason in (*known, *others)}
