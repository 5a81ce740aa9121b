"""Check that no two facts of a scenario say nearly the same."""

from __future__ import annotations

from collections.abc import Iterator

from scenarios.checks.checked_scenario import CheckedScenario
from scenarios.errors import Problem
from scenarios.wording import resemblance

WORDING = 0.4
"""From which Jaccard similarity of words and word pairs on two facts are the same one. Ours; in
the shipped library the highest is .15."""
MEANING = 0.85
"""From which cosine similarity on they are; with all-MiniLM-L6-v2 the library's highest is .55."""


def check_duplicates(subject: CheckedScenario) -> Iterator[Problem]:
    """Find pairs of facts that differ too little in wording or, where it can be told, in meaning.

    What two people know of the same matter, each without the other, may be alike.
    """
    facts = subject.scenario.facts
    texts = [fact.text for fact in facts]
    cosines = (
        None
        if subject.similarity is None or not texts
        else [list(row) for row in subject.similarity(texts, texts)]
    )
    for later in range(len(facts)):
        for earlier in range(later):
            if not set(facts[later].knowers) & set(facts[earlier].knowers):
                continue
            alike = resemblance(texts[later], texts[earlier])
            cosine = 0.0 if cosines is None else float(cosines[later][earlier])
            if alike >= WORDING or cosine >= MEANING:
                measure = f"wording {alike:.2f}" if alike >= WORDING else f"meaning {cosine:.2f}"
                yield subject.error(
                    ("facts", later, "text"),
                    f"nearly what facts[{earlier}] ({facts[earlier].id}) says ({measure})",
                    "facts that differ",
                    code="near-duplicate",
                )
