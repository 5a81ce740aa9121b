"""The datasheet of a data set: the questions of Gebru et al. (2021), answered where known."""

from __future__ import annotations

from outputs.dataset.card import document_values
from outputs.dataset.manifest import ExportFacts
from outputs.markdown import rendered

DATASHEET = "datasheet.md"


def datasheet(facts: ExportFacts) -> str:
    """Return the datasheet of an export as Markdown; the same facts give the same bytes.

    What only the publisher can know is left open and marked as such.

    Source: the sections are those of "Datasheets for Datasets" (Gebru et al., 2021).
    """
    return rendered("datasheet.md.j2", document_values(facts))
