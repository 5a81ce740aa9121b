"""What to know before reading the figures of a model: what is missing, and what imbalance does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from quality.evaluation.answers import ScoredAnswer
from quality.evaluation.clustering import FEWEST_ITEMS, FEWEST_SCENARIOS
from quality.evaluation.scores import AnswerTally, FloorScore


def remarks(
    answers: Sequence[ScoredAnswer],
    scored: Sequence[ScoredAnswer],
    majority: FloorScore,
) -> tuple[str, ...]:
    """Return the sentences that belong beside the figures of some answers.

    Args:
        answers: all answers, those that failed included.
        scored: those that enter the figures.
        majority: what the commonest label reaches.
    """
    found = list(interval_remarks(scored))
    lost = {a.reference for a in answers} - {a.reference for a in scored}
    if lost:
        names = ", ".join(sorted(lost))
        found.append(f"no item of {names} was answered: the macro-F1 leaves these labels out")
    found += _imbalance(scored, majority)
    return tuple(found)


def missing_remarks(tally: AnswerTally) -> Iterator[str]:
    """Say what is missing, and what counts as wrong though the model may have known it."""
    came = tally.read + tally.unreadable + tally.unknown_labels + tally.refused
    if tally.unasked:
        yield (
            f"{tally.unasked} answers of the task have not been asked for yet: the figures are of the others"
            " alone, which are no random part of the items"
        )
    if tally.failed:
        asked = came + tally.failed
        yield f"{tally.failed} of {asked} answers never came: they are missing, not wrong"
    if tally.cut_off:
        yield (
            f"{tally.cut_off} of {came} answers were cut off before this label (--max-tokens), which"
            " counts as wrong"
        )


def interval_remarks(scored: Sequence[ScoredAnswer]) -> Iterator[str]:
    """Say why intervals are missing, or not to be trusted."""
    items = len({answer.item for answer in scored})
    cases = len({answer.case for answer in scored})
    of_label: defaultdict[str, set[str]] = defaultdict(set)
    for answer in scored:
        of_label[answer.reference].add(answer.case)
    lone = [label for label, found in of_label.items() if len(found) == 1]
    scenarios = len({answer.scenario for answer in scored})
    if items < FEWEST_ITEMS:
        yield f"no intervals: {_counted(items, 'item')}, {FEWEST_ITEMS} are needed"
        return
    if cases < 2:
        yield "no interval over cases: all items are of one case"
    elif cases < FEWEST_SCENARIOS:
        yield f"{cases} cases: with fewer than {FEWEST_SCENARIOS} the interval comes out too narrow"
    if lone and cases > 1:
        names = ", ".join(sorted(lone))
        yield f"{names}: right in a single case: the interval of the macro-F1 comes out too narrow"
    if scenarios < 2:
        yield "no interval over scenarios, so no claim about other scenarios: there is one"
    elif scenarios < FEWEST_SCENARIOS:
        yield (
            f"{scenarios} scenarios: with fewer than {FEWEST_SCENARIOS} the interval over"
            " scenarios comes out too narrow"
        )


def _imbalance(scored: Sequence[ScoredAnswer], majority: FloorScore) -> Iterator[str]:
    """Say by how much the imbalance of classes alone lifts accuracy, whoever answers."""
    if majority.accuracy is None:
        return
    classes = len({answer.reference for answer in scored})
    even = 1 / classes
    yield (
        f"always answering {majority.label} is right in {majority.accuracy:.1%}, where"
        f" {_counted(classes, 'class', 'classes')} alike would leave {even:.1%}: imbalance lifts"
        f" accuracy by up to {100 * (majority.accuracy - even):.1f} points"
    )


def _counted(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
