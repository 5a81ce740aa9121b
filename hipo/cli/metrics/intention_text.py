"""Figures about intentions for the terminal, and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from string import ascii_uppercase
from typing import Final

from hipo.app.metrics.intention import RIGHT, Answerer, IntentionMetrics
from hipo.cli.terminal.console import columns, number
from quality.evaluation.scores import PositionShare
from quality.persuasion.intention_figures import AccuracyCell, ChoicesOfTwo
from quality.persuasion.intention_statistics import IntentionStatistics
from quality.tables.oddities import Oddity, kinds
from scenarios.plural import plural

_SHOWN: Final = 10
"""Findings that are printed; the JSON has all."""
_UNREAD: Final = "(no answer)"
_EXPECTED: Final = "no_answer"
"""Kind of oddity that is no fault: most turns have no intention."""


def intention_as_text(found: IntentionMetrics) -> str:
    """Return what ``hipo metrics intention`` prints."""
    return "\n\n".join(_sections(found))


def intention_as_json(found: IntentionMetrics) -> dict[str, object]:
    """Return the figures as plain data; docs/json-shapes.md says what stands where."""
    return {
        "statistics": None if found.statistics is None else asdict(found.statistics),
        "questions": found.questions,
        "words_per_option": found.words_per_option,
        "right": [asdict(share) for share in found.right],
        "questions_by_face_act": [
            {"role": cell.role, "face_act": cell.face_act, "questions": cell.questions}
            for cell in found.by_face_act
        ],
        "rules": dict(found.rules),
        "broken": [asdict(one) for one in found.broken],
        "answerers": [
            {
                "who": answerer.who,
                "accuracy": cells_as_json(answerer.accuracy),
                "shares": [asdict(share) for share in answerer.shares],
            }
            for answerer in found.answerers
        ],
        "choices": [asdict(two) for two in found.choices],
        "oddities": [{**asdict(odd), "text": str(odd)} for odd in found.oddities],
    }


def cells_as_json(cells: Iterable[AccuracyCell]) -> list[dict[str, object]]:
    """Return the cells of a table of accuracies as plain data."""
    return [{**asdict(cell), "accuracy": cell.accuracy} for cell in cells]


def accuracy_as_text(who: str, cells: Sequence[AccuracyCell]) -> str:
    """Return the accuracy of one who answered, by face act and speaker."""
    return f"{who}: accuracy by face act and speaker\n" + _cells(
        cells, lambda cell: _share(cell.accuracy)
    )


def _sections(found: IntentionMetrics) -> Iterator[str]:
    if found.statistics is not None:
        yield _corpus(found.statistics)
    if found.questions:
        yield (
            f"{plural(found.questions, 'question')}{_sizes(found)}, by face act and speaker\n"
            + _cells(found.by_face_act, lambda cell: number(cell.questions))
        )
        yield "Share of questions that each option is right of\n" + _letters(
            found.right, lambda share: share.references
        )
        yield "Rules of options, and how many options break them\n" + columns(
            ("rule", "broken"), [[rule, number(n)] for rule, n in found.rules.items()]
        )
    if found.broken:
        shown = [f"{one.question}: {one.rule}: {one.option}" for one in found.broken[:_SHOWN]]
        yield "\n".join(["Options that break a rule:", *shown, *_more(len(found.broken))])
    for answerer in found.answerers:
        yield from _answerer(answerer)
    yield from map(choices_as_text, found.choices)
    yield from _odd(found.oddities)


def _sizes(found: IntentionMetrics) -> str:
    if found.statistics is None or found.words_per_option is None:
        return ""
    each = found.questions / found.statistics.dialogues
    return f" ({each:.2f} a dialogue; {found.words_per_option:.2f} words an option)"


def _corpus(statistics: IntentionStatistics) -> str:
    rows = [
        [
            row.face_act or "all",
            row.role or "all",
            number(row.turns),
            number(row.labelled),
            number(row.runs),
            "" if row.alpha is None else f"{row.alpha:.3f}",
        ]
        for row in statistics.rows
    ]
    mean = "" if statistics.mean_alpha is None else f"; mean alpha {statistics.mean_alpha:.3f}"
    head = f"{plural(statistics.dialogues, 'dialogue')}, "
    head += f"{plural(statistics.annotators, 'annotator')} of intentions{mean}\n"
    if statistics.turns_per_dialogue is not None and statistics.words_per_turn is not None:
        head += f"{statistics.turns_per_dialogue:.2f} turns a dialogue, "
        head += f"{statistics.words_per_turn:.2f} words a turn\n"
    return head + columns(("face act", "speaker", "turns", "intentions", "runs", "alpha"), rows)


def _answerer(answerer: Answerer) -> Iterator[str]:
    yield accuracy_as_text(answerer.who, answerer.accuracy)
    yield f"{answerer.who}: how often each option is chosen (and right)\n" + _letters(
        answerer.shares, lambda share: share.answers, lambda share: share.references
    )


def choices_as_text(two: ChoicesOfTwo) -> str:
    """Return where two who answered differ, or one and what is right, the most frequent first."""
    who = f"{two.first} and {two.second} chose the same"
    said = f"{two.first} chose what is right" if two.second == RIGHT else who
    said += f" in {number(two.same)} of "
    said += plural(two.questions, "question")
    differing = [pair for pair in two.choices if pair.first != pair.second]
    if not differing:
        return said
    rows = [
        [pair.first or _UNREAD, pair.second or _UNREAD, number(pair.questions)]
        for pair in differing[:_SHOWN]
    ]
    table = columns((two.first, two.second, "questions"), rows)
    return "\n".join([f"{said}; elsewhere", table, *_more(len(differing))])


def _cells(cells: Sequence[AccuracyCell], text: Callable[[AccuracyCell], str]) -> str:
    roles = list(dict.fromkeys(cell.role for cell in cells))
    acts = [act for act in dict.fromkeys(cell.face_act for cell in cells)
            if any(cell.questions for cell in cells if cell.face_act == act)]  # fmt: skip
    of = {(cell.role, cell.face_act): cell for cell in cells}
    rows = [[act or "all", *(text(of[role, act]) for role in roles)] for act in acts]
    return columns(("face act", *(role or "all" for role in roles)), rows)


def _letters(
    shares: Sequence[PositionShare], *values: Callable[[PositionShare], float | None]
) -> str:
    header = [ascii_uppercase[share.position] for share in shares]
    return columns(header, [[_share(value(share)) for share in shares] for value in values])


def _share(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.2f} %"


def _more(count: int) -> list[str]:
    return [f"and {number(count - _SHOWN)} more, see --json"] if count > _SHOWN else []


def _odd(oddities: Sequence[Oddity]) -> Iterator[str]:
    told = [odd for odd in oddities if odd.code != _EXPECTED]
    silent = len(oddities) - len(told)
    if silent:
        yield f"{plural(silent, 'cell')} without an answer, see --json"
    if told:
        lines = [f"Odd in the files ({', '.join(f'{k} {n}' for k, n in kinds(told).items())}):"]
        yield "\n".join([*lines, *map(str, told[:_SHOWN]), *_more(len(told))])
