"""The facts of an export that manifest, card, datasheet and metadata are written from."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal, get_args

import orjson

from outputs.contamination.kept_together import AlikeScenarios
from outputs.dataset.told_audit import ToldAudit
from outputs.reliability.reliability import Reliability
from outputs.selecting.left_out import LeftOut
from outputs.selecting.wish import WantedVerdict
from outputs.token_lengths import DEFAULT_WINDOW, TokenLengths
from pipeline.strategies.registry import STRATEGIES
from scenarios.schemes.model import Scheme

ColumnKind = Literal[
    "text",
    "texts",
    "bool",
    "int",
    "float",
    "message",
    "messages",
    "turn",
    "turns",
    "record",
    "records",
]
"""``texts`` is a list of texts; a ``message`` is ``{"role", "content"}`` and ``messages`` a list of
them; a ``turn`` is ``{"from", "value"}`` and ``turns`` a list of them; a ``record`` has the fields
that its column names, and ``records`` is a list of such."""
FileFormat = Literal["jsonl", "csv", "parquet"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a file of rows."""

    name: str
    kind: ColumnKind
    description: str
    """One sentence."""
    fields: tuple[Column, ...] = ()
    """What a record is made of, in order; of other kinds nothing."""

    def __post_init__(self) -> None:
        """Refuse a kind that there is none of."""
        if self.kind not in get_args(ColumnKind):
            kinds = ", ".join(get_args(ColumnKind))
            raise ValueError(
                f"column {self.name!r}: found the kind {self.kind!r}, expected {kinds}"
            )


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """One file of rows, as it was written."""

    path: str
    """Relative to the folder of the export, with ``/``."""
    format: FileFormat
    subset: str
    """What its rows are for, e.g. ``label``; files of one subset have the same columns."""
    split: str
    """``train``, ``validation`` or ``test``."""
    rows: int
    size: int
    """Bytes."""
    sha256: str
    """64 hex digits."""
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Generator:
    """A model that wrote dialogues of the export, as what, and by which strategies."""

    model: str
    """``provider/name``."""
    roles: tuple[str, ...]
    strategies: tuple[str, ...]
    dialogues: int

    @property
    def provider(self) -> str:
        """The part of ``model`` before the first slash."""
        return self.model.partition("/")[0]


@dataclass(frozen=True, slots=True)
class Support:
    """How many utterances that rows are about carry one label under one goal in one split."""

    dimension: str
    label: str
    """A label, or a range of numbers (:mod:`outputs.value_names`)."""
    goal: str
    split: str
    n: int


