"""An exported data set as a trainer reads it: its manifest, and prompts with their answers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from outputs.dataset.manifest import MANIFEST, sha256_of
from outputs.dataset.reader import row_set
from outputs.kinds.split_shares import Split, SplitBy
from scenarios.errors import UsageError
from scenarios.located import shortened
from scenarios.located_validation import expected

TrainingKind = Literal["sft", "dpo"]
"""``sft``: an answer is learnt; ``dpo``: a better answer is preferred to a worse one."""
Conversation = list[dict[str, str]]
"""Messages as ``{"role", "content"}``."""
FORMATS_READ = "messages, prompt-completion or axolotl"
_FOR_EVALUATION = ("benchmark", "swap")
_FULL = "full"
"""The system message of rows that were exported before there was another one, too."""


class _Listed(BaseModel):
    path: str
    sha256: str
    rows: int | None = None


class _SchemeName(BaseModel):
    id: str
    version: int


class _Manifest(BaseModel):
    """What is needed of the manifest of an export."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    task: str
    scheme: _SchemeName
    runs: tuple[str, ...]
    options: dict[str, Any]
    files: tuple[_Listed, ...]
    splits: dict[str, str]


@dataclass(frozen=True, slots=True)
class TrainingRow:
    """One row: what is asked, and what is learnt as the answer to it."""

    id: str
    prompt: Conversation
    answers: tuple[str, ...]
    """The answer; of a pair the better one, then the worse."""
    model: str = ""
    """Who wrote the words: ``provider/name``, empty where the row does not say."""
    goal: str = ""

    def conversation(self, answer: int = 0) -> Conversation:
        """Return the prompt with one of the answers."""
        return [*self.prompt, {"role": "assistant", "content": self.answers[answer]}]


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """A folder that ``hipo export`` wrote, to be trained on."""

    folder: Path
    kind: TrainingKind
    sha256: str
    """Of the manifest, which holds the hash of every file."""
    task: str
    """What is learnt: ``label``, ``actor``, ``initiator`` or ``preference``."""
    scheme: str
    """``id@version``."""
    runs: tuple[str, ...]
    includes_deception: bool
    """Whether the export was asked for rows that train to deceive."""
    groups: Mapping[str, str]
    """Scenarios, ``scenario/fact`` or ``scenario/case``, by the split they are in."""
    files: Mapping[str, str]
    """The hash of every file of JSON lines, by its path in the folder."""
    defines_labels: bool = True
    """Whether rows that teach to label define the labels in their system message."""
    split_by: SplitBy = "scenario"
    """What no two splits share."""
    goal_of_lines: bool = True
    """Whether such rows ask for the goal beside a single line."""

    @property
    def name(self) -> str:
        """What the set is called."""
        return self.folder.resolve().name

    @property
    def groups_learnt(self) -> frozenset[str]:
        """What is in the training split, as ``groups`` calls it."""
        return frozenset(group for group, split in self.groups.items() if split == "train")

    @property
    def scenarios_learnt(self) -> frozenset[str]:
        """The scenarios of which something is in the training split."""
        return frozenset(group.partition("/")[0] for group in self.groups_learnt)

    def files_of(self, split: Split) -> tuple[Path, ...]:
        """Return the files of a split: one for each configuration of the set; none if it has none."""
        named = (path for path in self.files if path.startswith("jsonl/"))
        return tuple(self.folder / path for path in named if Path(path).name == f"{split}.jsonl")

    def check(self, split: Split) -> None:
        """Do nothing where the files of a split are what the manifest says.

        Raises:
            UsageError: one is missing or was changed.
        """
        for file in self.files_of(split):
            if not file.is_file():
                raise UsageError(f"{file}: is listed in {MANIFEST} and not there", "export it anew")
            if sha256_of(file) != self.files[file.relative_to(self.folder).as_posix()]:
                raise UsageError(
                    f"{file}: is not the file that {MANIFEST} lists, it was changed since",
                    "export the set anew, so that what is trained on is what the manifest says",
                )

    def rows(self, split: Split) -> Iterator[TrainingRow]:
        """Yield the rows of a split, in the order of its files.

        Raises:
            UsageError: a row cannot be read as what the kind of training needs.
        """
        for file in self.files_of(split):
            for number, row in enumerate(row_set(file).rows(), 1):
                yield training_row(row, self.kind, f"{file}: row {number}")


