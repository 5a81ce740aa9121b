"""What an export is asked for: its options checked, what it is compared with, where it is sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict, Unpack

from hipo.app.options.values import check_named, several
from outputs.formats.registry import FORMATS
from outputs.kinds.aspects import ASPECTS, chosen_aspects
from outputs.kinds.export_kind import (
    DEFAULT_FORMAT,
    KINDS,
    PROMPT_MODES,
    ExportOptions,
    KindOption,
    chosen_modes,
    chosen_origins,
    places_of,
)
from outputs.kinds.origins import DEFAULT_ORIGINS
from outputs.kinds.split_shares import SplitBy, checked_fractions
from outputs.kinds.system_prompt import Target, chosen_prompt
from scenarios.errors import UsageError
from scenarios.spelling import suggestion


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportExtras:
    """What an export is compared with, and where it is sent."""

    against: Sequence[str | Path] = ()
    """Other data sets; the overlap with each is in the card."""
    remove_overlap: bool = False
    """Whether rows that overlap with one of them are left out."""
    remove_reworded: bool = False
    """Whether those go with them that have a line which may be one of the other set with words
    replaced or swapped; that is never certain."""
    compare_splits: bool = False
    """Whether the overlap of train with the other splits is measured."""
    embeddings: bool = True
    """Whether sets are compared by meaning as well, where embeddings are installed."""
    licence: str | None = None
    """Of the data, as the hub spells it; none is assumed."""
    push_to: str | None = None
    """A repository of the Hugging Face hub; the token is in ``HF_TOKEN``."""
    public: bool = False
    max_shortcut: float | None = None
    """How far above the floor anything that should tell nothing may for certain read a label; the
    set is audited, and refused where something does. None: it is not audited."""


class ExportArguments(TypedDict, total=False):
    """What an export is, beside its kind; all of it may be left out."""

    task: str | None
    """What is learnt: ``label``, ``people``, ``actor`` or ``initiator`` (sft); None is the kind's first."""
    aspects: Sequence[str] | None
    """What may be seen of a dialogue (benchmark, and sft of labels); None is all."""
    modes: Sequence[str] | None
    """In which modes rows carry the prompts for models (benchmark): ``zero-shot``, ``cot``; None is
    both, and ``none`` alone neither."""
    rationale: bool
    """Whether labels come with reasons (sft of labels); rows without one are left out, as are those
    whose reasons may give the fact away."""
    format: str | None
    """How rows are written down (sft and dpo); None is ``prompt-completion``."""
    prompt: str | None
    """The system message (sft and dpo): ``short``, ``full``, ``none`` or a file; None is short."""
    target: Target | None
    """What is learnt of actors (dpo, and sft of actors): the ``utterance``, or the ``json`` that was
    asked for; None is the utterance."""
    goal_of_lines: bool
    """Whether the goal is asked for where a single line is shown (sft of labels)."""
    split_by: SplitBy
    """What no two splits share, ``scenario`` (default), ``fact``, or ``dialogue`` (of imported ones)."""
    fractions: Sequence[float]
    """Shares of train, validation and test; left out: those of the kind."""
    seed: int
    """Of splits and balancing."""
    balance: str | None
    """A dimension whose labels get the same number of rows; ``tag``: each tag of scenarios that have
    one each does; ``tag:TAG``: those with and those without this tag do."""
    include_deception: bool
    """Whether a model may learn to deceive (dpo, and sft of actors)."""
    pairs: Sequence[str] | None
    """What prefers one answer to another (dpo): ``judges`` (they find what it declares), ``wanted``
    (it has the wanted labels), ``verdict`` (accepted over discarded), ``revision``; ``vote`` on
    request alone; None is the first four."""
    min_margin: float | None
    """How far the scores of a pair must be apart (dpo)."""
    same_labels: bool
    """Whether both sides of a pair must declare the same labels (dpo)."""
    parquet: bool
    """Whether Parquet is written beside JSON lines (default)."""


def export_options(kind: str, **arguments: Unpack[ExportArguments]) -> ExportOptions:
    """Return the options of an export.

    Raises:
        UsageError: an option is unknown, or would be silently without effect.
    """
    unknown = sorted(set(arguments) - set(ExportArguments.__annotations__))
    if unknown:
        raise UsageError(
            f"an export has no option {unknown[0]!r}",
            suggestion(unknown[0], ExportArguments.__annotations__),
        )
    tasks = KINDS.get(kind).tasks
    task, aspects = arguments.get("task"), several(arguments.get("aspects") or ())
    modes, pairs = several(arguments.get("modes") or ()), several(arguments.get("pairs") or ())
    if task is not None and len(tasks) == 1:
        kinds = [name for name in KINDS.shipped if len(KINDS.get(name).tasks) > 1]
        raise UsageError(f"--task {task} is for --to {', '.join(kinds)}", "leave one of them out")
    options = ExportOptions(
        kind,
        task=tasks[0].name if task is None else task,
        aspects=chosen_aspects(aspects) if aspects else ASPECTS,
        modes=chosen_modes(modes) if modes else PROMPT_MODES,
        rationale=arguments.get("rationale", False),
        format=arguments.get("format") or DEFAULT_FORMAT,
        prompt=chosen_prompt(arguments.get("prompt") or "short"),
        target=arguments.get("target") or "utterance",
        goal_of_lines=arguments.get("goal_of_lines", False),
        split_by=arguments.get("split_by", "scenario"),
        fractions=checked_fractions(arguments.get("fractions") or KINDS.get(kind).fractions),
        seed=arguments.get("seed", 0),
        balance=arguments.get("balance"),
        include_deception=arguments.get("include_deception", False),
        pairs=chosen_origins(pairs) if pairs else DEFAULT_ORIGINS,
        min_margin=arguments.get("min_margin"),
        same_labels=arguments.get("same_labels", False),
        parquet=arguments.get("parquet", True),
    )
    check_named("split_by", options.split_by, SplitBy)
    check_named("target", options.target, Target)
    given: dict[KindOption, bool] = {
        "format": arguments.get("format") is not None,
        "prompt": arguments.get("prompt") is not None,
        "target": arguments.get("target") is not None,
        "goal_of_lines": options.goal_of_lines,
        "rationale": options.rationale,
        "aspects": bool(aspects),
        "modes": bool(modes),
        "include_deception": options.include_deception,
        "pairs": bool(pairs),
        "min_margin": options.min_margin is not None,
        "same_labels": options.same_labels,
    }
    _check_fit(options, [option for option, is_given in given.items() if is_given])
    return options


_OPTION_OF: Mapping[KindOption, str] = {
    "aspects": "--aspect",
    "modes": "--mode",
    "rationale": "--rationale",
    "format": "--format",
    "prompt": "--prompt",
    "target": "--target",
    "goal_of_lines": "--goal-of-lines",
    "include_deception": "--include-deception",
    "pairs": "--pairs",
    "min_margin": "--min-margin",
    "same_labels": "--same-labels",
}


def _check_fit(options: ExportOptions, given: Sequence[KindOption]) -> None:
    """Refuse options that would be silently without effect, and an unknown format."""
    task = options.chosen_task
    for option in given:
        if option not in task.options:
            raise UsageError(
                f"{_OPTION_OF[option]} is for {places_of(option)}",
                "leave it out: it would have no effect here",
            )
    if "format" in task.options:
        FORMATS.get(options.format)
