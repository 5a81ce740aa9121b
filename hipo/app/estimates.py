"""Estimate a run before a request is sent: cases, calls, tokens and dollars."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from hipo.app.preparation import Prepared
from hipo.app.remaining import Remainder, whole_plan
from pipeline.expected_calls import SampleTurn
from pipeline.providers.protocol import Usage
from pipeline.strategies.registry import STRATEGIES
from prompts.question import Question
from prompts.role_views import initiator_view, responder_view
from scenarios.arms import Arm
from scenarios.case import Case
from scenarios.dialogue import Critique, Draft, History, TacticLabel
from scenarios.openings import opening_lines, opens_alike
from scenarios.schemes.model import Dimension, LabelValue
from scenarios.spec import RESPONDER, Scenario
from scenarios.variation import manner_lines

BYTES_PER_TOKEN = 4
SAMPLE = 24
"""Cases whose prompts are rendered to estimate the length of all."""
UTTERANCE = "That is a fair thing to ask, and I will tell you what I can about it before we go on."
"""Stands in for utterances that nobody has said yet; of the usual length."""
QUESTION_TOKENS = 35
"""Usual length of an initiator's answer, JSON included."""

NOTE = (
    f"calls are samples: an endpoint that takes n answers K candidates in one request; tokens are "
    f"estimated from sample prompts at {BYTES_PER_TOKEN} bytes each, and answers at their usual "
    "length; arms that ask the same share the reply, so fewer calls are possible, and repairs or "
    "retries can add some"
)


@dataclass(frozen=True, slots=True)
class Calls:
    """Samples of one kind that an arm asks for; the most, and what to expect."""

    kind: str
    role: str
    expected: float
    most: float
    prompt_tokens: float
    """Mean length of one prompt."""
    answer_tokens: int
    """Usual length of one answer."""


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
class Estimate:
    """What a whole run takes."""

    cases: int
    exchanges: int
    """Improvised exchanges of all cases together."""
    arms: tuple[ArmEstimate, ...]
    models: tuple[ModelEstimate, ...]
    present: int = 0
    """Dialogues of these cases that are there already and not counted in ``dialogues``."""
    outside: int = 0
    """Dialogues of the run that are of other cases or arms than these."""

    @property
    def dialogues(self) -> int:
        """Dialogues of all arms that are still to be played."""
        return sum(arm.dialogues for arm in self.arms)

    @property
    def cost_usd(self) -> float | None:
        """Dollars for everything; None if any model has no price."""
        costs = [model.cost_usd for model in self.models]
        return None if None in costs else sum(cost for cost in costs if cost is not None)


