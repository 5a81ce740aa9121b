"""Select the dialogues to export from one or several runs, with their verdicts and labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count

from outputs.selecting.arm_facts import ArmFacts
from outputs.selecting.open_run import OpenRun
from outputs.selecting.people_labels import undeclared_dimensions, with_people_labels
from outputs.selecting.verifier_labels import refuse_unless_verified, with_verifier_labels
from outputs.selecting.wish import Selection
from pipeline.run_material import load_material
from pipeline.store.queries.annotations import open_annotations
from pipeline.store.queries.export import (
    CorpusEntry,
    CorpusFilter,
    GroupTally,
    Wanted,
    open_corpus,
)
from pipeline.store.run_store import RunStore
from prompts.tasks.items import asks_and_answers
from scenarios.annotations import Annotation
from scenarios.case import Case
from scenarios.dialogue import Dialogue
from scenarios.errors import UsageError
from scenarios.schemes.model import Scheme
from scenarios.schemes.vocabulary import goals_named
from scenarios.spec import Scenario
from scenarios.spelling import suggestion
from scenarios.text_file import real_path, typed_path
from scenarios.verdicts import Flag, Judgement, Verdict


@dataclass(frozen=True, slots=True)
class SelectedDialogue:
    """One dialogue that was selected, in its context."""

    dialogue: Dialogue
    scenario: Scenario
    """With its placeholders filled as in the dialogue."""
    arm: ArmFacts
    verdict: Verdict | None
    """None: nobody has decided on it."""
    source: OpenRun
    """The run it is from, open as long as the selection is."""
    adjudicated: frozenset[int] = frozenset()
    """Indices of the turns whose labels an expert decided on."""
    people: frozenset[int] = frozenset()
    """Indices of the turns whose labels are those that most people gave."""
    expert_goal: str | None = None
    """The goal that an expert decided on; None: no expert did."""
    verified: frozenset[int] = frozenset()
    """Indices of the turns whose labels are those of a program that checks what is said."""
    decided: Mapping[int, Collection[str]] = field(default_factory=dict)
    """By index of a turn the dimensions on which an expert decided."""
    beside: Mapping[int, Collection[str]] = field(default_factory=dict)
    """By index of a turn on which an expert decided the dimensions whose labels most people gave."""

    @property
    def goal(self) -> str:
        """The goal that it is labelled with: the expert's, else the assigned one."""
        return self.dialogue.case.goal if self.expert_goal is None else self.expert_goal

    @property
    def missed_its_goal(self) -> bool:
        """Whether an expert found another goal in it than the one that was assigned."""
        return self.dialogue.case.goal not in ("", self.goal)

    @property
    def read(self) -> frozenset[int]:
        """Indices of the turns with labels of readers, a program or people, who need not label all."""
        return self.adjudicated | self.people | self.verified

    @property
    def run(self) -> str:
        """The name of the run."""
        return self.source.name

    @property
    def scheme(self) -> Scheme:
        """The scheme of its labels."""
        return self.source.scheme

    @property
    def models(self) -> Mapping[str, str]:
        """``provider/model`` by role."""
        return self.arm.models

    @property
    def strategy(self) -> str:
        """How the responder's utterances were made."""
        return self.arm.strategy

    @property
    def key(self) -> tuple[str, str]:
        """(case, arm)."""
        return self.dialogue.key

    @property
    def judgements(self) -> Sequence[Judgement]:
        """What judges said of it, looked up when asked for."""
        return self.source.store.judgements.judgements([self.key]).get(self.key, [])

    def annotations(self, kinds: Sequence[str]) -> Sequence[Annotation]:
        """Return its newest labels of some kinds but for those of quizzes, looked up anew."""
        reader = self.source.annotations
        return [
            label for label in reader.of([self.key], kinds) if label.config not in reader.quizzes
        ]

    @property
    def flags(self) -> Sequence[Flag]:
        """Its flags, looked up when asked for."""
        assessment = self.source.store.judgements.assessments([self.key]).get(self.key)
        return assessment.flags if assessment else ()


