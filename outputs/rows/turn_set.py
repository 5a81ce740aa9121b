"""One row a turn, flat: words, labels, reasons and what readers found, for tables and statistics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from outputs.dataset.columns import (
    PROVENANCE,
    TURN,
    LabelValues,
    Reading,
    Row,
    label_columns,
    provenance,
)
from outputs.dataset.manifest import Column
from outputs.kinds.export_kind import ExportKind, ExportOptions, ExportTask
from outputs.rows.spoken import SPOKEN, phases, spoken, wanted_labels
from outputs.rows.verification_record import VerificationRecord, verification_records
from outputs.selecting.people_labels import labelled_dimensions
from outputs.selecting.selection import SelectedDialogue
from outputs.value_names import label_text
from quality.tables.header import SEPARATOR
from scenarios.annotations import HUMAN, VERIFIER, Annotation
from scenarios.dialogue import Turn
from scenarios.schemes.model import Dimension, Scheme

_READ_BY: Final = {
    "self": "the model that reads its own words again",
    "external": "external judges",
    HUMAN: "people",
    VERIFIER: "the program that checks what is said",
}
_OWN: Final = (
    Column(
        "variation", "text",
        f"What was varied beside the goal, as axis=value; several joined by '{SEPARATOR}'.",
    ),
    TURN,
    *SPOKEN,
)  # fmt: skip
_FLAGS: Final = (
    Column("turn_flags", "text", "Codes of the flags of this turn."),
    Column("dialogue_flags", "text", "Codes of the flags of the dialogue as a whole."),
)


@dataclass
class TurnRows:
    """One row for every turn, fixed ones included: neighbours stand in neighbouring rows."""

    scheme: Scheme
    subset: str = field(default="turns", init=False)
    reading: Reading = field(default=Reading(wanted=True, rationales=True), init=False)

    def __post_init__(self) -> None:
        self._values = LabelValues(self.scheme)
        self._declared = labelled_dimensions(self.scheme)
        read = self.scheme.read_dimensions("utterance")
        # Programs label where speakers declare nothing.
        unsaid = () if self.scheme.utterance_dimensions else (VERIFIER,)
        self._readers = ("self", "external", HUMAN, *unsaid)
        self._read: tuple[Dimension, ...] = tuple(
            {d.id: d for d in (*self._declared, *read)}.values()
        )

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The columns of every row; none holds a list or a record."""
        flat = tuple(
            Column(
                column.name, "text" if column.kind == "texts" else column.kind, column.description
            )
            for column in label_columns(self.scheme)
        )
        reasons = (
            Column(f"rationale_{d.id}", "text", f"The speaker's reason for {d.id}.")
            for d in self._declared
        )
        wanted = (
            Column(f"wanted_{d.id}", "text", f"What {d.id} was asked to be; null: left free.")
            for d in self._declared
        )
        read = (
            Column(
                f"{kind}_{d.id}", "text",
                f"{d.id} by {who}; several joined by '{SEPARATOR}'. Of judges that are shown labels:"
                " carried or not carried.",
            )
            for kind in self._readers
            for who in (_READ_BY[kind],)
            for d in self._read
        )  # fmt: skip
        return (*PROVENANCE, *_OWN, *flat, *reasons, *wanted, *read, *_FLAGS)

    def rows(self, batch: Sequence[SelectedDialogue]) -> Iterator[Row]:
        """Yield the turns of each dialogue of a case, in order."""
        records = verification_records(batch)
        for selected in batch:
            base, in_phase = provenance(selected), phases(selected)
            drawn = (f"{axis}={value}" for axis, value in selected.dialogue.case.variation)
            base["variation"] = SEPARATOR.join(drawn)
            for turn in selected.dialogue.turns:
                row = {
                    "id": f"{'/'.join(selected.key)}/{turn.index}",
                    **base,
                    "turn": turn.index,
                    **spoken(selected, turn, in_phase),
                    **self._labels(selected, turn),
                    **self._found(records[selected.key], turn),
                }
                yield row

    def _labels(self, selected: SelectedDialogue, turn: Turn) -> Row:
        values = {
            name: label_text(value) if isinstance(value, tuple) else value
            for name, value in self._values.of(selected, turn).items()
        }
        reasons = {label.dimension: label.rationale or None for label in turn.tactic}
        wanted = wanted_labels(turn)
        return {
            **values,
            **{f"rationale_{d.id}": reasons.get(d.id) for d in self._declared},
            **{f"wanted_{d.id}": wanted.get(d.id) for d in self._declared},
        }

    def _found(self, record: VerificationRecord, turn: Turn) -> Row:
        said: dict[str, list[str]] = {}
        for label in record.of_turn(turn.index):
            text = _named(label)
            if text is not None and label.subject.part is None:
                said.setdefault(f"{label.kind}_{label.dimension}", []).append(text)
        flags: tuple[list[str], list[str]] = ([], [])
        for flag in record.flags:
            if flag.turn in (turn.index, None):
                flags[flag.turn is None].append(flag.code)
        names = (f"{kind}_{d.id}" for kind in self._readers for d in self._read)
        return {
            **{name: SEPARATOR.join(said[name]) if name in said else None for name in names},
            "turn_flags": SEPARATOR.join(flags[0]),
            "dialogue_flags": SEPARATOR.join(flags[1]),
        }


def _named(label: Annotation) -> str | None:
    """Return the label a reader named, or of one who was shown it whether it is carried."""
    if label.value is not None or label.carried is None:
        return label_text(label.value)
    return "carried" if label.carried else "not carried"


def _rows(scheme: Scheme, _: ExportOptions) -> TurnRows:
    return TurnRows(scheme)


KIND = ExportKind(
    name="turns",
    about="a turn a row, flat, as CSV too: words, labels, reasons, what readers found",
    tasks=(ExportTask(_rows, csv=True),),
    hub_tasks=("text-classification",),
    fractions=(1, 0, 0),
    verdict="any",
)
