"""Label an utterance on a dimension: by rules where there are some, else by word overlap."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from pipeline.offline.reading import AnswerKey
from pipeline.offline_judge.coherence import incoherence
from pipeline.offline_judge.memory import belongs_elsewhere, recalled
from pipeline.offline_judge.reading import JudgeRequest
from pipeline.offline_judge.utterance import JudgedLine, misleads, utterance_label
from scenarios.fingerprint import text_hash
from scenarios.quick_records import quickly_made
from scenarios.wording import content_stems

Value = str | float | list[str] | None
"""A label, a number, several labels, or nothing where a question does not arise."""

_DECEIT = ("decep", "deceiv")
COHERENT: Final = ("coherent", "incoherent")
MISLED: Final = ("misled", "not misled")
_NEAREST: Final = {
    "Quality": "Quantity", "Quantity": "None", "None": "Quantity", "Relevance": "Manner",
    "Manner": "Relevance", "Inform": "Convince", "Convince": "Inform", "Motivate": "Convince",
    "Affect": "Convince", "Representatives": "Commissives", "Commissives": "Representatives",
    "Directives": "Representatives", "Expressives": "Representatives",
    "Declarations": "Commissives",
}  # fmt: skip
"""The label that each is most easily taken for."""


@quickly_made
@dataclass(frozen=True, slots=True)
class Given:
    """A label given to words, and why."""

    value: Value
    reason: str
    sure: bool = True
    """Whether anything in the words speaks for it."""


def label_by_rule(asked: JudgeRequest, labels: Sequence[str]) -> Given | None:
    """Return the label of the utterance, or of the conversation, if these labels have rules.

    Dimensions are known by their labels, whatever they are called.
    """
    if not labels:
        return None
    if set(labels) == set(COHERENT):
        return _coherence(asked)
    if (goal := _goal_by_rule(asked, labels)) is not None or not asked.utterance:
        return goal
    found = utterance_label(JudgedLine.of(asked.utterance, asked.question, asked), tuple(labels))
    return None if found is None else _among(*found, labels)


def _coherence(asked: JudgeRequest) -> Given:
    if asked.remembers and belongs_elsewhere(asked.utterance, asked.situation):
        return Given(COHERENT[1], "it is a line known by heart, of another scene")
    why = incoherence(
        asked.utterance,
        said=[text for _, text in asked.said],
        situation=asked.situation,
        about=asked.about,
        fact=asked.fact,
        at_home=asked.remembers and recalled(asked.utterance, asked.situation) is not None,
    )
    return Given(COHERENT[bool(why)], why or "it goes with what was said before")


def _goal_by_rule(asked: JudgeRequest, labels: Sequence[str]) -> Given | None:
    """Return what is found of all that was said: whether the hearer is misled, or who deceives."""
    if set(labels) == set(MISLED):
        line = misleading_line(asked)
        return Given(MISLED[line is None], _because(line, asked.fact))
    deceiving = [label for label in labels if label.casefold().startswith(_DECEIT)]
    if len(deceiving) != 1 or len(labels) != 2:
        return None
    line = misleading_line(asked)
    other = next(label for label in labels if label not in deceiving)
    return Given(other if line is None else deceiving[0], _because(line, asked.fact))


def misleading_line(asked: JudgeRequest) -> tuple[str, str] | None:
    """Return the first line of the responder that misleads, and why; None where none does."""
    question = ""
    for who, text in asked.said:
        if who == "INITIATOR":
            question = text
        elif reason := misleads(JudgedLine.of(text, question, asked)):
            return text, reason
    if asked.utterance and (
        reason := misleads(JudgedLine.of(asked.utterance, asked.question, asked))
    ):
        return asked.utterance, reason
    return None


def _because(line: tuple[str, str] | None, fact: str) -> str:
    if line is None:
        return "no false claim was recognised in what was said"
    belied = "the fact belies it" if fact else "it reads as false"
    return f"a careful hearer would believe it, and {belied}: {line[1]}"


def runner_up(asked: JudgeRequest, field: AnswerKey, given: Given) -> str:
    """Return the label that comes next: the nearest by rule, else the likeliest of the others."""
    rest = [label for label in field.options if label != given.value]
    near = _NEAREST.get(str(given.value), "")
    if near in rest:
        return near
    key = AnswerKey(field.name, "label", tuple(rest))
    texts = asked.labels.get(field.name, {})
    return str(label_by_likeness(asked, key, texts).value) if rest else ""


def label_by_likeness(asked: JudgeRequest, field: AnswerKey, texts: Mapping[str, str]) -> Given:
    """Return the likeliest label, the middle of a range, or the likeliest of several."""
    if field.kind == "number":
        return Given((field.low + field.high) / 2, "no rule for numbers: the middle", sure=False)
    words = asked.utterance or " ".join(asked.answers)
    descriptions = {label: texts.get(label, "") for label in field.options}
    liked = scores(words, descriptions)
    best = max(liked.values(), default=0.0)
    if best > 0:
        label = max(liked, key=liked.__getitem__)
        given = Given(label, f"shares most words with the text of {label}")
    else:
        label = _drawn(words, field.options)
        given = Given(label, "no word speaks for any label", sure=False)
    if field.kind == "labels":
        return Given([label], given.reason, given.sure)
    return given


def _among(label: str, reason: str, labels: Sequence[str]) -> Given:
    """Return a label if it is one of those on offer, else the first of them."""
    return Given(label, reason) if label in labels else Given(labels[0], reason, sure=False)


def _drawn(text: str, labels: Sequence[str]) -> str:
    """Draw a label by the words alone, so that the same words get the same one."""
    return labels[text_hash(text) % len(labels)] if labels else ""


def scores(text: str, labels: Mapping[str, str]) -> dict[str, float]:
    """Return how much of each label's words, weighted by rarity, an utterance shares."""
    stems = content_stems(text)
    weights = _weights(tuple(labels.items()))
    return {
        label: sum(weight for word, weight in known.items() if word in stems)
        / (1.0 + math.sqrt(len(known)))
        for label, known in weights.items()
    }


@lru_cache(maxsize=64)
def _weights(labels: tuple[tuple[str, str], ...]) -> dict[str, dict[str, float]]:
    stems_of = {label: content_stems(f"{label} {text}") for label, text in labels}
    held = Counter(word for stems in stems_of.values() for word in stems)
    return {
        label: {word: math.log(1 + len(labels) / held[word]) for word in stems}
        for label, stems in stems_of.items()
    }