@dataclass(frozen=True)
class OpenSelection:
    """The runs of a selection, open and checked against it. Make it with :func:`opened`."""

    selection: Selection
    runs: tuple[OpenRun, ...]
    duplicates: Counter[str] = field(default_factory=Counter)
    """By run: dialogues left out because an earlier run has the same case played by the same arm."""
    people_remarks: Counter[str] = field(default_factory=Counter)
    """Labels of people by what is to be known of them: left out, or of one person alone."""
    outdated: Counter[str] = field(default_factory=Counter)
    """By scenario: dialogues of a text of it that was changed while their run was made."""

    @property
    def scheme(self) -> Scheme:
        """The scheme that all runs share."""
        return self.runs[0].scheme

    def dialogues(
        self,
        *,
        traces: bool = False,
        wanted: bool = False,
        rationales: bool = True,
        settled: bool = True,
        verdicts: Sequence[Verdict] = (),
        only: Wanted | None = None,
    ) -> Iterator[SelectedDialogue]:
        """Yield what is selected: run by run, in the order of cases, then arms; in constant memory.

        Args:
            traces: whether turns come with how they were chosen.
            wanted: whether turns come with the labels they were asked for.
            rationales: whether labels come with their reasons.
            settled: whether turns have the labels that an expert decided on or most people gave.
            verdicts: taken in place of accepted, where only accepted dialogues are selected.
            only: is asked about each; None reads all of them.
        """
        self.duplicates.clear()
        self.people_remarks.clear()
        self.outdated.clear()
        seen: set[int] | None = set() if len(self.runs) > 1 else None
        for run in self.runs:
            kept = self.corpus_filter(run, verdicts)
            if kept is None:
                continue
            entries = run.corpus.entries(
                kept,
                traces=traces,
                wanted=wanted,
                rationales=rationales,
                adjudicated=settled and self.selection.labels == "adjudicated",
                undeclared=[d.id for d in undeclared_dimensions(run.scheme)],
                only=partial(self._is_read, run, seen, only),
            )
            by_program = settled and self.selection.labels == "verifier"
            for entry in entries:
                yield self._selected(run, entry, by_program=by_program)

    def _selected(self, run: OpenRun, entry: CorpusEntry, *, by_program: bool) -> SelectedDialogue:
        """Return a dialogue with the labels that it is selected with, and count what is to be told of it."""
        dialogue, people, verified = entry.dialogue, frozenset[int](), frozenset[int]()
        beside: Mapping[int, Collection[str]] = {}
        scenario = run.scenario_of(dialogue.case)
        run.material.refuse_odd(dialogue, scenario)
        if dialogue.case.scenario_fingerprint in run.material.outdated:
            self.outdated[scenario.id] += 1
        if entry.people:
            labelled = with_people_labels(run.scheme, dialogue, entry.people)
            dialogue, people, beside = labelled.dialogue, labelled.turns, labelled.beside
            self.people_remarks.update(labelled.remarks)
        if by_program:
            dialogue, verified = with_verifier_labels(run.scheme, dialogue, run.annotations)
        return SelectedDialogue(
            dialogue,
            scenario,
            run.arms[dialogue.arm],
            entry.verdict,
            run,
            entry.adjudicated,
            people,
            entry.expert_goal(run.scheme.assigned),
            verified,
            entry.decided,
            beside,
        )

    def _is_read(
        self, run: OpenRun, seen: set[int] | None, only: Wanted | None, case: Case, arm: str
    ) -> bool:
        """Return whether a dialogue of a run is wanted and was not seen in an earlier one."""
        if seen is not None:
            # 64 bits are enough: among a million dialogues the chance of one clash is 3 in 100 million.
            mark = hash((case.id, arm))
            if mark in seen:
                self.duplicates[run.name] += 1
                return False
            seen.add(mark)
        return only is None or only(case, arm)

    @property
    def scenarios(self) -> list[Scenario]:
        """The scenarios of the runs; one that was changed between two runs is there twice."""
        return [one for run in self.runs for one in run.material.scenarios.values()]

    @property
    def lists_people(self) -> bool:
        """Whether a scenario of the runs is another scene than question and answer."""
        return any(not asks_and_answers(scenario) for scenario in self.scenarios)

    def tallies(self, *, by_case: bool = False) -> list[GroupTally]:
        """Count all generated dialogues of the runs, selected or not, and their labels, by fact or case.

        They do not depend on verdicts or on what is selected, so that what is decided by them (the
        splits) is the same for every export of the same runs.
        """
        return [one for run in self.runs for one in run.corpus.every_tally(by_case=by_case)]

    def every_dialogue(self) -> Iterator[Dialogue]:
        """Yield all generated dialogues of the runs, selected or not, as :meth:`tallies` counts them.

        They come without labels.
        """
        for run in self.runs:
            for entry in run.corpus.entries(CorpusFilter(), labels=False):
                yield entry.dialogue

    def corpus_filter(self, run: OpenRun, verdicts: Sequence[Verdict] = ()) -> CorpusFilter | None:
        """Return the filter of one run, or None where nothing in it can pass."""
        chosen = self.selection
        arms = run.arms_named(chosen.arms, chosen.strategies)
        scenarios = None if chosen.scenarios is None else run.scenarios_named(chosen.scenarios)
        if arms == () or scenarios == ():
            return None
        accepted: tuple[Verdict, ...] = tuple(verdicts) or ("accepted",)
        return CorpusFilter(
            verdicts=None if chosen.verdict == "any" else accepted,
            arms=arms,
            scenarios=scenarios,
            goals=None if chosen.goals is None else goals_named(run.scheme, chosen.goals),
            languages=None if chosen.languages is None else run.languages_named(chosen.languages),
            outdated=tuple(run.material.outdated) if chosen.newest else None,
        )