def read_training_set(folder: Path, kind: TrainingKind | None = None) -> TrainingSet:
    """Read the manifest of an exported set.

    Args:
        folder: of the set.
        kind: how it is trained on; None: what it was exported for.

    Raises:
        UsageError: the folder is no export, is for evaluation, or has no training rows.
    """
    path = folder / MANIFEST
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"{folder}: is not an exported data set: {MANIFEST}: {error.strerror}",
            "make one: hipo export RUN --to sft -o SET",
        ) from error
    manifest = _manifest(path, content)
    if manifest.task in _FOR_EVALUATION:
        raise UsageError(
            f"{folder}: was exported --to {manifest.task}, which is for evaluation",
            "train on a set of the same runs: hipo export RUN --to sft -o SET",
        )
    files = {f.path: f.sha256 for f in manifest.files if f.path.endswith(".jsonl")}
    found = TrainingSet(
        folder=folder,
        kind=kind or ("dpo" if manifest.task == "dpo" else "sft"),
        sha256=hashlib.sha256(content).hexdigest(),
        task="preference" if manifest.task == "dpo" else str(manifest.options.get("task", "")),
        scheme=f"{manifest.scheme.id}@{manifest.scheme.version}",
        runs=manifest.runs,
        includes_deception=bool(manifest.options.get("include_deception")),
        groups=manifest.splits,
        files=files,
        split_by=manifest.options.get("split_by", "scenario"),
        defines_labels=manifest.options.get("prompt", _FULL) == _FULL,
        goal_of_lines=bool(manifest.options.get("goal_of_lines", True)),
    )
    if not found.files_of("train"):
        raise UsageError(
            f"{folder}: has no training split", "export it with --splits 80,10,10, for example"
        )
    return found


def _manifest(path: Path, content: bytes) -> _Manifest:
    try:
        return _Manifest.model_validate(orjson.loads(content))
    except orjson.JSONDecodeError as error:
        raise UsageError(f"{path}: is no JSON ({error})", "export the set anew") from error
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or "the whole"
        found = "nothing" if first["type"] == "missing" else shortened(first["input"])
        raise UsageError(
            f"{path}: {field}: found {found}, expected {expected(first)}",
            "it is not the manifest of a data set of hipo",
        ) from error


def training_row(row: Mapping[str, Any], kind: TrainingKind, where: str) -> TrainingRow:
    """Return a row of an export as a prompt with its answers.

    Rows of whole conversations are cut before their last message, so that a loss on the answer
    alone is possible.

    Args:
        row: in one of the formats that hold messages.
        kind: one answer is needed, or a pair.
        where: file and row, for messages.

    Raises:
        UsageError: it has not what is needed.
    """
    pair = "chosen" in row and "rejected" in row
    prompt: object = row.get("prompt", row.get("messages"))
    answers: list[object]
    if pair:
        answers = [row["chosen"], row["rejected"]]
    elif "prompt" in row and "completion" in row:
        answers = [row["completion"]]
    elif isinstance(prompt, list) and "messages" in row:
        prompt, answers = prompt[:-1], [prompt[-1:]]
    else:
        raise UsageError(
            f"{where}: holds no messages, found {', '.join(sorted(row))[:120]}",
            f"export the set with --format {FORMATS_READ}",
        )
    if kind == "dpo" and not pair:
        raise UsageError(
            f"{where}: has one answer, and preferences need a better and a worse one",
            "export pairs: hipo export RUN --to dpo -o SET, or train with --kind sft",
        )
    texts = [_answer(answer, where) for answer in answers]
    return TrainingRow(
        id=str(row.get("id", where)),
        prompt=_conversation(prompt, where),
        answers=tuple(texts if kind == "dpo" else texts[:1]),
        model=str(row.get("model") or ""),
        goal=str(row.get("goal") or ""),
    )


def _conversation(value: object, where: str) -> Conversation:
    messages = [
        {"role": m["role"], "content": m["content"]}
        for m in (value if isinstance(value, list) else [])
        if isinstance(m, Mapping)
        and isinstance(m.get("role"), str)
        and isinstance(m.get("content"), str)
    ]
    if not messages or not isinstance(value, list) or len(messages) != len(value):
        raise UsageError(
            f"{where}: its prompt is no list of messages with role and content",
            f"export the set with --format {FORMATS_READ}",
        )
    return messages


def _answer(value: object, where: str) -> str:
    """Return the text of an answer: a message, or a list of one."""
    message = value[0] if isinstance(value, list) and len(value) == 1 else value
    if isinstance(message, Mapping) and message.get("role") == "assistant":
        content = message.get("content")
        if isinstance(content, str) and content.strip():
            return content
    raise UsageError(
        f"{where}: its answer is not one message of an assistant with text",
        f"export the set with --format {FORMATS_READ}",
    )
