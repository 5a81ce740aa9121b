"""The second half of a review: whether there is a real problem, and which."""

from __future__ import annotations

from collections.abc import Sequence

from quality.review.forms import KEYS, Fields, FormChoice
from scenarios.reviews import Opinion
from scenarios.schemes.model import Scheme
from scenarios.verdicts import Flag

LONGEST_NOTE = 2_000
YES, NO = "yes", "no"


def reasons(
    scheme: Scheme, flags: Sequence[Flag], *, keeps_back: bool = True
) -> tuple[FormChoice, ...]:
    """Return what can be wrong with a dialogue: what it was flagged for goes first.

    Args:
        scheme: what declared labels are of.
        flags: of the dialogue.
        keeps_back: whether one of the people alone knows something.
    """
    named: dict[str, str] = {
        f"flag:{flag.code}": f"As flagged: {flag.code.replace('_', ' ')}" for flag in flags
    }
    for dimension in scheme.declared:
        title = dimension.title or dimension.id
        named[f"label:{dimension.id}"] = f"Declared label is wrong: {title}"
    if keeps_back:
        named["fact"] = "The private fact is treated in a way nobody would"
    named["incoherent"] = "It does not hang together"
    named["unnatural"] = "Nobody talks like that"
    named["other"] = "Something else (say what in the note)"
    return tuple(
        FormChoice(KEYS[i] if i < len(KEYS) else "", value, title)
        for i, (value, title) in enumerate(named.items())
    )


def read_opinion(
    data: Fields, offered: Sequence[FormChoice], lead_s: float
) -> tuple[Opinion, dict[str, str]]:
    """Read the answer of a review; returns it with what is wrong, by field."""
    problems: dict[str, str] = {}
    issue = _one(data, "issue")
    if issue not in (YES, NO):
        problems["issue"] = "not answered"
    reason = _one(data, "issue_reason") if issue == YES else ""
    if issue == YES and reason not in {choice.value for choice in offered}:
        problems["issue_reason"] = "not answered"
    scenario = ""
    if _one(data, "scenario_wrong") == YES:
        scenario = read_text(data, "scenario_problem")
        if not scenario:
            problems["scenario_problem"] = "say what is wrong with the scenario"
    opinion = Opinion(
        issue=issue == YES if issue else None,
        issue_reason=reason,
        scenario_problem=scenario,
        note=read_text(data, "note"),
        lead_s=lead_s,
    )
    return opinion, problems


def opinion_values(opinion: Opinion | None) -> dict[str, list[str]]:
    """Return what a form sends that holds this opinion."""
    if opinion is None:
        return {}
    values = {"note": [opinion.note]}
    if opinion.issue is not None:
        values["issue"] = [YES if opinion.issue else NO]
    if opinion.issue_reason:
        values["issue_reason"] = [opinion.issue_reason]
    if opinion.scenario_problem:
        values["scenario_wrong"] = [YES]
        values["scenario_problem"] = [opinion.scenario_problem]
    return values


def read_text(data: Fields, name: str) -> str:
    """Return a free text, its line ends unified and its length bounded."""
    text = _one(data, name).replace("\r\n", "\n").replace("\r", "\n")
    kept = "".join(char for char in text if char in "\n\t" or ord(char) >= 32)
    return kept.strip()[:LONGEST_NOTE]


def _one(data: Fields, name: str) -> str:
    values = data.get(name, ())
    return values[0] if len(values) == 1 else ""
