"""Argilla: the settings of a dataset made from the scheme, and records with answers."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator

from quality.review.forms import shown_value
from quality.review.outgoing import (
    CONFIRMED,
    FACTS_TITLE,
    ISSUE,
    NOTE,
    REJECTED,
    Outgoing,
    dimensions_of,
    facts_text,
    offered_labels,
    opinion_fields,
    situation_text,
)
from scenarios.reviews import ReviewStudy
from scenarios.schemes.model import Dimension, Scheme
from scenarios.schemes.vocabulary import label_list
from scenarios.terms import LabelValue

PEOPLE = uuid.UUID("6c6a1a52-8a5e-5c0e-9a41-0d1f5f3c7b10")
"""Namespace of the user ids that stand for annotators' codes."""
_METADATA = ("item", "scenario", "category")


def user_id(code: str) -> str:
    """Return the user id an annotator's code has in Argilla, always the same."""
    return str(uuid.uuid5(PEOPLE, code))


def dataset_settings(scheme: Scheme, study: ReviewStudy) -> dict[str, object]:
    """Return what ``argilla.Settings.from_json`` reads."""
    fields = [_field("background", "text"), _field("dialogue", "chat"), _field("utterance", "text")]
    if study.shows_fact:
        fields.insert(1, _field("fact", "text", title=FACTS_TITLE))
    questions = [_question(dimension, study) for dimension in dimensions_of(scheme, study)]
    if study.asks_opinion:
        options = [{"value": value, "text": value} for value in (CONFIRMED, REJECTED)]
        title = "Is there a real problem with this dialogue?"
        questions.append(_selection(ISSUE, title, "", options, many=False))
    questions.append(
        _base(NOTE, "Note", "") | {"settings": {"type": "text", "use_markdown": False}}
    )
    return {
        "guidelines": scheme.description or scheme.title,
        "allow_extra_metadata": False,
        "distribution": {"strategy": "overlap", "min_submitted": study.per_item},
        "fields": fields,
        "questions": questions,
        "metadata": [
            {
                "name": name,
                "title": name,
                "settings": {"type": "terms", "values": None},
                "visible_for_annotators": True,
            }
            for name in _METADATA
        ],
        "vectors": [],
        "mapping": None,
    }


def records(
    scheme: Scheme, study: ReviewStudy, dialogues: Iterable[Outgoing], *, blind: bool
) -> Iterator[dict[str, object]]:
    """Yield what ``argilla.Record.from_dict`` reads, one record per utterance.

    The declared labels are suggestions, unless ``blind``.
    """
    for dialogue in dialogues:
        for turn, name, last in dialogue.units:
            yield _record(scheme, study, dialogue, turn, name, last=last, blind=blind)


def _record(
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
    fields: dict[str, object] = {
        "background": situation_text(exhibit) or "(not known)",
        "dialogue": [
            {"role": "assistant" if u.is_opposite else "user", "content": u.text}
            for u in exhibit.utterances
        ],
        "utterance": dialogue.text_of(turn),
    }
    if study.shows_fact:
        fields["fact"] = facts_text(exhibit) or "(not known)"
    responses: dict[str, list[dict[str, object]]] = {}
    for sheet in dialogue.sheets:
        given: dict[str, object] = dict(_named(scheme, dialogue.labels(sheet, turn, last=last)))
        if last:
            kept = opinion_fields(sheet)
            given |= {key: kept[key] for key in (ISSUE, NOTE) if key in kept}
        for question, value in given.items():
            answer = {"value": value, "user_id": user_id(sheet.annotator)}
            responses.setdefault(question, []).append(answer)
    declared = {} if blind else _named(scheme, dialogue.declared(turn, last=last))
    return {
        "id": name,
        "fields": fields,
        "metadata": {
            "item": name,
            "scenario": exhibit.dialogue.case.scenario,
            "category": dialogue.item.category,
        },
        "suggestions": {
            dimension: {"value": value, "agent": "declared"}
            for dimension, value in declared.items()
            if value not in study.hidden.get(dimension, ())
        },
        "responses": responses,
    }


def _named(scheme: Scheme, labels: dict[str, LabelValue]) -> dict[str, object]:
    """Return labels as Argilla holds them: points by the name they have in the form."""
    named: dict[str, object] = {}
    for dimension in dimensions_of(scheme):
        value = labels.get(dimension.id)
        if value is None:
            continue
        if isinstance(value, tuple):
            named[dimension.id] = label_list(value)
        else:
            named[dimension.id] = value if isinstance(value, str) else f"{value:.4g}"
    return named


def _question(dimension: Dimension, study: ReviewStudy) -> dict[str, object]:
    title = dimension.title or dimension.id
    help_ = dimension.question
    if dimension.level == "dialogue":
        help_ += " Once per dialogue: at its last utterance."
    if dimension.measurement == "interval" and not dimension.point_values:
        base = _base(dimension.id, title, help_)
        return base | {"settings": {"type": "text", "use_markdown": False}}
    if dimension.measurement == "interval":
        options = [
            {"value": f"{point:.4g}", "text": shown_value(dimension, point)}
            for point in dimension.point_values
        ]
    else:
        texts = {label.id: f"{label.id}: {label.definition}" for label in dimension.labels}
        options = [
            {"value": value, "text": texts.get(value, value)}
            for value in offered_labels(dimension, study.hidden)
        ]
    return _selection(dimension.id, title, help_, options, many=dimension.measurement == "multi")


def _selection(
    name: str, title: str, help_: str, options: list[dict[str, str]], *, many: bool
) -> dict[str, object]:
    kind = "multi_label_selection" if many else "label_selection"
    settings: dict[str, object] = {"type": kind, "options": options, "visible_options": None}
    return _base(name, title, help_) | {"settings": settings}


def _base(name: str, title: str, help_: str) -> dict[str, object]:
    return {"name": name, "title": title, "description": help_ or None, "required": False}


def _field(name: str, kind: str, title: str | None = None) -> dict[str, object]:
    return {
        "name": name,
        "title": title or name,
        "required": name != "fact",
        "description": None,
        "settings": {"type": kind, "use_markdown": False},
    }