@contextmanager
def opened(selection: Selection) -> Iterator[OpenSelection]:
    """Open the runs of a selection and check that it can be answered.

    Raises:
        UsageError: a run is missing, not verified where accepted dialogues are asked for, of
            another scheme than the first, holds the gold lines, or has nothing of what is asked for by name.
    """
    if not selection.runs:
        raise UsageError("no run is named", "list them with: hipo runs")
    with ExitStack() as stack:
        runs: list[OpenRun] = []
        for folder in dict.fromkeys(real_path(path) for path in selection.runs):
            store = stack.enter_context(RunStore.open(folder, readonly=True))
            corpus = stack.enter_context(open_corpus(folder))
            name = _new_name(store.state().name, {run.name for run in runs})
            annotations = stack.enter_context(open_annotations(folder))
            runs.append(OpenRun(name, store, corpus, annotations, load_material(store)))
        for run in runs:
            _check(run, runs[0], selection)
        _check_names(runs, selection)
        yield OpenSelection(selection, tuple(runs))


def _check(run: OpenRun, first: OpenRun, selection: Selection) -> None:
    if run.material.canary is not None:
        raise UsageError(
            f"{run.name} holds the gold lines ({run.material.canary}), which are for measuring alone:"
            " whatever learns from them, or is chosen by them, can be measured no more",
            "leave this run out",
        )
    if run.scheme.fingerprint != first.scheme.fingerprint:
        same = run.scheme.name == first.scheme.name
        raise UsageError(
            f"{run.name} has labels of the scheme {run.scheme.name!r}, {first.name} of "
            + (
                "one of that name with other labels or definitions"
                if same
                else repr(first.scheme.name)
            ),
            "export runs of one scheme and version together, the others apart"
            + ("; count its version up where you change a scheme" if same else ""),
        )
    if selection.verdict == "accepted" and not run.state.verification.verdicts:
        raise UsageError(
            f"{run.name} has not been verified: none of its dialogues is accepted",
            f"verify it first (hipo verify {typed_path(run.store.folder)}), or take every dialogue with --any",
        )
    if selection.labels == "verifier":
        refuse_unless_verified(run.name, run.annotations)


def _check_names(runs: Sequence[OpenRun], selection: Selection) -> None:
    """Refuse names that no run knows."""
    if selection.strategies is not None:
        known = sorted({arm.strategy for run in runs for arm in run.arms.values()})
        for name in selection.strategies:
            if name not in known:
                raise UsageError(
                    f"no run has dialogues of the strategy {name!r}",
                    suggestion(name, known, listing="strategies"),
                )
    for name in selection.arms or ():
        if not any(arm.startswith(name) for run in runs for arm in run.arms):
            raise UsageError(f"no run has an arm {name!r}", "hipo runs show RUN lists them")
    for name in selection.languages or ():
        if not any(run.languages_named([name]) for run in runs):
            spoken = dict.fromkeys(code for run in runs for code in run.corpus.languages())
            raise UsageError(
                f"no run has dialogues in {name!r}", suggestion(name, spoken, listing="languages")
            )
    for name in selection.scenarios or ():
        if not any(run.scenarios_named([name]) for run in runs):
            played = dict.fromkeys(scenario.id for run in runs for scenario in run.played)
            raise UsageError(
                f"no run has a scenario {name}", suggestion(name, played, listing="scenarios")
            )


def _new_name(name: str, taken: Set[str]) -> str:
    """Return a name that no run has yet."""
    numbered = (f"{name}-{number}" for number in count(2))
    return name if name not in taken else next(n for n in numbered if n not in taken)
