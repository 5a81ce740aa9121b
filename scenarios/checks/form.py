"""Check the length, completeness and form of texts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from scenarios.checks.checked_scenario import CheckedScenario, Place, all_texts
from scenarios.errors import Problem
from scenarios.located import shortened
from scenarios.scripts import script_share
from scenarios.wording import sentences

_UNFINISHED = re.compile(
    r"\blorem\b|\bipsum\b|(?-i:\b(?:TODO|TBD|FIXME)\b)|\bxxx+\b|\?\?\?|^\W*$|(?<!\w)\.\.\.(?!\w)"
    r"|<[A-Za-z_][^<>]*>|\[(?:insert|name|company|date|place)[^\[\]]*\]",
    re.IGNORECASE,
)
"""``todo`` in small letters is a word of Spanish, Portuguese and Galician."""
_LANGUAGE = re.compile(
    r"[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|\d{3}))?(-([a-z0-9]{5,8}|\d[a-z0-9]{3}))*"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
FACTS = (3, 9)
BACKGROUND = (3, 6)
BACKGROUND_OF_FLOW = (2, 6)
"""A scene for one remark needs little to be understood (CEI, section 3.1: 2 to 4 sentences)."""
SCRIPT_SHARE = 0.6


def check_form(subject: CheckedScenario) -> Iterator[Problem]:
    """Find texts that are too long, unfinished, or not in the language; impossible dates."""
    yield from _lengths(subject)
    yield from _number_of_facts(subject)
    for path, text in all_texts(subject.template):
        yield from _finished(subject, path, text)
    yield from _languages(subject)
    yield from _dates(subject)


def _lengths(subject: CheckedScenario) -> Iterator[Problem]:
    scenario = subject.scenario
    limits: list[tuple[Place, str, tuple[int, int]]] = [
        (("background",), scenario.background, BACKGROUND_OF_FLOW if scenario.flow else BACKGROUND)
    ]
    spoken = [*subject.question_texts()]
    spoken += [(path, text) for path, text in subject.statement_texts() if path[0] == "opening"]
    limits += [(path, text, (1, 2)) for path, text in spoken]
    limits += [(("facts", i, "text"), fact.text, (1, 2)) for i, fact in enumerate(scenario.facts)]
    for path, text, (fewest, most) in limits:
        count = len(sentences(text))
        if not fewest <= count <= most:
            yield subject.error(
                path,
                f"{count} sentences" if count != 1 else "1 sentence",
                f"{fewest} to {most}",
                code="length",
            )


def _number_of_facts(subject: CheckedScenario) -> Iterator[Problem]:
    count = len(subject.template.facts)
    if subject.template.flow:
        return  # everybody knows all of their own facts, and there may be none
    if not FACTS[0] <= count <= FACTS[1]:
        report = subject.error if subject.shipped else subject.warning
        yield report(
            ("facts",),
            f"{count} facts" if count != 1 else "1 fact",
            f"{FACTS[0]} to {FACTS[1]}",
            code="number-of-facts",
        )


def _finished(subject: CheckedScenario, path: Place, text: str) -> Iterator[Problem]:
    if unfinished := _UNFINISHED.search(text):
        yield subject.error(
            path,
            shortened(unfinished.group() or text),
            "finished text",
            hint="write out what belongs here",
            code="unfinished",
        )
    if control := _CONTROL.search(text):
        yield subject.error(
            path, f"the control character {ord(control.group()):#06x}", "plain text", code="control"
        )


def _languages(subject: CheckedScenario) -> Iterator[Problem]:
    languages = subject.template.languages
    if not languages:
        yield subject.error(("languages",), "an empty list", "at least one", code="language")
    bad = [i for i, language in enumerate(languages) if not _LANGUAGE.fullmatch(language)]
    for index in bad:
        yield subject.error(
            ("languages", index),
            repr(languages[index]),
            "a language tag such as en, de-CH or zh-Hant",
            code="language",
        )
    if bad or not languages:
        return
    for path, text in [*subject.public_texts(), *subject.statement_texts(), *_fact_texts(subject)]:
        if script_share(text, languages) < SCRIPT_SHARE:
            yield subject.error(
                path,
                shortened(text),
                f"text in the script of {', '.join(languages)}",
                hint="mend the text or the languages",
                code="script",
            )


def _fact_texts(subject: CheckedScenario) -> Iterator[tuple[Place, str]]:
    for index, fact in enumerate(subject.scenario.facts):
        yield ("facts", index, "text"), fact.text
        yield ("facts", index, "about"), fact.about


def _dates(subject: CheckedScenario) -> Iterator[Problem]:
    scenario = subject.template
    dates: list[tuple[Place, str]] = [(("outcome", "as_of"), scenario.outcome.as_of)]
    if scenario.sources != "fictional":
        dates += [(("sources", i, "date"), s.date) for i, s in enumerate(scenario.sources)]
    for path, text in dates:
        if not _possible(text):
            yield subject.error(
                path, repr(text), "a date that the calendar has, 1800 to 2100", code="date"
            )


def _possible(text: str) -> bool:
    year, month, day = ([int(part) for part in text.split("-")] + [1, 1])[:3]
    try:
        return 1800 <= date(year, month, day).year <= 2100
    except ValueError:
        return False
