"""``hipo evaluate people``: the human baseline beside models, on the very same items."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Final

import typer

from hipo.app.evaluation.people import PeopleBesideModels, people_beside_models
from hipo.app.runs.folders import find_run
from hipo.cli.evaluate.scores import scores_as_text
from hipo.cli.main import RUN, command_app
from hipo.cli.metrics.intention_text import accuracy_as_text, cells_as_json, choices_as_text
from hipo.cli.reports.label_agreement import bounds
from hipo.cli.terminal.console import Format, columns, number, plain, write_json
from hipo.cli.terminal.errors import ExitCode
from quality.evaluation.choices import ChosenLabel, choices
from quality.evaluation.kappa_by_group import GroupKappa, KappaByGroup
from quality.evaluation.label_matrix import ALL_MODELS
from quality.evaluation.people import MAJORITY, PEOPLE, is_one_person, is_people
from quality.evaluation.people_by_class import PeopleOnLabel, people_by_class
from quality.evaluation.scores import ClusteredEstimate, ModelComparison, Scores
from quality.evaluation.soft_labels import SoftScore
from scenarios.plural import plural

app = command_app()

_SHOWN: Final = 15
"""Pairs of labels that are printed; the JSON has all."""
_UNREAD: Final = "(no label)"
_EVALUATION = typer.Argument(..., metavar="DIR", help="What hipo evaluate wrote with -o.")


@app.command("people")
def people(
    evaluation: Path = _EVALUATION,
    run: str = RUN,
    study: str | None = typer.Option(None, "--study", help="Which quiz, where there are several."),
    output_format: Format = typer.Option("text", "--format", help="json: see docs/json-shapes.md."),
) -> int:
    """Print what people score in a quiz of RUN, and models on the very same items.

    The quiz is hipo review serve RUN --mode quiz. People do not see the fact and are not offered
    every label, so only lines count that have a label they could give. Of a run without a quiz the
    imported annotators count. "people" is all of them together, "people/CODE" one alone, "people
    (majority)" the label of most where three or more answered; intervals are over cases. Where two
    or more labelled an item, answers stand beside the shares of people, too, and where items fall
    into three groups or more, accuracy beside the agreement of people. A last table says which label
    is chosen where another one is right.
    """
    shown = output_format != "json"
    found = people_beside_models(evaluation, find_run(run), study, shown=shown)
    if output_format == "json":
        write_json(people_as_json(found))
    else:
        print("\n\n".join(_text(found)))
    return ExitCode.DONE


def people_as_json(found: PeopleBesideModels) -> dict[str, object]:
    """Return what ``hipo evaluate people --format json`` prints.

    ``study``; ``annotators`` by code; ``dialogues`` of the study; ``hidden``: the labels that were
    not offered; ``scores`` and ``comparisons`` as in ``scores.json``; ``people_by_label``: means over
    annotators; ``soft_labels``: answers beside the shares of people; ``kappa_by_group``: agreement of
    people beside accuracy; ``by_face_act``: accuracy of everybody on intentions in persuasion;
    ``choices``: what everybody chose, by what is right; ``chosen_by_two``: intentions that the majority
    and models chose.
    """
    figures = found.scores.to_dict()
    return {
        **plain(found.quiz, "study annotators"),
        "dialogues": len(found.quiz.dialogues),
        "hidden": {name: list(labels) for name, labels in found.quiz.hidden.items()},
        "scores": figures["scores"],
        "comparisons": figures["comparisons"],
        "people_by_label": [asdict(one) for one in people_by_class(found.scores.scores)],
        "soft_labels": [asdict(one) for one in found.soft],
        "kappa_by_group": [asdict(one) for one in found.kappas],
        "by_face_act": [
            {"who": who, "accuracy": cells_as_json(cells)}
            for who, cells in found.by_face_act.items()
        ],
        "choices": [asdict(one) for one in choices(found.scores.scores)],
        "chosen_by_two": [asdict(two) for two in found.chosen_by_two],
    }


def _text(found: PeopleBesideModels) -> Iterator[str]:
    quiz = found.quiz
    hidden = ", ".join(label for labels in quiz.hidden.values() for label in labels)
    where = f"of the quiz {quiz.study!r}" if quiz.study else "whose answers were imported"
    who = f"{plural(len(quiz.annotators), 'annotator')} {where}: {', '.join(quiz.annotators)}"
    shown = "people saw no fact" + (f" and were not offered {hidden}" if hidden else "")
    yield f"{who}\n{shown}" if quiz.study else who
    yield scores_as_text(found.scores.scores)
    classes = people_by_class(found.scores.scores)
    if classes:
        head = ["task", "reference", "dimension", "label", "accuracy", "F1", "people"]
        yield "people by label, means over annotators (accuracy is recall)\n" + columns(
            head, [_on_label(one) for one in classes]
        )
    if found.soft:
        head = [
            "task", "mode", "model", "dimension", "items", "people", "answers", "shared", "95%",
            "JSD", "95%", "cross entropy",
        ]  # fmt: skip
        yield "answers beside the shares of people, not their majority alone\n" + columns(
            head, [_soft(one) for one in found.soft]
        )
    for who, cells in found.by_face_act.items():
        if not is_one_person(who):
            yield accuracy_as_text(who, cells)
    for table in found.kappas:
        yield _kappas(table)
    tested = [one for one in found.scores.comparisons if _of_people(one)]
    if tested:
        head = [
            "task", "mode", "dimension", "first", "second", "items", "points", "95%", "p (Holm)",
        ]  # fmt: skip
        yield "difference in accuracy between people and models, in points of per cent\n" + columns(
            head, [_difference(one) for one in tested]
        )
    yield from map(choices_as_text, found.chosen_by_two)
    yield from _wrong_choices(found.scores.scores)


def _on_label(one: PeopleOnLabel) -> list[str]:
    figures = (f"{one.accuracy:.1%}", f"{one.f1:.1%}", str(one.annotators))
    return [one.task, one.reference, one.dimension, one.label, *figures]


def _soft(one: SoftScore) -> list[str]:
    answers = "" if one.answers is None else f"{one.answers:.1f}"
    apart, entropy = one.divergence, one.cross_entropy.value
    return [
        one.task, one.mode, one.model, one.dimension, str(one.items), f"{one.people:.1f}", answers,
        *_bounded(one.shared), *_bounded(apart), "" if entropy is None else f"{entropy:.3f}",
    ]  # fmt: skip


def _bounded(estimate: ClusteredEstimate) -> tuple[str, str]:
    value, near = estimate.value, estimate.by_case
    return "" if value is None else f"{value:.3f}", bounds(near)


def _kappas(table: KappaByGroup) -> str:
    groups = table.groups
    who = dict.fromkeys(name for one in groups for name in one.accuracies)
    people, models = ([n for n in who if is_people(n) == wanted] for wanted in (True, False))
    rows = [
        ["items", *(number(one.items) for one in groups)],
        ["Fleiss kappa of people", *(f"{one.kappa:.3f}" for one in groups)],
        *([name, *(_accuracy(one, name) for one in groups)] for name in (*people, *models)),
        [f"mean of {plural(table.models, 'model')}", *(f"{one.accuracy:.1%}" for one in groups)],
    ]
    rho = "undefined" if table.rho is None else f"{table.rho:+.2f}"
    about = f"{table.task}, {table.mode}, {table.dimension}, {table.reference}"
    return (
        f"agreement of people and accuracy by {table.by} ({about}): Spearman rho of kappa and mean"
        f" {rho}\n" + columns(["", *(one.group for one in groups)], rows)
    )


def _accuracy(group: GroupKappa, who: str) -> str:
    return f"{group.accuracies[who]:.1%}" if who in group.accuracies else ""


def _wrong_choices(scores: Iterable[Scores]) -> Iterator[str]:
    """Yield for each question which label was given where another is right, and how often."""
    tables: defaultdict[tuple[str, ...], defaultdict[tuple[str, str], dict[str, ChosenLabel]]]
    tables = defaultdict(lambda: defaultdict(dict))
    for one in choices(scores):
        if one.chosen != one.right and not is_one_person(one.who):
            about = (one.task, one.mode, one.dimension, one.reference)
            tables[about][one.right, one.chosen or _UNREAD][one.who] = one
    for question, cells in tables.items():
        who = sorted({name for given in cells.values() for name in given}, key=_people_first)
        ordered = sorted(cells.items(), key=_by_answers)
        rows = [
            [*pair, *(_times_and_share(given.get(name)) for name in who)]
            for pair, given in ordered[:_SHOWN]
        ]
        more = f"\nand {plural(len(cells) - _SHOWN, 'pair')} more, see --format json"
        yield (
            f"label chosen where another is right ({', '.join(question)}): answers, and their share of"
            " those where it is right\n"
            + columns(["right", "chosen", *who], rows)
            + (more if len(cells) > _SHOWN else "")
        )


def _by_answers(cell: tuple[tuple[str, str], Mapping[str, ChosenLabel]]) -> int:
    """Return what sorts pairs by how often they are chosen; the sum of models counts none twice."""
    return -sum(one.answers for one in cell[1].values() if one.who != ALL_MODELS)


def _people_first(who: str) -> tuple[bool, str]:
    return not is_people(who), who


def _times_and_share(one: ChosenLabel | None) -> str:
    return "" if one is None else f"{one.answers} ({one.answers / one.of:.1%})"


def _of_people(one: ModelComparison) -> bool:
    """Return whether models are compared with people together, or with their majority."""
    together = [name in (PEOPLE, MAJORITY) for name in (one.first, one.second)]
    return (
        any(together) and not all(together) and not any(map(is_one_person, (one.first, one.second)))
    )


def _difference(one: ModelComparison) -> list[str]:
    p = "" if one.p_holm is None else f"{one.p_holm:.4f}"
    value = one.accuracy.value
    points = "undefined" if value is None else f"{100 * value:+.1f}"
    near = one.accuracy.by_case
    bounds = "" if near is None else f"{100 * near.low:+.1f} to {100 * near.high:+.1f}"
    who = (one.first, one.second)
    return [one.task, one.mode, one.dimension, *who, str(one.n), points, bounds, p]
