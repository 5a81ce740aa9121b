"""Label Studio: a labelling configuration made from the scheme, and tasks with answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from xml.etree import ElementTree as ET

from quality.review.outgoing import (
    CONFIRMED,
    FACTS_TITLE,
    ISSUE,
    ISSUE_REASON,
    NOTE,
    REJECTED,
    SCENARIO_PROBLEM,
    Outgoing,
    dimensions_of,
    facts_text,
    offered_labels,
    opinion_fields,
    situation_text,
)
from scenarios.reviews import ReviewStudy, Sheet
from scenarios.schemes.model import Dimension, Scheme
from scenarios.schemes.vocabulary import label_list
from scenarios.terms import LabelValue

MAIL = "@annotators.invalid"
"""Label Studio names people by mail address; these lead nowhere."""
_TEXTS = (ISSUE_REASON, SCENARIO_PROBLEM, NOTE)


def labelling_config(scheme: Scheme, study: ReviewStudy) -> str:
    """Return the XML of a project in which a study can be answered."""
    view = ET.Element("View")
    _header(view, "Situation")
    ET.SubElement(view, "Text", name="background", value="$background")
    if study.shows_fact:
        _header(view, FACTS_TITLE)
        ET.SubElement(view, "Text", name="fact", value="$fact")
    _header(view, "Dialogue")
    ET.SubElement(
        view, "Paragraphs", name="dialogue", value="$dialogue", layout="dialogue",
        nameKey="author", textKey="text",
    )  # fmt: skip
    _header(view, "Utterance to label")
    ET.SubElement(view, "Text", name="utterance", value="$utterance")
    for dimension in dimensions_of(scheme, study):
        once = (
            " (once per dialogue: at its last utterance)" if dimension.level == "dialogue" else ""
        )
        _header(view, f"{dimension.title or dimension.id}: {dimension.question}{once}")
        _control(view, dimension, study)
    if study.asks_opinion:
        _header(view, "Is there a real problem with this dialogue? (at its last utterance)")
        issue = ET.SubElement(view, "Choices", name=ISSUE, toName="utterance", choice="single")
        for value in (CONFIRMED, REJECTED):
            ET.SubElement(issue, "Choice", value=value)
    for name in _TEXTS if study.asks_opinion else (NOTE,):
        _header(view, name.replace("_", " "))
        ET.SubElement(view, "TextArea", name=name, toName="utterance", maxSubmissions="1", rows="2")
    ET.indent(view)
    return ET.tostring(view, encoding="unicode")


def tasks(
    scheme: Scheme, study: ReviewStudy, dialogues: Iterable[Outgoing], *, blind: bool
) -> Iterator[dict[str, object]]:
    """Yield one task per utterance, with everybody's answers as annotations.

    Args:
        scheme: the dimensions.
        study: the study.
        dialogues: what to export.
        blind: leave out the declared labels, which are predictions otherwise.
    """
    for dialogue in dialogues:
        for turn, name, last in dialogue.units:
            yield _task(scheme, study, dialogue, turn, name, last=last, blind=blind)


def _task(
    scheme: Scheme,
    study: ReviewStudy,
    dialogue: Outgoing,
    turn: int,
    name: str,
    *,
    last: bool,
    blind: bool,
) -> dict[str, object]:
    exhibit = dialogue.exhibit
    data: dict[str, object] = {
        "item": name,
        "study": study.id,
        "scenario": exhibit.dialogue.case.scenario,
        "category": dialogue.item.category,
        "background": situation_text(exhibit) or "(not known)",
        "dialogue": [{"author": u.speaker, "text": u.text} for u in exhibit.utterances],
        "utterance": dialogue.text_of(turn),
    }
    if study.shows_fact:
        data["fact"] = facts_text(exhibit) or "(not known)"
    task: dict[str, object] = {
        "data": data,
        "annotations": [
            _annotation(scheme, dialogue, sheet, turn, last=last) for sheet in dialogue.sheets
        ],
        "predictions": [],
    }
    declared = {
        dimension: value
        for dimension, value in dialogue.declared(turn, last=last).items()
        if value not in study.hidden.get(dimension, ())
    }
    if declared and not blind:
        task["predictions"] = [{"model_version": "declared", "result": _result(scheme, declared)}]
    return task


def _annotation(
    scheme: Scheme, dialogue: Outgoing, sheet: Sheet, turn: int, *, last: bool
) -> dict[str, object]:
    result = _result(scheme, dialogue.labels(sheet, turn, last=last))
    if last:
        for field, text in opinion_fields(sheet).items():
            kind = "choices" if field == ISSUE else "textarea"
            value: dict[str, object] = {"choices" if field == ISSUE else "text": [text]}
            result.append(_region(field, kind, value))
    lead_s = sheet.opinion.lead_s if sheet.opinion and last else 0.0
    return {
        "completed_by": {"email": f"{sheet.annotator.lower()}{MAIL}"},
        "was_cancelled": False,
        "lead_time": lead_s,
        "result": result,
    }


def _result(scheme: Scheme, labels: dict[str, LabelValue]) -> list[dict[str, object]]:
    return [
        _region(dimension.id, *_value(dimension, labels[dimension.id]))
        for dimension in dimensions_of(scheme)
        if dimension.id in labels
    ]


def _value(dimension: Dimension, value: LabelValue) -> tuple[str, dict[str, object]]:
    if isinstance(value, tuple):
        return "choices", {"choices": label_list(value)}
    if isinstance(value, str):
        return "choices", {"choices": [value]}
    points = dimension.point_values
    if not points:
        return "number", {"number": value}
    return "choices", {"choices": [_point_names(dimension)[points.index(value)]]}


def _region(name: str, kind: str, value: dict[str, object]) -> dict[str, object]:
    return {"from_name": name, "to_name": "utterance", "type": kind, "value": value}


def _control(view: ET.Element, dimension: Dimension, study: ReviewStudy) -> None:
    if dimension.measurement == "interval" and dimension.range and not dimension.point_values:
        low, high = (f"{bound:g}" for bound in dimension.range)
        ET.SubElement(view, "Number", name=dimension.id, toName="utterance", min=low, max=high)
        return
    many = "multiple" if dimension.measurement == "multi" else "single"
    choices = ET.SubElement(
        view, "Choices", name=dimension.id, toName="utterance", choice=many, showInline="false"
    )
    hints = {label.id: f"{label.definition} {label.example}".strip() for label in dimension.labels}
    values = _point_names(dimension) or offered_labels(dimension, study.hidden)
    for value in values:
        choice = ET.SubElement(choices, "Choice", value=value)
        if hints.get(value):
            choice.set("hint", hints[value])


def _point_names(dimension: Dimension) -> list[str]:
    if dimension.anchors:
        return list(dimension.anchors)
    return [f"{point:.4g}" for point in dimension.point_values]


def _header(view: ET.Element, text: str) -> None:
    ET.SubElement(view, "Header", value=text, size="5")
