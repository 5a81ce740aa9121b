"""Items to read beside the replies to them: some that models got right, some that they did not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from outputs.evaluation.evaluated import REFERENCES, Evaluated
from outputs.report.page import AnsweredItem, Block, GivenReply, Remark, ReportSection
from outputs.report.wording import NOTHING
from quality.evaluation.result_row import ResultRow
from quality.evaluation.shown_items import ShownItem
from scenarios.fingerprint import fingerprint

EXAMPLES = 10
_LEAD = (
    "Items with the replies of every model, as they wrote them: as far as there are any, half of "
    "them somebody got wrong, and half everybody got right. They are drawn by a hash of their "
    "ids, from different scenarios first. A private fact is shown to models only by tasks that "
    "say so."
)


@dataclass(frozen=True, slots=True)
class _ItemOfTask:
    """One item of one task with the rows about it."""

    item: str
    task: str
    rows: tuple[ResultRow, ...]

    @property
    def wrong(self) -> bool:
        """Whether anybody got anything wrong, against the first reference."""
        return any(not right for row in self.rows for right in _verdicts(row).values())


def chosen_examples(
    rows: Iterable[ResultRow], items: Callable[[], Iterable[ShownItem]], limit: int = EXAMPLES
) -> tuple[tuple[ShownItem, tuple[ResultRow, ...]], ...]:
    """Choose items to show, half of them with a wrong answer; the same rows give the same choice.

    Args:
        rows: the results; only the first draw and repeat of each is looked at.
        items: reads them; what is not there cannot be shown. They are read twice, as they are many
            and only those that are shown are kept.
        limit: how many to show.
    """
    there = {item.item for item in items()}
    asked: dict[tuple[str, str], list[ResultRow]] = {}
    for row in rows:
        if row.item in there and row.draw == 0 and row.repeat == 0 and row.references:
            asked.setdefault((row.item, row.task), []).append(row)
    found = [_ItemOfTask(item, task, tuple(mine)) for (item, task), mine in asked.items()]
    wrong, right = (
        _spread([a for a in found if a.wrong]),
        _spread([a for a in found if not a.wrong]),
    )
    half = max(limit - limit // 2, limit - len(right))
    picked = [*wrong[:half], *right[: limit - min(half, len(wrong))]][:limit]
    wanted = {one.item for one in picked}
    shown = {item.item: item for item in items() if item.item in wanted}
    return tuple((shown[one.item], one.rows) for one in picked)


def _spread(asked: Sequence[_ItemOfTask]) -> list[_ItemOfTask]:
    """Return items in the order of a hash, one of every scenario before a second of any."""
    hashed = sorted(asked, key=lambda one: fingerprint([one.item, one.task]))
    seen: dict[str, int] = {}
    turns: list[tuple[int, int]] = []
    for number, one in enumerate(hashed):
        scenario = one.rows[0].scenario
        turns.append((seen.get(scenario, 0), number))
        seen[scenario] = seen.get(scenario, 0) + 1
    return [hashed[number] for _, number in sorted(turns)]


def examples_section(evaluated: Evaluated) -> ReportSection:
    """Return the chosen items, each to be unfolded."""
    blocks: list[Block] = [_block(evaluated, item, rows) for item, rows in evaluated.examples]
    if not blocks:
        blocks = [Remark("No item has a label to hold answers against.")]
    return ReportSection("examples", "Examples", _LEAD, tuple(blocks))


def _block(evaluated: Evaluated, item: ShownItem, rows: Sequence[ResultRow]) -> AnsweredItem:
    first = rows[0]
    titles = {task.id: task.title for task in evaluated.tasks}
    wrong = sum(not all(_verdicts(row).values()) for row in rows)
    asked = item.lines[item.target or 0][1] if item.lines else item.item
    return AnsweredItem(
        id=item.item,
        title=asked if len(asked) <= _LONGEST else f"{asked[:_LONGEST].rstrip()}…",
        tags=(
            titles.get(first.task, first.task),
            first.scenario,
            f"{len(rows) - wrong} of {len(rows)} right",
        ),
        situation=item.situation,
        fact=item.fact,
        lines=tuple(
            (speaker, words, number == item.target)
            for number, (speaker, words) in enumerate(item.lines)
        ),
        right=tuple(
            (f"{reference}: {evaluated.record.title(name)}", label)
            for reference, labels in first.references.items()
            for name, label in labels.items()
        ),
        replies=tuple(_reply(evaluated, row) for row in rows),
        language=item.language,
    )


_LONGEST = 90


def _reply(evaluated: Evaluated, row: ResultRow) -> GivenReply:
    verdicts = _verdicts(row)
    labels = tuple(
        (
            evaluated.record.title(name),
            label if label is not None else f"{NOTHING} ({row.faults.get(name) or row.status})",
            verdicts.get(name),
        )
        for name, label in row.labels.items()
    )
    return GivenReply(row.model, row.mode, labels, row.reply or "")


def _verdicts(row: ResultRow) -> Mapping[str, bool]:
    """Return by dimension whether a row is right, against the first reference there is."""
    return next((row.right[name] for name in REFERENCES if name in row.right), {})
