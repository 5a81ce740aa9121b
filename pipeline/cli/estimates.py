"""What a run will take: cases, calls, tokens and dollars, before a single request is sent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

from pipeline.arms import ActingRole, Arm
from pipeline.cli.screen import columns, dollars, number, plural
from pipeline.cli.wiring import Prepared
from pipeline.plan import Plan
from pipeline.providers.protocol import Usage
from prompts.actors import ActorPrompts
from prompts.prompt import Rendered
from prompts.views import initiator_view, responder_view
from scenarios.case import Case
from scenarios.dialogue import Critique, Draft, TacticLabel
from scenarios.schemes.model import Dimension, LabelValue
from scenarios.spec import RoleKey
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
    role: ActingRole
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

    @property
    def dialogues(self) -> int:
        """Dialogues of all arms."""
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
        wanted = exchanges * arm.k
        return initiator, Calls("responder", "responder", wanted, wanted)
    responder = Calls("responder", "responder", exchanges, exchanges)
    if arm.strategy == "direct":
        return initiator, responder
    rounds = arm.max_revisions
    reflected = sum(REVISED**i for i in range(rounds))
    revised = sum(REVISED ** (i + 1) for i in range(rounds))
    return (
        initiator,
        responder,
        Calls("reflect", "reflector", exchanges * reflected, exchanges * rounds),
        Calls("revise", "responder", exchanges * revised, exchanges * rounds),
    )


def estimate(prepared: Prepared) -> Estimate:
    """Estimate a run from its plan and the prompts of a few of its cases."""
    exchanges = _exchanges(prepared.plan)
    # A plan of a few cases lands all over the scenarios, goals and lengths of the large one.
    lengths = _prompt_tokens(prepared, list(replace(prepared.plan, n=SAMPLE)))
    arms = tuple(
        ArmEstimate(arm, len(prepared.plan), calls_of(arm, exchanges)) for arm in prepared.arms
    )
    return Estimate(
        cases=len(prepared.plan),
        exchanges=exchanges,
        arms=arms,
        models=_by_model(prepared, arms, lengths),
    )


def _exchanges(plan: Plan) -> int:
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


def _prompts(prepared: Prepared, case: Case, exchange: int) -> dict[Kind, Rendered]:
    """Render every kind of prompt of one exchange, with stand-ins for what is not said yet."""
    scenario = prepared.scenarios[case.scenario]
    question, statement = opening_texts(scenario, case.goal, dict(case.variation))
    history: list[tuple[RoleKey, str]] = [("initiator", question), ("responder", statement)]
    for _ in range(exchange):
        history += [("initiator", UTTERANCE), ("responder", UTTERANCE)]
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
    draft = Draft(UTTERANCE, case.goal, tuple(_label(d) for d in dimensions))
    critiques = tuple(Critique(d.id, False, UTTERANCE) for d in dimensions)
    return {
        "initiator": prompts.initiator(asking, before),
        "responder": prompts.responder(answering, now, wanted),
        "reflect": prompts.reflect(answering, now, draft, wanted),
        "revise": prompts.revise(answering, now, draft, critiques, wanted),
    }


def _label(dimension: Dimension) -> TacticLabel:
    """Return some label of a dimension with a rationale of the usual length."""
    value: LabelValue
    if dimension.measurement == "interval" and dimension.range is not None:
        value = dimension.range[0]
    elif dimension.measurement == "multi":
        value = tuple(islice(dimension.values, 1))
    else:
        value = dimension.values[0]
    return TacticLabel(dimension.id, value, UTTERANCE)


def as_json(estimate: Estimate) -> dict[str, object]:
    """Return what ``hipo generate --dry-run --format json`` prints.

    ``cases``, ``dialogues``, ``exchanges``: counts. ``arms``: a list of objects with ``id``,
    ``strategy``, ``dialogues`` and ``calls`` (objects with ``kind``, ``role``, ``expected``,
    ``most``). ``models``: a list of objects with ``model``, ``calls``, ``prompt_tokens``,
    ``completion_tokens`` and ``cost_usd`` (None: no price is known). ``cost_usd``: the sum, None if
    any is unknown. ``note``: what the estimate rests on.
    """
    return {
        "cases": estimate.cases,
        "dialogues": estimate.dialogues,
        "exchanges": estimate.exchanges,
        "arms": [
            {
                "id": arm.arm.id,
                "strategy": arm.arm.strategy,
                "dialogues": arm.dialogues,
                "calls": [
                    {
                        "kind": calls.kind,
                        "role": calls.role,
                        "expected": round(calls.expected),
                        "most": calls.most,
                    }
                    for calls in arm.calls
                ],
            }
            for arm in estimate.arms
        ],
        "models": [
            {
                "model": model.model,
                "calls": model.calls,
                "prompt_tokens": model.prompt_tokens,
                "completion_tokens": model.completion_tokens,
                "cost_usd": model.cost_usd,
            }
            for model in estimate.models
        ],
        "cost_usd": estimate.cost_usd,
        "note": NOTE,
    }


def as_text(estimate: Estimate) -> str:
    """Return the estimate the way ``hipo generate --dry-run`` prints it."""
    counts = (
        plural(estimate.cases, "case"),
        plural(estimate.dialogues, "dialogue"),
        plural(estimate.exchanges, "improvised exchange") + " per arm",
    )
    lines = [", ".join(counts), ""]
    rows = []
    for arm in estimate.arms:
        for calls in arm.calls:
            most = "" if round(calls.expected) == calls.most else f"at most {number(calls.most)}"
            about = "" if not most else "about "
            rows.append(
                [arm.arm.strategy, number(arm.dialogues), calls.kind,
                 f"{about}{number(calls.expected)}", most]
            )  # fmt: skip
    lines += [columns(["strategy", "dialogues", "call", "calls", ""], rows), ""]
    rows = [
        [m.model, number(m.calls), number(m.prompt_tokens), number(m.completion_tokens),
         dollars(m.cost_usd)]
        for m in estimate.models
    ]  # fmt: skip
    header = ["model", "calls", "prompt tokens", "answer tokens", "cost"]
    lines += [columns(header, rows), "", f"({NOTE})"]
    return "\n".join(lines)
