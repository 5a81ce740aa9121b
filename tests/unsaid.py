"""Labels that go together in no line that somebody would say."""

from __future__ import annotations


def nobody_says(intention: str, veracity: str, act: str) -> bool:
    """Whether the grammar does without words for these labels.

    Who closes a subject refuses openly, which is not vague. A true detail is still there when the feeling
    around it is taken away. Nobody makes anything so by feeling hurt over a suspicion.
    """
    felt = intention == "Affect"
    if veracity == "Quantity":
        return felt
    return act == "Declarations" and (veracity == "Manner" or (felt and veracity == "Quality"))
