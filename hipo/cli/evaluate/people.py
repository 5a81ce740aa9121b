"""``hipo evaluate people``: the human baseline beside models, on the very same items."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import typer

from hipo.app.evaluation.people import PeopleBesideModels, people_beside_models
from hipo.app.runs.folders import find_run
from hipo.cli.evaluate.scores import scores_as_text
from hipo.cli.main import RUN, command_app
from hipo.cli.metrics.intention_text import accuracy_as_text, cells_as_json
from hipo.cli.terminal.console import Format, columns, plain, plural, write_json
from hipo.cli.terminal.errors import ExitCode
from quality.evaluation.kappa_by_group import KappaByGroup
from quality.evaluation.people import MAJORITY, PEOPLE, is_one_person
from quality.evaluation.people_by_class import PeopleOnLabel, people_by_class
from quality.evaluation.scores import ClusteredEstimate, ModelComparison
from quality.evaluation.soft_labels import SoftScore

app = command_app()

_EVALUATION = typer.Argument(..., metavar="DIR", help="What hipo evaluate wrote with -o.")


@app.command("people")
def people(
    evaluation: Path = _EVALUATION,
    run: str = RUN,
    study: str | None = typer.Option(None, "--study", help="Which quiz, where there are several."),
    output_format: Format = typer.Option(
        Format.TEXT, "--format", help="json: see docs/json-shapes.md."
    ),
) -> int:
    """Print what people score in a quiz of RUN, and models on the very same items.

    The quiz is hipo review serve RUN --mode quiz. People do not see the fact and are not offered
    every label, so only lines count that have a label they could give. Of a run without a quiz the
    imported annotators count. "people" is all of them together, "people/CODE" one alone, "people
    (majority)" the label of most where three or more answered; intervals are over cases. Where two
    or more labelled an item, answers stand beside the shares of people, too, and where items fall
    into three groups or more, accuracy beside the agreement of people.
    """
    found = people_beside_models(evaluation, find_run(run), study)
    if output_format is Format.JSON:
        write_json(people_as_json(found))
    else:
        print("\n\n".join(_text(found)))
    return ExitCode.DONE


def people_as_json(found: PeopleBesideModels) -> dict[str, object]:
    """Return what ``hipo evaluate people --format json`` prints.

    ``study``; ``annotators`` by code; ``dialogues`` of the study; ``hidden``: the labels that were
    not offered; ``scores`` and ``comparisons`` as in ``scores.json``; ``people_by_label``: means over
    annotators; ``soft_labels``: answers beside the shares of people; ``kappa_by_group``: agreement of
    people beside accuracy of models; ``by_face_act``: accuracy of everybody on intentions in persuasion.
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
        head = ["task", "dimension", "first", "second", "items", "points", "95%", "p (Holm)"]
        yield "difference in accuracy between people and models, in points of per cent\n" + columns(
            head, [_difference(one) for one in tested]
        )


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
    return (
        "" if value is None else f"{value:.3f}",
        "" if near is None else f"{near.low:.3f} to {near.high:.3f}",
    )


def _kappas(table: KappaByGroup) -> str:
    rows = [
        [one.group, str(one.items), f"{one.kappa:.3f}", f"{one.accuracy:.1%}"]
        for one in table.groups
    ]
    rho = "undefined" if table.rho is None else f"{table.rho:+.2f}"
    about = f"{table.task}, {table.mode}, {table.dimension}, {table.reference}"
    return (
        f"agreement of people beside the mean accuracy of {plural(table.models, 'model')}, by"
        f" {table.by} ({about}): Spearman rho {rho}\n"
        + columns([table.by, "items", "Fleiss kappa", "accuracy"], rows)
    )


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
    return [one.task, one.dimension, one.first, one.second, str(one.n), points, bounds, p]
