"""A dialogue the way people read one: who says what, and the labels beside it."""

from __future__ import annotations

import shutil
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from hipo.cli.terminal.console import cells_of, padded
from hipo.cli.terminal.wrapping import harmless
from scenarios.dialogue import FIT, Attempt, Candidate, Dialogue, Draft, TacticLabel, Trace, Turn
from scenarios.plural import enumerated, plural
from scenarios.schemes.vocabulary import label_list
from scenarios.spec import Scenario
from scenarios.terms import LabelValue

MAX_WIDTH = 100
MIN_WIDTH = 50
MARGIN = 4


@dataclass(frozen=True, slots=True)
class Heading:
    """What stands above a dialogue."""

    id: str
    """Empty where the dialogue is not kept."""
    arm: str
    """A name for people: strategy and model."""
    scenario: Scenario | None = None
    """The scenario as it was played; None where it is not at hand any more."""


def render(dialogue: Dialogue, heading: Heading, *, trace: bool = False) -> str:
    """Return a dialogue as plain text, no wider than the terminal.

    Everything that people or models wrote is shown as it is: no markup is interpreted, and
    control characters are made visible.
    """
    columns = shutil.get_terminal_size((MAX_WIDTH, 24)).columns
    page = _Page(max(MIN_WIDTH, min(columns, MAX_WIDTH)))
    lines = list(_heading(page, dialogue, heading))
    names = _names(dialogue, heading.scenario)
    indent = max(map(cells_of, names.values())) + 2
    column = page.column(indent)
    for turn in dialogue.turns:
        lines.append("")
        lines += page.wrap(turn.text, first=padded(names[turn.role], indent), indent=indent)
        beside = list(_labels(column, turn))
        if trace and turn.trace is not None:
            beside += _trace(column, turn.trace)
        lines += [" " * indent + line for line in beside]
    return "\n".join(line.rstrip() for line in lines)


@dataclass(frozen=True, slots=True)
class _Page:
    """Wraps text to a width."""

    width: int

    def column(self, indent: int) -> _Page:
        """Return what is left of the page beside an indentation."""
        return _Page(self.width - indent)

    def wrap(self, text: str, *, first: str = "", indent: int = 0) -> list[str]:
        """Wrap harmless text: ``first`` stands before it, later lines are indented."""
        lines: list[str] = []
        for paragraph in harmless(text).split("\n"):
            lead = first if not lines else " " * indent
            wide = sum(unicodedata.east_asian_width(char) in "WF" for char in paragraph)
            width = self.width if 2 * wide < len(paragraph) else self.width // 2
            lines += textwrap.wrap(
                paragraph,
                width=max(width, indent + 20),
                initial_indent=lead,
                subsequent_indent=" " * indent,
                break_on_hyphens=False,
            ) or [lead]
        return lines


def _heading(page: _Page, dialogue: Dialogue, heading: Heading) -> Iterator[str]:
    case = dialogue.case
    title = heading.scenario.title if heading.scenario else case.scenario
    yield f"{title}  ({case.scenario})"
    flows = any(turn.labelled is not None for turn in dialogue.turns)
    length = plural(case.turns, "labelled turn" if flows else "exchange")
    parts = [*([case.goal] if case.goal else []), length, case.language, heading.arm]
    if case.repetition:
        parts.append(f"repetition {case.repetition}")
    yield " · ".join(parts)
    if case.variation:
        yield "varied: " + ", ".join(f"{axis} {value}" for axis, value in case.variation)
    if heading.id:
        yield f"id {heading.id}"
    facts = {fact.id: fact for fact in heading.scenario.facts} if heading.scenario else {}
    if heading.scenario is None or (case.fact and case.fact not in facts):
        yield f"private fact: {case.fact or 'not at hand'}"
    elif case.fact:
        fact = facts[case.fact]
        yield from page.wrap(fact.text, first=f"private fact ({fact.id}): ", indent=MARGIN)
    else:
        for fact in heading.scenario.facts:
            knowers = harmless(enumerated(heading.scenario.knowers_named(fact)))
            first = f"private to {knowers} ({fact.id}): "
            yield from page.wrap(fact.text, first=first, indent=MARGIN)


