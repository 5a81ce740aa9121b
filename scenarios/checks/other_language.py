"""Find texts that are plainly in another language than the scenario says it is written in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain

from scenarios.checks.checked_scenario import all_texts
from scenarios.errors import Problem
from scenarios.guessed_language import ANOTHER_SCRIPT, other_language
from scenarios.located import Located, dotted
from scenarios.spec import Scenario

FEWEST_WORDS = 8
"""Of the texts that ship none of this length has English at less than 0.4."""
DOUBT = 0.01
"""Probability of every declared language under which a text is in none of them."""
UNREAD = frozenset({"tags", "languages", "data", "sources"})
"""Fields that are no texts, or cite public records by their titles."""
_SHOWN = 4


def check_other_language(scenario: Scenario, located: Located) -> Iterator[Problem]:
    """Warn once of a scenario with texts in a language that it does not declare.

    Another script is an error that :mod:`scenarios.checks.form` finds.
    """
    codes = [language.split("-")[0].casefold() for language in scenario.languages]
    seen = {}
    for place, text in all_texts(scenario.named()):
        if place[0] in UNREAD:
            continue
        guesses = [other_language(text, code, FEWEST_WORDS, DOUBT)[1] for code in codes]
        if guesses and all(guesses) and ANOTHER_SCRIPT not in guesses:
            seen[place] = guesses[0]
    if not seen:
        return
    places = list(seen)
    ((likely, _),) = Counter(seen.values()).most_common(1)
    named = ", ".join(chain(map(dotted, places[:_SHOWN]), ["..."] * (len(places) > _SHOWN)))
    some = "a text" if len(places) == 1 else f"{len(places)} texts"
    yield located.problem(
        places[0],
        found=f"{some} in what looks like the language {likely} ({named})",
        expected=f"texts in {' or '.join(scenario.languages)}",
        hint=f"write 'languages: [{likely}]', or put the texts into the language that is named",
        code="other-language",
        severity="warning",
    )
