"""Selections of annotations: people, a model, a judge, the speaker, gold; and their answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from sys import intern
from typing import Final

from quality.agreement.annotations import Answer, majority
from scenarios.annotations import Annotation, Subject
from scenarios.errors import UsageError
from scenarios.schemes.model import Scheme
from scenarios.spelling import suggestion
from scenarios.terms import LabelValue

MAJORITY: Final = "majority"
"""In the place of a name: the label that more than half of those who answered an item share."""


@dataclass(frozen=True, slots=True)
class AnnotationSelection:
    """Some of the annotations: of a kind, and, if it is named, of one annotator of that kind."""

    kind: str
    """As in :class:`scenarios.annotations.Annotation`, e.g. ``human`` or ``external``."""
    who: str = ""
    """Empty: everybody of the kind. ``majority``: what most of them say."""

    def __str__(self) -> str:
        """Return ``kind`` or ``kind:who``, as it is written in a command."""
        return f"{self.kind}:{self.who}" if self.who else self.kind


def read_selection(text: str) -> AnnotationSelection:
    """Read ``KIND`` or ``KIND:WHO``; names of models may hold colons themselves.

    Raises:
        UsageError: there is no kind.
    """
    kind, _, who = text.partition(":")
    if not kind.strip():
        raise UsageError(f"{text!r} selects nothing", "write KIND or KIND:WHO, e.g. human:A")
    return AnnotationSelection(kind.strip(), who.strip())


def subject_name(subject: Subject) -> str:
    """Return what an annotation is about as items are called: ``case/arm#turn``.

    A run of turns is ``#first-last``; a part of a turn follows after a colon.
    """
    name = dialogue_name(subject)
    if subject.turn is None:
        return name
    last = "" if subject.last_turn in (None, subject.turn) else f"-{subject.last_turn}"
    part = f":{subject.part}" if subject.part else ""
    return intern(f"{name}#{subject.turn}{last}{part}")


def dialogue_name(subject: Subject) -> str:
    """Return the dialogue that an annotation is about as dialogues are called: ``case/arm``."""
    return intern(f"{subject.case}/{subject.arm}") if subject.arm else subject.case


def selected(
    scheme: Scheme, annotations: Iterable[Annotation], selection: AnnotationSelection
) -> list[Answer]:
    """Return the answers of a selection, on dimensions of the scheme.

    Somebody who answered under several configurations (studies, modes) counts as somebody else in
    each of them. What could not be read is no answer; of one who labels an item twice the last
    label counts.

    Raises:
        UsageError: nobody of this kind, or of this name, gave an answer; names those who did.
    """
    known = {dimension.id for dimension in scheme.dimensions}
    configs: defaultdict[str, dict[str, None]] = defaultdict(dict)
    names: dict[str, None] = {}
    unknown: dict[str, None] = {}
    values: dict[tuple[str, str, str, str], LabelValue] = {}
    dialogues: dict[str, str] = {}
    for one in annotations:
        if one.dimension in known:
            names[str(AnnotationSelection(one.kind, one.who))] = None
        elif one.kind == selection.kind and selection.who in ("", MAJORITY, one.who):
            unknown[one.dimension] = None
        if one.kind != selection.kind:
            continue
        configs[one.who][one.config] = None
        if one.value is not None and one.dimension in known:
            item = subject_name(one.subject)
            dialogues.setdefault(item, dialogue_name(one.subject))
            values[item, one.dimension, one.who, one.config] = one.value
    called = {
        (who, config): f"{who} ({config})" if len(of_them) > 1 else who
        for who, of_them in configs.items()
        for config in of_them
    }
    found = [
        Answer(item, dimension, called[who, config], value, dialogues[item])
        for (item, dimension, who, config), value in values.items()
        if selection.who in ("", MAJORITY, who, called[who, config])
    ]
    if not found and unknown:
        raise UsageError(
            f"{selection} labelled nothing that the scheme {scheme.name} has: {', '.join(unknown)}",
            "labels of a scheme that the run does not hold cannot be compared",
        )
    if not found:
        raise _nobody(names, selection)
    return _majorities(found, str(selection)) if selection.who == MAJORITY else found


def _majorities(answers: Sequence[Answer], name: str) -> list[Answer]:
    given: defaultdict[tuple[str, str, str], list[LabelValue]] = defaultdict(list)
    for answer in answers:
        given[answer.item, answer.dimension, answer.dialogue].append(answer.value)
    return [
        Answer(item, dimension, name, value, dialogue)
        for (item, dimension, dialogue), values in given.items()
        if len(values) > 1 and (value := majority(values)) is not None
    ]


def _nobody(names: Iterable[str], selection: AnnotationSelection) -> UsageError:
    return UsageError(
        f"there is no answer of {str(selection)!r}",
        suggestion(str(selection), names, listing="there are") or "nobody has answered anything",
    )
