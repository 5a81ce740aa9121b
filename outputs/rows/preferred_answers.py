"""Which of two answers to the same prompt is better, and what says so: the kinds of preferences."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

from outputs.kinds.origins import ORIGINS, Origin
from outputs.selecting.selection import SelectedDialogue
from prompts.tolerant_json import squash
from scenarios.dialogue import Draft, Turn, Wanted
from scenarios.verdicts import Judgement

_HALF = 0.5


@dataclass(frozen=True, slots=True)
class PreferredAnswer:
    """One answer that was preferred to another at one place of a dialogue."""

    selected: SelectedDialogue
    """The dialogue of the better answer."""
    turn: Turn
    """The place: what was said there in the dialogue of the better answer."""
    chosen: Draft
    rejected: Draft
    origin: Origin
    number: str
    """Tells pairs of one origin and place apart."""
    rejected_arm: str
    score_chosen: float | None = None
    score_rejected: float | None = None

    @property
    def margin(self) -> float | None:
        """By how much the better answer is better; None where the kind has no scores."""
        if self.score_chosen is None or self.score_rejected is None:
            return None
        return self.score_chosen - self.score_rejected

    @property
    def same_labels(self) -> bool:
        """Whether both sides declare the same labels."""
        return _declared(self.chosen) == _declared(self.rejected)


def same_words(one: str, other: str) -> bool:
    """Return whether two utterances differ in nothing but case, spaces and punctuation."""
    return squash(one) == squash(other)


def preferred_answers(
    batch: Sequence[SelectedDialogue], judgements: Mapping[tuple[str, str], Sequence[Judgement]]
) -> Iterator[PreferredAnswer]:
    """Yield what any kind prefers in the dialogues of one case, the same pair perhaps repeatedly.

    Args:
        batch: the dialogues, one per arm, with traces, wanted labels and verdicts.
        judgements: by (case, arm).
    """
    better = [selected for selected in batch if selected.verdict != "discarded"]
    for selected in better:
        for turn in selected.dialogue.turns:
            yield from _within(selected, turn)
    for one, other in permutations(batch, 2):
        place = parting(one, other)
        if place is None:
            continue
        good, bad = place
        read = [_judged(judgements.get(s.key, ()), t) for s, t in ((one, good), (other, bad))]
        yield from _carried(one, other, place, read)
        yield from _hits(one, other, place, judgements)
        yield from _accepted(one, other, place)


def without_contradictions(
    found: Sequence[PreferredAnswer], left_out: Counter[str]
) -> Iterator[PreferredAnswer]:
    """Yield each pair of answers to one prompt once, and none that is preferred both ways.

    What was discarded is never the better answer, though it may be what speaks against a pair.

    Args:
        found: the preferences of one case.
        left_out: is told what was left out.
    """
    ranked = sorted(found, key=lambda one: ORIGINS.index(one.origin))
    sides: defaultdict[tuple[object, ...], list[PreferredAnswer]] = defaultdict(list)
    for one in ranked:
        asked = one.selected.dialogue.history(one.turn.index)
        words = frozenset((squash(one.chosen.text), squash(one.rejected.text)))
        sides[one.turn.index, asked, words].append(one)
    for same in sides.values():
        if len({squash(one.chosen.text) for one in same}) > 1:
            left_out["pairs left out that two kinds of preferences order differently"] += 1
        else:
            first = same[0]
            if first.selected.verdict == "discarded":
                continue
            if len(same) > 1:
                left_out["pairs left out that are there already"] += len(same) - 1
            yield first


def _within(selected: SelectedDialogue, turn: Turn) -> Iterator[PreferredAnswer]:
    """Yield what the trace of one utterance tells: votes, revisions, and wanted labels missed."""
    trace, arm = turn.trace, selected.dialogue.arm
    if trace is None:
        return
    said = _draft(turn)
    yield from _voted(selected, turn, said)
    checked = [[critique.carried for critique in one.critiques] for one in trace.attempts]
    # what is said at the end may have been found at fault, too: no better than the draft then
    fair = trace.chosen < len(checked) and all(checked[trace.chosen])
    for number, attempt in enumerate(trace.attempts[: trace.chosen]):
        verdicts = checked[number]
        if fair and not all(verdicts):
            share = sum(verdicts) / len(verdicts)
            yield PreferredAnswer(
                selected, turn, said, attempt.draft, "revision", str(number), arm, None, share
            )
    drafts = [(str(c.sample), c.draft) for c in trace.candidates if c.draft is not None]
    hit = _share(turn.wanted, _declared(said))
    seen: set[str] = set()
    for sample, lost in drafts:
        missed = _share(turn.wanted, _declared(lost))
        if hit == 1 and missed is not None and missed < 1 and squash(lost.text) not in seen:
            seen.add(squash(lost.text))
            yield PreferredAnswer(selected, turn, said, lost, "wanted", sample, arm, 1.0, missed)


def _voted(selected: SelectedDialogue, turn: Turn, said: Draft) -> Iterator[PreferredAnswer]:
    """Yield each distinct candidate with a lower score than the one that was said."""
    trace = turn.trace
    if trace is None or not trace.candidates:
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
        yield PreferredAnswer(
            selected, turn, said, lost, "vote", str(candidate.sample), selected.dialogue.arm,
            winner.score, candidate.score,
        )  # fmt: skip


def parting(one: SelectedDialogue, other: SelectedDialogue) -> tuple[Turn, Turn] | None:
    """Return the first answers in which two dialogues of a case differ; None: not in answers.

    Up to there they have said the same, so both answers belong to the same prompt.
    """
    pairs = zip(one.dialogue.turns, other.dialogue.turns, strict=False)
    place = next(((a, b) for a, b in pairs if a.text != b.text), None)
    if place is None or not all(turn.is_answer and turn.tactic for turn in place):
        return None
    dimensions = [{label.dimension for label in turn.tactic} for turn in place]
    return place if dimensions[0] == dimensions[1] else None


def _carried(
    one: SelectedDialogue,
    other: SelectedDialogue,
    place: tuple[Turn, Turn],
    read: Sequence[Mapping[str, float]],
) -> Iterator[PreferredAnswer]:
    """Yield the answers where judges find all that one declares, and not all that the other does."""
    good, bad = read
    if not good or not bad or min(good.values()) <= _HALF or min(bad.values()) > _HALF:
        return
    shares = [sum(of.values()) / len(of) for of in read]
    if shares[0] > shares[1]:
        yield _between(one, other, place, "judges", (shares[0], shares[1]))


def _hits(
    one: SelectedDialogue,
    other: SelectedDialogue,
    place: tuple[Turn, Turn],
    judgements: Mapping[tuple[str, str], Sequence[Judgement]],
) -> Iterator[PreferredAnswer]:
    """Yield the answers where one has the wanted labels and the other lacks some.

    Judges who named labels say what an answer has; where nobody did of both, its speaker does.
    """
    wanted = place[0].wanted
    named = [
        _named(judgements.get(selected.key, ()), turn)
        for selected, turn in zip((one, other), place, strict=True)
    ]
    if not all(all(dimension in of for dimension, _ in wanted) for of in named):
        named = [_declared(_draft(turn)) for turn in place]
    hit, missed = (_share(wanted, of) for of in named)
    if wanted == place[1].wanted and hit == 1 and missed is not None and missed < 1:
        yield _between(one, other, place, "wanted", (1.0, missed))


def _accepted(
    one: SelectedDialogue, other: SelectedDialogue, place: tuple[Turn, Turn]
) -> Iterator[PreferredAnswer]:
    """Yield the answers where one dialogue was accepted, and the other discarded for its answer."""
    if (one.verdict, other.verdict) != ("accepted", "discarded"):
        return
    flagged = {flag.turn for flag in other.flags}
    if not flagged or flagged & {None, place[1].index}:
        yield _between(one, other, place, "verdict", None)


def _between(
    one: SelectedDialogue,
    other: SelectedDialogue,
    place: tuple[Turn, Turn],
    origin: Origin,
    scores: tuple[float, float] | None,
) -> PreferredAnswer:
    arm = other.dialogue.arm
    good, bad = map(_draft, place)
    return PreferredAnswer(one, place[0], good, bad, origin, arm, arm, *(scores or (None, None)))


def _judged(judgements: Sequence[Judgement], turn: Turn) -> dict[str, float]:
    """Return by declared dimension the share of external judges that find the label."""
    found: defaultdict[str, list[bool]] = defaultdict(list)
    declared = {label.dimension for label in turn.tactic}
    for one in judgements:
        here = one.source == "external" and one.turn == turn.index and one.dimension in declared
        if here and one.carried is not None:
            found[one.dimension].append(one.carried)
    return {dimension: sum(votes) / len(votes) for dimension, votes in found.items()}


def _named(judgements: Sequence[Judgement], turn: Turn) -> dict[str, object]:
    """Return by dimension the label that most external judges name; ties name none."""
    found: defaultdict[str, Counter[object]] = defaultdict(Counter)
    for one in judgements:
        if one.source == "external" and one.turn == turn.index and one.value is not None:
            found[one.dimension][one.value] += 1
    most = {dimension: votes.most_common(2) for dimension, votes in found.items()}
    return {d: top[0][0] for d, top in most.items() if len(top) == 1 or top[0][1] > top[1][1]}


def _share(wanted: Wanted, has: Mapping[str, object]) -> float | None:
    """Return the share of wanted labels that an answer has; None where nothing was wanted."""
    if not wanted:
        return None
    return sum(has.get(dimension) == label for dimension, label in wanted) / len(wanted)


def _declared(draft: Draft) -> dict[str, object]:
    return {label.dimension: label.value for label in draft.tactic}


def _draft(turn: Turn) -> Draft:
    return Draft(turn.text, turn.declared_goal or "", turn.tactic)
