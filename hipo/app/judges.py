"""Build the judges of a run from its settings and its arms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from hipo.app.endpoints import EndpointPool
from hipo.app.preparation import ModelUse
from pipeline.client import Client
from pipeline.providers.prices import Price, PriceTable
from pipeline.providers.registry import PROVIDERS, effective_base_url, parse_model
from pipeline.recipe import ModelSettings, Recipe, VerificationSettings
from pipeline.store.queries.status import ArmState
from prompts.judges import JudgePrompts
from quality.judges.external_judge import ExternalJudge
from quality.judges.protocol import Judge, JudgeIdentity, seat
from quality.judges.self_judge import SelfJudge
from scenarios.arms import ModelSpec, Parameters
from scenarios.errors import UsageError
from scenarios.schemes.model import Scheme
from scenarios.verdicts import Source

RULES = "offline/rules"
RULES_JUDGE = "offline/judge"
"""Reads what ``offline/rules`` writes, which cannot judge."""

SELF_PARAMETERS = Parameters(temperature=0.0, max_tokens=1024)
EXTERNAL_PARAMETERS = Parameters(temperature=0.0, max_tokens=4096)
"""Room for a model that reasons before it answers."""


@dataclass(frozen=True, slots=True)
class Panel:
    """The models that judge the dialogues of one arm."""

    own: ModelUse | None
    """Reads the generator's words again; None: nobody does."""
    external: tuple[ModelUse, ...]

    @property
    def uses(self) -> tuple[tuple[Source, ModelUse], ...]:
        """Every model with the capacity it judges in."""
        own: tuple[tuple[Source, ModelUse], ...] = () if self.own is None else (("self", self.own),)
        return (*own, *(("external", use) for use in self.external))


@dataclass(frozen=True, slots=True)
class Panels:
    """The panel of every arm of a run, and what its user should know about them."""

    by_arm: Mapping[str, Panel]
    notes: tuple[str, ...] = ()

    @property
    def uses(self) -> list[ModelUse]:
        """Every model that is asked, each once."""
        found: list[ModelUse] = []
        for panel in self.by_arm.values():
            found += [use for _, use in panel.uses if use not in found]
        return found

    @property
    def unpriced(self) -> list[str]:
        """The names of the models without a price, each once."""
        return sorted({use.spec.name for use in self.uses if use.price is None})


@dataclass(slots=True)
class _Choosing:
    """Resolves settings to models."""

    recipe: Recipe
    prices: PriceTable
    notes: list[str] = field(default_factory=list)

    def use(self, settings: ModelSettings, parameters: Parameters) -> ModelUse:
        """Return a model as it judges: what is not said comes from the generator's endpoint."""
        if settings.model is None:
            raise UsageError("a judge has no model", "write it as provider/model")
        name = parse_model(settings.model)
        full = settings.over(self.recipe.models.role("responder"))
        if PROVIDERS.get(name.provider).needs_url and full.base_url is None:
            raise UsageError(
                f"{name} needs to know where to send requests",
                "give --judge-base-url, or base_url under the judge in the recipe",
            )
        temperature = settings.temperature
        spec = ModelSpec(
            provider=name.provider,
            model=name.model,
            base_url=effective_base_url(name, full.base_url),
            parameters=Parameters(
                temperature=parameters.temperature if temperature is None else temperature,
                top_p=settings.top_p,
                max_tokens=settings.max_tokens or parameters.max_tokens,
                extra=full.extra or {},
            ),
            structured=full.structured or "auto",
        )
        return ModelUse(spec, full.api_key_env, self._price(full, spec))

    def generator(self, arm: ArmState) -> ModelSettings | None:
        """Return the model that wrote an arm's answers; None where it cannot be asked."""
        writer = arm.arm.models.get("responder")
        if writer is None or PROVIDERS.find(writer.provider) is None:
            return None
        if writer.parameters is None:
            return ModelSettings(model=writer.name)
        return ModelSettings(
            model=writer.name,
            base_url=writer.base_url,
            structured=writer.structured,
            extra=dict(writer.parameters.extra) or None,
        )

    def _price(self, settings: ModelSettings, spec: ModelSpec) -> Price | None:
        own = settings.price
        if own is not None:
            return Price(input=own.input, output=own.output, cached_input=own.cached_input)
        return self.prices.price(spec.provider, spec.model)


