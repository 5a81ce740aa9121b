"""Estimate a run before a request is sent: cases, calls, tokens and dollars."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from hipo.app.preparation.prepared import Prepared
from hipo.app.preparation.remaining import Remainder, whole_plan
from pipeline.expected_calls import SampleTurn
from pipeline.providers.protocol import Usage
from pipeline.providers.registry import PROVIDERS
from pipeline.strategies.registry import STRATEGIES
from prompts.question import Question
from prompts.script_view import ScriptView, script_view
from prompts.turn_views import answering_view, asking_view
from scenarios.arms import Arm
from scenarios.case import Case
from scenarios.dialogue import Critique, Draft, History, TacticLabel
from scenarios.flow import PlannedTurn, planned_turns
from scenarios.schemes.model import Dimension
from scenarios.schemes.spoken import spoken_dimensions
from scenarios.speakers import speakers, turn_unit
from scenarios.terms import INITIATOR, LabelValue
from scenarios.variation import manner_lines

BYTES_PER_TOKEN = 4
SAMPLE = 24
"""Cases whose prompts are rendered to estimate the length of all."""
SAMPLED_ANSWERS = 8
"""Turns of one kind of a sample case that are rendered at most, from all over the dialogue."""
UTTERANCE = "That is a fair thing to ask, and I will tell you what I can about it before we go on."
"""Stands in for utterances that nobody has said yet; of the usual length."""
QUESTION_TOKENS = 35
"""Usual length of an initiator's answer, JSON included."""

NOTE = (
    "calls are requests, of which one may bring K candidates where an endpoint takes n; tokens are "
    f"estimated from sample prompts at {BYTES_PER_TOKEN} bytes each, and answers at their usual length; arms that ask the same share the reply, so fewer calls are "
    "possible, and repairs or retries can add some"
)


def total_cost(costs: Iterable[float | None]) -> float | None:
    """Return the sum of costs; None if any is not known."""
    known = list(costs)
    return None if None in known else sum(cost for cost in known if cost is not None)


@dataclass(frozen=True, slots=True)
class Calls:
    """Samples of one kind that an arm asks for; the most, and what to expect."""

    kind: str
    role: str
    model: str
    """Who is asked."""
    expected: float
    most: float
    prompt_tokens: float
    """Mean length of one prompt."""
    answer_tokens: int
    """Usual length of one answer."""
    together: int = 1
    """Samples of one question, see :class:`pipeline.expected_calls.ExpectedCalls`."""

    @property
    def requests(self) -> float:
        """How many requests bring the expected samples."""
        return self.expected / self.in_one(self.model)

    @property
    def most_requests(self) -> float:
        """How many requests bring the most samples."""
        return self.most / self.in_one(self.model)

    def in_one(self, model: str) -> int:
        """Return how many samples one request to ``provider/model`` brings; it reads one prompt."""
        provider = PROVIDERS.find(model.partition("/")[0])
        singly = provider is not None and provider.one_by_one
        return 1 if singly else self.together


@dataclass(frozen=True, slots=True)
class ArmEstimate:
    """What one arm takes."""

    arm: Arm
    dialogues: int
    calls: tuple[Calls, ...]


