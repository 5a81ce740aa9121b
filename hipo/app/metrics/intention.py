"""Figures about intentions in persuasion, from other people's files, a run, or an evaluation."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hipo.app.runs.folders import find_run, is_evaluation, names_run
from pipeline.chunks import chunks
from pipeline.run_material import load_material
from pipeline.store.queries.annotations import PAGE, AnnotationReader, open_annotations
from pipeline.store.run_store import RunStore
from prompts.tasks.model import Options, Task
from prompts.tasks.registry import load_task
from quality.agreement.annotations import FEWEST_FOR_MAJORITY, Answer, majority
from quality.agreement.selections import subject_name
from quality.evaluation.result_row import RESULTS, ResultRow, read_results
from quality.evaluation.scores import PositionShare
from quality.persuasion.intention_figures import (
    AccuracyCell,
    AnsweredQuestion,
    ChoicesOfTwo,
    accuracy_table,
    choices_of_two,
    option_shares,
)
from quality.persuasion.intention_questions import intention_questions, names_of
from quality.persuasion.intention_statistics import (
    IntentionStatistics,
    intention_statistics,
    words_per_text,
)
from quality.persuasion.question_check import FlawedQuestion, OptionQuestion, broken, rules_of
from quality.persuasion.settled_labels import KINDS, settled_turns
from quality.persuasion.spoken_dialogues import FACE_ACT, INTENTION, spoken_dialogues
from quality.tables.checking import CheckedTable, read_files
from quality.tables.oddities import Oddity
from scenarios.annotations import HUMAN, Annotation
from scenarios.dialogue import Dialogue
from scenarios.errors import UsageError
from scenarios.schemes.dimension import ROLE
from scenarios.schemes.model import Dimension, Scheme
from scenarios.schemes.registry import load_scheme
from scenarios.spelling import suggestion

DEFAULT_MAP: Final = "face_acts"
DEFAULT_TASK: Final = "face-acts-intention"
MAJORITY: Final = "majority"
RIGHT: Final = "(right)"
"""Both stand where those who answered have names."""


@dataclass(frozen=True, slots=True)
class Answerer:
    """What one person or model made of the questions."""

    who: str
    accuracy: tuple[AccuracyCell, ...]
    shares: tuple[PositionShare, ...]
    """Of each place among the options: how often it is chosen, and right."""


@dataclass(frozen=True, slots=True)
class IntentionMetrics:
    """What dialogues hold, how good questions about them are, and what they were answered."""

    statistics: IntentionStatistics | None
    """None where there are answers alone, and no dialogues."""
    questions: int
    words_per_option: float | None
    """Of all options that are shown; None where their wording is not known."""
    right: tuple[PositionShare, ...]
    """How often each place among the options is right."""
    by_face_act: tuple[AccuracyCell, ...]
    """How many questions there are by face act and role; none of them is answered here."""
    rules: Mapping[str, int]
    """How many options break each rule."""
    broken: tuple[FlawedQuestion, ...]
    answerers: tuple[Answerer, ...]
    choices: tuple[ChoicesOfTwo, ...] = ()
    """Of every two who answered the same questions, and of each beside what is right."""
    oddities: tuple[Oddity, ...] = ()


def intention_metrics(
    sources: Sequence[str | Path],
    *,
    map_name: str = DEFAULT_MAP,
    task: str = DEFAULT_TASK,
    majority_of: Sequence[str] = (),
) -> IntentionMetrics:
    """Count face acts and intentions, check questions against the rules, and score answers.

    Args:
        sources: tables with dialogues, labels and questions; or one run; or the folder of one
            evaluation, or its file of results.
        map_name: what the columns of tables stand for: a map that ships, or the path of one.
        task: which rules questions are to keep: those of its options.
        majority_of: of tables, people who answered: what more than half of them chose is scored as
            one more answer, where three or more of them did; without a majority it is wrong.

    Raises:
        UsageError: a source cannot be read, or holds nothing of this, or nobody of a name answered.
    """
    results = _results(sources)
    if majority_of and (results is not None or any(map(names_run, sources))):
        raise UsageError(
            "the majority is of people whose answers stand in a table",
            "hipo evaluate people has it for those of a run",
        )
    if results is not None:
        return _of_results(results)
    runs = [source for source in sources if names_run(source)]
    if runs:
        if len(sources) > 1:
            raise UsageError(f"the run {runs[0]} stands among other sources", "name it alone")
        return _of_run(find_run(str(runs[0])), task)
    checked = read_files([Path(source) for source in sources], map_name)
    _require(checked.scheme)
    return _of_table(checked, load_task(task, checked.scheme), majority_of)


def _of_table(checked: CheckedTable, task: Task, majority_of: Sequence[str]) -> IntentionMetrics:
    scheme = checked.scheme
    lines = {
        dialogue.id: [(turn.role, turn.text) for turn in dialogue.turns]
        for dialogue in checked.table.dialogues
    }
    answers = (*checked.answers, *_settled(checked))
    dialogues = spoken_dialogues(lines, answers)
    questions, chosen = [], []
    for question in checked.table.questions:
        turn = dialogues[question.dialogue][question.turn]
        place = question.place
        asked = OptionQuestion(
            id=f"{place.file}:{place.line}",
            role=turn.role,
            options=question.options,
            labels=question.labels,
            right=question.right,
            label=turn.intention,
            face_act=turn.face_act,
        )
        questions.append(asked)
        chosen.append({**question.chosen, **_majority(question.chosen, majority_of)})
    names = dict.fromkeys(who for one in chosen for who in one)
    answered = {
        who: [
            _answered(asked, one[who])
            for asked, one in zip(questions, chosen, strict=True)
            if who in one
        ]
        for who in names
    }
    unknown = [who for who in majority_of if who not in names]
    if unknown:
        raise UsageError(
            f"nobody called {unknown[0]!r} answered a question",
            suggestion(unknown[0], names, listing="there are"),
        )
    return _metrics(
        scheme,
        _rules(task),
        questions,
        answered,
        statistics=intention_statistics(scheme, dialogues, answers),
        oddities=checked.oddities,
    )


def _majority(chosen: Mapping[str, int | None], of: Sequence[str]) -> dict[str, int | None]:
    """Return what most of some people chose; nothing where fewer than three of them answered."""
    given = [chosen[who] for who in of if who in chosen]
    return {MAJORITY: majority(given)} if len(given) >= FEWEST_FOR_MAJORITY else {}


def _settled(checked: CheckedTable) -> Iterator[Answer]:
    """Yield the labels that the authors settled on where annotators say nothing about them."""
    given = {answer.dimension for answer in checked.answers}
    yield from (answer for answer in checked.gold if answer.dimension not in given)


def _of_run(folder: Path, task_name: str) -> IntentionMetrics:
    """Count what a run holds, and check the questions that its dialogues make."""
    spoken, questions, people = {}, list[OptionQuestion](), list[Answer]()
    with RunStore.open(folder, readonly=True) as store, open_annotations(folder) as reader:
        material = load_material(store)
        scheme = material.scheme
        _require(scheme)
        rules = _rules(load_task(task_name, scheme))
        for dialogue, labels in _labelled(store, reader):
            name = dialogue.id
            gold = [label for label in labels if label.config not in reader.quizzes]
            spoken[name], _ = settled_turns(dialogue, gold)
            asked = intention_questions(
                name,
                spoken[name],
                scheme.dimension(INTENTION),
                rules,
                names_of(material.scenario_of(dialogue.case)),
                drawn_by=dialogue.case.id,
            )
            questions += [question.checked for question in asked]
            people += [
                Answer(subject_name(a.subject), a.dimension, a.who, a.value, name)
                for a in labels
                if a.kind == HUMAN and a.dimension == INTENTION and a.value is not None
            ]
    statistics = intention_statistics(scheme, spoken, people)
    return _metrics(scheme, rules, questions, {}, statistics=statistics)


def _labelled(
    store: RunStore, reader: AnnotationReader
) -> Iterator[tuple[Dialogue, Sequence[Annotation]]]:
    """Yield dialogues with what is labelled in them, some hundreds at a time."""
    for page in chunks(store.dialogues(traces=False), PAGE):
        labelled: defaultdict[tuple[str, str], list[Annotation]] = defaultdict(list)
        keys = [dialogue.key for dialogue in page]
        for one in reader.of(keys, KINDS, reasons=False):
            labelled[one.subject.case, one.subject.arm].append(one)
        for dialogue, key in zip(page, keys, strict=True):
            yield dialogue, labelled.get(key, ())


def _answered(question: OptionQuestion, chosen: int | None) -> AnsweredQuestion:
    return AnsweredQuestion(
        question.role,
        question.face_act or "",
        len(question.options),
        question.right,
        chosen,
        question.id,
        "" if chosen is None else question.labels[chosen] or question.options[chosen],
    )


def _results(sources: Sequence[str | Path]) -> list[ResultRow] | None:
    """Return the rows of an evaluation; None where something else is meant."""
    paths = [Path(source) for source in sources]
    files = [path / RESULTS if is_evaluation(path) else path for path in paths]
    if not any(file.name == RESULTS for file in files):
        return None
    if len(files) > 1:
        raise UsageError("an evaluation stands among other sources", "name it alone")
    return list(read_results(files[0]))


def _of_results(rows: Sequence[ResultRow]) -> IntentionMetrics:
    first = [row for row in rows if INTENTION in row.options and not (row.repeat or row.draw)]
    scored = [row for row in first if any(INTENTION in right for right in row.references.values())]
    if not scored:
        raise UsageError(
            f"no answer is about {INTENTION} with options of its own, one of them right",
            f"evaluate a set with --task {DEFAULT_TASK} first",
        )
    scheme = load_scheme(scored[0].scheme.partition("@")[0])
    _require(scheme)
    questions: dict[tuple[str, str], OptionQuestion] = {}
    asked = list(_asked(scored, scheme))
    for row, question in asked:
        questions.setdefault((row.task, row.item), question)
    answered = _by_answerer([one for one in asked if one[0].status != "failed"])
    rules = _rules(load_task(scored[0].task, scheme))
    return _metrics(scheme, rules, list(questions.values()), answered)


def intention_answers(
    rows: Iterable[ResultRow], scheme: Scheme
) -> dict[str, list[AnsweredQuestion]]:
    """Return by who answered what was said to questions about intentions; repeats do not count.

    A scheme without face acts has nobody here.
    """
    if not _has_intentions(scheme):
        return {}
    asked = _asked((row for row in rows if not row.repeat and row.status != "failed"), scheme)
    return _by_answerer(list(asked))


def accuracy_by_face_act(
    answered: Mapping[str, Sequence[AnsweredQuestion]], scheme: Scheme
) -> dict[str, tuple[AccuracyCell, ...]]:
    """Return by who answered how many questions about intentions are right, by role and face act."""
    if not answered:
        return {}
    roles, acts = _layout(scheme)
    return {who: accuracy_table(answers, roles, acts) for who, answers in answered.items()}


def _asked(rows: Iterable[ResultRow], scheme: Scheme) -> Iterator[tuple[ResultRow, OptionQuestion]]:
    """Yield the rows about intentions with their questions."""
    for row in rows:
        asked = _question_of(row, scheme.dimension(INTENTION)) if INTENTION in row.options else None
        if asked is not None:
            yield row, asked


def _by_answerer(
    asked: Sequence[tuple[ResultRow, OptionQuestion]],
) -> dict[str, list[AnsweredQuestion]]:
    """Return what was answered by who answered, and where there are several by task and mode."""
    several = len({(row.task, row.mode) for row, _ in asked}) > 1
    answered: dict[str, list[AnsweredQuestion]] = {}
    for row, question in asked:
        who = f"{row.model} {row.task} {row.mode}" if several else row.model
        chosen = row.labels.get(INTENTION)
        place = question.options.index(chosen) if chosen in question.options else None
        answered.setdefault(who, []).append(_answered(question, place))
    return answered


def _question_of(row: ResultRow, intention: Dimension) -> OptionQuestion | None:
    """Return the question of a row; speaker and face act follow from what is right."""
    right = next((ref[INTENTION] for ref in row.references.values() if INTENTION in ref), None)
    options = row.options[INTENTION]
    by_id = {label.id: label for label in intention.labels}
    if right not in options or right not in by_id:
        return None
    applies = by_id[right].applies
    return OptionQuestion(
        id=row.item,
        role=applies.get(ROLE, ("",))[0],
        options=options,
        labels=options,
        right=options.index(right),
        label=right,
        face_act=applies.get(FACE_ACT, ("",))[0],
    )


def _metrics(
    scheme: Scheme,
    rules: Options,
    questions: Sequence[OptionQuestion],
    answered: Mapping[str, Sequence[AnsweredQuestion]],
    *,
    statistics: IntentionStatistics | None = None,
    oddities: Sequence[Oddity] = (),
) -> IntentionMetrics:
    found = tuple(broken(scheme.dimension(INTENTION), rules, questions))
    counts = Counter(one.rule for one in found)
    asked = [_answered(question, None) for question in questions]
    roles, acts = _layout(scheme, *(question.role for question in questions))
    return IntentionMetrics(
        statistics=statistics,
        questions=len(questions),
        words_per_option=words_per_text(
            option
            for question in questions
            if statistics is not None
            for option in question.options
        ),
        right=option_shares(asked),
        by_face_act=accuracy_table(asked, roles, acts),
        rules={rule: counts[rule] for rule in rules_of(rules)},
        broken=found,
        answerers=tuple(
            Answerer(who, accuracy_table(answers, roles, acts), option_shares(answers))
            for who, answers in answered.items()
        ),
        choices=choices_of_two({**answered, RIGHT: [_answered(q, q.right) for q in questions]}),
        oddities=tuple(oddities),
    )


def _rules(task: Task) -> Options:
    if INTENTION not in task.options:
        raise UsageError(
            f"the task {task.id} lists no options of {INTENTION}",
            f"take one that does, e.g. {DEFAULT_TASK}",
        )
    return task.options[INTENTION]


def _layout(scheme: Scheme, *roles: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return roles and face acts in the order of tables."""
    all_roles = (*dict.fromkeys((*scheme.dimension(INTENTION).of, *roles)),)
    return all_roles, tuple(scheme.dimension(FACE_ACT).values)


def _has_intentions(scheme: Scheme) -> bool:
    return {INTENTION, FACE_ACT} <= {dimension.id for dimension in scheme.dimensions}


def _require(scheme: Scheme) -> None:
    if not _has_intentions(scheme):
        raise UsageError(
            f"the scheme {scheme.id} has no {INTENTION} or no {FACE_ACT}",
            "use a map, run or evaluation of the scheme face_acts",
        )
