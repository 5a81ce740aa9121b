"""The embedded readers: ``offline/judge`` and ``offline/reader`` label what they are shown.

They answer the prompts of judges and of every task: with the fact or, where it is not told, from the
words alone. ``offline/judge`` knows the stage lines by heart, with their labels, and most labels of
lines of scenarios with a flow; everything else it reads by cues for the steps of scheme ``hipo``, and
where no step decides by likeness to the stage lines. ``offline/reader`` has the same cues and no
memory: of no stage line does it know anything.
They share no phrase list and no pattern with ``offline/rules``, so that one grammar is not marking
its own work. A declared label is never looked at before their own is found. Labels of other schemes
are given by likeness to their definitions and examples, and numbers are never objected to. How much
``offline/judge`` sees and misses is measured by ``benchmarks/planted_defects.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import orjson

from pipeline.offline.reading import AnswerKey, PromptNotUnderstood
from pipeline.offline_judge.flow_memory import has_no_label, remembered_label
from pipeline.offline_judge.labelling import (
    Given,
    label_by_likeness,
    label_by_rule,
    runner_up,
)
from pipeline.offline_judge.memory import claims_ruled_out
from pipeline.offline_judge.reading import JudgeRequest, read_prompt

__all__ = ["PromptNotUnderstood", "answer"]


def answer(messages: Sequence[tuple[str, str]], seed: int) -> str:
    """Return the JSON text with which ``offline/judge`` answers a prompt of the shipped templates.

    The rules leave nothing to chance: the seed makes no difference.

    Raises:
        PromptNotUnderstood: a section the rules need is missing.
    """
    asked = read_prompt(messages)
    if not asked.false_claims:  # a task shows the fact alone; what it rules out is known by heart
        asked = replace(asked, false_claims=claims_ruled_out(asked.fact))
    return _answer(asked)


def answer_unprepared(messages: Sequence[tuple[str, str]], seed: int) -> str:
    """Return the answer of ``offline/reader``; otherwise as :func:`answer`.

    Raises:
        PromptNotUnderstood: a section the rules need is missing.
    """
    return _answer(read_prompt(messages, model="offline/reader", remembers=False))


def _answer(asked: JudgeRequest) -> str:
    if not asked.parts:
        return orjson.dumps(_labels_of(asked)).decode()
    parts = ((key, replace(part, false_claims=asked.false_claims)) for key, part in asked.parts)
    return orjson.dumps({key: _labels_of(part) for key, part in parts}).decode()


def _labels_of(asked: JudgeRequest) -> dict[str, object]:
    """Return one object of an answer."""
    answer: dict[str, object] = {}
    names = {field.name for field in asked.fields}
    for field in asked.fields:
        dimension = field.name.removesuffix("_carried")
        if field.kind == "flag" and dimension != field.name:
            given = _given(asked, _field(dimension, asked))
            answer[field.name] = _agrees(given, asked.declared.get(dimension, ""))
            answer[f"{dimension}_reason"] = given.reason
        elif field.kind in ("label", "labels", "number"):
            if field.name.removesuffix("_second") in names - {field.name}:
                continue
            given = _given(asked, field)
            answer[field.name] = given.value
            answer[f"{field.name}_reason"] = given.reason
            if f"{field.name}_second" in names:
                answer[f"{field.name}_second"] = runner_up(asked, field, given)
    reasons = [str(why) for key, why in answer.items() if key.endswith("_reason")]
    answer["reading"] = answer["reasoning"] = ". ".join(reasons)
    answer["explanation"] = _explained(asked)
    return {field.name: answer.get(field.name, "") for field in asked.fields}


def _explained(asked: JudgeRequest) -> str:
    """Return what speaks for which label, where that is asked before the labels."""
    if all(field.name != "explanation" for field in asked.fields):
        return ""
    found = {name: _given(asked, _field(name, asked)) for name in asked.labels}
    return " ".join(f"{name}: {given.value}, for {given.reason}." for name, given in found.items())


def _given(asked: JudgeRequest, field: AnswerKey) -> Given:
    rule = _by_heart(asked, field)
    if rule is None and field.kind == "label":
        rule = label_by_rule(asked, field.options)
    return rule or label_by_likeness(asked, field, asked.labels.get(field.name, {}))


def _by_heart(asked: JudgeRequest, field: AnswerKey) -> Given | None:
    """Return the label of a line of a scenario with a flow; of a dialogue, that of its last one."""
    said = asked.utterance or (asked.said[-1][1] if asked.said else "")
    of_two = bool(asked.people)  # in a scene of question and answer nothing has a flow
    if not asked.remembers or of_two or field.kind not in ("label", "number"):
        return None
    name = field.name.removesuffix("_second")
    if has_no_label(said, name):
        return Given(None, "the line is known by heart, and the question does not arise")
    known = remembered_label(said, name, field.options if field.kind == "label" else ())
    if known is None or isinstance(known, tuple):
        return None
    return Given(known, "the line is known by heart", sure=field.kind == "label")


def _field(dimension: str, asked: JudgeRequest) -> AnswerKey:
    """Return what the label of a dimension can be; where no labels are listed it is a number."""
    options = tuple(asked.labels.get(dimension, {}))
    return AnswerKey(dimension, "label" if options else "number", options)


def _agrees(given: Given, declared: str) -> bool:
    """Whether the declared label is the judge's own; where nothing speaks for one, it may stand."""
    if not given.sure:
        return True
    if given.value is None:
        return not declared
    return str(given.value) in {declared, *(part.strip() for part in declared.split(", "))}
