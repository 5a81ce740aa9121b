"""What is said where an export would hold no row: how much was left out why, and what would help."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from outputs.export_kind import KINDS, ExportOptions
from outputs.left_out import ROWS_LEFT_OUT, left_out
from outputs.selection import OpenSelection
from scenarios.errors import UsageError


def nothing_left(
    found: OpenSelection,
    options: ExportOptions,
    notes: Sequence[str],
    rejected: int,
    without_row: Mapping[str, int],
) -> UsageError:
    """Say why there is no row: how much was left out for which reason, then what would help."""
    lost = [
        told.removeprefix("left out: ") for told in left_out(found, 0, {}, without_row).reasons()
    ]
    lost += notes
    if rejected:
        lost.append(f"rows left out that overlap with another set: {rejected:,}")
    hints = []
    if options.chosen_task.trains_responder and not options.include_deception:
        hints.append("deceptive dialogues are taken with --include-deception only")
    if found.selection.verdict == "accepted":
        hints.append("dialogues that are not accepted with --any only")
    if where_from := KINDS.get(options.kind).where_from:
        hints.append(where_from)
    if not hints and ROWS_LEFT_OUT not in without_row and KINDS.get(options.kind).declared_labels:
        hints.append(
            "an utterance needs labels: of its speaker, of an expert, or of two people who agree"
        )
    return UsageError("; ".join(("nothing is left to export", *lost)), "; ".join(hints))
