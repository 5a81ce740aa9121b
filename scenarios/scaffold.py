"""Write a commented scenario file that is valid as it stands, for any scheme."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable
from pathlib import Path
from string import Template

from pydantic import TypeAdapter, ValidationError

from scenarios.errors import UsageError
from scenarios.schemes.model import Dimension, Identifier, Scheme
from scenarios.spelling import suggestion
from scenarios.terms import RESPONDER

TEMPLATE = Path(__file__).parent / "data" / "new_scenario.yaml"
FLOW_TEMPLATE = TEMPLATE.with_name("new_flow_scenario.yaml")
WIDTH = 100
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_-]*( [A-Za-z0-9_-]+)*")
_RESERVED = frozenset({"true", "false", "null"})
_CLAIMING = """\
          text: It dried out, I'm afraid. I was here every other day, just as I'd promised.
          claims: [every_other_day, dried_out]
"""
_CLAIMING_NOTHING_FALSE = """\
          text: I'm sorry about the fern, really. Most of the others have come through, as you see.
          claims: [others_well]
"""


def new_scenario(scenario_id: str, scheme: Scheme, category: str | None = None) -> str:
    """Return the text of a new scenario file, with guidance above every field.

    Args:
        scenario_id: its id; the file is to be called the same.
        scheme: whose goals, acts, categories and tags it offers.
        category: one of the scheme's; None is the first of them.

    Raises:
        UsageError: this cannot be an id, or the scheme has no such category.
    """
    _check_id(scenario_id)
    named = tuple(dict.fromkeys(role for d in scheme.dimensions for role in d.of))
    if not scheme.assigned or set(named) - {RESPONDER}:
        return _with_a_flow(scenario_id, scheme, category, named)
    tags = [tag for tag in scheme.tags if tag == "everyday"] or list(scheme.tags[:1])
    return Template(TEMPLATE.read_text(encoding="utf-8")).substitute(
        id=scenario_id,
        scheme=scheme.id,
        category=_scalar(_category(scheme, category)),
        categories=_comment("One of: ", scheme.categories, "Any word."),
        tags=f"[{', '.join(_scalar(tag) for tag in tags)}]",
        tag_list=_comment("There are: ", scheme.tags, "Any words."),
        goals=_comment("The goals are: ", scheme.goal.values, indent=6),
        statements=_statements(scheme),
        felicitous=_felicitous(scheme),
    )


def _with_a_flow(
    scenario_id: str, scheme: Scheme, category: str | None, named: tuple[str, ...]
) -> str:
    """Write roles of the scheme's own and a flow, without which there are no others."""
    free = [name for name in ("first", "second", "third")[len(named) :] if name not in named]
    first, second = (*named, *free)[:2]
    return Template(FLOW_TEMPLATE.read_text(encoding="utf-8")).substitute(
        id=scenario_id,
        scheme=scheme.id,
        first=first,
        second=second,
        labelled="\n    labelled: true" if scheme.labels_words_of(second) else "",
        category=_scalar(_category(scheme, category)),
        categories=_comment("One of: ", scheme.categories, "Any word."),
        tags=f"[{', '.join(_scalar(tag) for tag in scheme.tags[:1])}]",
        tag_list=_comment("There are: ", scheme.tags, "Any words."),
    )


def _check_id(scenario_id: str) -> None:
    try:
        TypeAdapter(Identifier).validate_python(scenario_id)
    except ValidationError:
        raise UsageError(
            f"{scenario_id!r} cannot be the id of a scenario",
            "it takes lower-case letters, digits and _, beginning with a letter, at most 64",
        ) from None


def _category(scheme: Scheme, category: str | None) -> str:
    if category is None:
        return scheme.categories[0] if scheme.categories else "everyday"
    if scheme.categories and category not in scheme.categories:
        raise UsageError(
            f"the scheme {scheme.id!r} has no category {category!r}",
            suggestion(category, scheme.categories, listing="categories"),
        )
    return category


def _statements(scheme: Scheme) -> str:
    """Write a statement for every goal; where nobody is to be misled, one that no fact belies."""
    truthful = scheme.truthful_goals
    return "".join(
        f"        {_scalar(goal)}:\n" + (_CLAIMING_NOTHING_FALSE if goal in truthful else _CLAIMING)
        for goal in scheme.goal.values
    )


def _felicitous(scheme: Scheme) -> str:
    """Offer the labels of the felicity dimension, if there is one."""
    if scheme.felicity is None:
        return ""
    dimension: Dimension = scheme.dimension(scheme.felicity)
    labels = ", ".join(_scalar(value) for value in dimension.values)
    return (
        f"\n# Which labels of {dimension.id} the responder has the standing for; leave some out where\n"
        f"# saying it would not make it so. No list at all means every one.\nfelicitous: [{labels}]\n"
    )


def _comment(opening: str, names: Iterable[str], otherwise: str = "", indent: int = 0) -> str:
    """Write a list of names as the rest of a comment, wrapped into further comment lines."""
    text = opening + ", ".join(names)
    if text == opening:
        return otherwise
    lines = textwrap.wrap(" ".join(text.split()) + ".", WIDTH - indent - 2, break_on_hyphens=False)
    return f"\n{' ' * indent}# ".join(lines)


def _scalar(text: str) -> str:
    """Write a text as YAML, in quotes where it could be read as something else."""
    if _PLAIN.fullmatch(text) and text.casefold() not in _RESERVED:
        return text
    return json.dumps(text, ensure_ascii=False)
