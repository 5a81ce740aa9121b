"""What is said where an export would hold no row: how much was left out why, and what would help."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from outputs.kinds.export_kind import KINDS, ExportOptions
from outputs.selecting.left_out import ROWS_LEFT_OUT, UNLABELLED, left_out
from outputs.selecting.selection import OpenSelection
from scenarios.errors import UsageError
from scenarios.schemes.model import Scheme

READERS_SETS: Final = (
    "labels of people make items of --to benchmark (hipo review serve RUN), and with --labels verifier"
    " those of a program that checks what is said;"
    " --to dialogues and --to turns hold what readers found"
)
"""What to do where a scheme has no label that speakers declare."""


def nothing_left(
    found: OpenSelection,
    options: ExportOptions,
    notes: Sequence[str],
    without_row: Mapping[str, int],
    rows: Mapping[str, int],
) -> UsageError:
    """Say why there is no row: how much was left out for which reason, then what would help."""
    if not found.tallies():
        return UsageError(
            "nothing is left to export; the runs hold no dialogue", "hipo runs show RUN says why"
        )
    lost = [*left_out(found, 0, rows, without_row).reasons(), *notes]
    hints = []
    if options.chosen_task.trains_responder and not options.include_deception:
        hints.append("deceptive dialogues are taken with --include-deception only")
    if options.rationale:
        hints.append("the labels alone are taken without --rationale")
    if found.selection.verdict == "accepted":
        hints.append("dialogues that are not accepted are taken with --any only")
    if where_from := KINDS.get(options.kind).where_from:
        hints.append(where_from)
    unlabelled = UNLABELLED in without_row
    if unlabelled and options.chosen_task.labels_from:
        hints.insert(0, options.chosen_task.labels_from)
    elif (
        (unlabelled or not hints)
        and ROWS_LEFT_OUT not in without_row
        and KINDS.get(options.kind).declared_labels
    ):
        hints.insert(0, _labels_needed(found.scheme))
    return UsageError("; ".join(("nothing is left to export", *lost)), "; ".join(hints))


def _labels_needed(scheme: Scheme) -> str:
    """Say whose labels make an utterance a row of a set that is learnt or measured from."""
    if scheme.utterance_dimensions:
        return "an utterance needs labels: of its speaker, of an expert, or of two people who agree"
    return f"speakers declare no label of the scheme {scheme.name}: {READERS_SETS}"
