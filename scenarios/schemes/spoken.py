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
        narrowed = dimension.limited_to(role)
        if narrowed.labels or not dimension.labels:
            known.add(dimension.id)
            spoken.append(narrowed)
    return tuple(spoken)