@dataclass(frozen=True, slots=True)
class ExportFacts:
    """Everything the documents of an export say about it; nothing in it depends on the clock."""

    name: str
    """A headline, e.g. the name of the folder."""
    folder: Path
    """Where the files are now; no document mentions it."""
    task: str
    """What was asked for with ``--to``."""
    hub_tasks: tuple[str, ...]
    """Task categories in the vocabulary of the Hugging Face hub."""
    files: tuple[ExportedFile, ...]
    scheme: Scheme
    options: Mapping[str, object]
    """The options of the export, as plain data."""
    code_version: str
    runs: tuple[str, ...]
    """Names of the runs."""
    generators: tuple[Generator, ...]
    unknown_writer: int = field(default=0, kw_only=True)
    """Imported dialogues of which no model is named."""
    judges: tuple[str, ...]
    """``provider/name`` of the models that verified the dialogues; empty where none did."""
    verdict: WantedVerdict
    """Whether only accepted dialogues were taken."""
    dialogues: int
    scenarios: int
    facts: int
    by_goal: Mapping[str, int]
    """Dialogues per label of the assigned dimension."""
    by_category: Mapping[str, int]
    """Dialogues per category of scenarios."""
    counts: Mapping[str, Mapping[str, int]]
    """What each category contributes, with their sum last (:class:`CategoryCounts`)."""
    by_language: Mapping[str, int]
    """Dialogues per language code."""
    by_label: Mapping[str, Mapping[str, int]]
    """Utterances per dimension and label; numbers per range (:mod:`outputs.value_names`)."""
    lengths: tuple[TokenLengths, ...] = field(default=(), kw_only=True)
    """How long rows are that a model is trained on; empty where none is."""
    left_out: LeftOut = field(default_factory=LeftOut, kw_only=True)
    """What of the runs is not in the set."""
    by_run: Mapping[str, int] = field(default_factory=dict, kw_only=True)
    """Dialogues by name of their run."""
    support: tuple[Support, ...] = field(default=(), kw_only=True)
    """The same by goal and split; what does not occur is left out."""
    wordings: tuple[tuple[str, str, str], ...] = field(default=(), kw_only=True)
    """(language, who put scenarios into it, who has read that) of texts that were translated."""
    openings: Mapping[str, int] = field(default_factory=dict, kw_only=True)
    """Dialogues by their fixed lines: ``shared`` by all goals, ``by-goal``, or "" for imported."""
    includes_deception: bool
    """Whether there are rows that train a model to say what deceives."""
    real_names: bool
    any_people: bool = False
    """Whether there are other scenes than one who asks and one who answers about a private fact."""
    reliability: Reliability = field(default_factory=Reliability)
    """What judges found of the labels of the runs, and how people who reviewed agree."""
    adjudicated: int = 0
    """Utterances that rows are about whose labels an expert decided on."""
    expert_goals: int = 0
    """Dialogues whose goal an expert decided on."""
    repeated: int = 0
    """Rows in the set that repeat another of their case word for word, labels alike."""
    by_people: int = 0
    """Utterances that rows are about whose labels are those that most people gave."""
    by_program: int = 0
    """Utterances that rows are about whose labels are those of a program that checks what is said."""
    together: tuple[AlikeScenarios, ...] = field(default=(), kw_only=True)
    """Scenarios that are in one split because they are alike."""
    across: int = field(default=0, kw_only=True)
    """Dialogues of the runs that are nearly one of another split."""
    contamination: tuple[Mapping[str, object], ...] = field(default=())
    """Summaries of the comparisons with other sets (:mod:`outputs.contamination.contamination`)."""
    audit: ToldAudit | None = None
    """What labels can be read from, where that was asked; of this set, or of its run."""
    licence: str | None = None
    """Identifier of the licence the publisher chose, as the Hugging Face hub spells it."""

    @property
    def imported(self) -> int:
        """Dialogues that were brought in from files of others."""
        return self.openings.get("", 0)

    @property
    def only_imported(self) -> bool:
        """Whether no dialogue was generated here: then none is known to be fiction."""
        return 0 < self.imported == self.dialogues

    @property
    def offline_baseline(self) -> bool:
        """Whether any dialogue was written by the built-in rules instead of a language model."""
        return any(one.provider == "offline" for one in self.generators)

    @property
    def written_knowing_all(self) -> tuple[str, ...]:
        """Strategies of the dialogues in which one model wrote everybody, told what each keeps back."""
        names = sorted({name for one in self.generators for name in one.strategies})
        found = ((name, STRATEGIES.find(name)) for name in names)
        return tuple(
            name for name, strategy in found if strategy is not None and strategy.knows_all
        )

    @property
    def primary(self) -> tuple[ExportedFile, ...]:
        """The files that hold each row once: all Parquet if every subset is there in Parquet.

        ``datasets`` reads one format per folder, so formats are not mixed without need.
        """
        subsets = {file.subset for file in self.files}
        for kind in ("parquet", "jsonl"):
            files = tuple(file for file in self.files if file.format == kind)
            if {file.subset for file in files} == subsets:
                return files
        columnar = {file.subset for file in self.files if file.format == "parquet"}
        return tuple(
            file for file in self.files if file.format == "parquet" or file.subset not in columnar
        )


MANIFEST = "manifest.json"
_VERSION = 1


def write_manifest(
    folder: Path, facts: ExportFacts, groups: Mapping[str, str], notes: Sequence[str]
) -> None:
    """List every file of an export with its hash, how it was made, and what is in which split.

    Nothing in it depends on the clock or on where the folder lies.

    Args:
        folder: of the export; every other file in it is finished.
        facts: what is known of the export.
        groups: scenarios, or facts of them, by the split they belong to.
        notes: what was left out, and why.
    """
    files = {file.path: file for file in facts.files}
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    manifest = {
        "manifest": _VERSION,
        "code_version": facts.code_version,
        "task": facts.task,
        "scheme": {
            "id": facts.scheme.id,
            "version": facts.scheme.version,
            "fingerprint": facts.scheme.fingerprint,
        },
        "runs": list(facts.runs),
        "generators": sorted({one.model for one in facts.generators}),
        "imported": facts.imported,
        "judges": list(facts.judges),
        "openings": dict(facts.openings),
        "verdict": facts.verdict,
        "options": dict(facts.options),
        "dialogues": facts.dialogues,
        "left_out": facts.left_out.plain(),
        "tokens": {
            one.subset: {
                "rows": one.rows,
                "median": one.median,
                "95": one.most_of,
                "longest": one.longest,
                f"over_{DEFAULT_WINDOW}": one.over,
            }
            for one in facts.lengths
        },
        "files": [_listed(path, folder, files) for path in paths],
        "splits": dict(groups),
        "together": [asdict(alike) for alike in facts.together],
        "near_duplicates_across_splits": facts.across,
        "notes": list(notes),
    }
    (folder / MANIFEST).write_bytes(orjson.dumps(manifest, option=orjson.OPT_INDENT_2) + b"\n")


def _listed(path: Path, folder: Path, files: Mapping[str, ExportedFile]) -> dict[str, object]:
    """Return one file of the manifest; files of rows were hashed when they were written."""
    name = path.relative_to(folder).as_posix()
    file = files.get(name)
    if file is not None:
        return {"path": name, "size": file.size, "sha256": file.sha256, "rows": file.rows}
    return {"path": name, "size": path.stat().st_size, "sha256": sha256_of(path)}


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, 64 hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
