"""Compare the answers of a study with each other and, of gold lines, with the gold labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hipo.app.review.reviewing import run_material, study_of
from pipeline.run_material import RunMaterial
from pipeline.store.reviews import ReviewStore
from quality.agreement.annotations import Answer
from quality.human_readings import GOLD, HumanReadings, human_readings
from quality.review.answer_table import answers
from scenarios.dialogue import Dialogue
from scenarios.lines.library import gold_lines
from scenarios.lines.model import GOLD_AXIS, GoldLine


@dataclass(frozen=True, slots=True)
class StudyAgreement:
    """What people answered in a study, compared."""

    study: str
    """Its name; empty where nobody has begun one."""
    lines: int
    """Gold lines of the run; 0 where it holds other dialogues."""
    canary: str | None
    """What marks the gold lines; None where the run holds other dialogues."""
    readings: HumanReadings


def study_agreement(folder: Path, study: str | None = None) -> StudyAgreement:
    """Compare people with each other and, of gold lines, with the gold labels and with programs.

    Programs are the readings that stand beside the gold labels, as far as a line is still the
    same, and the judges that the run was verified with.

    Args:
        folder: the run.
        study: its name; None is the only one there is.

    Raises:
        UsageError: there is no such study, or a package is missing.
    """
    with ReviewStore.open(folder) as store:
        material = run_material(folder)
        canary = material.canary
        if canary is not None and study is None and not store.studies.all():
            lines = sum(1 for _ in store.dialogues.dialogues(traces=False))
            return StudyAgreement("", lines, canary, HumanReadings())
        chosen = study_of(store, study)
        people = answers(store.sheets.sheets(chosen))
        if canary is None:
            return StudyAgreement(chosen.id, 0, None, human_readings(material.scheme, people))
        dialogues = list(store.dialogues.dialogues(traces=False))
        readings = human_readings(
            material.scheme,
            people,
            gold=list(_gold(dialogues)),
            programs=[*_readings(dialogues), *_judges(store, material, dialogues)],
        )
    return StudyAgreement(chosen.id, len(dialogues), canary, readings)


def _gold(dialogues: Sequence[Dialogue]) -> Iterator[Answer]:
    for dialogue in dialogues:
        for turn in dialogue.turns:
            for label in turn.tactic:
                yield Answer(
                    _item(dialogue, turn.index), label.dimension, GOLD, label.value, dialogue.id
                )


def _readings(dialogues: Sequence[Dialogue]) -> Iterator[Answer]:
    """Yield the readings by programs that the labels of gold lines were settled from."""
    for dialogue in dialogues:
        answer = dialogue.turns[-1]
        line = _line(dialogue)
        if line is None or line.text != answer.text:
            continue
        # Where the two did not differ, both gave the labels of the line.
        for number, labels in enumerate(line.readings or (line.labels,) * 2, start=1):
            for name, value in labels.items():
                item = _item(dialogue, answer.index)
                yield Answer(item, name, f"reading {number}", value, dialogue.id)


def _judges(
    store: ReviewStore, material: RunMaterial, dialogues: Sequence[Dialogue]
) -> Iterator[Answer]:
    """Yield the labels that judges named who did not see those of the lines."""
    asked = {dimension.id for dimension in material.scheme.utterance_dimensions}
    found = store.judgements.judgements([d.key for d in dialogues])
    for judgements in found.values():
        for one in judgements:
            if one.source == "external" and one.dimension in asked and one.value is not None:
                name = f"{one.case}/{one.arm}"
                yield Answer(f"{name}#{one.turn}", one.dimension, one.judge, one.value, name)


def _line(dialogue: Dialogue) -> GoldLine | None:
    """Return the line that ships under the id that a dialogue was made of."""
    file = gold_lines(dialogue.case.scenario)
    wanted = dict(dialogue.case.variation).get(GOLD_AXIS)
    return next((line for line in file.lines if line.id == wanted), None) if file else None


def _item(dialogue: Dialogue, turn: int) -> str:
    return f"{dialogue.id}#{turn}"
