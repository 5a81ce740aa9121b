"""The dataset card: the header the Hugging Face hub reads, and the page people read."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from outputs.contamination.contamination import overlap_share, reworded_share
from outputs.contamination.kept_together import Why
from outputs.dataset.glance import at_a_glance
from outputs.dataset.manifest import Column, ExportedFile, ExportFacts, Generator
from outputs.markdown import rendered
from outputs.reliability.chairs import BLIND_READING, chairs
from outputs.reliability.judge_agreement import READER_REMARK
from outputs.reliability.reliability import JudgeConsistency
from outputs.token_lengths import DEFAULT_WINDOW
from prompts.plain_text import one_line
from quality.agreement.agreement import AgreementRow
from scenarios.fingerprint import canonical_json
from scenarios.schemes.model import Dimension
from scenarios.verdicts import Source

CARD = "README.md"
"""The name under which the hub, and ``datasets.load_dataset``, look for the card."""

_SIZES = (
    (10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M"),
    (10**7, "1M<n<10M"), (10**8, "10M<n<100M"), (10**9, "100M<n<1B"), (10**10, "1B<n<10B"),
)  # fmt: skip
TRAINERS = "trainers"
"""The folder of a set with the messages alone, beside which a script and configurations lie."""
_SPLITS = ("train", "validation", "test")
_WHYS: Mapping[Why, str] = {
    "variant_of": "declared to tell the same",
    "background": "words of the background",
    "dialogues": "dialogues of one that are nearly the other's",
}


@dataclass(frozen=True, slots=True)
class ValueShare:
    """How often a value occurs, for the tables of a document."""

    name: str
    count: int
    share: float


def dataset_card(facts: ExportFacts) -> str:
    """Return the card of an export: YAML header, then prose; the same facts give the same bytes.

    The header names the data files of every subset and split, so that ``datasets.load_dataset``
    on the folder needs no script. It names a licence only if the publisher chose one.
    """
    header = yaml.safe_dump(card_header(facts), sort_keys=False, allow_unicode=True, width=100)
    return f"---\n{header}---\n\n{rendered('card.md.j2', document_values(facts))}"


def card_header(facts: ExportFacts) -> dict[str, Any]:
    """Return the metadata of the card as plain data, in the vocabulary of the hub."""
    languages = sorted(facts.by_language)
    header: dict[str, Any] = {"pretty_name": one_line(facts.name)}
    if facts.licence is not None:
        header["license"] = facts.licence
    return {
        **header,
        "language": languages,
        "multilinguality": ["monolingual" if len(languages) < 2 else "multilingual"],
        "annotations_creators": _annotators(facts),
        "language_creators": [
            *_if(not facts.only_imported or bool(facts.generators), "machine-generated"),
            *_if(facts.imported > 0, "found"),
        ],
        "source_datasets": [
            *_if(not facts.only_imported, "original"),
            *_if(facts.imported > 0, "extended"),
        ],
        "size_categories": [_size_category(sum(file.rows for file in facts.primary))],
        "task_categories": list(facts.hub_tasks),
        "tags": [*kinds_of_dialogues(facts), "dialogue", "pragmatics", "hipo"],
        "configs": _configs(facts.primary),
    }


def _annotators(facts: ExportFacts) -> list[str]:
    """Return who labelled, as the hub says it; people are experts only where one decided."""
    people = bool(facts.reliability.agreement) or facts.by_people > 0
    return [
        *_if(not facts.only_imported or bool(facts.judges), "machine-generated"),
        *_if(facts.imported > 0, "found"),
        *_if(facts.adjudicated + facts.expert_goals > 0, "expert-generated"),
        *_if(people, "other"),
    ]


def kinds_of_dialogues(facts: ExportFacts) -> list[str]:
    """Return a word for each kind of dialogue that is there: made up, or brought in from a file."""
    return [
        *_if(not facts.only_imported, "synthetic", "fictional"),
        *_if(facts.imported > 0, "imported"),
    ]


def _if(holds: bool, *words: str) -> tuple[str, ...]:
    return words if holds else ()


def document_values(facts: ExportFacts) -> dict[str, Any]:
    """Return what the templates of card and datasheet may use."""
    return {
        "facts": facts,
        "scheme": facts.scheme,
        "subsets": _subsets(facts.primary),
        "rows": sum(file.rows for file in facts.primary),
        "columns": _columns(facts.primary),
        "csv": any(file.format == "csv" for file in facts.files),
        "generators": sorted(facts.generators, key=lambda made: made.model),
        "providers": _providers(facts.generators),
        "imported": facts.imported,
        "only_imported": facts.only_imported,
        "judges": sorted(facts.judges),
        "goals": shares(facts.by_goal),
        "categories": shares(facts.by_category),
        "languages": shares(facts.by_language),
        "labels": [
            (dimension, shares(facts.by_label[dimension.id], in_order=_is_scale(dimension)))
            for dimension in facts.scheme.utterance_dimensions
            if facts.by_label.get(dimension.id)
        ],
        "at_a_glance": at_a_glance(facts),
        "default_window": DEFAULT_WINDOW,
        "too_long": any(one.over for one in facts.lengths),
        **_training(facts),
        "foils": facts.reliability.foils,
        "parts": [goal or "no goal" for goal in _goals_of(facts)] + _splits_of(facts),
        "support": _support(facts),
        "measures": {d.id: _measure(d) for d in facts.scheme.dimensions},
        "goal_remark": READER_REMARK,
        **_confirmations(facts),
        "agreement": [_agreement(facts, row) for row in facts.reliability.agreement],
        "whys": _WHYS,
        "contamination": [
            {
                **found,
                "any": overlap_share(found, "checked_rows_sharing"),
                "share": overlap_share(found),
                "may_be_reworded": reworded_share(found)
                + (", left out" if found.get("reworded_removed") else ""),
            }
            for found in facts.contamination
        ],
        "options": [
            (name, canonical_json(value).decode()) for name, value in sorted(facts.options.items())
        ],
    }


def _training(facts: ExportFacts) -> dict[str, object]:
    """Return whether configurations of trainers lie beside the rows, and what columns these have."""
    return {
        "configured": (facts.folder / TRAINERS).is_dir(),
        "trainer_columns": [column.name for file in facts.primary for column in file.columns],
        "any_to_train_on": any(file.split == "train" for file in facts.primary),
    }


def _splits_of(facts: ExportFacts) -> list[str]:
    return sorted({one.split for one in facts.support}, key=_rank)


def _goals_of(facts: ExportFacts) -> list[str]:
    """Return the goals of the scheme, and what else dialogues have: imported ones may have none."""
    return list(dict.fromkeys([*facts.by_goal, *(one.goal for one in facts.support)]))


def _support(facts: ExportFacts) -> dict[tuple[str, str], list[int]]:
    """Return, by dimension and label, the utterances under each goal, then in each split."""
    goals, splits = _goals_of(facts), _splits_of(facts)
    counts = {
        (dimension, label): [0] * (len(goals) + len(splits))
        for dimension, labels in facts.by_label.items()
        for label in labels
    }
    for one in facts.support:
        for part in (goals.index(one.goal), len(goals) + splits.index(one.split)):
            counts[one.dimension, one.label][part] += one.n
    return counts


def shares(counts: Mapping[str, int], *, in_order: bool = False) -> list[ValueShare]:
    """Return the counts with their shares, the most frequent first, equals by name.

    Args:
        counts: by name.
        in_order: keep theirs instead.
    """
    total = sum(counts.values()) or 1
    ordered = list(counts.items())
    if not in_order:
        ordered.sort(key=lambda item: (-item[1], item[0]))
    return [ValueShare(name, count, count / total) for name, count in ordered]


def _is_scale(dimension: Dimension) -> bool:
    """Say whether the values of a dimension run from low to high."""
    return dimension.measurement in ("ordinal", "interval")


def _size_category(rows: int) -> str:
    return next((name for limit, name in _SIZES if rows < limit), "n>1T")


def _configs(files: Sequence[ExportedFile]) -> list[dict[str, Any]]:
    """Return the files of every subset by split, the way the hub's loader wants them.

    The description of a subset changes with its rows: ``datasets`` finds what it read before in its
    cache by this entry and the last part of the folder's name, and looks at no file.
    """
    configs: list[dict[str, Any]] = []
    for subset in dict.fromkeys(file.subset for file in files):
        splits: dict[str, list[str]] = {}
        for file in files:
            if file.subset == subset:
                splits.setdefault(file.split, []).append(file.path)
        data = [{"split": split, "path": splits[split]} for split in sorted(splits, key=_rank)]
        described = {"description": f"sha256 of the files: {_content(files, subset)}"}
        configs.append({"config_name": subset, **described, "data_files": data})
    if configs:
        configs[0]["default"] = True
    return configs


def _content(files: Sequence[ExportedFile], subset: str) -> str:
    """Return a hash of the hashes of a subset's files, 64 hex digits."""
    return hashlib.sha256(
        "".join(file.sha256 for file in files if file.subset == subset).encode()
    ).hexdigest()


