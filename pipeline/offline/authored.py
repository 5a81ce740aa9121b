"""Say authored lines: which one, when the grammar is asked instead, and small ways into them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace

from pipeline.offline.dice import Dice, hash_texts
from pipeline.offline.grammar import listed
from pipeline.offline.hearing import unclaimed
from pipeline.offline.lexicon import words
from pipeline.offline.manner import read_manner
from pipeline.offline.reading import ActorRequest
from pipeline.offline.staging import Cast, says, staged_scene
from pipeline.offline.tactics import LIE, UNTOUCHED, VERACITY
from pipeline.offline.wording import sentences
from scenarios.lines.model import StageLine
from scenarios.wording import content_stems

BELIEVED = "You want it believed that"
ANGLE_LINE = "A question you want answered sooner or later"
_SHARES = (100, 60, 20)
"""Percent of authored lines in a case with its own way of speaking, drawn per case: large runs vary
persons and manners, and would say every line hundreds of times."""
_SLOTS = (
    *("own", "led", "other", "own", "other", "grammar", "own", "other"),
    *("own", "led", "other", "own", "grammar", "led", "own", "other") * 2,
)
"""What a seed stands for, counted on from a place that the prompt gives: seeds of candidates follow
one another, so that four of them differ and the fact's own line is most often among them twice."""
_QUOTED = re.compile(r'"([^"]+)"')
_FREE = re.compile(r"^fit: to be changed:", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SpokenLine:
    """An authored line as it is said: perhaps with a way in before it, or in the grammar's words."""

    text: str
    line: StageLine


def authored_answer(
    asked: ActorRequest, cast: Cast, wanted: Mapping[str, str], state: int, seed: int
) -> SpokenLine | None:
    """Return an unsaid line that answers the standing question and has the labels that are wanted.

    Args:
        asked: the prompt, read.
        cast: the lines for its fact and goal.
        wanted: labels by dimension.
        state: a hash of the prompt.
        seed: of the sample.

    Returns:
        The line, without a text where the grammar is to put it in its own words; None where no
        line fits, or where the grammar has a free hand.
    """
    own, others = _unsaid(asked, cast, wanted)
    if not (own or others):
        return None
    dice = Dice(state, seed)
    if asked.task == "revise":
        return SpokenLine((own or others)[0].text, (own or others)[0])
    slot = _SLOTS[(Dice(state).below(len(_SLOTS)) + seed) % len(_SLOTS)]
    if not dice.chance(_share(asked)):
        return None
    line = dice.pick(others if (slot == "other" and others) or not own else own[:1])
    if slot == "grammar" and _is_plain(line, LIE if _lies_in_own_words(asked, cast) else ""):
        return SpokenLine("", line)
    differs = slot in ("led", "grammar") or (slot == "other" and not others)
    if differs and (lead := _lead(asked, line, seed)):
        return SpokenLine(f"{lead} {_lowered(line.text)}", line)
    return SpokenLine(line.text, line)


def _lies_in_own_words(asked: ActorRequest, cast: Cast) -> bool:
    """Whether a lie answers the standing question, and was not told before."""
    roles = asked.line("You", "Role"), asked.line("The other person", "Role")
    question = asked.last("INITIATOR")
    about = cast.asked_about(asked.said_of("Where you stand", BELIEVED), question)
    beside = cast.asks_outright(question) and not cast.asked_outright
    return not beside and bool(
        unclaimed(about, asked.said_by("RESPONDER"), cast.scene, *roles).strip()
    )


def _is_plain(line: StageLine, lie: str) -> bool:
    """Whether the grammar has common words for a line: for a refusal, or for a lie if one answers."""
    acts = ("Representatives", "Commissives")
    return (
        line.labels.get(VERACITY) in ("None", lie)
        and line.labels.get("illocutionary") in acts
        and line.labels.get("intention") != "Affect"
    )


def true_details(asked: ActorRequest, cast: Cast) -> tuple[StageLine, ...]:
    """Return the unsaid lines that answer a part of the standing question truly."""
    own, others = _unsaid(asked, cast, {VERACITY: "Quantity"})
    return (*own, *others)


def weighed(asked: ActorRequest, cast: Cast, weights: Mapping[str, int]) -> Mapping[str, int]:
    """Return the weights of veracity that say a fact's own line as often as they can.

    They come to what was given over the facts of a scene, whatever the lines for this kind of question
    mostly do with the truth: else the label would follow from the question, and so from its place. A
    label that has too many lines is given up for those that have too few, and no other one is. To a
    question that does not need the fact everything is None, and says so.
    """
    if not cast.needs_the_fact(asked.last("INITIATOR")):
        weights = {label: weights[label] for label in (UNTOUCHED, LIE) if label in weights}
    own, _ = _unsaid(asked, cast, {})
    firsts = cast.first_lines(asked.last("INITIATOR"))
    if not own or not firsts:
        return weights
    has = own[0].labels.get(VERACITY, "")
    if cast.needs_no_fact(own[0]):
        return {has: 1}
    whole = sum(weights.values())
    due = {label: weight * len(firsts) for label, weight in weights.items()}
    for line in firsts:
        if cast.needs_no_fact(line):
            due[line.labels[VERACITY]] = due.get(line.labels[VERACITY], 0) - whole
    usual = Counter(
        line.labels.get(VERACITY, "") for line in firsts if not cast.needs_no_fact(line)
    )
    lack = {label: count - usual[label] * whole for label, count in due.items()}
    missing = {label: count for label, count in lack.items() if count > 0}
    kept = max(0, due.get(has, 0))
    given_up = usual[has] * whole - kept
    if given_up <= 0 or not missing:
        return {has: 1}
    return {has: kept * sum(missing.values()), **{k: v * given_up for k, v in missing.items()}}


def within_reach(asked: ActorRequest, cast: Cast | None) -> ActorRequest:
    """Return a request that wants no way to manipulate a fact which the standing question does not need.

    Whatever leaves such a fact alone is None, in however vague words and however far from the question.
    """
    if cast is None or cast.needs_the_fact(asked.last("INITIATOR")):
        return asked
    if asked.wanted.get(VERACITY, LIE) in (LIE, UNTOUCHED):
        return asked
    return replace(asked, wanted={**asked.wanted, VERACITY: UNTOUCHED})


def keeping_to(weights: Mapping[str, int], *, lies: bool) -> Mapping[str, int]:
    """Return the weights of veracity for who has lied about what is asked: it is not taken back by half.

    Args:
        weights: by label.
        lies: whether a lie is left to tell.
    """
    given_up = ("None", "Manner") if lies else ("None", "Manner", LIE)
    kept = {label: weight for label, weight in weights.items() if label not in given_up}
    return kept if any(kept.values()) else {LIE: 1}


def has_unsaid(asked: ActorRequest, cast: Cast, wanted: Mapping[str, str]) -> bool:
    """Whether an authored line could be said now."""
    return any(_unsaid(asked, cast, wanted))


def _unsaid(
    asked: ActorRequest, cast: Cast, wanted: Mapping[str, str]
) -> tuple[Sequence[StageLine], Sequence[StageLine]]:
    said = (*(text for who, text in asked.spoken if who == "RESPONDER"), asked.draft)
    options = {
        field.name: field.options
        for field in asked.fields
        if field.kind in ("label", "labels", "number") and cast.goal not in field.options
    }

    told = content_stems(" ".join(asked.said_by("RESPONDER")))

    def fits(line: StageLine) -> bool:
        labels = line.labels
        return (
            all(labels.get(name) in allowed for name, allowed in options.items())
            and all(labels.get(name, label) == label for name, label in wanted.items())
            and not any(line.text in text or says(text, line.text) for text in said)
            and not _tells_again(line, told)
        )

    own, others = cast.answers(asked.last("INITIATOR"))
    return tuple(filter(fits, own)), tuple(filter(fits, others))


def _tells_again(line: StageLine, told: Set[str]) -> bool:
    """Whether a line tells a true detail of which half the words, as stems, were said by its speaker."""
    stems = content_stems(line.text)
    return line.labels.get(VERACITY) == "Quantity" and 2 * len(stems & told) >= len(stems)


def free_to_change(asked: ActorRequest) -> bool:
    """Whether a revision may declare other labels: the draft was found not to fit the conversation."""
    return _FREE.search(asked.sections.get("Critique", "")) is not None


def _share(asked: ActorRequest) -> int:
    manner = asked.sections.get("Way of speaking", "")
    return Dice(hash_texts((asked.section("Situation"), manner))).pick(_SHARES) if manner else 100


def _lead(asked: ActorRequest, line: StageLine, seed: int) -> str:
    """Return a way into a line in this person's manner; nothing where there is none that fits."""
    first = re.split(r"[\s,']", line.text, maxsplit=1)[0].lower()
    manner = read_manner(asked.sections.get("Way of speaking", ""))
    leads = listed("asides", "leads", manner.pace or manner.register or "plain")
    if first in words("plainstarts"):
        habits = [f"{word}," for word in _QUOTED.findall(asked.said_of("You", "Voice").lower())]
        leads = (*(habit for habit in habits if habit in listed("asides", "habits")), *leads)
    elif first in words("stops") or first in words("lowerable"):
        leads = listed("asides", "leads", "any") if leads else ()
    else:
        return ""  # perhaps a name, which keeps its capital
    low = line.text.lower()
    fresh = [lead for lead in leads if lead.rstrip(",").lower() not in low]
    lead = fresh[seed % len(fresh)] if fresh else ""
    return lead[:1].upper() + lead[1:]


def _lowered(text: str) -> str:
    return text if re.match(r"I\b", text) else text[:1].lower() + text[1:]


def authored_question(asked: ActorRequest, seed: int) -> str:
    """Return the next question that was written for the scene; nothing where none is left.

    First comes a question for the beginning or the one that puts the fact in play, then the other
    of the two, then the rest. What was answered, and with which goal, plays no part: only the
    scene, the initiator's own lines and the seed do.
    """
    scene = staged_scene(asked)
    if scene is None:
        return ""
    asked_before = asked.said_by("INITIATOR")
    manner = asked.sections.get("Way of speaking", "")
    questions = (sentences(text)[-1] for text in asked_before)  # what was reacted to plays no part
    dice = Dice(hash_texts((asked.section("Situation"), manner, *questions)), seed)

    def was_asked(line: str) -> bool:
        return any(says(text, line) for text in asked_before)

    if not dice.chance(_share(asked)):
        return ""
    angle = asked.said_of("To find out", ANGLE_LINE)
    unasked = [line for line in scene.lines.initiator if not was_asked(line.text)]
    begun = len(unasked) < len(scene.lines.initiator)
    firsts = [line.text for line in unasked if line.when == "first"]
    if angle and not was_asked(angle) and (begun or not firsts or dice.chance(50)):
        return angle
    later = [line.text for line in unasked if line.when == "later"]
    options = (later if begun else firsts) or later or firsts
    return dice.pick(options) if options else ""
