"""Refuse a data set whose labels can be read from what should tell nothing."""

from __future__ import annotations

from outputs.audit.findings import Audit
from scenarios.errors import UsageError

_NAMED = 3


def check_shortcuts(audit: Audit, most: float) -> None:
    """Do nothing where no shortcut is for certain further above its floor than allowed.

    Args:
        audit: of the data set.
        most: what the corrected lower bound of a must-not probe may be above its floor, in
            points of its measure: 0.05 allows 0.55 where the floor is 0.5.

    Raises:
        UsageError: some are; says which.
    """
    over = [finding for finding in audit.shortcuts if finding.excess > most]
    if not over:
        return
    named = ", ".join(
        f"{f.probe} reads {f.dimension} at {f.score:.3f}, at least {f.bound:.3f} (floor"
        f" {f.floor:.3f})"
        for f in over[:_NAMED]
    )
    more = f", and {len(over) - _NAMED} more" if len(over) > _NAMED else ""
    raise UsageError(
        f"labels can be read from what should tell nothing: {named}{more};"
        f" --max-shortcut allows {most:g} above the floor",
        "nothing was written; look with hipo audit, and mend the dialogues or allow more",
    )
