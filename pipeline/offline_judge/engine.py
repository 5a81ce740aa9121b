"""The embedded judge ``offline/judge``: reads an utterance and the fact, and says what it sees.

It shares no phrase list and no pattern with ``offline/rules``, so that one grammar is not marking
its own work. A declared label is never looked at before its own is found. The rules know the
labels of the scheme ``hipo``, in English; labels of other schemes are given by likeness to their
definitions and examples, and numbers are never objected to. Its accuracy is measured by ``benchmarks/planted_defects.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from pipeline.offline.reading import AnswerKey, PromptNotUnderstood
from pipeline.offline_judge.coherence import incoherence
from pipeline.offline_judge.labelling import Given, label_by_likeness, label_by_rule
from pipeline.offline_judge.reading import JudgeRequest, read_prompt
from pipeline.offline_judge.truth import misleading_line

__all__ = ["PromptNotUnderstood", "answer"]


def answer(messages: Sequence[tuple[str, str]], seed: int) -> str:
    """Return the JSON text that answers a judge's prompt made from the shipped templates.

    The rules leave nothing to chance: the seed makes no difference.

    Raises:
        PromptNotUnderstood: a section the rules need is missing.
    """
    asked = read_prompt(messages)
    if asked.task == "dialogue":
        answer_fields = _whole(asked)
    elif asked.task == "turn":
        answer_fields = _verdict(asked)
    else:
        answer_fields = _labels(asked)
    return orjson.dumps(
        {field.name: answer_fields.get(field.name, "") for field in asked.fields}
    ).decode()


def _labels(asked: JudgeRequest) -> dict[str, object]:
    """Label an utterance, or a whole conversation, on every dimension asked about."""
    answer: dict[str, object] = {}
    for field in asked.fields:
        if field.kind in ("label", "labels", "number"):
            given = _given(asked, field)
            answer[field.name] = given.value
            answer[f"{field.name}_reason"] = given.reason
    return answer


def _given(asked: JudgeRequest, field: AnswerKey) -> Given:
    rule = label_by_rule(asked, field.options) if field.kind == "label" else None
    return rule or label_by_likeness(asked, field, asked.labels.get(field.name, {}))


def _verdict(asked: JudgeRequest) -> dict[str, object]:
    """Compare each declared label with the judge's own, and look at the coherence."""
    answer: dict[str, object] = {}
    thoughts = []
    for field in asked.fields:
        dimension = field.name.removesuffix("_carried")
        if dimension == field.name or field.kind != "flag":
            continue
        given = _given(asked, _field(dimension, asked))
        answer[field.name] = _agrees(given, asked.declared.get(dimension, ""))
        answer[f"{dimension}_reason"] = given.reason
        thoughts.append(f"{dimension}: {given.reason}.")
    why = incoherence(
        asked.utterance,
        said=[text for _, text in asked.said],
        situation=asked.situation,
        about=asked.about,
        fact=asked.fact,
    )
    answer["coherence"] = not why
    answer["coherence_reason"] = why or "it goes with what was said before"
    answer["reasoning"] = " ".join(thoughts) or answer["coherence_reason"]
    return answer


def _field(dimension: str, asked: JudgeRequest) -> AnswerKey:
    """Return what the label of a dimension can be; where no labels are listed it is a number."""
    options = tuple(asked.labels.get(dimension, {}))
    return AnswerKey(dimension, "label" if options else "number", options)


def _agrees(given: Given, declared: str) -> bool:
    """Whether the declared label is the judge's own; where nothing speaks for one, it may stand."""
    if not given.sure:
        return True
    return str(given.value) in {declared, *(part.strip() for part in declared.split(", "))}


def _whole(asked: JudgeRequest) -> dict[str, object]:
    line = misleading_line(asked)
    if line is None:
        why = "nothing the responder said contradicts the fact"
        return {
            "reasoning": f"Going through the lines, {why}.",
            "misled_reason": why,
            "misled": False,
        }
    why = f"a careful hearer would believe it, and the fact belies it: {line[1]}"
    return {"reasoning": f"One line decides: {line[0]}", "misled_reason": why, "misled": True}