def _rank(split: str) -> tuple[int, str]:
    return (_SPLITS.index(split) if split in _SPLITS else len(_SPLITS), split)


def _subsets(files: Sequence[ExportedFile]) -> list[tuple[str, str, int]]:
    """Return (subset, split, rows), splits in the usual order."""
    rows: dict[str, dict[str, int]] = {}
    for file in files:
        splits = rows.setdefault(file.subset, {})
        splits[file.split] = splits.get(file.split, 0) + file.rows
    return [
        (subset, split, splits[split])
        for subset, splits in rows.items()
        for split in sorted(splits, key=_rank)
    ]


def _columns(files: Sequence[ExportedFile]) -> list[tuple[str, tuple[Column, ...]]]:
    """Return the columns of every subset; those with the same ones together."""
    subsets: dict[tuple[Column, ...], list[str]] = {}
    for file in files:
        names = subsets.setdefault(file.columns, [])
        if file.subset not in names:
            names.append(file.subset)
    return [(", ".join(names), columns) for columns, names in subsets.items()]


def _providers(generators: Sequence[Generator]) -> list[tuple[str, str]]:
    """Return every provider but the built-in rules, with the models it ran."""
    models: dict[str, list[str]] = {}
    for made in generators:
        if made.provider != "offline":
            models.setdefault(made.provider, []).append(made.model)
    return [(name, ", ".join(sorted(set(models[name])))) for name in sorted(models)]


