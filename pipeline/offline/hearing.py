"""Hear what kind of answer was given, as whoever asked can: from its words alone.

A lie and a truth are heard alike: of a line that was written, only what anybody hears counts of its label,
and nothing here knows the fact or the goal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from pipeline.offline.grammar import MARKS, around_slots, listed
from pipeline.offline.lexicon import tree
from pipeline.offline.person import as_heard, spoken_clauses
from pipeline.offline.staging import StagedScene, says
from pipeline.offline.tactics import AFFECT, INTENTION, LIE, VERACITY
from pipeline.offline.wording import adapted, sentences
from scenarios.lines.model import StageLine, StageLines

TOLD, VAGUE, REFUSED, TURNED, FELT = "told", "vague", "refused", "turned", "felt"
UNANSWERED: Final = (VAGUE, REFUSED, TURNED, FELT)
UNTOLD: Final = "untold"
"""Of who has told nothing yet."""
FORMS: Final = {
    "Quantity": TOLD,
    LIE: TOLD,
    "Manner": VAGUE,
    "None": REFUSED,
    "Relevance": TURNED,
}
"""How an answer sounds, by what it does with the truth."""
_FEELING: Final = {**FORMS, LIE: FELT, "Relevance": FELT}
"""The same of a line that is all feeling: a lie is only taken for granted there, and nothing is told."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What somebody hears in an answer."""

    form: str = ""
    """One of ``told``, ``vague``, ``refused``, ``turned`` (to something else) and ``felt`` (nothing but a
    feeling); nothing where nobody could tell."""
    told: str = ""
    """What was told, as who heard it says it; nothing where that is not safe."""
    vague: str = ""
    """The vague answer that was given."""
    named: str = ""
    """The thing that was turned to, or left unanswered."""

    @property
    def slots(self) -> dict[str, tuple[str, ...]]:
        """What the slots of a reaction can be filled with."""
        found = {"told": self.told, "vague": self.vague, "named": self.named}
        return {name: (text,) for name, text in found.items() if text}


def hear(answer: str, scene: StagedScene | None, speaker: str, hearer: str) -> Heard:
    """Return what kind of answer a text is, and what it names.

    Args:
        answer: what was said.
        scene: the lines for its scenario, where some were written.
        speaker: the role of who answered.
        hearer: the role of who asked.
    """
    low = answer.lower()
    lines = scene.lines if scene else None
    written = _written(answer, lines) if lines else []
    if lines and written:
        forms = {_form_of(line, lines) for line in written}
        return Heard(forms.pop()) if len(forms) == 1 else Heard()
    if clause := _first_in(low, _tellable(scene, speaker, hearer)):
        return Heard(TOLD, told=as_heard(clause, speaker, hearer))
    issues = lines.at_issue if lines else ()
    if clause := _first_in(low, _vague(issues)):
        return Heard(VAGUE, vague=clause)
    if lines and (topic := _first_in(low, lines.topics)):
        return Heard(TURNED, named=topic)
    form = _known_by_its_frame(answer)
    return Heard(form, named=_first_in(low, issues) if form == REFUSED else "")


def claims_heard(
    answers: Iterable[str], scene: StagedScene, speaker: str, hearer: str
) -> frozenset[str]:
    """Return the ids of what was claimed in answers, be it true or not."""
    said = tuple(answers)
    low = " ".join(said).lower()
    written = {
        claim for answer in said for line in _written(answer, scene.lines) for claim in line.claims
    }
    own = scene.lines.in_own_words
    told = {
        claim
        for claim, text in scene.claims.items()
        if _first_in(low, (*filter(None, [own.get(claim)]), *spoken_clauses(text, speaker, hearer)))
    }
    return frozenset(written | told)


def unclaimed(
    claims: str, answers: Iterable[str], scene: StagedScene, speaker: str, hearer: str
) -> str:
    """Return, of claims that a prompt shows, those that no answer has made."""
    for claim in claims_heard(answers, scene, speaker, hearer):
        claims = claims.replace(scene.claims[claim], "")
    return claims


def _written(answer: str, lines: StageLines) -> list[StageLine]:
    """Return the lines that an answer says, be it alone or with a second sentence after it."""
    begun = " ".join(sentences(answer)[:-1])
    said = [one for one in (answer, begun) if one]
    return [line for line in lines.responder if any(says(one, line.text) for one in said)]


def _form_of(line: StageLine, lines: StageLines) -> str:
    """Return how a written line sounds; nothing where its question is answered without the fact."""
    if line.fact in lines.needless:
        return ""
    form = FORMS.get(line.labels.get(VERACITY, ""), "")
    felt = form == TURNED and line.labels.get(INTENTION) == AFFECT
    return FELT if felt else form


def _first_in(low: str, phrases: Iterable[str]) -> str:
    return next((phrase for phrase in phrases if any(one in low for one in _said_as(phrase))), "")


@lru_cache(maxsize=8192)
def _said_as(phrase: str) -> tuple[str, str]:
    """Return a phrase in lower case as it is said in any register."""
    return phrase.lower(), adapted(phrase, "formal").lower()


def _tellable(scene: StagedScene | None, speaker: str, hearer: str) -> Iterator[str]:
    """Yield the clauses that somebody of this scene tells, be they true or not."""
    if scene:
        yield from (detail.text for detail in scene.lines.details)
        yield from scene.lines.in_own_words.values()
        for claim in scene.claims.values():
            yield from spoken_clauses(claim, speaker, hearer)
    for told in (UNTOLD, TOLD):
        yield from listed("asides", "lies", told)


@lru_cache(maxsize=256)
def _vague(issues: tuple[str, ...]) -> tuple[str, ...]:
    """Return every vague answer: those that name something first, then the longest that stand in others."""
    clauses = [clause for form in tree("vague") for clause in listed("vague", form)]
    named = [c.replace("{issue}", issue) for c in clauses for issue in issues if "{issue}" in c]
    plain = sorted((clause for clause in clauses if "{issue}" not in clause), key=len, reverse=True)
    return (*named, *plain)


@lru_cache(maxsize=4096)
def frame(template: str) -> tuple[str, ...]:
    """Return what stands around the slots of a template, long enough to know it by, in any register."""
    parts = around_slots(template)
    return tuple(said.rstrip("?") for part in parts for said in _said_as(part))


@lru_cache(maxsize=4096)
def _known_by_its_frame(answer: str) -> str:
    """Return the form of an answer of the grammar, by the longest of its phrases that stands in it."""
    low = answer.lower()
    return next((form for phrase, form in _frames() if phrase in low), "")


@cache
def _frames() -> tuple[tuple[str, str], ...]:
    """Return what stands around the slots of the phrase books, and the form of those lines."""
    forms: dict[str, set[str]] = {}
    for book, heard in (("cores", FORMS), ("feelings", _FEELING)):
        for veracity, by_act in tree(book).items():
            for template in (line for lines in by_act.values() for line in lines):
                for said in frame(MARKS.sub("", template)):
                    forms.setdefault(said, set()).add(heard[veracity])
    sure = [(phrase, min(found)) for phrase, found in forms.items() if len(found) == 1]
    return tuple(sorted(sure, key=lambda one: (-len(one[0]), one[0])))
