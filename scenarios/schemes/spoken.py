"""Which dimensions somebody who speaks declares, and the labels among which it has the choice."""

from __future__ import annotations

from scenarios.schemes.model import Dimension, Scheme


def spoken_dimensions(scheme: Scheme, role: str = "") -> tuple[Dimension, ...]:
    """Return the dimensions that words of a labelled role declare, with the labels open to the role.

    Dimensions that ask for a label which only readers give are left out: whoever speaks cannot tell
    whether they apply.

    Args:
        scheme: the labels.
        role: who speaks; "" is the responder where there is no flow, who declares all of them.
    """
    if not role:
        return scheme.utterance_dimensions
    spoken: list[Dimension] = []
    known = {scheme.assigned}
    for dimension in scheme.utterance_dimensions:
        if not dimension.concerns(role) or not known.issuperset(dimension.when):
            continue
        labels = dimension.choices(role)
        if labels or not dimension.labels:
            known.add(dimension.id)
            narrowed = dimension if labels == dimension.labels else _narrowed(dimension, role)
            spoken.append(narrowed)
    return tuple(spoken)


def _narrowed(dimension: Dimension, role: str) -> Dimension:
    """Return a dimension with the labels open to a role, and what leads to them."""
    labels = dimension.choices(role)
    ids = {label.id for label in labels}
    return dimension.model_copy(
        update={
            "labels": labels,
            "steps": tuple(step for step in dimension.steps if step.label in ids),
            "contrast": tuple(c for c in dimension.contrast if {c.label, c.rival} <= ids),
        }
    )