def choose_panels(
    recipe: Recipe, settings: VerificationSettings, arms: Sequence[ArmState]
) -> Panels:
    """Return who judges each arm.

    Without any judge named, what ``offline/rules`` wrote is judged by ``offline/judge``, and
    anything else by its generator alone.

    Raises:
        UsageError: an unknown model, the generator as its own external judge, or one model twice.
    """
    choosing = _Choosing(recipe, PriceTable.load(recipe.prices))
    written = {arm.id: arm.arm.writer for arm in arms}
    judges = settings.judges
    if not judges and written and set(written.values()) == {RULES}:
        judges = (ModelSettings(model=RULES_JUDGE),)
    external = tuple(choosing.use(judge, EXTERNAL_PARAMETERS) for judge in judges)
    _refuse_repeats(external)
    if not settings.allow_same_judge:
        _refuse_generators(external, written.values())
    if not external:
        choosing.notes.append("no external judge: name one with --judge provider/model")
    panels = {arm.id: Panel(_own_judge(choosing, settings, arm), external) for arm in arms}
    return Panels(panels, tuple(dict.fromkeys(choosing.notes)))


def _own_judge(
    choosing: _Choosing, settings: VerificationSettings, arm: ArmState
) -> ModelUse | None:
    """Return who reads the words of an arm's generator again."""
    if not settings.self_judgement:
        return None
    if settings.self_judge is not None:
        return choosing.use(settings.self_judge, SELF_PARAMETERS)
    if arm.arm.writer == RULES:
        return choosing.use(ModelSettings(model=RULES_JUDGE), SELF_PARAMETERS)
    generator = choosing.generator(arm)
    if generator is None:
        choosing.notes.append(
            f"no self-judgement for arm {arm.id[:8]}: what wrote it is not known; "
            "name a model with --self-judge"
        )
        return None
    return choosing.use(generator, SELF_PARAMETERS)


def _refuse_repeats(external: Sequence[ModelUse]) -> None:
    names = [use.spec.name for use in external]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise UsageError(
            f"{twice[0]} is on the panel twice", "name each judge once: a model has one vote"
        )


def _refuse_generators(external: Sequence[ModelUse], generators: Iterable[str | None]) -> None:
    """Refuse a judge that would mark its own work, whichever provider it is reached through."""
    wrote = {name.partition("/")[2].casefold(): name for name in generators if name}
    for use in external:
        generator = wrote.get(use.spec.model.casefold())
        if generator is not None:
            raise UsageError(
                f"{use.spec.name} cannot be the external judge: {generator} wrote the dialogues",
                "name another model with --judge, or give --allow-same-judge",
            )


def seats_of(panel: Panel, prompts: JudgePrompts) -> list[JudgeIdentity]:
    """Return who sits on a panel, without connecting to anything."""
    return [seat(source, use.spec.name, prompts, _identity(use.spec)) for source, use in panel.uses]


def _identity(spec: ModelSpec) -> dict[str, object]:
    """Return what decides a model's answers, with the plugin that its provider comes from."""
    plugins = PROVIDERS.identity([spec.provider])
    return {**spec.fields(), **({"plugins": plugins} if plugins else {})}


def seat_judges(
    panels: Panels, *, scheme: Scheme, prompts: JudgePrompts, pool: EndpointPool
) -> dict[str, tuple[Judge, ...]]:
    """Return the judges of every arm, ready to be asked; the pool has their models."""
    judges: dict[str, tuple[Judge, ...]] = {}
    for arm, panel in panels.by_arm.items():
        seats = seats_of(panel, prompts)
        uses = {taken.role: use for taken, (_, use) in zip(seats, panel.uses, strict=True)}
        client = pool.client(arm, uses)
        judges[arm] = tuple(_judge(taken, scheme, prompts, client) for taken in seats)
    return judges


def _judge(taken: JudgeIdentity, scheme: Scheme, prompts: JudgePrompts, client: Client) -> Judge:
    if taken.source == "self":
        return SelfJudge(scheme, prompts, client, taken)
    return ExternalJudge(scheme, prompts, client, taken)
