"""Run all checks of a scenario beyond its shape."""

from __future__ import annotations

from scenarios.checks.checked_scenario import CheckedScenario, Similarity
from scenarios.checks.duplicates import check_duplicates
from scenarios.checks.form import check_form
from scenarios.checks.labels import check_labels
from scenarios.checks.leakage import check_leakage
from scenarios.checks.left_texts import check_left_texts
from scenarios.checks.names import check_names
from scenarios.checks.references import check_references
from scenarios.checks.speaking_order import check_speaking_order
from scenarios.checks.truth import check_truth
from scenarios.errors import Problem
from scenarios.languages import is_in_english
from scenarios.located import Located
from scenarios.schemes.model import Scheme
from scenarios.spec import Scenario

__all__ = ["Similarity", "check_scenario"]


def check_scenario(
    scenario: Scenario,
    scheme: Scheme,
    located: Located | None = None,
    similarity: Similarity | None = None,
    *,
    shipped: bool = False,
) -> list[Problem]:
    """Check a scenario against its scheme and against itself.

    Args:
        scenario: the scenario, best as written, with its placeholders.
        scheme: the scheme whose labels, category and tags it uses.
        located: the file it was read from, for line numbers.
        similarity: compares meanings in English, where an embedding model is installed.
        shipped: hold it to what the library that ships must keep to.

    Returns:
        The problems, errors and warnings, in the order of the file.
    """
    where = located or Located(data=None, file=f"{scenario.id}.yaml")
    meanings = similarity if is_in_english(scenario) else None
    subject = CheckedScenario(scenario, scheme, where, meanings, shipped)
    references = [*check_references(scenario, where)]
    problems = [
        *references,
        *check_labels(subject),
        # what refers to nothing has no place in the knowledge graph
        *(() if references else check_truth(subject)),
        *check_names(subject),
        *check_form(subject),
        *check_speaking_order(subject),
        *check_leakage(subject),
        *check_duplicates(subject),
        *check_left_texts(subject),
    ]
    return sorted(problems, key=lambda problem: problem.line or 0)
