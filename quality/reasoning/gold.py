"""What raters agree on: a reasoning is right where every one of them says so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from quality.reasoning.form import STAGES, RaterForm, Stage

RaterGold = Mapping[str, Mapping[Stage, bool | None]]
"""Whether the reasoning of a log is right: True where all raters say so, False where one does not,
None where somebody has not answered."""


def gold(forms: Sequence[RaterForm]) -> RaterGold:
    """Return what the forms agree on, by log; only forms that have a row for a log count.

    One rater who says that the reasoning is wrong settles that it is not right, whatever else is
    missing. Where there is only the merged table, its word is the gold.
    """
    raters = rater_forms(forms) or list(forms)
    logs = dict.fromkeys(name for form in raters for name in form.rows)
    return {name: _merged(name, raters) for name in logs}


def rater_forms(forms: Iterable[RaterForm]) -> list[RaterForm]:
    """Return the forms of raters, without merged tables."""
    return [form for form in forms if not form.is_merged]


def _merged(name: str, forms: Sequence[RaterForm]) -> dict[Stage, bool | None]:
    rows = [form.rows[name] for form in forms if name in form.rows]
    return {stage: _unanimous([row.correct[stage] for row in rows]) for stage in STAGES}


def _unanimous(answers: Sequence[bool | None]) -> bool | None:
    if False in answers:
        return False
    return None if None in answers else True