def estimate_generation(
    prepared: Prepared, left: Mapping[str, Remainder] | None = None, *, settled: int = 0
) -> Estimate:
    """Estimate a run from its plan and the prompts of a few of its cases.

    Args:
        prepared: what is to be played.
        left: what is still to be played, by arm id, see :func:`hipo.app.remaining.remaining`;
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
        arms=arms,
        models=_by_model(prepared, arms),
        present=sum(arm.present for arm in of_plan),
        outside=max(0, settled - sum(arm.present + arm.again for arm in of_plan)),
    )


def _calls(
    prepared: Prepared, arm: Arm, left: Remainder, samples: Sequence[_Sample]
) -> tuple[Calls, ...]:
    """Return what an arm asks for: its questions, and what its strategy says for each answer."""
    asked = _mean_tokens(sample.asked for sample in samples if sample.asked is not None)
    settings = prepared.recipe.strategy_settings(arm.strategy)
    # The first question of a dialogue is fixed where its opening is shared.
    fixed = left.dialogues if prepared.plan.openings == "shared" else 0

    def calls(
        kind: str, role: str, *, expected: float, most: float, prompt: float, answer: int
    ) -> Calls:
        drawn = left.drawn.get(kind, 0)  # a dialogue that was broken off has these already
        return Calls(kind, role, max(0, expected - drawn), max(0, most - drawn), prompt, answer)

    questions = left.exchanges - fixed
    return (
        calls(
            "initiator",
            "initiator",
            expected=questions,
            most=questions,
            prompt=asked,
            answer=QUESTION_TOKENS,
        ),
        *(
            calls(
                of.kind,
                of.role,
                expected=left.exchanges * of.expected,
                most=left.exchanges * of.most,
                prompt=_mean_tokens(of.question(sample.turn) for sample in samples),
                answer=of.answer_tokens,
            )
            for of in STRATEGIES.get(arm.strategy).calls(settings)
        ),
    )


def sample_cases(prepared: Prepared) -> list[Case]:
    """Return a few cases, from all over the scenarios, goals and lengths of the plan."""
    return list(replace(prepared.plan, n=SAMPLE))


def _by_model(prepared: Prepared, arms: Iterable[ArmEstimate]) -> tuple[ModelEstimate, ...]:
    """Add up what every model is asked for."""
    sums: dict[str, list[float]] = {}
    costs: dict[str, float | None] = {}
    for arm in arms:
        for calls in arm.calls:
            use = prepared.uses[arm.arm.id, calls.role]
            prompt = calls.prompt_tokens * calls.expected
            answers = calls.answer_tokens * calls.expected
            total = sums.setdefault(use.spec.name, [0.0, 0.0, 0.0])
            for place, amount in enumerate((calls.expected, prompt, answers)):
                total[place] += amount
            so_far = costs.setdefault(use.spec.name, 0.0)
            if use.price is None or so_far is None:
                costs[use.spec.name] = None
            else:
                usage = Usage(prompt=round(prompt), completion=round(answers))
                costs[use.spec.name] = so_far + use.price.cost(usage)
    return tuple(
        ModelEstimate(name, round(calls), round(prompt), round(answers), costs[name])
        for name, (calls, prompt, answers) in sums.items()
    )


def _mean_tokens(questions: Iterable[Question[object]]) -> float:
    """Return the mean length of prompts; 0 where nobody is asked."""
    sizes = [sum(len(m.content.encode()) for m in question.messages) for question in questions]
    return sum(sizes) / max(len(sizes), 1) / BYTES_PER_TOKEN


@dataclass(frozen=True, slots=True)
class _Sample:
    """One exchange of a sample case: the initiator's question, and the answer to be made."""

    asked: Question[str] | None
    """None where the question is fixed."""
    turn: SampleTurn


def _samples(prepared: Prepared) -> Iterator[_Sample]:
    """Yield exchanges of sample cases, with stand-ins for what is not said yet."""
    dimensions = prepared.scheme.utterance_dimensions
    labels = tuple(stand_in_label(d) for d in dimensions)
    critiques = tuple(Critique(d.id, False, UTTERANCE) for d in dimensions)
    for case in sample_cases(prepared):
        scenario, variation = prepared.scenarios[case.scenario], dict(case.variation)
        manner = {
            role: manner_lines(prepared.axes, variation, role)
            for role in ("initiator", "responder")
        }
        asking = initiator_view(scenario, case, manner=manner["initiator"])
        answering = responder_view(scenario, prepared.scheme, case, manner=manner["responder"])
        for exchange in range(min(case.turns, 8)):
            before = stand_in_history(scenario, case, exchange)
            fixed = before[-1][0] == "initiator"  # the hard question stands already
            yield _Sample(
                None if fixed else prepared.prompts.initiator(asking, before),
                SampleTurn(
                    prompts=prepared.prompts,
                    view=answering,
                    history=before if fixed else (*before, ("initiator", UTTERANCE)),
                    wanted=prepared.design.wanted(case, scenario, exchange)
                    if prepared.design
                    else (),
                    draft=Draft(UTTERANCE, case.goal, labels),
                    critiques=critiques,
                    scenario=scenario,
                    role=RESPONDER,
                ),
            )


def stand_in_history(scenario: Scenario, case: Case, exchanges: int) -> History:
    """Return the opening of a case, and stand-ins for what follows in so many exchanges."""
    variation = dict(case.variation)
    lines = opening_lines(scenario, case.fact, case.goal, variation)
    history: History = tuple((line.role, line.text) for line in lines)
    exchange: History = (("initiator", UTTERANCE), ("responder", UTTERANCE))
    said = exchange * exchanges
    # A shared opening holds the question of the first exchange already.
    return history + (said[1:] if opens_alike(variation) else said)


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
