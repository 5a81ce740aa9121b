"""Read everything that a report shows about a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from outputs.diversity import Diversity, measure
from outputs.export.recorded import RecordedExport
from outputs.reliability.chairs import chairs
from outputs.report.cumulative import CumulativeScore
from outputs.report.page import ReportSection
from outputs.showcase import showcased
from pipeline.run_material import RunMaterial, load_material
from pipeline.store.queries.report import Figures, open_figures
from pipeline.store.queries.report_rows import (
    EndingCount,
    FlaggedCount,
    LabelCount,
    NamedCount,
    PairCount,
    PersonAnswer,
    RequestCount,
    Sample,
    TrialCount,
    UtteranceCount,
    VoteCount,
)
from pipeline.store.queries.status import ArmState, RunState
from pipeline.store.run_store import RunStore
from pipeline.voting import Encoder
from scenarios.arms import IMPORTED
from scenarios.dialogue import Dialogue
from scenarios.errors import UsageError
from scenarios.margins import Margin
from scenarios.schemes.model import Scheme
from scenarios.speakers import turn_unit
from scenarios.spec import Scenario
from scenarios.verdicts import Flag, Judgement, Source

OFFLINE = "offline"
"""The provider whose dialogues are made by rules instead of a language model."""


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """How much a report shows, and what it is told beside the run."""

    samples: int = 10
    worst: int = 10
    diversity_texts: int = 500
    """Utterances of each arm that diversity is measured on."""
    exported: int | None = None
    """Accepted dialogues of the run that exports hold; None: there is no such export."""
    exports: tuple[RecordedExport, ...] = ()
    """The data sets that were made of the run."""
    cumulative: tuple[CumulativeScore, ...] = ()
    """What benchmarked models scored."""
    evaluation: ReportSection | None = None
    """What models made of the dialogues, as :mod:`outputs.evaluation` shows it."""
    statistics: tuple[ReportSection, ...] = ()
    """Sections that go with one kind of labels."""
    yields: tuple[ReportSection, ...] = ()
    """What became of a quota, and how soon dialogues repeat each other."""


@dataclass(frozen=True, slots=True)
class ReportedDialogue:
    """One dialogue with everything that is known of it."""

    sample: Sample
    dialogue: Dialogue
    scenario: Scenario | None
    """None: it cannot be found as it was when the dialogue was made."""
    flags: tuple[Flag, ...]
    judgements: tuple[Judgement, ...]


@dataclass(frozen=True, slots=True)
class Gathered:
    """What the sections of a report are made from."""

    run: str
    """The folder as commands that are proposed name it."""
    options: ReportOptions
    state: RunState
    unmet: tuple[Margin, ...]
    """Wanted shares of tactics that the rules put out of reach."""
    material: RunMaterial
    arms: Mapping[str, str]
    """Arm id -> its name, unique within the run."""
    endings: tuple[EndingCount, ...]
    languages: Mapping[str, int]
    """Dialogues there are, by language."""
    policies: tuple[str, ...]
    """Names of the policies whose verdicts stand."""
    utterances: tuple[UtteranceCount, ...]
    labels: tuple[LabelCount, ...]
    wanted: tuple[PairCount, ...]
    anew: tuple[PairCount, ...]
    votes: tuple[VoteCount, ...]
    named: tuple[NamedCount, ...]
    trials: tuple[TrialCount, ...]
    judge_pairs: tuple[PairCount, ...]
    flagged: tuple[FlaggedCount, ...]
    asked_again: Mapping[str, int]
    """Requests that asked again: ``repair``, and ``reframe`` where a model would not play."""
    requests: tuple[RequestCount, ...]
    latencies: tuple[tuple[str, str, int, int], ...]
    omitted: Mapping[str, frozenset[str]]
    """Fields that a model refuses, so that requests went without them, by model."""
    choices: tuple[tuple[str, int], ...]
    answers: tuple[PersonAnswer, ...]
    diversity: Mapping[str, Diversity]
    """By arm id."""
    diversity_note: str
    showcase: tuple[ReportedDialogue, ...]
    """One dialogue of each strategy."""
    samples: tuple[ReportedDialogue, ...]
    worst: tuple[ReportedDialogue, ...]

    @property
    def counted_turns(self) -> str:
        """What the lengths of dialogues are numbers of."""
        return f"{turn_unit(self.material.scenarios.values())}s"

    @property
    def scheme(self) -> Scheme:
        """The labels of the run."""
        return self.material.scheme

    @property
    def generated(self) -> int:
        """Dialogues there are."""
        return sum(e.n for e in self.endings if e.status == "generated")

    @property
    def verified(self) -> int:
        """Dialogues that have a verdict."""
        return sum(e.n for e in self.endings if e.verdict is not None)

    @property
    def models(self) -> list[str]:
        """Who wrote the answers, each once."""
        return sorted({arm.arm.model for arm in self.state.arms})

    @property
    def judges(self) -> dict[Source, set[str]]:
        """Who judged, by kind."""
        judges: dict[Source, set[str]] = {"self": set(), "external": set()}
        for vote in self.votes:
            judges[vote.source].add(vote.judge)
        return judges

    @property
    def seats(self) -> dict[Source, str]:
        """The kinds of judges whose figures are shown, and what each is called."""
        return dict(chairs(self.judges, {(count.source, count.dimension) for count in self.named}))

    @property
    def offline(self) -> bool:
        """Whether any dialogue was made by rules instead of a language model."""
        return any(model.partition("/")[0] == OFFLINE for model in self.models)

    @property
    def imported(self) -> bool:
        """Whether the dialogues were brought in from a file: a run is generated or imported as a whole."""
        return {arm.arm.strategy for arm in self.state.arms} == {IMPORTED}

    def category(self, scenario: str) -> str:
        """Return the category of a scenario, or what stands for one that cannot be found."""
        known_scenario = self.material.scenarios.get(scenario)
        return "(unknown)" if known_scenario is None else known_scenario.category


async def gather(
    folder: Path, options: ReportOptions, *, name: str, encoder: Encoder | None = None
) -> Gathered:
    """Read what a report tells about a run.

    Args:
        folder: the run.
        options: how much is shown.
        name: what the run is called in commands that the report proposes.
        encoder: embeds utterances to see how far they are spread; None leaves that out.

    Raises:
        UsageError: there is no run, or its scheme has changed since.
    """
    with RunStore.open(folder, readonly=True) as store, open_figures(folder) as figures:
        state = store.state()
        material = load_material(store)
        diversity, note = await _diversity(figures, state, options.diversity_texts, encoder)
        candidates = figures.samples()
        shown = showcased(store, candidates, {arm.id: arm.arm.strategy for arm in state.arms})
        left = [sample for sample in candidates if sample not in shown]
        samples = chosen(left, options.samples, material.scenarios)
        return Gathered(
            run=name,
            options=options,
            state=state,
            unmet=store.config.config.unmet,
            material=material,
            arms=arm_names(state.arms),
            endings=tuple(figures.endings()),
            languages=dict(figures.languages()),
            policies=tuple(figures.policies()),
            utterances=tuple(figures.utterances()),
            labels=tuple(figures.labels()),
            wanted=tuple(figures.wanted()),
            anew=tuple(figures.anew()),
            votes=tuple(figures.votes()),
            named=tuple(figures.named(material.scheme.assigned)),
            trials=tuple(figures.trials()),
            judge_pairs=tuple(figures.judge_pairs()),
            flagged=tuple(figures.flagged()),
            asked_again=dict(figures.asked_again()),
            requests=tuple(figures.requests()),
            latencies=tuple(figures.latencies()),
            omitted=figures.omitted(),
            choices=tuple(figures.choices()),
            answers=tuple(figures.answers()),
            diversity=diversity,
            diversity_note=note,
            showcase=_exhibits(store, material, shown),
            samples=_exhibits(store, material, samples),
            worst=_exhibits(store, material, figures.worst(options.worst)),
        )


def arm_names(arms: Sequence[ArmState]) -> dict[str, str]:
    """Return a name for every arm: strategy and model, the id too where they are not enough."""
    names = {arm.id: f"{arm.arm.strategy} · {arm.arm.model}" for arm in arms}
    often = Counter(names.values())
    return {arm: name if often[name] == 1 else f"{name} · {arm[:6]}" for arm, name in names.items()}


async def _diversity(
    figures: Figures, state: RunState, texts: int, encoder: Encoder | None
) -> tuple[dict[str, Diversity], str]:
    """Measure every arm; where texts cannot be embedded, say why and do without."""
    by_arm: dict[str, Diversity] = {}
    note = "" if encoder is not None else "Embeddings were not computed."
    for arm in state.arms:
        sample = figures.texts(arm.id, texts)
        if not sample:
            continue
        said = [text for text, _ in sample]
        try:
            found = await measure(said, encoder)
        except UsageError as error:
            encoder, note = None, f"Embeddings were not computed: {error.message}."
            found = await measure(said)
        elsewhere = sum(also for _, also in sample) / len(sample)
        by_arm[arm.id] = replace(found, elsewhere=elsewhere if len(state.arms) > 1 else None)
    return by_arm, note


def _exhibits(
    store: RunStore, material: RunMaterial, samples: Sequence[Sample]
) -> tuple[ReportedDialogue, ...]:
    keys = []
    for sample in samples:
        case, _, arm = sample.id.partition("/")
        keys.append((case, arm))
    assessments = store.judgements.assessments(keys)
    judgements = store.judgements.judgements(keys)
    exhibits = []
    for sample, key in zip(samples, keys, strict=True):
        dialogue = store.dialogue(sample.id)
        scenario: Scenario | None
        try:
            scenario = material.scenario_as_told(dialogue)
        except UsageError:
            scenario = None
        else:
            material.refuse_odd(dialogue, scenario)
        flags = assessments[key].flags if key in assessments else ()
        exhibits.append(
            ReportedDialogue(sample, dialogue, scenario, flags, tuple(judgements.get(key, ())))
        )
    return tuple(exhibits)


def chosen(
    samples: Sequence[Sample], limit: int, scenarios: Mapping[str, Scenario]
) -> list[Sample]:
    """Choose samples one by one, always the one that resembles those before it least.

    What they may have in common is, in this order of weight: scenario, category, arm, goal,
    number of turns. The same samples give the same choice.
    """
    seen: Counter[tuple[str, object]] = Counter()
    left = list(samples)
    picked: list[Sample] = []
    while left and len(picked) < limit:
        best = min(left, key=lambda sample: _likeness(sample, scenarios, seen))
        left.remove(best)
        picked.append(best)
        seen.update(feature for feature, _ in _features(best, scenarios))
    return picked


def _likeness(
    sample: Sample, scenarios: Mapping[str, Scenario], seen: Counter[tuple[str, object]]
) -> int:
    return sum(weight * seen[feature] for feature, weight in _features(sample, scenarios))


def _features(
    sample: Sample, scenarios: Mapping[str, Scenario]
) -> tuple[tuple[tuple[str, object], int], ...]:
    scenario = scenarios.get(sample.scenario)
    return (
        (("scenario", sample.scenario), 20),
        (("category", scenario.category if scenario else ""), 6),
        (("arm", sample.arm), 5),
        (("goal", sample.goal), 4),
        (("turns", sample.turns), 3),
    )
