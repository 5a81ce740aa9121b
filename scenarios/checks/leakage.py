"""Check that nothing others can read gives away what not everybody knows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from scenarios.checks.checked_scenario import CheckedScenario, Place
from scenarios.errors import Problem
from scenarios.located import shortened
from scenarios.negation import is_negated
from scenarios.wording import (
    content_stems,
    numbers,
    sentences,
    share,
    shingles,
    union,
    word_count,
)

STEM_SHARE = 0.6
"""From which share of a fact's content words on a sentence gives it away. Ours; in the shipped
library the highest is .5, by topic words alone."""
RUN_SHARE = 0.3
"""The same for runs of four words."""
MIN_STEMS = 3
MEANING = 0.75
"""From which cosine similarity on a sentence gives a fact away. Ours; with all-MiniLM-L6-v2 the
highest in the shipped library is .64."""
ABOUT_WORDS = 10
ABOUT_SHARE = 0.4
"""From which share of the words that only the fact holds on its ``about`` gives it away."""


def check_leakage(subject: CheckedScenario) -> Iterator[Problem]:
    """Find public sentences, opening statements and ``about`` phrases that tell a private fact."""
    windows = list(_windows(subject))
    for index, fact in enumerate(subject.scenario.facts):
        places: set[Place] = set()
        others = (
            (path, text)
            for path, role, text in subject.strategy_texts()
            if role not in fact.knowers
        )
        for path, text in (*windows, *others):
            if path not in places and (told := _told(text, fact.text)):
                places.add(path)
                yield _leak(subject, path, text, index, f"shares {', '.join(sorted(told))} with")
        yield from _about(subject, index)
    if subject.similarity is not None:
        yield from _same_meaning(subject, windows)


def _windows(subject: CheckedScenario) -> Iterator[tuple[Place, str]]:
    """Yield sentences and neighbouring pairs of what is public; of statements what is not denied."""
    for path, text in subject.public_texts():
        parts = sentences(text)
        yield from ((path, part) for part in parts)
        yield from ((path, f"{a} {b}") for a, b in pairwise(parts))
    languages = {language.split("-")[0].casefold() for language in subject.scenario.languages}
    for path, text in subject.statement_texts():
        # A denial names what it denies without giving it away.
        denied = (any(is_negated(part, code) for code in languages) for part in sentences(text))
        yield from (
            (path, part) for part, no in zip(sentences(text), denied, strict=True) if not no
        )


def _told(text: str, fact: str) -> frozenset[str]:
    """Return the stems by which a text gives a fact away; none where it does not."""
    stems = content_stems(fact)
    common = stems & content_stems(text)
    if len(common) < MIN_STEMS:
        return frozenset()
    tells = (
        len(common) / len(stems) >= STEM_SHARE
        or share(frozenset(shingles(fact, 4)), frozenset(shingles(text, 4))) >= RUN_SHARE
    )
    return common if tells else frozenset()


def _leak(subject: CheckedScenario, path: Place, text: str, index: int, why: str) -> Problem:
    return subject.error(
        path,
        shortened(text, 90),
        f"nothing that gives away facts[{index}] ({subject.scenario.facts[index].id})",
        hint=f"it {why} the fact: say less here, or choose another fact",
        code="leak",
    )


def _about(subject: CheckedScenario, index: int) -> Iterator[Problem]:
    fact = subject.scenario.facts[index]
    place: Place = ("facts", index, "about")
    if (count := word_count(fact.about)) > ABOUT_WORDS:
        yield subject.error(
            place,
            f"{count} words",
            f"a noun phrase of at most {ABOUT_WORDS} words",
            code="about-length",
        )
    public = union(text for _, text in subject.public_texts())
    private = content_stems(fact.text) - public
    revealed = private & content_stems(fact.about)
    if len(revealed) >= MIN_STEMS and len(revealed) / len(private) >= ABOUT_SHARE:
        yield subject.error(
            place,
            shortened(fact.about),
            "a phrase that names the subject without telling the fact",
            hint=f"it shares {', '.join(sorted(revealed))} with the fact",
            code="about-leak",
        )
    if figures := numbers(fact.about) & numbers(fact.text):
        yield subject.error(
            place,
            f"{', '.join(sorted(figures))}, which stands in the fact",
            "a phrase without the figures of the fact",
            code="about-leak",
        )


def _same_meaning(
    subject: CheckedScenario, windows: Sequence[tuple[Place, str]]
) -> Iterator[Problem]:
    facts = subject.scenario.facts
    if subject.similarity is None or not windows or not facts:
        return
    rows = subject.similarity([fact.text for fact in facts], [text for _, text in windows])
    for index, row in enumerate(rows):
        places: set[Place] = set()
        for (path, text), cosine in zip(windows, row, strict=True):
            if cosine >= MEANING and path not in places and not _told(text, facts[index].text):
                places.add(path)
                yield _leak(subject, path, text, index, "means nearly the same as")
