"""Collect the facts of an export while its rows are written."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from outputs.dataset.columns import RowSource
from outputs.dataset.manifest import ExportedFile, ExportFacts, Generator, Support
from outputs.kinds.export_kind import ExportKind
from outputs.reliability.reliability import reliability
from outputs.rows.benchmark_set import TOTAL, CorpusCounts
from outputs.rows.sft import deceptive_goals
from outputs.selecting.left_out import left_out
from outputs.selecting.people_labels import labelled_dimensions
from outputs.selecting.selection import OpenSelection, SelectedDialogue
from outputs.selecting.wish import Selection
from outputs.token_lengths import TokenLengths
from outputs.value_names import names_of, value_names
from scenarios.openings import opens_alike
from scenarios.schemes.model import Dimension, Scheme
from scenarios.speakers import speakers
from scenarios.terms import INITIATOR, RESPONDER

_OPENINGS = ("shared", "by-goal", "")


@dataclass(slots=True)
class Seen:
    """What is counted of the dialogues that rows were made of."""

    scheme: Scheme
    source: RowSource
    """Makes the rows."""
    corpus: CorpusCounts = field(init=False)
    goals: Counter[str] = field(default_factory=Counter)
    languages: Counter[str] = field(default_factory=Counter)
    openings: Counter[str] = field(default_factory=Counter)
    """Dialogues by their fixed lines: ``shared``, ``by-goal``, or "" for imported ones."""
    arms: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Dialogues by run and arm."""
    labels: Counter[tuple[str, str, str, str]] = field(default_factory=Counter)
    """Utterances by dimension, label or range of numbers, goal, and split."""
    wordings: set[tuple[str, str, str]] = field(default_factory=set)
    """(language, who translated the texts of its scenario, who has read them)."""
    adjudicated: int = 0
    """Utterances whose labels an expert decided on."""
    expert_goals: int = 0
    """Dialogues whose goal an expert decided on."""
    by_people: int = 0
    """Utterances whose labels are those that most people gave."""
    by_program: int = 0
    """Utterances whose labels are those of a program that checks what is said."""
    without_row: Counter[str] = field(default_factory=Counter)
    """Dialogues that gave no row, by reason."""
    _dimensions: Mapping[str, Dimension] = field(init=False)
    _labelled: Callable[[SelectedDialogue], SelectedDialogue] | None = field(init=False)
    """Puts the labels of rows in place of those of a dialogue; None: they are the same."""

    def miss(self, reason: str) -> None:
        """Count a dialogue that gave no row."""
        self.without_row[reason] += 1

    def __post_init__(self) -> None:
        """Begin with nothing counted."""
        self.corpus = CorpusCounts(self.scheme)
        self._dimensions = {dimension.id: dimension for dimension in self.scheme.dimensions}
        self._labelled = getattr(self.source, "labelled", None)

    def add(self, split: str, selected: SelectedDialogue, turns: Set[object]) -> None:
        """Count one dialogue, and the labels of those of its utterances that rows are about."""
        if self._labelled is not None:
            selected = self._labelled(selected)
        goal = selected.dialogue.case.goal
        self.corpus.add(selected)
        self.goals[goal] += 1
        self.openings[opening_of(selected)] += 1
        self.languages[selected.dialogue.case.language] += 1
        wording = selected.scenario.wording
        if wording is not None:
            origin = wording.origin
            by = "people" if origin is None else f"{origin.model}, {origin.date}"
            self.wordings.add((selected.dialogue.case.language, by, wording.reviewed or ""))
        self.arms[selected.source.name, selected.arm.id] += 1
        self.adjudicated += len(selected.adjudicated & turns)
        self.expert_goals += selected.expert_goal is not None
        self.by_people += len(selected.people & turns)
        self.by_program += len(selected.verified & turns)
        for turn in selected.dialogue.turns:
            for label in turn.tactic if turn.index in turns else ():
                for name in names_of(self._dimensions[label.dimension], label.value):
                    self.labels[label.dimension, name, goal, split] += 1


def export_facts(
    found: OpenSelection,
    seen: Seen,
    *,
    kind: ExportKind,
    options: Mapping[str, object],
    trains_responder: bool,
    rows_left_out: Mapping[str, int],
    files: tuple[ExportedFile, ...],
    place: tuple[Path, str],
    lengths: tuple[TokenLengths, ...] = (),
) -> ExportFacts:
    """Tell everything that documents need.

    Args:
        found: the runs.
        seen: what was counted.
        kind: of data set.
        options: of the export.
        trains_responder: whether the responder's words are what is learnt.
        rows_left_out: rows that did not come into the set, by reason.
        files: the files of rows.
        place: the folder they are in now, and what the export will be called.
        lengths: of rows that a model is trained on.
    """
    counts = seen.corpus.table()
    return ExportFacts(
        name=place[1], folder=place[0], task=kind.name, hub_tasks=kind.hub_tasks, files=files,
        scheme=found.scheme,
        options={**options, **_chosen(found.selection)},
        code_version=code_version(),
        runs=tuple(run.name for run in found.runs),
        generators=_generators(found, seen),
        unknown_writer=_unknown_writer(found, seen),
        judges=_judges(found),
        verdict=found.selection.verdict,
        dialogues=counts[TOTAL]["dialogues"],
        lengths=lengths,
        left_out=left_out(found, counts[TOTAL]["dialogues"], rows_left_out, seen.without_row),
        by_run=_by_run(found, seen),
        scenarios=counts[TOTAL]["scenarios"],
        facts=counts[TOTAL]["facts"],
        by_goal=_ordered(seen.goals, found.scheme.goals if found.scheme.assigned else ()),
        by_category={k: row["dialogues"] for k, row in counts.items() if k != TOTAL},
        counts=counts,
        by_language=dict(sorted(seen.languages.items())),
        by_label=_label_counts(seen) if kind.declared_labels else {},
        support=_support(seen) if kind.declared_labels else (),
        openings={kind: n for kind in _OPENINGS if (n := seen.openings[kind])},
        includes_deception=trains_responder and bool(deceptive_goals(found.scheme, seen.goals)),
        adjudicated=seen.adjudicated,
        expert_goals=seen.expert_goals,
        by_people=seen.by_people,
        by_program=seen.by_program,
        real_names=any(run.material.recipe.real_names for run in found.runs),
        any_people=found.lists_people,
        reliability=reliability(found.scheme, found.runs),
    )  # fmt: skip


