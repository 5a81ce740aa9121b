"""Make a data set out of runs, compared with other sets and sent to the hub if asked."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict, Unpack

from hipo.app.contamination import embedding_for_neighbours
from hipo.app.run import RunLike, folder_of
from outputs.aspects import ASPECTS, chosen_aspects
from outputs.contamination import Contamination, RowSet, Settings, compare
from outputs.dataset.columns import Row
from outputs.dataset.documents import Documents, SplitCheck
from outputs.dataset.manifest import ExportFacts
from outputs.dataset.reader import row_set
from outputs.dataset.told_audit import AUDIT, ToldAudit
from outputs.export import Exported
from outputs.export import export as write_data_set
from outputs.export_kind import (
    DEFAULT_FORMAT,
    KINDS,
    PROMPT_MODES,
    ExportOptions,
    KindOption,
    chosen_modes,
    chosen_origins,
    places_of,
)
from outputs.formats.registry import FORMATS
from outputs.hub import prepare_push, push_folder
from outputs.preferred_answers import DEFAULT_ORIGINS
from outputs.recorded_exports import RecordedExport, folder_seen_from, record_export
from outputs.selection import Labels, Selection, WantedVerdict
from outputs.splits import SplitBy, checked_fractions
from outputs.system_prompt import Target, chosen_prompt
from pipeline.embeddings import Embed
from scenarios.errors import UsageError
from scenarios.log import logger
from scenarios.spelling import suggestion

_log = logger("export")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportExtras:
    """What an export is compared with, and where it is sent."""

    against: Sequence[str | Path] = ()
    """Other data sets; the overlap with each is in the card."""
    remove_overlap: bool = False
    """Whether rows that overlap with one of them are left out."""
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


@dataclass(frozen=True, slots=True)
class DataSet:
    """An export that was written."""

    exported: Exported
    address: str | None = None
    """Where it lies on the hub; None: it was not sent there."""

    @property
    def folder(self) -> Path:
        """Where its files lie."""
        return self.exported.folder

    @property
    def rows(self) -> dict[str, int]:
        """Rows by split."""
        return self.exported.rows


class ExportArguments(TypedDict, total=False):
    """What an export is, beside its kind; all of it may be left out."""

    task: str | None
    """What is learnt: ``label``, ``actor`` or ``initiator`` (sft); None is the kind's first."""
    aspects: Sequence[str] | None
    """What may be seen of a dialogue (benchmark, and sft of labels); None is all."""
    modes: Sequence[str] | None
    """In which modes rows carry the prompts for models (benchmark): ``zero-shot``, ``cot``; None is
    both, and ``none`` alone neither."""
    rationale: bool
    """Whether labels come with reasons (sft of labels)."""
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
    """What no two splits share, ``scenario`` (default) or ``fact``."""
    fractions: Sequence[float]
    """Shares of train, validation and test; left out: those of the kind."""
    seed: int
    """Of splits and balancing."""
    balance: str | None
    """A dimension whose labels get the same number of rows."""
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


def export(
    runs: RunLike | Sequence[RunLike],
    kind: str,
    output: str | Path,
    *,
    verdict: WantedVerdict | None = None,
    scenarios: Sequence[str] | None = None,
    goals: Sequence[str] | None = None,
    strategies: Sequence[str] | None = None,
    labels: Labels = "adjudicated",
    overwrite: bool = False,
    extras: ExportExtras | None = None,
    **arguments: Unpack[ExportArguments],
) -> DataSet:
    """Write a data set of dialogues with card, datasheet, Croissant metadata and manifest.

    Example::

        data = export("runs/trial", "sft", "sets/sft", fractions=(80, 10, 10))
        print(data.folder, data.rows)

    Args:
        runs: one run or several: what :func:`hipo.generate` returned, a folder, or a name.
        kind: ``dialogues`` (the corpus itself), ``turns`` (the same as a flat table), ``sft``
            (fine-tuning), ``dpo`` (preference pairs), ``benchmark``, ``swap``, ``lm-eval``, or a
            plugin's.
        output: the folder to make, as a whole or not at all.
        verdict: ``any`` takes dialogues that are not accepted, too; None is what the kind takes:
            ``any`` for ``dialogues`` and ``turns``, whose rows say what was decided.
        scenarios: ids, categories, globs or ``tag:...``; None is all.
        goals: goal labels; None is all.
        strategies: None is all.
        labels: ``declared`` leaves the speaker's label where an expert decided on another.
        overwrite: whether an earlier export in ``output`` is replaced.
        extras: what the set is compared with, and where it is sent.
        arguments: see :class:`ExportArguments`.

    Raises:
        UsageError: an option does not fit, the folder may not be written to, or nothing was left.
        RunError: it could not be written; the folder is as it was.
    """
    options = export_options(kind, **arguments)
    given = [runs] if isinstance(runs, RunLike) else list(runs)
    folders = tuple(folder_of(run) for run in given)
    filters = (_named(scenarios), _named(goals), _named(strategies))
    wanted = verdict or KINDS.get(kind).verdict
    selection = Selection(folders, wanted, *filters, labels=labels)
    return make_data_set(selection, options, Path(output), extras, overwrite=overwrite)


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
    task, aspects = arguments.get("task"), arguments.get("aspects")
    modes, pairs = arguments.get("modes"), arguments.get("pairs")
    if task is not None and len(tasks) == 1:
        several = [name for name in KINDS.shipped if len(KINDS.get(name).tasks) > 1]
        raise UsageError(f"--task {task} is for --to {', '.join(several)}", "leave one of them out")
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