@dataclass(frozen=True, slots=True)
class ModelEstimate:
    """What one model is asked for, and what that costs."""

    model: str
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class CutAnswer:
    """Answers that are usually longer than they may be: they are cut off, and not read."""

    strategy: str
    kind: str
    answer_tokens: int
    max_tokens: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a whole run takes."""

    cases: int
    exchanges: int
    """Improvised turns of labelled roles, of all cases together."""
    turn_unit: str
    """What one of them is called."""
    speakers: Mapping[str, str]
    """Whose lines the models of ``responder`` and ``initiator`` write, in words."""
    arms: tuple[ArmEstimate, ...]
    models: tuple[ModelEstimate, ...]
    present: int = 0
    """Dialogues of these cases that are there already and not counted in ``dialogues``."""
    outside: int = 0
    """Dialogues of the run that are of other cases or arms than these."""
    cut: tuple[CutAnswer, ...] = ()
    singly: tuple[ModelEstimate, ...] = ()
    """What models behind ``compatible/`` take whose endpoint answers one sample a request, as many
    do; none where nobody is asked for several."""

    @property
    def dialogues(self) -> int:
        """Dialogues of all arms that are still to be played."""
        return sum(arm.dialogues for arm in self.arms)

    @property
    def cost_usd(self) -> float | None:
        """Dollars for everything; None if any model has no price."""
        return total_cost(model.cost_usd for model in self.models)


def estimate_generation(
    prepared: Prepared, left: Mapping[str, Remainder] | None = None, *, settled: int = 0
) -> Estimate:
    """Estimate a run from its plan and the prompts of a few of its cases.

    Args:
        prepared: what is to be played.
        left: what is still to be played, by arm id, see :func:`hipo.app.preparation.remaining.remaining`;
            None: everything.
        settled: dialogues of the run that are generated or have failed, of whatever plan.
    """
    left = whole_plan(prepared) if left is None else left
    samples = list(_samples(prepared))
    arms = tuple(
        ArmEstimate(arm, left[arm.id].dialogues, _calls(prepared, arm, left[arm.id], samples))
        for arm in prepared.arms
    )
    of_plan = [left[arm.id] for arm in prepared.arms]
    return Estimate(
        cases=len(prepared.plan),
        exchanges=prepared.plan.exchanges,
        turn_unit=turn_unit(prepared.scenarios.values()),
        speakers=speakers(prepared.scenarios.values()),
        arms=arms,
        models=_by_model(prepared, arms),
        cut=tuple(_cut(prepared, arms)),
        singly=_one_by_one(prepared, arms),
        present=sum(arm.present for arm in of_plan),
        outside=max(0, settled - sum(arm.present + arm.again for arm in of_plan)),
    )


def _calls(
    prepared: Prepared, arm: Arm, left: Remainder, samples: Sequence[_Sample]
) -> tuple[Calls, ...]:
    """Return what an arm asks for: its questions, and what its strategy says for each answer.

    Nothing is asked as the initiator by a strategy that writes whole dialogues, nor where the words
    of everybody who speaks are labelled.
    """
    asked = _mean_tokens((s.asked, s.weight) for s in samples if s.asked is not None)
    settings = prepared.recipe.strategy_settings(arm.strategy)

    def asked_of(role: str) -> str:
        return prepared.uses[arm.id, role].spec.name

    def rest(calls: Calls) -> Calls:
        drawn = left.drawn.get(calls.kind, 0)  # a dialogue that was broken off has these already
        expected, most = max(0, calls.expected - drawn), max(0, calls.most - drawn)
        return replace(calls, expected=expected, most=most)

    strategy, questions = STRATEGIES.get(arm.strategy), left.questions
    answered = []
    for of in strategy.calls(settings):
        times, length = left.exchanges, of.answer_tokens
        if of.per_dialogue:
            times = left.dialogues
            length = round(length * (left.exchanges + questions) / max(left.dialogues, 1))
        answered.append(
            Calls(
                of.kind,
                of.role,
                asked_of(of.role),
                expected=times * of.expected,
                most=times * of.most,
                prompt_tokens=_mean_tokens(
                    (of.question(s.turn), s.weight) for s in samples if s.turn is not None
                ),
                answer_tokens=length,
                together=of.together,
            )
        )
    if strategy.knows_all or INITIATOR not in speakers(prepared.scenarios.values()):
        return tuple(map(rest, answered))
    who = asked_of(INITIATOR)
    initiator = Calls(INITIATOR, INITIATOR, who, questions, questions, asked, QUESTION_TOKENS)
    return tuple(map(rest, (initiator, *answered)))


def sample_cases(prepared: Prepared) -> list[Case]:
    """Return a few cases, from all over the scenarios, goals and lengths of the plan."""
    return list(replace(prepared.plan, n=SAMPLE, shard=None))


def _by_model(prepared: Prepared, arms: Iterable[ArmEstimate]) -> tuple[ModelEstimate, ...]:
    """Add up what every model is asked for."""
    sums: dict[str, list[float]] = {}
    costs: dict[str, float | None] = {}
    for arm in arms:
        for calls in arm.calls:
            use = prepared.uses[arm.arm.id, calls.role]
            prompt = calls.prompt_tokens * calls.requests
            answers = calls.answer_tokens * calls.expected
            total = sums.setdefault(use.spec.name, [0.0, 0.0, 0.0])
            for place, amount in enumerate((calls.requests, prompt, answers)):
                total[place] += amount
            so_far = costs.setdefault(use.spec.name, 0.0)
            if use.price is None or so_far is None:
                costs[use.spec.name] = None
            else:
                usage = Usage(prompt=round(prompt), completion=round(answers))
                costs[use.spec.name] = so_far + use.price.cost_of_alike(usage, calls.requests)
    return tuple(
        ModelEstimate(name, round(calls), round(prompt), round(answers), costs[name])
        for name, (calls, prompt, answers) in sums.items()
    )


def _one_by_one(prepared: Prepared, arms: Iterable[ArmEstimate]) -> tuple[ModelEstimate, ...]:
    """Return what models take that may answer one sample a request, where that is more."""
    alone = [replace(arm, calls=tuple(replace(c, together=1) for c in arm.calls)) for arm in arms]
    unsure = {
        prepared.uses[arm.arm.id, calls.role].spec.name
        for arm in arms
        for calls in arm.calls
        if calls.together > 1 and calls.expected
        and prepared.uses[arm.arm.id, calls.role].spec.provider == "compatible"
    }  # fmt: skip
    return tuple(model for model in _by_model(prepared, alone) if model.model in unsure)


def _cut(prepared: Prepared, arms: Iterable[ArmEstimate]) -> Iterator[CutAnswer]:
    """Yield what models that keep to a length have too little of."""
    for arm in arms:
        for calls in arm.calls:
            spec = prepared.uses[arm.arm.id, calls.role].spec
            if spec.parameters is None or spec.provider == "offline" or not calls.expected:
                continue
            if calls.answer_tokens > spec.parameters.max_tokens:
                most = spec.parameters.max_tokens
                yield CutAnswer(arm.arm.strategy, calls.kind, calls.answer_tokens, most)


def _mean_tokens(questions: Iterable[tuple[Question[object], float]]) -> float:
    """Return the mean length of prompts, each with its weight; 0 where nobody is asked."""
    total = weights = 0.0
    for question, weight in questions:
        total += weight * question.size
        weights += weight
    return total / weights / BYTES_PER_TOKEN if weights else 0.0


@dataclass(frozen=True, slots=True)
class _Sample:
    """One improvised turn of a sample case."""

    asked: Question[str] | None = None
    """What somebody is asked whose words are not labelled."""
    turn: SampleTurn | None = None
    """What a strategy is asked for."""
    weight: float = 1.0
    """How many turns of its case it stands for."""


def _samples(prepared: Prepared) -> Iterator[_Sample]:
    """Yield turns of sample cases, with stand-ins for what is not said yet."""
    for case in sample_cases(prepared):
        answers = 0
        history: History = ()
        plan = planned_turns(prepared.scenarios[case.scenario], case)
        script = _script(prepared, case, plan)
        weights = _spread(plan, labelled=True) | _spread(plan, labelled=False)
        for index, planned in enumerate(plan):
            if index in weights:
                sample = _sample(prepared, case, planned, history, answers)
                turn = sample.turn and replace(sample.turn, script=script)
                yield replace(sample, turn=turn, weight=weights[index])
            answers += planned.text is None and planned.labelled
            history = (*history, (planned.role, planned.text or UTTERANCE))


def _spread(plan: Sequence[PlannedTurn], *, labelled: bool) -> dict[int, float]:
    """Return places of improvised turns from all over a dialogue, and how many each stands for."""
    places = [i for i, turn in enumerate(plan) if turn.text is None and turn.labelled is labelled]
    n = min(len(places), SAMPLED_ANSWERS)
    step = (len(places) - 1) / (n - 1) if n > 1 else 0.0
    return {places[round(i * step)]: len(places) / n for i in range(n)}


def _script(prepared: Prepared, case: Case, plan: Sequence[PlannedTurn]) -> ScriptView | None:
    """Return a dialogue for whoever writes it as a whole; None where nobody does."""
    if not prepared.prompts.script:
        return None
    varied = dict(case.variation)
    return script_view(
        prepared.scenarios[case.scenario],
        prepared.scheme,
        case,
        plan,
        manner=lambda role: manner_lines(prepared.axes, varied, role),
    )


def _sample(
    prepared: Prepared, case: Case, planned: PlannedTurn, history: History, place: int
) -> _Sample:
    """Return what is asked for one turn, whoever speaks."""
    scenario, scheme = prepared.scenarios[case.scenario], prepared.scheme
    manner = manner_lines(prepared.axes, dict(case.variation), planned.role)
    prompts, design = prepared.prompts, prepared.design
    if not planned.labelled:
        return _Sample(
            prompts.initiator(asking_view(scenario, scheme, case, planned, manner), history)
        )
    dimensions = spoken_dimensions(scheme, planned.role if planned.phase else "")
    turn = SampleTurn(
        prompts=prompts,
        view=answering_view(scenario, scheme, case, planned, manner),
        history=history,
        wanted=design.wanted(case, scenario, place, planned.role) if design else (),
        draft=Draft(UTTERANCE, case.goal, tuple(map(stand_in_label, dimensions))),
        critiques=tuple(Critique(d.id, False, UTTERANCE) for d in dimensions),
        scenario=scenario,
        role=planned.role,
    )
    return _Sample(turn=turn)


def stand_in_label(dimension: Dimension) -> TacticLabel:
    """Return some label of a dimension with a rationale of the usual length."""
    value: LabelValue
    if dimension.measurement == "interval" and dimension.range is not None:
        value = dimension.range[0]
    elif dimension.measurement == "multi":
        value = tuple(islice(dimension.values, 1))
    else:
        value = dimension.values[0]
    return TacticLabel(dimension.id, value, UTTERANCE)
