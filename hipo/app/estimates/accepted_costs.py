"""What 1,000 accepted utterances of a plan would cost with each model of the price list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from hipo.app.estimates.judging_estimate import JudgingEstimate
from hipo.app.estimates.playing import Estimate
from hipo.app.models.resolution import RULES_JUDGE, ModelUse
from pipeline.providers.prices import Price, PriceTable
from pipeline.providers.protocol import Usage
from pipeline.store.queries.status import RunState

UTTERANCES = 1_000
Basis = Literal["pilot", "run", "assumed"]


@dataclass(frozen=True, slots=True)
class AcceptedShare:
    """How many of the dialogues that are played are accepted, and how that is known."""

    basis: Basis
    """``assumed``: nothing was played and judged yet, and all are taken to be accepted."""
    accepted: int = 0
    played: int = 0
    """Those that failed included; without verification, all that are generated are accepted."""

    @property
    def share(self) -> float:
        """Between 0 and 1."""
        return 1.0 if self.basis == "assumed" else self.accepted / self.played


ASSUMED = AcceptedShare("assumed")


@dataclass(frozen=True, slots=True)
class ModelCosts:
    """US dollars for 1,000 accepted utterances with one model as the generator."""

    model: str
    """``provider/model``, or a pattern as the price list has it."""
    in_use: bool
    """Whether it is the generator of the plan."""
    generation_usd: float | None
    """None: the price of a model is not known, or nothing was accepted."""
    judging_usd: float | None
    """0 where nothing is judged."""

    @property
    def cost_usd(self) -> float | None:
        """Both together."""
        if self.generation_usd is None or self.judging_usd is None:
            return None
        return self.generation_usd + self.judging_usd


@dataclass(frozen=True, slots=True)
class AcceptedCosts:
    """The plan at the prices of every model: those of the generator first, then the cheapest."""

    share: AcceptedShare
    judged: bool
    """Whether judging is in the costs; else what is generated is accepted."""
    models: tuple[ModelCosts, ...]
    in_batches: bool = False
    """Whether the prices are those of requests in batches."""

    def at(self, share: AcceptedShare) -> AcceptedCosts:
        """Return the same where another share is accepted."""
        factor = self.share.share / share.share if share.share else None

        def scaled(cost: float | None) -> float | None:
            return None if cost is None or factor is None else cost * factor

        models = (
            replace(
                one,
                generation_usd=scaled(one.generation_usd),
                judging_usd=scaled(one.judging_usd),
            )
            for one in self.models
        )
        return replace(self, share=share, models=tuple(models))


def share_of(state: RunState, *, judged: bool) -> AcceptedShare:
    """Return what share of a run is accepted; assumed while nothing in it is decided.

    Args:
        state: of the run.
        judged: whether only what a verdict accepts counts; dialogues without any are left out.
    """
    failed = sum(state.failed.values())
    verdicts = state.verification.verdicts
    decided = sum(verdicts.values()) if judged else state.generated
    accepted = verdicts.get("accepted", 0) if judged else state.generated
    return AcceptedShare("run", accepted, decided + failed) if decided else ASSUMED


@dataclass(slots=True)
class _CostPart:
    """Generation or judging: what moves with the generator, and what others cost."""

    own: list[tuple[Usage, float]] = field(default_factory=list)
    """What the generator is asked for, and in how many requests of one kind each."""
    others_usd: float | None = 0.0

    def add(self, cost: float | None) -> None:
        """Add what another model costs."""
        known = self.others_usd is not None and cost is not None
        self.others_usd = (self.others_usd or 0.0) + (cost or 0.0) if known else None

    def at(self, price: Price | None, utterances: int) -> float | None:
        """Return US dollars for 1,000 utterances, the generator at ``price``."""
        if price is None or self.others_usd is None:
            return None
        own = sum(price.cost_of_alike(usage, requests) for usage, requests in self.own)
        return (own + self.others_usd) * UTTERANCES / utterances


def accepted_costs(
    uses: Mapping[tuple[str, str], ModelUse],
    prices: PriceTable,
    generation: Estimate,
    judging: JudgingEstimate | None,
    share: AcceptedShare,
) -> AcceptedCosts | None:
    """Return the costs of a plan with every model that has a price; None of an empty plan.

    The generator is the model of the responder, in every role that it has, and as its own judge;
    other models keep their price. All prompt tokens are at full price, as in the estimates.

    Args:
        uses: by arm id and role.
        prices: the price list, the user's own included.
        generation: of the whole plan.
        judging: of the whole plan; None: it is not judged.
        share: what share is accepted.
    """
    utterances = generation.exchanges * len(generation.arms)
    if not utterances:
        return None
    generators = {arm.arm.id: uses[arm.arm.id, "responder"] for arm in generation.arms}
    read = _read(generators, judging)
    rows = [
        ModelCosts(
            name,
            in_use,
            _played(uses, generators, generation, name).at(price, utterances),
            read.at(price, utterances) if judging else 0,
        )
        for name, price, in_use in _candidates(generators, prices)
    ]
    rows.sort(key=lambda row: (not row.in_use, row.cost_usd or 0.0, row.model))
    judged, in_batches = judging is not None, prices.in_batches
    return AcceptedCosts(ASSUMED, judged, tuple(rows), in_batches).at(share)


def _played(
    uses: Mapping[tuple[str, str], ModelUse],
    generators: Mapping[str, ModelUse],
    generation: Estimate,
    model: str,
) -> _CostPart:
    """Add up what is asked for in playing, where ``model`` is the generator."""
    part = _CostPart()
    for arm in generation.arms:
        for calls in arm.calls:
            use = uses[arm.arm.id, calls.role]
            generated = use.spec.name == generators[arm.arm.id].spec.name
            requests = calls.expected / calls.in_one(model if generated else use.spec.name)
            usage = Usage(
                prompt=round(calls.prompt_tokens * requests),
                completion=round(calls.answer_tokens * calls.expected),
            )
            if generated and use.spec.name != model:
                part.own.append((usage, requests))
            else:  # also the generator that the plan has, each of its roles at the price it has
                price = use.price
                part.add(None if price is None else price.cost_of_alike(usage, requests))
    return part


def _read(generators: Mapping[str, ModelUse], judging: JudgingEstimate | None) -> _CostPart:
    """Add up what judges are asked for."""
    part = _CostPart()
    own = {RULES_JUDGE, *(use.spec.name for use in generators.values())}
    for judge in () if judging is None else judging.judges:
        if judge.seat.source == "self" and judge.seat.judge in own:
            usage = Usage(prompt=judge.prompt_tokens, completion=judge.completion_tokens)
            part.own.append((usage, judge.calls))
        elif judge.calls:
            part.add(judge.cost_usd)
    return part


def _candidates(
    generators: Mapping[str, ModelUse], prices: PriceTable
) -> Iterator[tuple[str, Price | None, bool]]:
    """Yield every model once: those that generate, at the price they have, then the list."""
    named = {use.spec.name: use.price for use in generators.values()}
    for name, price in named.items():
        yield name, price, True
    for name, price in prices.listed():
        if name not in named and (price.input or price.output):
            yield name, price, False
