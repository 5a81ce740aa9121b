"""Write the documents of an export into its folder: card, datasheet, Croissant, overlap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import orjson

from outputs.contamination.contamination import Contamination, RowSet, Settings, compare
from outputs.dataset.card import CARD, dataset_card
from outputs.dataset.croissant import CROISSANT, croissant_bytes
from outputs.dataset.datasheet import DATASHEET, datasheet
from outputs.dataset.manifest import ExportedFile, ExportFacts
from outputs.dataset.reader import row_set
from outputs.dataset.told_audit import ToldAudit
from pipeline.embeddings.embeddings import Embed

OVERLAP = "contamination.json"


@dataclass(frozen=True, slots=True)
class SplitCheck:
    """The wish to compare the training split with the held-out ones, and how."""

    settings: Settings
    embed: Embed | None = None


@dataclass(frozen=True, slots=True)
class Documents:
    """Writes what describes an export, and adds to its facts what rows alone do not tell."""

    licence: str | None = None
    contamination: tuple[Contamination, ...] = ()
    """Comparisons with other sets; the exported rows are the checked ones."""
    removed: bool = False
    """Whether the rows that those comparisons found have been left out."""
    splits: SplitCheck | None = None
    audit: ToldAudit | None = None
    """What labels can be read from, where that was asked."""

    def __call__(self, folder: Path, facts: ExportFacts) -> ExportFacts:
        """Write ``README.md``, ``datasheet.md``, ``croissant.json`` and, if any, the overlaps.

        Returns the facts with the licence and the overlaps.

        Raises:
            OSError: one could not be written.
        """
        within = list(self._within(folder, facts.files))
        overlaps = [
            *(_told(found, removed=self.removed) for found in self.contamination),
            *(_told(found, removed=False) for found in within),
        ]
        told = replace(
            facts,
            licence=facts.licence or self.licence,
            contamination=(*facts.contamination, *overlaps),
            audit=facts.audit or self.audit,
        )
        (folder / CARD).write_bytes(dataset_card(told).encode())
        (folder / DATASHEET).write_bytes(datasheet(told).encode())
        (folder / CROISSANT).write_bytes(croissant_bytes(told))
        reports = [found.report() for found in (*self.contamination, *within)]
        if reports:
            content = orjson.dumps(reports, option=orjson.OPT_INDENT_2)
            (folder / OVERLAP).write_bytes(content + b"\n")
        return told

    def _within(self, folder: Path, files: Sequence[ExportedFile]) -> Iterator[Contamination]:
        """Compare the training rows with those of each other split."""
        if self.splits is None:
            return
        splits = {file.split: split_rows(folder, files, file.split) for file in files}
        train = splits.pop("train", None)
        for held_out in splits.values():
            if train is not None:
                yield compare(train, held_out, self.splits.settings, self.splits.embed)


def _told(found: Contamination, *, removed: bool) -> dict[str, object]:
    """Return the counts of a comparison, and whether what was found is left out."""
    again = removed and found.settings.remove_reworded
    return {**found.summary(), "removed": removed, "reworded_removed": again}


def split_rows(folder: Path, files: Sequence[ExportedFile], split: str) -> RowSet:
    """Return the rows of one split of an export, each once; JSON lines where there are some."""
    of_split = [file for file in files if file.split == split]
    lines = {file.subset for file in of_split if file.format == "jsonl"}
    parts = [
        row_set(folder / file.path)
        for file in of_split
        if file.format == "jsonl" or file.subset not in lines
    ]
    return RowSet(split, lambda: (row for part in parts for row in part.rows()))
