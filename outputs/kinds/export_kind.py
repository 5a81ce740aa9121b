"""Export kinds: what a data set is for, what is learnt from it, and which options that takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, ClassVar, Final, Literal

from outputs.kinds.aspects import ASPECTS, Aspect
from outputs.kinds.origins import DEFAULT_ORIGINS, ORIGINS, Origin
from outputs.kinds.split_shares import Fractions, SplitBy
from outputs.kinds.system_prompt import SHORT, SystemPrompt, Target
from outputs.selecting.wish import WantedVerdict
from prompts.tasks.modes import Mode
from scenarios.errors import UsageError
from scenarios.extensions import ExtensionPoint
from scenarios.plugins import PointName
from scenarios.spelling import suggestion

if TYPE_CHECKING:
    from pathlib import Path

    from outputs.dataset.columns import Row, RowSource
    from outputs.dataset.manifest import ExportedFile
    from scenarios.schemes.model import Scheme

KindOption = Literal[
    "aspects", "modes", "rationale", "format", "include_deception", "pairs", "min_margin",
    "same_labels", "prompt", "target", "goal_of_lines",
]  # fmt: skip
"""An option that only some kinds take."""
PROMPT_MODES: Final[tuple[Mode, ...]] = ("zero-shot", "cot")
"""The modes in which an item becomes one prompt that is the same for every model."""
NO_MODE: Final = "none"
DEFAULT_FORMAT: Final = "prompt-completion"
"""Trainers mask the prompt of such rows by themselves."""
DEFAULT_FRACTIONS: Final[Fractions] = (0.8, 0.1, 0.1)


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What is exported, and how; everything that decides the bytes of the files."""

    kind: str
    task: str = "label"
    """What is learnt, where the kind has several tasks."""
    aspects: tuple[Aspect, ...] = ASPECTS
    """What may be seen of a dialogue."""
    modes: tuple[Mode, ...] = PROMPT_MODES
    """In which modes rows carry the prompts for models."""
    rationale: bool = False
    """Whether labels come with reasons."""
    format: str = DEFAULT_FORMAT
    """How rows are written down."""
    prompt: SystemPrompt = SHORT
    """Which system message rows have."""
    target: Target = "utterance"
    """What an actor learns to write."""
    goal_of_lines: bool = False
    """Whether the goal is asked for where a single line is shown."""
    split_by: SplitBy = "scenario"
    fractions: Fractions = DEFAULT_FRACTIONS
    seed: int = 0
    balance: str | None = None
    """What gets the same number of rows in each split: the labels of a dimension, or tags."""
    include_deception: bool = False
    """Whether a model may learn to deceive."""
    pairs: tuple[Origin, ...] = DEFAULT_ORIGINS
    """Which kinds of preferences pairs come from."""
    min_margin: float | None = None
    """How far the scores of a pair must be apart; None: any."""
    same_labels: bool = False
    """Whether both sides of a pair must declare the same labels."""
    parquet: bool = True
    listed: bool = False
    """Whether rows list the people of a scene: set where a run has other scenes than question and
    answer, never by a user."""

    @property
    def chosen_task(self) -> ExportTask:
        """What the kind declares about the task.

        Raises:
            UsageError: there is no such kind, or it has no such task.
        """
        return KINDS.get(self.kind).task(self.task)

    def plain(self) -> dict[str, object]:
        """Return the options as plain data."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "listed"}
        values["prompt"] = self.prompt.text or self.prompt.choice
        return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}


def _one_configuration(options: ExportOptions) -> tuple[str, ...]:
    return (options.task,)


@dataclass(frozen=True, slots=True)
class ExportTask:
    """One thing that can be learnt from the data sets of a kind."""

    rows: Callable[[Scheme, ExportOptions], RowSource]
    """What makes the rows."""
    name: str = "label"
    options: frozenset[KindOption] = frozenset()
    """The options it takes; any other is refused instead of being without effect."""
    trains_responder: bool = False
    """Whether what is learnt are the responder's own words, which may be deceptive."""
    prompts: Callable[[Scheme, ExportOptions], str | None] | None = None
    """Fingerprint of the prompts that rows are rendered with, for the manifest; None where rows hold
    no prompt, or one that was sent when the dialogue was played."""
    companions: (
        Callable[[Scheme, ExportOptions, Sequence[ExportedFile], Path], Mapping[str, str]] | None
    ) = None
    """Makes the files that stand beside the rows for whoever reads them, text by relative path; is
    told of the files of rows, and the folder that they are in."""
    divided_by: str | None = None
    """A column: rows with the same value are a configuration of their own, called by it."""
    configurations: Callable[[ExportOptions], tuple[str, ...]] = _one_configuration
    """Names the configurations that there may be, where rows are divided by a column."""
    unit: str | None = None
    """A column: rows with the same value are left out together where one of them overlaps."""
    csv: bool = False
    """Whether rows are flat, so that they are written as CSV as well."""
    labels_from: str = ""
    """Where the labels of its rows come from, if not from whoever speaks, for a set without a row."""
    counted: Callable[[Row], str] | None = None
    """Names what a row is counted as in the notes; None: rows are not counted there."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """Options of every kind that this task cannot take (``--balance``, ``--split-by fact``), and why."""

    def check(self, options: ExportOptions) -> None:
        """Check the options that every kind has.

        Raises:
            UsageError: one of them is refused here.
        """
        given = {
            f"--split-by {options.split_by}": True,
            "--balance": options.balance is not None,
        }
        for option, why in self.refused.items():
            if given.get(option):
                raise UsageError(f"{option} is not for --to {options.kind}: {why}", "leave it out")


@dataclass(frozen=True, slots=True)
class ExportKind:
    """A kind of data set by its name."""

    point: ClassVar[PointName] = "export kind"
    name: str
    about: str
    """What its rows are, in a few words."""
    tasks: tuple[ExportTask, ...]
    """The first is the default; ``--task`` chooses among several."""
    pairs: bool = False
    """Whether a row is a prompt with a better and a worse answer."""
    hub_tasks: tuple[str, ...] = ("text-generation",)
    """Task categories in the vocabulary of the Hugging Face hub, for the card."""
    declared_labels: bool = True
    """Whether the labels of its rows are those that the speakers declared, or an expert decided."""
    fractions: Fractions = DEFAULT_FRACTIONS
    """Shares of train, validation and test where none are asked for."""
    verdict: WantedVerdict = "accepted"
    """Which dialogues are taken where nothing else is asked for."""
    where_from: str = ""
    """What to look at if there is not one row; told to the user."""

    def __post_init__(self) -> None:
        """Refuse a kind of which nothing could be made."""
        if not self.tasks:
            raise ValueError(f"the export kind {self.name!r} has no task, expected one or more")

    def task(self, name: str) -> ExportTask:
        """Return the task of that name; of a single task the name does not matter.

        Raises:
            UsageError: there are several, and none of that name.
        """
        if len(self.tasks) == 1:
            return self.tasks[0]
        by_name = {task.name: task for task in self.tasks}
        if name not in by_name:
            raise UsageError(
                f"{self.name} has no task {name!r}", suggestion(name, by_name, listing="tasks")
            )
        return by_name[name]


KINDS: Final[ExtensionPoint[ExportKind]] = ExtensionPoint(
    "export kind",
    ExportKind,
    {
        "dialogues": "outputs.rows.dialogue_set:KIND",
        "turns": "outputs.rows.turn_set:KIND",
        "sft": "outputs.rows.sft:KIND",
        "dpo": "outputs.rows.preference:KIND",
        "benchmark": "outputs.rows.benchmark_set:KIND",
        "swap": "outputs.rows.swap_set:KIND",
        "lm-eval": "outputs.lm_eval.choice_set:KIND",
        "intention-mcq": "outputs.rows.intention_set:KIND",
    },
)
"""Every kind of data set by its name."""
DEFAULT_KIND: Final = "dialogues"


def places_of(option: KindOption) -> str:
    """Return which shipped kinds and tasks take an option, e.g. ``--to sft --task label``."""
    places: list[str] = []
    for kind in map(KINDS.get, KINDS.shipped):
        taking = [task.name for task in kind.tasks if option in task.options]
        if len(taking) == len(kind.tasks):
            places.append(f"--to {kind.name}")
        else:
            places += [f"--to {kind.name} --task {name}" for name in taking]
    return " and ".join(places)


ALL_ORIGINS: Final = "all"


def chosen_origins(names: Iterable[str]) -> tuple[Origin, ...]:
    """Return the named kinds of preferences in their usual order; ``all`` names each.

    Raises:
        UsageError: there is no such kind.
    """
    wanted = set(names)
    for name in sorted(wanted - {*ORIGINS, ALL_ORIGINS}):
        raise UsageError(
            f"there are no pairs of {name!r}", suggestion(name, (*ORIGINS, ALL_ORIGINS))
        )
    return ORIGINS if ALL_ORIGINS in wanted else tuple(o for o in ORIGINS if o in wanted)


def chosen_modes(names: Iterable[str]) -> tuple[Mode, ...]:
    """Return the named modes in their usual order; ``none`` alone is no mode.

    Raises:
        UsageError: rows cannot hold the prompts of such a mode.
    """
    wanted = list(dict.fromkeys(names))
    if wanted == [NO_MODE]:
        return ()
    unknown = [name for name in wanted if name not in PROMPT_MODES]
    if unknown:
        raise UsageError(
            f"rows hold no prompts of the mode {unknown[0]!r}",
            f"choose of: {', '.join(PROMPT_MODES)}; or {NO_MODE} alone",
        )
    return tuple(mode for mode in PROMPT_MODES if mode in wanted)
