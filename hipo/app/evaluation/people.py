"""People beside models: what they labelled and the results of an evaluation on the same items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hipo.app.metrics.intention import accuracy_by_face_act, intention_answers
from hipo.app.review.reviewing import run_material, study_of
from outputs.evaluation.model_names import names_in, renamed_row
from outputs.evaluation.writing import results_of
from pipeline.store.queries.annotations import open_annotations
from pipeline.store.reviews import ReviewStore
from quality.agreement.annotations import Answer
from quality.agreement.selections import AnnotationSelection, selected
from quality.evaluation.evaluation_record import EvaluationRecord, read_record
from quality.evaluation.kappa_by_group import KappaByGroup, kappa_by_group
from quality.evaluation.people import PEOPLE, human_baseline, is_one_person
from quality.evaluation.scores import EvaluationScores
from quality.evaluation.scoring_results import score_results
from quality.evaluation.soft_labels import SoftScore, soft_scores
from quality.persuasion.intention_figures import AccuracyCell, ChoicesOfTwo, choices_of_two
from quality.review.answer_table import answers
from scenarios.annotations import HUMAN, IMPORT
from scenarios.errors import UsageError
from scenarios.text_file import typed_path


@dataclass(frozen=True, slots=True)
class QuizAnswers:
    """What people answered in a quiz, or as imported annotators."""

    study: str
    """Empty: they were imported."""
    scheme: str
    """Id and version."""
    dialogues: tuple[str, ...]
    """Of the study, as ``case/arm``, whether anybody has answered them or not."""
    people: tuple[Answer, ...]
    hidden: Mapping[str, tuple[str, ...]]
    """Labels that were not offered, by dimension."""

    @property
    def annotators(self) -> tuple[str, ...]:
        """The codes of everybody who answered."""
        return tuple(sorted({answer.annotator for answer in self.people}))


@dataclass(frozen=True, slots=True)
class PeopleBesideModels:
    """The human baseline of an evaluation."""

    quiz: QuizAnswers
    record: EvaluationRecord
    scores: EvaluationScores
    soft: tuple[SoftScore, ...]
    """How near answers are to the shares of people; empty where no item has labels of two."""
    kappas: tuple[KappaByGroup, ...]
    """How far people agree, and what models score, by groups of items."""
    by_face_act: Mapping[str, tuple[AccuracyCell, ...]]
    """Accuracy of everybody on intentions in persuasion, by role and face act; empty without any."""
    chosen_by_two: tuple[ChoicesOfTwo, ...]
    """Of the majority and every model, which intentions they chose, whatever is right."""


def quiz_answers(folder: Path, study: str | None = None) -> QuizAnswers:
    """Return what people answered in a quiz of a run.

    Args:
        folder: the run.
        study: its name; None: the only quiz there is.

    Raises:
        UsageError: there is no such study, or it is none that was asked as a quiz.
    """
    with ReviewStore.open(folder) as store:
        quizzes = [found.id for found in store.studies.all() if found.mode == "quiz"]
        if study is None and len(quizzes) == 1:
            study = quizzes[0]
        chosen = study_of(store, study)
        if chosen.mode != "quiz":
            raise UsageError(
                f"the study {chosen.id!r} of {folder} is no quiz: its people were shown the fact",
                f"hipo review serve {typed_path(folder)} --mode quiz -n 33 begins the human baseline",
            )
        return QuizAnswers(
            study=chosen.id,
            scheme=run_material(folder).scheme.name,
            dialogues=tuple(item.id for item, _ in store.sheets.items(chosen)),
            people=tuple(answers(store.sheets.sheets(chosen))),
            hidden=chosen.hidden,
        )


def imported_answers(folder: Path) -> QuizAnswers | None:
    """Return the answers that were imported into a run with its dialogues; None without any."""
    with open_annotations(folder) as reader:
        labels = [one for one in reader.annotations((HUMAN,)) if one.config.startswith(IMPORT)]
    scheme = run_material(folder).scheme
    if not any(one.value is not None for one in labels):
        return None
    people = selected(scheme, labels, AnnotationSelection(HUMAN))
    dialogues = dict.fromkeys(answer.dialogue for answer in people)
    return QuizAnswers("", scheme.name, tuple(dialogues), tuple(people), hidden={})


def _answers_of_people(run: Path, study: str | None) -> QuizAnswers:
    """Return what people answered in a quiz; without any quiz, what imported annotators did."""
    if study is None:
        with ReviewStore.open(run) as store:
            has_quiz = any(found.mode == "quiz" for found in store.studies.all())
        imported = None if has_quiz else imported_answers(run)
        if imported is not None:
            return imported
    return quiz_answers(run, study)


def people_beside_models(
    evaluation: Path, run: Path, study: str | None = None, *, shown: bool = False
) -> PeopleBesideModels:
    """Score people and models on the items that both answered.

    Args:
        evaluation: a folder that ``hipo evaluate`` wrote.
        run: the run whose dialogues people answered.
        study: the quiz; None: the only one there is, or where there is none, the imported annotators.
        shown: whether models have the names that tables have for them.

    Raises:
        UsageError: the folder holds no evaluation, the run no quiz; they have other schemes, or no
            item that both answered.
        InputError: a file of the evaluation is damaged.
    """
    record, quiz = read_record(evaluation), _answers_of_people(run, study)
    if record.set.scheme != quiz.scheme:
        raise UsageError(
            f"the models of {evaluation} were asked for labels of {record.set.scheme}, the people"
            f" of {run} for those of {quiz.scheme}",
            "their answers cannot stand in one table",
        )
    if not quiz.people:
        raise UsageError(
            f"nobody has answered the quiz {quiz.study!r} of {run} yet",
            f"hipo review serve {typed_path(run)} --mode quiz lets people in",
        )
    names = names_in(record) if shown else {}
    results = [renamed_row(row, names) for row in results_of(evaluation, record)]
    labels = record.set.labels
    single = {name: known for name, known in labels.items() if name not in record.set.several}
    rows = human_baseline(results, quiz.people, single, hidden=quiz.hidden)
    if not rows:
        raise UsageError(
            f"no model of {evaluation} was asked about what people answered in {run}",
            f"hipo evaluate {typed_path(run)} asks about all of its dialogues",
        )
    scores = score_results(rows, single)
    scheme = run_material(run).scheme
    dimensions = {dimension.id: dimension for dimension in scheme.dimensions}
    answered = intention_answers(rows, scheme)
    # Of several people the first would stand for all, and each alone is compared with nobody.
    once = [row for row in rows if row.model != PEOPLE and not is_one_person(row.model)]
    return PeopleBesideModels(
        quiz,
        record,
        scores,
        soft=tuple(soft_scores(results, quiz.people, labels, hidden=quiz.hidden)),
        kappas=tuple(kappa_by_group(scores.scores, rows, quiz.people, dimensions)),
        by_face_act=accuracy_by_face_act(answered, scheme),
        chosen_by_two=choices_of_two(intention_answers(once, scheme)),
    )
