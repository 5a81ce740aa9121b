"""What tables and pages call models: of a folder its last part, where it lies is nobody's business."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from os.path import normpath
from pathlib import PurePosixPath
from typing import Final

from pipeline.providers.hf.location import is_hub_id
from quality.evaluation.evaluation_record import EvaluationRecord
from quality.evaluation.result_row import ResultRow
from quality.evaluation.scores import EvaluationScores, GroupScore

_SAYS_NOTHING: Final = "adapter"
"""What hipo train calls the folder of every adapter: the one around it says which it is."""


def shown_names(models: Iterable[str]) -> dict[str, str]:
    """Return the models that are called by a path, each with the end of it that tells it from the others.

    ``hf//home/me/models/tiny`` is ``hf/tiny``. An id of the hub, and what can be one, stays as it is.
    """
    models = list(dict.fromkeys(models))
    ends = {name: list(_ends(name)) for name in models}
    shown = {}
    for name in filter(_is_path, models):
        others = {end for other in models if other != name for end in ends[other]}
        # A path that another one ends with has no end of its own: it is called as a whole.
        short = next((end for end in ends[name] if end not in others), name)
        if short != name:
            shown[name] = short
    return shown


def _is_path(model: str) -> bool:
    provider, _, place = model.partition("/")
    is_path = place.startswith(("/", "~", "./", "../"))
    return is_path or (provider == "hf" and not is_hub_id(place))


def _ends(model: str) -> Iterator[str]:
    """Yield what a model might be called for short, the shortest first."""
    provider, _, place = model.partition("/")
    parts = [
        part for part in PurePosixPath(normpath(place)).parts if part not in ("/", "//", "~", "..")
    ]
    for n in range(2 if parts[-1:] == [_SAYS_NOTHING] else 1, len(parts) + 1):
        yield "/".join((provider, *parts[-n:]))


def names_in(record: EvaluationRecord) -> dict[str, str]:
    """Return what ``shown_names`` does for the models of an evaluation, asked and writing."""
    return shown_names([*(model.name for model in record.models), *record.set.generators])


def renamed_record(record: EvaluationRecord, names: Mapping[str, str]) -> EvaluationRecord:
    """Return a record with other names of models."""
    models = tuple(
        model.model_copy(update={"name": names.get(model.name, model.name)})
        for model in record.models
    )
    writers = tuple(names.get(model, model) for model in record.set.generators)
    asked = record.set.model_copy(update={"generators": writers})
    return record.model_copy(update={"models": models, "set": asked})


def renamed_row(row: ResultRow, names: Mapping[str, str]) -> ResultRow:
    """Return a row of results with another name of its model."""
    return row.model_copy(update={"model": names[row.model]}) if row.model in names else row


def renamed_scores(scores: EvaluationScores, names: Mapping[str, str]) -> EvaluationScores:
    """Return figures with other names of models."""

    def called(model: str) -> str:
        return names.get(model, model)

    def grouped(one: GroupScore) -> GroupScore:
        return replace(one, group=called(one.group)) if one.by == "generator" else one

    return replace(
        scores,
        scores=tuple(
            replace(one, model=called(one.model), groups=tuple(map(grouped, one.groups)))
            for one in scores.scores
        ),
        comparisons=tuple(
            replace(pair, first=called(pair.first), second=called(pair.second))
            for pair in scores.comparisons
        ),
        flips=tuple(replace(one, model=called(one.model)) for one in scores.flips),
        swaps=tuple(replace(one, model=called(one.model)) for one in scores.swaps),
        sets=tuple(replace(one, model=called(one.model)) for one in scores.sets),
        words=tuple(replace(one, model=called(one.model)) for one in scores.words),
    )
