"""Whose pronoun it is: clauses in the mouth of one of the two."""

from __future__ import annotations

import pytest

from pipeline.offline.person import in_person

CUSTOMER = "former customer of Caldera Exchange"


@pytest.mark.parametrize(
    ("clause", "speaker", "hearer", "said"),
    [
        # It was the chef who handed in letters, and the manager is a woman.
        ("He also handed in letters with threats.", "restaurant manager", "radio reporter", ""),
        ("She keeps the books.", "restaurant manager", "radio reporter", ""),
        ("The guest has kept his key.", "hotel guest", "duty manager", "I have kept my key."),
        ("The guest saw Ivo before he left.", "hotel guest", "duty manager", ""),
        ("The two have shared the flat.", "boyfriend", "girlfriend", "We have shared the flat."),
        ("The couple has one ring.", "fiancé", "fiancée", "We have one ring."),
        (
            "The two kitchen hands were paid.",
            "manager",
            "reporter",
            "The two kitchen hands were paid.",
        ),
        ("The fiancé has no doubt.", "fiancé", "fiancée", "I have no doubt."),
        ("The wife asked the husband.", "husband", "sister", ""),
        ("The daughter draws a star each day.", "husband", "wife", ""),
        ("The caller's coins are counted.", "adviser", CUSTOMER, "Your coins are counted."),
        ("Nobody but the tenant has a card.", "tenant", "officer", "Nobody but me has a card."),
    ],
)
def test_nobody_is_spoken_for_or_spoken_of_as_absent(clause, speaker, hearer, said):
    assert in_person(clause, speaker, hearer) == said