def _measure(dimension: Dimension) -> str:
    """Say in words how a dimension is measured."""
    if dimension.range is not None:
        lowest, highest = dimension.range
        return f"a number from {lowest:g} to {highest:g}"
    kinds = {"multi": "any number of these labels", "ordinal": "one of these labels, lowest first"}
    return kinds.get(dimension.measurement, "one of these labels")


def _confirmations(facts: ExportFacts) -> dict[str, object]:
    """Return the table of consistency; a program in both chairs has one row a dimension."""
    rows = facts.reliability.consistency
    judges: defaultdict[Source, set[str]] = defaultdict(set)
    for row in rows:
        judges[row.source].update(row.judges)
    declared = {dimension.id for dimension in facts.scheme.declared}
    named: list[tuple[Source, str]] = [
        ("self", row.dimension)
        for row in rows
        if row.source == "self" and row.dimension in declared
    ]
    named += [("external", dimension) for dimension in facts.reliability.found_blind]
    seats = dict(chairs(judges, named))
    one_reading = BLIND_READING in seats.values()
    return {
        "one_reading": one_reading,
        "consistency": [
            _consistency(facts, row, BLIND_READING if one_reading else row.source)
            for row in rows
            if row.source in seats
        ],
    }


def _consistency(facts: ExportFacts, row: JudgeConsistency, seat: str) -> dict[str, object]:
    """Return one row of the table of consistency as texts."""
    share, near = row.share, row.share.interval
    return {
        "source": seat,
        "judges": ", ".join(row.judges),
        "dimension": _title(facts, row.dimension),
        "value": "undefined" if share.value is None else f"{share.value:.1%}",
        "interval": "" if near is None else f"{near.low:.1%} to {near.high:.1%}",
        "judged": share.judged,
    }


def _agreement(facts: ExportFacts, row: AgreementRow) -> dict[str, object]:
    """Return one row of the table of agreement as texts."""
    near = row.interval
    return {
        "group": row.group or "all",
        "dimension": _title(facts, row.dimension),
        "statistic": row.statistic,
        "value": "undefined" if row.value is None else f"{row.value:.3f}",
        "interval": "" if near is None else f"{near.low:.3f} to {near.high:.3f}",
        "item_count": row.items,
        "annotators": row.annotators,
        "note": row.note,
    }


def _title(facts: ExportFacts, dimension: str) -> str:
    """Return what a dimension is called; coherence and the like belong to no scheme."""
    titles = {d.id: d.title for d in facts.scheme.dimensions}
    return titles.get(dimension) or dimension