def _names(dialogue: Dialogue, scenario: Scenario | None) -> Mapping[str, str]:
    """Return what to call each role; what the dialogue has stands in where no scenario is at hand."""
    names = {turn.role: turn.role for turn in dialogue.turns}
    names |= {key: role.name for key, role in scenario.roles.items()} if scenario else {}
    return {key: harmless(_short(name)) for key, name in names.items()}


def _short(name: str) -> str:
    """Keep a role's name to a width that leaves room for what it says."""
    return name if len(name) <= 16 else name[:15] + "…"


def _labels(page: _Page, turn: Turn) -> Iterator[str]:
    """Yield one line per label: dimension, label, what was wanted instead, and why."""
    wanted = dict(turn.wanted)
    width = max((cells_of(label.dimension) for label in turn.tactic), default=0)
    for label in turn.tactic:
        yield from _label(page, label, wanted.get(label.dimension), width)


def _label(page: _Page, label: TacticLabel, wanted: str | None, width: int) -> Iterator[str]:
    value = shown(label.value)
    notes = []
    if wanted is not None:
        notes.append("as wanted" if value == wanted else f"WANTED {wanted}")
    if label.raw is not None and label.raw != value:
        notes.append(f"written {label.raw!r}")
    note = f"  [{', '.join(notes)}]" if notes else ""
    why = f"  {label.rationale}" if label.rationale else ""
    first = padded(label.dimension, width + 2)
    yield from page.wrap(f"{value}{note}{why}", first=first, indent=width + 2)


def _trace(page: _Page, trace: Trace) -> Iterator[str]:
    """Yield how the utterance came to be."""
    if trace.candidates:
        yield f"candidates ({plural(len(trace.candidates), 'sample')}, * said):"
        for index, candidate in enumerate(trace.candidates):
            yield from _candidate(page, candidate, said=index == trace.chosen)
    elif len(trace.attempts) > 1 or any(attempt.critiques for attempt in trace.attempts):
        yield f"attempts ({trace.strategy}, * said):"
        for index, attempt in enumerate(trace.attempts):
            yield from _attempt(page, index, attempt, said=index == trace.chosen)
    for note in trace.notes:
        yield from page.wrap(note, first=f"{trace.strategy}: ", indent=2)


def _candidate(page: _Page, candidate: Candidate, *, said: bool) -> Iterator[str]:
    score = "      -" if candidate.score is None else f"{candidate.score:7.4f}"
    first = f"{'*' if said else ' '} {candidate.sample} {score}  "
    if candidate.draft is None:
        yield from page.wrap(f"(left out: {candidate.error})", first=first, indent=len(first))
    else:
        text = f"{candidate.draft.text}  ({_tactic(candidate.draft)})"
        yield from page.wrap(text, first=first, indent=len(first))


def _attempt(page: _Page, index: int, attempt: Attempt, *, said: bool) -> Iterator[str]:
    first = f"{'*' if said else ' '} {index}  "
    text = f"{attempt.draft.text}  ({_tactic(attempt.draft)})"
    yield from page.wrap(text, first=first, indent=len(first))
    for critique in attempt.critiques:
        judged = attempt.verification or critique.dimension == FIT
        good, bad = ("holds", "fails") if judged else ("carried", "not carried")
        verdict = good if critique.carried else bad
        yield from page.wrap(
            f"{critique.dimension} {verdict}: {critique.reason}",
            first=" " * len(first) + "- ",
            indent=len(first) + 2,
        )


def _tactic(draft: Draft) -> str:
    return ", ".join(shown(label.value) for label in draft.tactic)


def shown(value: LabelValue) -> str:
    """Return a label as people read it."""
    if isinstance(value, tuple):
        return " + ".join(label_list(value))
    return f"{value:g}" if isinstance(value, float) else value


def render_prompts(records: Iterable[tuple[str, Sequence[tuple[str, str]], Sequence[str]]]) -> str:
    """Return prompts and the answers to them, one after the other.

    Args:
        records: for each prompt a title, its (role, content) messages, and the answers.
    """
    lines: list[str] = []
    for title, messages, answers in records:
        lines += ["", f"=== {title}"]
        for role, content in messages:
            lines += [f"--- {role}", content]
        for answer in answers:
            lines += ["--- answer", answer]
    return "\n".join(lines)
