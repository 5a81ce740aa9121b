"""Labels that a program gave which checks what is said, such as the solver of games."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from outputs.selecting.people_labels import labelled_dimensions
from pipeline.store.queries.annotations import AnnotationReader
from scenarios.annotations import VERIFIER
from scenarios.dialogue import Dialogue, TacticLabel
from scenarios.errors import UsageError
from scenarios.schemes.model import Scheme


def refuse_unless_verified(run: str, annotations: AnnotationReader) -> None:
    """Do nothing where a program gave labels to dialogues of a run.

    Raises:
        UsageError: none did.
    """
    if not annotations.has(VERIFIER):
        raise UsageError(
            f"{run} has no labels of a program that checks what is said",
            "the strategy verified stores them (docs/dilemmas.md); or leave --labels verifier out",
        )


def with_verifier_labels(
    scheme: Scheme, dialogue: Dialogue, annotations: AnnotationReader
) -> tuple[Dialogue, frozenset[int]]:
    """Return a dialogue whose answers have the labels of a program alone, and which turns have some.

    What it says of attempts and of single claims is no label of a turn, and is passed over.

    Args:
        scheme: only its dimensions that turns can have a label of are read.
        dialogue: what was said.
        annotations: of its run.
    """
    names = {dimension.id for dimension in labelled_dimensions(scheme)}
    labels: defaultdict[int | None, list[TacticLabel]] = defaultdict(list)
    for one in annotations.of([dialogue.key], (VERIFIER,)):
        is_of_turn = one.subject.part is None and one.dimension in names
        if is_of_turn and one.value is not None:
            labels[one.subject.turn].append(TacticLabel(one.dimension, one.value, one.rationale))
    turns = tuple(
        replace(turn, tactic=tuple(labels.get(turn.index, ())) if turn.is_answer else ())
        for turn in dialogue.turns
    )
    return replace(dialogue, turns=turns), frozenset(t.index for t in turns if t.tactic)
