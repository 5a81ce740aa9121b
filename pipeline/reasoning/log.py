"""Logs of reasoning: attempts with their responses, claims and corrections, read and written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from pipeline.chunks import marked_parts
from pipeline.reasoning.claims import PayoffClaim
from pipeline.reasoning.game import Game
from pipeline.reasoning.grammar import NotAPredicate, read_predicate
from pipeline.reasoning.solver import holds

RESPONSE: Final = "RESPONSE"
PREDICATES: Final = "PREDICATES"
FAILED: Final = "FAILED QUERIES"
CORRECTING: Final = "CORRECTING PROMPT"
_SECTIONS: Final = (RESPONSE, PREDICATES, FAILED, CORRECTING)

_ATTEMPT = re.compile(r"^###ATTEMPT##[ \t]*(\d{1,6})[ \t]*(?:~[ \t]*)?$", re.MULTILINE)
_HEADER = re.compile(rf"^({'|'.join(_SECTIONS)})##[ \t]*$", re.MULTILINE)
_MARK = re.compile(rf"^(?=###ATTEMPT##|(?:{'|'.join(_SECTIONS)})##)", re.MULTILINE)
"""Where a body has a line that would be read as a header; it is moved by a blank."""
_END = re.compile(r"~\s*\Z")


@dataclass(frozen=True, slots=True)
class LoggedClaim:
    """A predicate as it was logged, and what it claims."""

    text: str
    claim: PayoffClaim | None
    problem: str = ""
    """What is odd about a text that is no predicate; empty for a claim."""


def logged_claim(text: str) -> LoggedClaim:
    """Read one line of a log; a text that is no predicate is kept with its reason."""
    try:
        return LoggedClaim(text, read_predicate(text))
    except NotAPredicate as error:
        return LoggedClaim(text, None, str(error))


@dataclass(frozen=True, slots=True)
class LoggedAttempt:
    """One attempt of a log; a section that is not there is None."""

    number: int
    response: str
    predicates: tuple[LoggedClaim, ...] | None = None
    failed: tuple[str, ...] | None = None
    """The predicates that did not hold when the log was written, as they were written."""
    correcting: str | None = None

    def choice(self, choices: Sequence[str]) -> str | None:
        """Return the last of the choices that stands in braces in the response, if any."""
        return chosen(self.response, choices)

    def failing(self, game: Game) -> tuple[LoggedClaim, ...]:
        """Return the claims that do not hold in a game; what is no predicate is left out."""
        claims = self.predicates or ()
        return tuple(c for c in claims if c.claim is not None and not holds(c.claim, game))


@dataclass(frozen=True, slots=True)
class ReasoningLog:
    """One log: its attempts in order, and what was odd about the file."""

    name: str
    attempts: tuple[LoggedAttempt, ...]
    problems: tuple[str, ...] = field(default=())


def chosen(response: str, choices: Sequence[str]) -> str | None:
    """Return the last of the choices that stands in braces, ``{R}`` or ``{**R**}``."""
    names = "|".join(re.escape(name) for name in sorted(choices, key=len, reverse=True))
    found = re.findall(rf"\{{[^\w{{}}]{{0,8}}({names})[^\w{{}}]{{0,8}}\}}", response)
    return found[-1] if found else None


def is_log(text: str) -> bool:
    """Tell whether a text has the form of a log, by the line that begins an attempt."""
    return _ATTEMPT.search(_unix_lines(text)) is not None


def read_log(text: str, name: str) -> ReasoningLog:
    """Read a log; whatever is odd about it is said in its ``problems``, and nothing is raised."""
    text = _unix_lines(text)
    parts = list(marked_parts(text, _ATTEMPT.finditer(text)))
    problems: list[str] = []
    before = text[: parts[0][0].start()] if parts else text
    if before.strip():
        problems.append("there is text before the first attempt; it was left out")
    if not parts:
        problems.append("there is no attempt in it")
    attempts = [_attempt(int(start[1]), body, problems) for start, body in parts]
    numbers = [attempt.number for attempt in attempts]
    if numbers != list(range(len(numbers))):
        problems.append(f"attempts are numbered {', '.join(map(str, numbers))}")
    return ReasoningLog(name, tuple(attempts), tuple(problems))


def write_log(attempts: Sequence[LoggedAttempt]) -> str:
    """Return attempts in the form of a log, which :func:`read_log` reads again."""
    blocks = []
    for attempt in attempts:
        claims, failed = attempt.predicates, attempt.failed
        bodies = {
            RESPONSE: attempt.response,
            PREDICATES: None if claims is None else "\n".join(claim.text for claim in claims),
            FAILED: None if failed is None else "\n".join(failed),
            CORRECTING: attempt.correcting,
        }
        sections = [
            f"{name}##\n{_MARK.sub(' ', body)}~\n\n"
            for name, body in bodies.items()
            if body is not None
        ]
        blocks.append(f"###ATTEMPT##{attempt.number}~\n{''.join(sections)}")
    return "".join(blocks)


def _attempt(number: int, text: str, problems: list[str]) -> LoggedAttempt:
    bodies: dict[str, str] = {}
    for header, part in marked_parts(text, _HEADER.finditer(text)):
        name, body = header[1], part.removeprefix("\n")
        if name in bodies:
            problems.append(f"attempt {number}: {name} is there twice; the first counts")
            continue
        if not _END.search(body):
            problems.append(f"attempt {number}: {name} does not end with ~")
        bodies[name] = _END.sub("", body)
    if RESPONSE not in bodies:
        problems.append(f"attempt {number}: there is no {RESPONSE}")
    claims = _lines(bodies.get(PREDICATES))
    read = None if claims is None else tuple(map(logged_claim, claims))
    problems += [f"attempt {number}: {claim.problem}" for claim in read or () if claim.problem]
    return LoggedAttempt(
        number, bodies.get(RESPONSE, ""), read, _lines(bodies.get(FAILED)), bodies.get(CORRECTING)
    )


def _unix_lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _lines(body: str | None) -> tuple[str, ...] | None:
    if body is None:
        return None
    return tuple(line.strip() for line in body.split("\n") if line.strip())