def make_data_set(
    selection: Selection,
    options: ExportOptions,
    output: Path,
    extras: ExportExtras | None = None,
    *,
    overwrite: bool = False,
    notice: Callable[[str], None] = _log.warning,
) -> DataSet:
    """Export a selection, compare it with other sets, and send it to the hub, as ``extras`` say.

    Raises:
        UsageError: something does not fit or does not exist; nothing was made.
        RunError: it could not be written or sent.
    """
    extras = extras or ExportExtras()
    if extras.remove_overlap and not extras.against:
        raise UsageError("--remove-overlap needs a set to compare with", "name it with --against")
    if extras.max_shortcut is not None:
        from outputs.audit.auditing import check_installed  # noqa: PLC0415 - brings all of audits

        check_installed()
    hub = None
    if extras.push_to is not None:
        hub = prepare_push(
            extras.push_to, extras.licence, environ=os.environ, private=not extras.public
        )
    compared = bool(extras.against) or extras.compare_splits
    embed = embedding_for_neighbours(None, notice) if extras.embeddings and compared else None
    within = SplitCheck(Settings(), embed) if extras.compare_splits else None
    checks = _ExportChecks(output.name, selection, extras, embed)
    exported = write_data_set(
        selection, options, output,
        overwrite=overwrite,
        screen=checks.screen if extras.against else None,
        document=checks.document(within),
    )  # fmt: skip
    _record(selection, exported, notice)
    return DataSet(exported, None if hub is None else push_folder(output, hub))


def _record(selection: Selection, exported: Exported, notice: Callable[[str], None]) -> None:
    """Record the data set in every run that it was made of; a set stays where that fails."""
    facts = exported.facts
    folders = dict.fromkeys(path.resolve() for path in selection.runs)
    for folder, (name, dialogues) in zip(folders, facts.by_run.items(), strict=True):
        place = folder_seen_from(folder, exported.folder)
        try:
            record_export(
                folder,
                RecordedExport(
                    time.time(), place, facts.task, facts.verdict, dialogues, exported.rows,
                    facts.runs, facts.left_out,
                ),
            )  # fmt: skip
        except OSError as error:
            notice(f"the export was not recorded in {name}: {error.strerror or error}")


@dataclass
class _ExportChecks:
    """Compares what is exported with other sets, audits it, and hands both to the documents."""

    name: str
    selection: Selection
    extras: ExportExtras
    embed: Embed | None
    comparisons: list[Contamination] = field(default_factory=list)

    def screen(self, rows: Callable[[], Iterator[Row]]) -> Collection[int]:
        """Compare with every set, and return the rows to leave out."""
        checked = RowSet(self.name, rows)
        for path in map(Path, self.extras.against):
            self.comparisons.append(compare(checked, row_set(path, path.name), None, self.embed))
        if not self.extras.remove_overlap:
            return ()
        return {int(number) for comparison in self.comparisons for number in comparison.rows}

    def document(self, splits: SplitCheck | None) -> Callable[[Path, ExportFacts], ExportFacts]:
        """Return what writes the documents, once everything has been compared."""

        def write(folder: Path, facts: ExportFacts) -> ExportFacts:
            return Documents(
                licence=self.extras.licence,
                contamination=tuple(self.comparisons),
                removed=self.extras.remove_overlap,
                splits=splits,
                audit=self._audit(folder),
            )(folder, facts)

        return write

    def _audit(self, folder: Path) -> ToldAudit | None:
        """Audit the rows and refuse them, if asked; else return what was found of the run."""
        most, runs = self.extras.max_shortcut, self.selection.runs
        kept = runs[0] / AUDIT if len(runs) == 1 else None
        if most is None and (kept is None or not kept.exists()):
            return None
        from hipo.app import export_audit  # noqa: PLC0415 - brings all of audits

        if most is not None:
            return export_audit.checked(folder, self.selection, self.name, most)
        return None if kept is None else export_audit.of_run(kept)


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


def _named(values: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(values)