def counts_to_note(facts: ExportFacts) -> dict[str, int]:
    """Return what whoever uses a set should know of its rows, with how often, where it occurs."""
    counts = {
        "rows that repeat another arm's word for word, of which models are asked once": facts.repeated,
        "utterances with labels that an expert decided on": facts.adjudicated,
        "dialogues whose goal an expert decided on": facts.expert_goals,
        "utterances with labels that most people gave": facts.by_people,
        "utterances with labels that a program gave which checks what is said": facts.by_program,
        "pairs in one split because they are alike (manifest.json: together)": len(facts.together),
        "dialogues of the runs that are nearly one of another split (hipo contamination)": facts.across,
    }
    return {what: n for what, n in counts.items() if n}


def _by_run(found: OpenSelection, seen: Seen) -> dict[str, int]:
    """Return how many dialogues come from each run."""
    return {
        run.name: sum(n for (name, _), n in seen.arms.items() if name == run.name)
        for run in found.runs
    }


def opening_of(selected: SelectedDialogue) -> str:
    """Return what the fixed lines of a dialogue are: ``shared``, ``by-goal``, or "" if imported."""
    if selected.arm.is_imported:
        return ""
    alike = opens_alike(dict(selected.dialogue.case.variation))
    return "shared" if alike or selected.scenario.flow else "by-goal"


def _chosen(selection: Selection) -> dict[str, object]:
    """Return what was selected by name; where the runs lie is nobody's business."""
    named: dict[str, object] = {
        name: None if value is None else list(value)
        for name in ("scenarios", "goals", "strategies", "arms", "languages")
        for value in [getattr(selection, name)]
    }
    return {**named, "newest": selection.newest, "labels": selection.labels}


def _generators(found: OpenSelection, seen: Seen) -> tuple[Generator, ...]:
    """Return each model that spoke in a dialogue, with its roles, strategies and dialogues."""
    roles: defaultdict[str, set[str]] = defaultdict(set)
    strategies: defaultdict[str, set[str]] = defaultdict(set)
    dialogues: Counter[str] = Counter()
    for run in found.runs:
        who = speakers(run.material.scenarios.values())
        for arm in run.arms.values():
            n = seen.arms[run.name, arm.id]
            if not n:
                continue
            unheard = {INITIATOR, RESPONDER} - who.keys() if who else set()
            spoke = {role: model for role, model in arm.models.items() if role not in unheard}
            for role, model in spoke.items():
                roles[model].add(who.get(role, role))
                strategies[model].add(arm.strategy)
            for model in set(spoke.values()):
                dialogues[model] += n
    return tuple(
        Generator(model, tuple(sorted(roles[model])), tuple(sorted(strategies[model])), n)
        for model, n in sorted(dialogues.items())
    )


def _unknown_writer(found: OpenSelection, seen: Seen) -> int:
    """Return how many dialogues are of arms that name no model: imported ones may be."""
    return sum(
        seen.arms[run.name, arm.id]
        for run in found.runs
        for arm in run.arms.values()
        if not arm.models
    )


def _judges(found: OpenSelection) -> tuple[str, ...]:
    """Return the models that judged the runs, each once."""
    judged = (name for run in found.runs for name in run.state.verification.judged)
    return tuple(sorted({name.partition(" ")[2] for name in judged}))


def _label_counts(seen: Seen) -> dict[str, dict[str, int]]:
    counts = {d.id: dict.fromkeys(value_names(d), 0) for d in labelled_dimensions(seen.scheme)}
    for (dimension, name, _, _), n in seen.labels.items():
        counts[dimension][name] += n
    return counts


def _support(seen: Seen) -> tuple[Support, ...]:
    """Return what was counted, in an order that does not depend on which dialogue came first."""
    return tuple(Support(*key, n) for key, n in sorted(seen.labels.items()))


def _ordered(counts: Mapping[str, int], names: tuple[str, ...]) -> dict[str, int]:
    return {name: counts.get(name, 0) for name in names}


def code_version() -> str:
    """Return the version of the installed distribution."""
    try:
        return version("hipo")
    except PackageNotFoundError:
        return "source"
