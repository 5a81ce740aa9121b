"""What a study says in words: who is ahead of direct improvisation, and where nothing is told apart."""

from __future__ import annotations

from collections.abc import Sequence

from outputs.reliability.chairs import chairs
from outputs.report.wording import dimension_title
from outputs.study.study import BASELINE, Difference, StudyResult
from scenarios.verdicts import Source


def seats(study: StudyResult) -> tuple[tuple[Source, str], ...]:
    """Return the kinds of judges whose figures are shown, and what each is called."""
    judged: dict[Source, set[str]] = {"self": set(), "external": set()}
    for judge in study.judges:
        source, _, name = judge.partition(" ")
        for kind, names in judged.items():
            if source == kind:
                names.add(name)
    found = chairs(judged, study.named) or (
        ("self", "self-judgement"),
        ("external", "external judgement"),
    )
    return tuple(seat for seat in found if study.dimensions(seat[0]))


def shown_differences(study: StudyResult) -> list[Difference]:
    """Return the differences of the judges that are shown."""
    kinds = [source for source, _ in seats(study)]
    return [found for found in study.differences if found.source in kinds]


def is_clear(difference: Difference) -> bool:
    """Whether the interval of a difference leaves zero out."""
    interval = difference.interval
    return interval is not None and (interval.low > 0 or interval.high < 0)


def outcome_sentence(study: StudyResult) -> str:
    """Say who is ahead of direct improvisation on what, or that nothing can be told apart.

    A difference counts where its 95% interval leaves zero out. Nothing corrects for how many there
    are; the sentence says how many would stand out by chance.
    """
    found = shown_differences(study)
    if not found:
        return ""
    clear = [one for one in found if is_clear(one)]
    compared = f"{len(found)} comparisons" if len(found) > 1 else "one comparison"
    if not clear:
        return _nothing_apart(study, sum(one.interval is not None for one in found))
    told = []
    for ahead, word in ((True, "ahead of"), (False, "behind")):
        side = [one for one in clear if ((one.value or 0) > 0) == ahead]
        for who in dict.fromkeys((one.strategy, one.model) for one in side):
            mine = [one for one in side if (one.strategy, one.model) == who]
            told.append(f"{_named(study, who)} is {word} {BASELINE} on {_on(study, mine)}")
    rest = len(found) - len(clear)
    left = f"; {rest} of {compared} tell nothing apart" if rest else ""
    chance = 0.05 * len(found)
    luck = f" By chance alone about {chance:.1g} of {compared} would stand out." if rest else ""
    return f"{'; '.join(told)}{left}.{luck}"


def _nothing_apart(study: StudyResult, intervals: int) -> str:
    """Say that no interval leaves zero out, or that no comparison has one, and why."""
    if not intervals:
        why = "with one scenario there is none"
        if study.scenarios > 1:
            why = "each difference is the same in whichever scenarios are drawn"
        return (
            f"Nothing can be told apart from {BASELINE}: no comparison has an interval, as {why}."
        )
    if intervals == 1:
        return f"Nothing can be told apart from {BASELINE}: the interval of the one comparison contains zero."
    return (
        f"No strategy can be told apart from {BASELINE}: the intervals of all {intervals} comparisons "
        "contain zero."
    )


def _named(study: StudyResult, who: tuple[str, str]) -> str:
    several = len({model for _, model in study.contestants}) > 1
    return f"{who[0]} with {who[1]}" if several else who[0]


def _on(study: StudyResult, found: Sequence[Difference]) -> str:
    """List dimensions with their points, those of one kind of judge together."""
    names = dict(seats(study))
    several = len(names) > 1
    return ", ".join(
        f"{dimension_title(study.scheme, one.dimension)} ({100 * (one.value or 0):+.1f} points"
        f"{f', {names[one.source]}' if several else ''})"
        for one in found
    )
