"""Read the columns of a run, and go on reading while it is written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.store.queries.browsing import BrowsingReader, EndingRow, LabelPlace, Marks
from pipeline.store.traces import Stored, label_from
from prompts.scheme_text import label_text
from quality.viewer.columns import (
    FAILED,
    NO_LABEL,
    NOT_JUDGED,
    VERDICTS,
    CodedColumn,
    Codes,
    DialogueColumns,
    Mask,
)
from scenarios.arms import Arm

PLAIN = ("scenario", "fact", "goal", "strategy", "model", "language")
_TURNS = 1 << 20
"""More turns than any dialogue has: a turn's place is one number with its dialogue's."""


class _NumberedValues:
    """Values in the order in which they were first met."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._codes = {name: code for code, name in enumerate(names)}

    def code(self, name: str) -> int:
        return self._codes.setdefault(name, len(self._codes))

    @property
    def all(self) -> tuple[str, ...]:
        return tuple(self._codes)


class ColumnReading:
    """Holds what was read so far; every reading returns a state that stays as it is."""

    def __init__(self, reader: BrowsingReader) -> None:
        """Begin with nothing; one thread at a time reads."""
        self._reader = reader
        self._names = {name: _NumberedValues() for name in PLAIN}
        self._values: dict[str, _NumberedValues] = {}
        self._spelled: dict[Stored, str] = {}
        self._seq: NDArray[np.int64] = np.zeros(0, np.int64)
        self._place: NDArray[np.int64] = np.zeros((0, 2), np.int64)
        self._finished: NDArray[np.float64] = np.zeros(0)
        self._plain: dict[str, Codes] = {name: np.zeros(0, np.int32) for name in PLAIN}
        self._verdict: Codes = np.zeros(0, np.int32)
        self._utterance: NDArray[np.int64] = np.zeros(0, np.int64)
        self._labels: dict[str, Codes] = {}
        self._flagged: dict[int, tuple[str, ...]] = {}
        self._flags: dict[str, Mask] = {}
        self._raised: Codes = np.zeros(0, np.int32)
        self._marks = Marks()

    def read(self) -> bool:
        """Read what was added to the run; False where nothing was."""
        marks = self._reader.marks()
        again = self._reader.played_again(
            self._seq[self._verdict == FAILED].tolist(),
            float(self._finished.max()) if len(self._finished) else 0.0,
        )
        if marks == self._marks and not again:
            return False
        since, self._marks = self._marks, marks
        for page in self._reader.endings(since.dialogues, marks.dialogues):
            self._add(page)
            self._add_labels(self._reader.labels(page[0].seq - 1, page[-1].seq))
        for ending in again:
            self._replace(ending)
        for decided in self._reader.decisions(since.decisions, marks.decisions):
            self._decide(decided)
        for flagged in self._reader.flags(since.assessments, marks.assessments):
            self._flag(flagged)
        if since.assessments != marks.assessments or len(self._raised) != len(self._seq):
            self._spread_flags(anew=since.assessments != marks.assessments)
        return True

    def _add(self, page: Sequence[EndingRow]) -> None:
        arms = self._reader.arms()
        self._seq = np.append(self._seq, np.array([row.seq for row in page], np.int64))
        places = np.array([(row.case, row.arm) for row in page], np.int64).reshape(-1, 2)
        self._place = np.concatenate([self._place, places])
        self._finished = np.append(self._finished, [row.finished_at for row in page])
        for name in PLAIN:
            code = self._names[name].code
            codes = [code(_value(row, name, arms.get(row.arm))) for row in page]
            self._plain[name] = np.append(self._plain[name], np.array(codes, np.int32))
        states = [FAILED if row.status == "failed" else NOT_JUDGED for row in page]
        self._verdict = np.append(self._verdict, np.array(states, np.int32))

    def _replace(self, ending: EndingRow) -> None:
        """Take in how a failed case ended when it was played again."""
        row = int(np.searchsorted(self._seq, ending.seq))
        self._finished[row] = ending.finished_at
        if ending.status != "failed":
            self._verdict = self._verdict.copy()
            self._verdict[row] = NOT_JUDGED
            self._add_labels(self._reader.labels(ending.seq - 1, ending.seq))

    def _add_labels(self, labels: Sequence[LabelPlace]) -> None:
        if not labels:
            return
        if any(label.turn >= _TURNS for label in labels):
            raise ValueError("a label is of a turn that no dialogue has")
        dimensions = self._reader.dimensions()
        places = np.array([label.dialogue * _TURNS + label.turn for label in labels], np.int64)
        utterances, at = np.unique(places, return_inverse=True)
        which = np.array([label.dimension for label in labels])
        before = len(self._utterance)
        self._utterance = np.append(self._utterance, utterances)
        for dimension in dict.fromkeys(dimensions[number] for number in which.tolist()):
            self._labels.setdefault(dimension, np.full(before, NO_LABEL, np.int32))
            self._values.setdefault(dimension, _NumberedValues())
        for number, dimension in dimensions.items():
            if dimension not in self._labels:
                continue
            added = np.full(len(utterances), NO_LABEL, np.int32)
            own = np.flatnonzero(which == number)
            code = self._values[dimension].code
            added[at[own]] = [code(self._spelling(labels[i].value)) for i in own.tolist()]
            self._labels[dimension] = np.append(self._labels[dimension], added)

    def _spelling(self, value: Stored) -> str:
        spelled = self._spelled.get(value)
        if spelled is None:
            spelled = self._spelled[value] = label_text(label_from(value))
        return spelled

    def _decide(self, decided: Sequence[tuple[int, str]]) -> None:
        self._verdict = self._verdict.copy()
        rows = np.searchsorted(self._seq, [dialogue for dialogue, _ in decided])
        # A later decision on the same dialogue comes later: numpy keeps the last one.
        self._verdict[rows] = [VERDICTS.index(verdict) for _, verdict in decided]

    def _flag(self, flagged: Sequence[tuple[int, int, str | None]]) -> None:
        newest: dict[int, tuple[int, list[str]]] = {}
        for assessment, dialogue, code in flagged:
            if dialogue not in newest or newest[dialogue][0] != assessment:
                newest[dialogue] = assessment, []
            if code is not None:
                newest[dialogue][1].append(code)
        for dialogue, (_, codes) in newest.items():
            if codes:
                self._flagged[dialogue] = tuple(codes)
            else:
                self._flagged.pop(dialogue, None)

    def columns(self) -> DialogueColumns:
        """Return what was read so far.

        Raises:
            ValueError: a time is none.
        """
        if not np.isfinite(self._finished).all():
            raise ValueError("a case ended at no time")
        order = np.lexsort((self._place[:, 1], self._place[:, 0]))
        fields = {n: CodedColumn(self._plain[n], self._names[n].all) for n in PLAIN}
        fields["verdict"] = CodedColumn(self._verdict, VERDICTS)
        # What was played again stands behind what was played after it.
        sorted_ = np.argsort(self._utterance, kind="stable")
        dialogues = self._utterance[sorted_] // _TURNS
        return DialogueColumns(
            marks=self._marks,
            seq=self._seq,
            finished_at=self._finished.copy(),
            order=order,
            fields=fields,
            utterance=np.searchsorted(self._seq, dialogues).astype(np.int32),
            labels={
                dimension: CodedColumn(codes[sorted_], self._values[dimension].all)
                for dimension, codes in self._labels.items()
            },
            flags=dict(self._flags),
            raised=self._raised,
        )

    def _spread_flags(self, *, anew: bool) -> None:
        """Bring the rows of flags to the length of the columns, or count all of them ``anew``."""
        more = len(self._seq) - len(self._raised)
        if not anew:
            self._raised = np.append(self._raised, np.zeros(more, np.int32))
            self._flags = {
                c: np.append(rows, np.zeros(more, bool)) for c, rows in self._flags.items()
            }
            return
        rows: dict[str, list[int]] = {}
        raised = np.zeros(len(self._seq), np.int32)
        places = np.searchsorted(self._seq, list(self._flagged)).tolist()
        for row, codes in zip(places, self._flagged.values(), strict=True):
            raised[row] = len(codes)
            for code in set(codes):
                rows.setdefault(code, []).append(row)
        self._raised, self._flags = raised, {}
        for code in sorted(rows, key=lambda code: (-len(rows[code]), code)):
            self._flags[code] = np.zeros(len(self._seq), dtype=bool)
            self._flags[code][rows[code]] = True


def _value(row: EndingRow, name: str, arm: Arm | None) -> str:
    if name == "fact":
        return f"{row.scenario}/{row.fact}" if row.fact else ""
    if name in ("strategy", "model"):
        return "unknown" if arm is None else str(getattr(arm, name))
    return str(getattr(row, name))
