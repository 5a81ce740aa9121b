"""Verified reasonings of a run as logs, and what people said of them as forms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from pipeline.reasoning.log import LoggedAttempt, ReasoningLog, logged_claim
from pipeline.run_material import load_material
from pipeline.store.queries.annotations import open_annotations
from pipeline.store.run_store import RunStore
from pipeline.verifiers.payoffs import CORRECT, ERROR_TYPE, NAME, payoff_data
from quality.reasoning.form import COLUMNS, FormRow, RaterForm, log_name
from quality.reasoning.samples import ReasoningSample, make_sample
from quality.tables.oddities import Place
from scenarios.annotations import HUMAN, Annotation
from scenarios.dialogue import Attempt, Dialogue
from scenarios.errors import UsageError
from scenarios.spec import Scenario


def samples_of_run(folder: Path) -> list[ReasoningSample]:
    """Return the reasonings of a run, of which there has to be one.

    Raises:
        UsageError: the run has none.
    """
    samples = checked_reasonings(folder)
    if not samples:
        raise UsageError(
            f"{folder} has no reasoning whose claims about payoffs were checked",
            "generate it with --strategy verified, from scenarios that have data: payoffs",
        )
    return samples


def checked_reasonings(folder: Path) -> list[ReasoningSample]:
    """Return the reasonings of a run: turns whose claims were checked, by dialogue and turn.

    A turn in which nobody claims or chooses anything is talk, and no reasoning.
    """
    samples: list[ReasoningSample] = []
    with RunStore.open(folder, readonly=True) as store:
        material = load_material(store)
        for dialogue in store.dialogues():
            scenario = material.scenario_of(dialogue.case)
            if NAME in scenario.data:
                samples += _samples_of(dialogue, scenario)
    return samples


def forms_of_run(folder: Path, samples: Iterable[ReasoningSample]) -> list[RaterForm]:
    """Return what people said of the reasonings, a form for each of them.

    They read what was said in the end: of a reasoning with several attempts they say nothing of the
    first one.
    """
    by_tail = {"_".join(sample.key.rsplit("_", 3)[-3:]): sample for sample in samples}
    with open_annotations(folder) as reader:
        given = [a for a in reader.annotations([HUMAN]) if a.subject.part is None]
    forms: dict[str, RaterForm] = {}
    for tail, who, labels in _by_turn(given):
        sample = by_tail.get(tail)
        if sample is not None and CORRECT in labels:
            form = forms.setdefault(who, RaterForm(who, COLUMNS))
            form.rows[sample.key] = _row(sample.key, labels, attempts=len(sample.verdicts))
            form.all_rows += 1
    return list(forms.values())


def _samples_of(dialogue: Dialogue, scenario: Scenario) -> Iterator[ReasoningSample]:
    data = payoff_data(scenario)
    for turn in dialogue.turns:
        attempts = () if turn.trace is None else turn.trace.attempts
        if not attempts or any(attempt.verification is None for attempt in attempts):
            continue
        game = data.game_of(turn.role, f"scenario {scenario.id!r}")
        several = len(scenario.labelled_roles) > 1
        game_id = f"{scenario.id}_{turn.role}" if several else scenario.id
        log = _log(f"{game_id}_{_tail(dialogue.case.id, dialogue.arm, turn.index)}", attempts)
        sample = make_sample(log, {}, only=(game_id, game))
        if sample is not None and _reasons(sample):
            yield sample


def _reasons(sample: ReasoningSample) -> bool:
    claims = any(verdict.checked or verdict.malformed for verdict in sample.verdicts)
    return claims or bool(sample.choice("original") or sample.choice("final"))


def _log(name: str, attempts: tuple[Attempt, ...]) -> ReasoningLog:
    logged = []
    for number, attempt in enumerate(attempts):
        found = attempt.verification
        claims = () if found is None else found.claims
        failed = [claim for claim in claims if not claim.holds]
        told = "\n".join(f"- {claim.reason}" for claim in failed)
        logged.append(
            LoggedAttempt(
                number,
                attempt.draft.text,
                tuple(logged_claim(claim.notation) for claim in claims),
                tuple(claim.notation for claim in failed),
                told or None,
            )
        )
    return ReasoningLog(name, tuple(logged))


def _tail(case: str, arm: str, turn: int) -> str:
    """Return how the name of a log ends, which starts with its game."""
    return f"{case}_{arm}_{turn}.txt"


def _by_turn(
    annotations: Iterable[Annotation],
) -> Iterator[tuple[str, str, dict[str, object]]]:
    """Yield (end of the log's name, person, labels by dimension); several studies are apart."""
    labels: dict[tuple[str, str], dict[str, object]] = {}
    studies: dict[str, dict[str, None]] = {}
    for annotation in annotations:
        studies.setdefault(annotation.who, {})[annotation.config] = None
    for annotation in annotations:
        subject = annotation.subject
        if subject.turn is None or annotation.value is None:
            continue
        several = len(studies[annotation.who]) > 1
        who = f"{annotation.who}/{annotation.config}" if several else annotation.who
        key = log_name(_tail(subject.case, subject.arm, subject.turn))
        labels.setdefault((key, who), {})[annotation.dimension] = annotation.value
    for (key, who), given in labels.items():
        yield key, who, given


def _row(key: str, labels: dict[str, object], *, attempts: int) -> FormRow:
    said = labels[CORRECT] == "1"
    kinds = labels.get(ERROR_TYPE, ())
    return FormRow(
        log=key,
        cells={},
        place=Place(key),
        correct={"original": said if attempts == 1 else None, "final": said},
        predicted={"original": None, "final": None},
        error_types=tuple(map(str, kinds)) if isinstance(kinds, tuple) else (),
    )
