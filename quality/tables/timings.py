"""The times of a table, which its rows tell, as one time for each item and annotator."""

from __future__ import annotations

from collections.abc import Iterable

from quality.agreement.annotations import Timing


def by_item(rows: Iterable[Timing]) -> tuple[Timing, ...]:
    """Put the times of rows together.

    Seconds and answers of an item and annotator are added up. A table may instead repeat the time
    of the whole item in each of its rows: that is so where, of everybody's items with several
    rows, each has one and the same time in all of them; it then counts once.

    Args:
        rows: what each row says; ``decisions`` are the answers it holds, 0 included.

    Returns:
        One time per item and annotator, in the order of the rows, with one decision at least.
    """
    grouped: dict[tuple[str, str], list[Timing]] = {}
    for row in rows:
        grouped.setdefault((row.item, row.annotator), []).append(row)
    several = [own for own in grouped.values() if len(own) > 1]
    repeated = all(len({row.seconds for row in own}) == 1 for own in several)
    return tuple(
        Timing(
            item,
            annotator,
            own[0].seconds if repeated else sum(row.seconds for row in own),
            max(1, sum(row.decisions for row in own)),
        )
        for (item, annotator), own in grouped.items()
    )
