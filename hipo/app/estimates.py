"""Estimate a run before a request is sent: cases, calls, tokens and dollars."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

from hipo.app.preparation import Prepared
from pipeline.plan import Plan
from pipeline.providers.protocol import Usage
from prompts.actors import ActorPrompts
from prompts.question import Question
from prompts.role_views import initiator_view, responder_view
from scenarios.arms import Arm
from scenarios.case import Case
from scenarios.dialogue import Critique, Draft, TacticLabel
from scenarios.schemes.model import Dimension, LabelValue
from scenarios.spec import RoleKey, Scenario
from scenarios.variation import manner_lines, opening_texts

Kind = Literal["initiator", "responder", "reflect", "revise"]

BYTES_PER_TOKEN = 4
SAMPLE = 24
"""Cases whose prompts are rendered to estimate the length of all."""
COUNTED = 5_000
"""Plans up to this size are counted case by case."""
REVISED = 0.5
"""Share of the drafts expected to be sent back for revision; unknown until the model is seen."""
UTTERANCE = "That is a fair thing to ask, and I will tell you what I can about it before we go on."
"""Stands in for utterances that nobody has said yet; of the usual length."""
ANSWER_TOKENS: Mapping[Kind, int] = {
    "initiator": 35,
    "responder": 170,
    "reflect": 110,
    "revise": 170,
}
"""Typical length of an answer in tokens, JSON included."""

NOTE = (
    f"calls are samples: an endpoint that takes n answers K candidates in one request; tokens are "
    f"estimated from sample prompts at {BYTES_PER_TOKEN} bytes each, and answers at their usual "
    "length; arms that ask the same share the reply, so fewer calls are possible, and repairs or "
    "retries can add some"
)


@dataclass(frozen=True, slots=True)
class Calls:
    """Samples of one kind that an arm asks for; the most, and what to expect."""

    kind: Kind
    role: str
    expected: float
    most: int


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
    """Dialogues that are there already and not counted below."""

    @property
    def dialogues(self) -> int:
        """Dialogues of all arms that are still to be played."""
        return sum(arm.dialogues for arm in self.arms)

    @property
    def cost_usd(self) -> float | None:
        """Dollars for everything; None if any model has no price."""
        costs = [model.cost_usd for model in self.models]
        return None if None in costs else sum(cost for cost in costs if cost is not None)


def calls_of(arm: Arm, exchanges: int) -> tuple[Calls, ...]:
    """Return how many samples an arm asks for, by kind, over ``exchanges`` in all.

    Direct and consistency are exact: one question and one answer (or K candidates) per exchange.
    Reflection adds at least one critique per exchange, and a revision where it finds fault.
    """
    initiator = Calls("initiator", "initiator", exchanges, exchanges)
    if arm.strategy == "consistency":
        wanted = exchanges * int(str(arm.settings["k"]))
        return initiator, Calls("responder", "responder", wanted, wanted)
    responder = Calls("responder", "responder", exchanges, exchanges)
    if arm.strategy == "direct":
        return initiator, responder
    rounds = int(str(arm.settings["max_revisions"]))
    reflected = sum(REVISED**i for i in range(rounds))
    revised = sum(REVISED ** (i + 1) for i in range(rounds))
    return (
        initiator,
        responder,
        Calls("reflect", "reflector", exchanges * reflected, exchanges * rounds),
        Calls("revise", "responder", exchanges * revised, exchanges * rounds),
    )


def estimate_generation(prepared: Prepared, present: Mapping[str, int] | None = None) -> Estimate:
    """Estimate a run from its plan and the prompts of a few of its cases.

    Args:
        prepared: what is to be played.
        present: dialogues that are there already, by arm id; they are not played again.
    """
    exchanges = exchanges_of(prepared.plan)
    lengths = _prompt_tokens(prepared, sample_cases(prepared))
    planned = len(prepared.plan)
    there = {arm.id: min((present or {}).get(arm.id, 0), planned) for arm in prepared.arms}
    arms = tuple(
        ArmEstimate(
            arm, planned - there[arm.id],
            calls_of(arm, round(exchanges * (1 - there[arm.id] / planned))),
        )
        for arm in prepared.arms
    )  # fmt: skip
    return Estimate(
        cases=planned,
        exchanges=exchanges,
        arms=arms,
        models=_by_model(prepared, arms, lengths),
        present=sum(there.values()),
    )


def sample_cases(prepared: Prepared) -> list[Case]:
    """Return a few cases, from all over the scenarios, goals and lengths of the plan."""
    return list(replace(prepared.plan, n=SAMPLE))


def exchanges_of(plan: Plan) -> int:
    """Count the exchanges of a plan; of a long one, by the turn lengths it visits evenly."""
    if len(plan) <= COUNTED:
        return sum(case.turns for case in plan)
    return round(len(plan) * sum(plan.turns) / len(plan.turns))


def _by_model(
    prepared: Prepared, arms: Iterable[ArmEstimate], lengths: Mapping[Kind, float]
) -> tuple[ModelEstimate, ...]:
    """Add up what every model is asked for."""
    sums: dict[str, list[float]] = {}
    costs: dict[str, float | None] = {}
    for arm in arms:
        for calls in arm.calls:
            use = prepared.uses[arm.arm.id, calls.role]
            prompt = lengths[calls.kind] * calls.expected
            answers = ANSWER_TOKENS[calls.kind] * calls.expected
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


def _prompt_tokens(prepared: Prepared, sample: Sequence[Case]) -> dict[Kind, float]:
    """Return the mean length of each kind of prompt over the exchanges of sample cases."""
    sums: dict[Kind, list[int]] = {"initiator": [], "responder": [], "reflect": [], "revise": []}
    for case in sample:
        for exchange in range(min(case.turns, 8)):
            for kind, rendered in _prompts(prepared, case, exchange).items():
                size = sum(len(message.content.encode()) for message in rendered.messages)
                sums[kind].append(size)
    return {kind: sum(sizes) / len(sizes) / BYTES_PER_TOKEN for kind, sizes in sums.items()}


def _prompts(prepared: Prepared, case: Case, exchange: int) -> dict[Kind, Question[object]]:
    """Render every kind of prompt of one exchange, with stand-ins for what is not said yet."""
    scenario = prepared.scenarios[case.scenario]
    history = stand_in_history(scenario, case, exchange)
    variation = dict(case.variation)
    asking = initiator_view(
        scenario, case, manner=manner_lines(prepared.axes, variation, "initiator")
    )
    answering = responder_view(
        scenario,
        prepared.scheme,
        case,
        manner=manner_lines(prepared.axes, variation, "responder"),
    )
    prompts: ActorPrompts = prepared.prompts
    wanted = prepared.design.wanted(case, scenario, exchange) if prepared.design else ()
    before = tuple(history)
    now = (*before, ("initiator", UTTERANCE))
    dimensions = prepared.scheme.utterance_dimensions
    draft = Draft(UTTERANCE, case.goal, tuple(stand_in_label(d) for d in dimensions))
    critiques = tuple(Critique(d.id, False, UTTERANCE) for d in dimensions)
    return {
        "initiator": prompts.initiator(asking, before),
        "responder": prompts.responder(answering, now, wanted),
        "reflect": prompts.reflect(answering, now, draft, wanted),
        "revise": prompts.revise(answering, now, draft, critiques, wanted),
    }


def stand_in_history(scenario: Scenario, case: Case, exchanges: int) -> list[tuple[RoleKey, str]]:
    """Return the opening of a case, and stand-ins for what follows in so many exchanges."""
    question, statement = opening_texts(scenario, case.goal, dict(case.variation))
    history: list[tuple[RoleKey, str]] = [("initiator", question), ("responder", statement)]
    return history + [("initiator", UTTERANCE), ("responder", UTTERANCE)] * exchanges


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
