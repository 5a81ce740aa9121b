"""Speak in a conversation of any roles: the authored line for the moment, and its labels."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.offline.conditions import Conditions, read_conditions
from pipeline.offline.dice import Dice, hash_texts
from pipeline.offline.grammar import listed
from pipeline.offline.hearing import UNTOLD
from pipeline.offline.reading import (
    PRIVATE_HEADINGS,
    ActorRequest,
    AnswerKey,
    PromptNotUnderstood,
)
from pipeline.offline.staging import flow_lines_of
from pipeline.offline.tactics import ACT, INTENTION, LIE, VERACITY, draw_value, labels_wanted
from scenarios.lines.model import FlowLine, FlowLines

_ROUND = re.compile(r"(\d+) of \d+")
_REASON, _CARRIED, _RATIONALE = "_reason", "_carried", "_rationale"
_WORDS, _LABELS, _LIES = 5, 6, 7
_LONGEST = 60
"""Words of a line."""
WRITTEN = "The line was written for this moment with this label."
DRAWN = "Nothing was written that says so; the label is drawn."
PLAIN_LIE = {INTENTION: "Inform", VERACITY: LIE, ACT: "Representatives"}


@dataclass(frozen=True, slots=True)
class _Spoken:
    text: str
    labels: Mapping[str, object]
    """What whoever wrote the line labelled it with."""


def speak_in_flow(asked: ActorRequest, state: int, seed: int) -> dict[str, object]:
    """Answer as one role of a flow: words alone, words and labels, or a reflection on a draft.

    Raises:
        PromptNotUnderstood: a section the rules need is missing.
    """
    lines = flow_lines_of(asked)
    if asked.task == "reflect":
        return _reflect(asked, lines)
    spoken = _authored(asked, lines, Dice(state, _WORDS, seed))
    spoken = spoken or _first_lie(asked, lines, seed) or _unwritten(asked, seed)
    return _labelled(asked, spoken, Dice(state, _LABELS, seed))


def _place(asked: ActorRequest) -> tuple[str, str, int]:
    """Return phase, role and round (from 0)."""
    rounds = _ROUND.match(asked.said_of("This part", "Round"))
    phase = asked.said_of("This part", "Part").replace(" ", "_")
    return phase, asked.speaker.lower().replace(" ", "_"), int(rounds[1]) - 1 if rounds else 0


def _authored(asked: ActorRequest, lines: FlowLines | None, dice: Dice) -> _Spoken | None:
    """Return the line of this round that has most of the labels wanted, and was not said.

    Where everything written for the round was said, or nothing was written for it, it is any line
    of the role in this phase.
    """
    if lines is None:
        return None
    phase, role, place = _place(asked)
    moments = lines.moments(phase, role)
    said = {text for _, text in asked.spoken} | {asked.draft}
    goal = asked.said_of("Your goal", "Goal")

    def open_to(moment: Sequence[FlowLine]) -> list[FlowLine]:
        return [
            line
            for line in moment
            if line.text not in said and (not line.goal or not goal or goal in line.goal)
        ]

    now = open_to(moments[place]) if place < len(moments) else []
    # What a later round needs is left to it.
    late = [line for moment in moments[:place] for line in moment]
    choice = now or open_to(late)
    if not choice:
        return None
    wanted = asked.wanted.items()
    most = max(sum(str(line.labels.get(k)) == v for k, v in wanted) for line in choice)
    best = [x for x in choice if sum(str(x.labels.get(k)) == v for k, v in wanted) == most]
    line = dice.pick(best)
    return _Spoken(line.text, line.labels)


def _first_lie(asked: ActorRequest, lines: FlowLines | None, seed: int) -> _Spoken | None:
    """Return the lie that a deception is without, where nobody wrote lines for whoever has a secret.

    See :func:`pipeline.offline.tactics.labels_wanted`.
    """
    goal = asked.said_of("Your goal", "Goal")
    private = any(asked.sections.get(heading) for heading in PRIVATE_HEADINGS)
    if lines is not None or not private or asked.said_by(asked.speaker):
        return None
    if labels_wanted(asked, goal).get(VERACITY) != LIE:
        return None
    lies, starts = listed("asides", "lies", UNTOLD), listed("asides", "unwritten", "starts")
    dice = Dice(hash_texts((asked.speaker, asked.section("Situation"))), _LIES, seed)
    return _Spoken(f"{dice.pick(starts)} {dice.pick(lies)}.", PLAIN_LIE)


def _unwritten(asked: ActorRequest, seed: int) -> _Spoken:
    """Return something that gives no more than the role's aim, where nothing was written."""
    aim = asked.line("You", "Aim").rstrip(".")
    said = {text for _, text in asked.spoken} | {asked.draft}
    starts, cores = listed("asides", "unwritten", "starts"), listed("asides", "unwritten", "cores")
    first = Dice(hash_texts((asked.speaker, asked.section("Situation"))), seed).below(len(starts))
    for turn in range(len(starts) * len(cores)):
        start = starts[(first + turn) % len(starts)]
        core = cores[(turn // len(starts) + turn) % len(cores)].replace("{aim}", aim)
        text = f"{start} {core}"
        if text not in said:
            return _Spoken(text, {})
    text = f"{starts[first]} {cores[0].replace('{aim}', aim)}"
    while text in said:  # a very long conversation has used up the others
        text = f"Again, {text[:1].lower()}{text[1:]}"
    return _Spoken(text, {})


def _labelled(asked: ActorRequest, spoken: _Spoken, dice: Dice) -> dict[str, object]:
    """Return the answer that is asked for: the words, and a label for each dimension."""
    goal = asked.said_of("Your goal", "Goal")
    conditions = read_conditions(asked.told)
    chosen: dict[str, object] = {}
    for field in asked.fields:
        if field.kind == "text":
            continue
        if goal and goal in field.options and field.name not in spoken.labels:
            chosen[field.name] = goal
        else:
            chosen[field.name] = _label(asked, field, spoken, chosen, conditions, dice)
    answer: dict[str, object] = {}
    for field in asked.fields:
        if field.name == "utterance":
            answer[field.name] = spoken.text
        elif field.name == "plan":
            answer[field.name] = ", ".join(f"{k} {v}" for k, v in chosen.items()) or "to speak"
        elif field.name.endswith(_RATIONALE):
            written = field.name.removesuffix(_RATIONALE) in spoken.labels
            answer[field.name] = WRITTEN if written else DRAWN
        else:
            answer[field.name] = chosen.get(field.name, "")
    return answer


def _label(  # noqa: PLR0917
    asked: ActorRequest,
    field: AnswerKey,
    spoken: _Spoken,
    chosen: Mapping[str, object],
    conditions: Conditions,
    dice: Dice,
) -> object:
    """Return the label the line was written with, or one that may stand beside the others."""
    options = conditions.open(field.name, field.options, chosen)
    written = spoken.labels.get(field.name)
    if isinstance(written, tuple):
        return [label for label in written if label in options]
    if written is not None and (field.kind == "number" or written in options):
        return written
    narrowed = AnswerKey(field.name, field.kind, options, field.low, field.high)
    return draw_value(narrowed, asked.wanted.get(field.name), dice)


def _reflect(asked: ActorRequest, lines: FlowLines | None) -> dict[str, object]:
    """Say of each label whether the words carry it: those that were written with it do.

    A label other than the one wanted is never carried; of lines that nobody wrote about one in six
    misses a label. A line does not fit that was said before, or is longer than people talk.

    Raises:
        PromptNotUnderstood: there is no draft to judge.
    """
    draft = asked.draft
    if not draft:
        raise PromptNotUnderstood("line 'Utterance: ...' under '# The draft'")
    phase, role, _ = _place(asked)
    moments = lines.moments(phase, role) if lines else ()
    authored = any(line.text == draft for moment in moments for line in moment)
    dimensions = [f.name.removesuffix(_CARRIED) for f in asked.fields if f.name.endswith(_CARRIED)]
    fixed = Dice(hash_texts((draft, *sorted(asked.declared.values()))))
    missed = {fixed.pick(dimensions)} if dimensions and not authored and fixed.chance(15) else set()
    missed |= {
        d for d in dimensions if asked.wanted.get(d, asked.declared.get(d)) != asked.declared.get(d)
    }
    fits = draft not in {text for _, text in asked.spoken} and len(draft.split()) <= _LONGEST
    answer: dict[str, object] = {}
    for field in asked.fields:
        about = field.name.removesuffix(_CARRIED).removesuffix(_REASON)
        good = fits if about == "fit" else about not in missed
        if field.kind == "flag":
            answer[field.name] = good
        else:
            answer[field.name] = "The words do so." if good else "Other words are needed for it."
    return answer
