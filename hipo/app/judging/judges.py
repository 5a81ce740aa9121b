"""Build the judges of a run from its settings and its arms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import orjson

from hipo.app.models.endpoints import EndpointPool
from hipo.app.models.resolution import RULES_JUDGE, ModelUse, resolve_model
from outputs.reliability.chairs import one_program_in_two_chairs
from pipeline.providers.own_fields import refused_in_extra
from pipeline.providers.prices import PriceTable
from pipeline.providers.registry import PROVIDERS
from pipeline.recipes.model_settings import ModelSettings
from pipeline.recipes.recipe import JudgeSettings, Recipe, VerificationSettings
from pipeline.store.materials import MaterialItem
from pipeline.store.queries.status import ArmState
from pipeline.store.run_store import RunStore
from prompts.judges import JUDGE_TEMPLATES, JudgePrompts
from prompts.whole_dialogue import WHOLE_TEMPLATES
from quality.judges.foreign import ForeignJudge
from quality.judges.protocol import Judge, JudgeExtension, JudgeIdentity, seat
from quality.judges.registry import JUDGES
from scenarios.arms import Parameters
from scenarios.errors import UsageError
from scenarios.extensions import told_of_plugin
from scenarios.schemes.model import Scheme

RULES = "offline/rules"


@dataclass(frozen=True, slots=True)
class Juror:
    """A judge on a panel, and the model it asks."""

    extension: JudgeExtension
    use: ModelUse | None
    """None: the judge needs no model."""
    name: str
    """How its judgements name it, e.g. ``openai/o4-mini``."""

    def seat(self, prompts: JudgePrompts) -> JudgeIdentity:
        """Return who it is; model, prompts and the plugins that are used decide."""
        identity = {} if self.use is None else self.use.spec.fields()
        identity["asks"] = self.extension.name
        if self.extension.whole:
            readers = self.extension.source == "external"
            identity["whole"] = prompts.whole(readers=readers).fingerprint
        if plugins := self._plugins():
            identity["plugins"] = plugins
        return seat(self.extension.source, self.name, prompts, identity)

    def _plugins(self) -> dict[str, dict[str, str]]:
        providers = () if self.use is None else (self.use.spec.provider,)
        judges = JUDGES.identity([self.extension.name])
        return {
            **{f"judge {name}": plugin for name, plugin in judges.items()},
            **{
                f"provider {name}": plugin for name, plugin in PROVIDERS.identity(providers).items()
            },
        }


@dataclass(frozen=True, slots=True)
class Panel:
    """Who judges the dialogues of one arm."""

    own: Juror | None
    """Reads the generator's words again; None: nobody does."""
    external: tuple[Juror, ...]

    @property
    def jurors(self) -> tuple[Juror, ...]:
        """All of them."""
        return (*(() if self.own is None else (self.own,)), *self.external)


@dataclass(frozen=True, slots=True)
class Panels:
    """The panel of every arm of a run, and what its user should know about them."""

    by_arm: Mapping[str, Panel]
    notes: tuple[str, ...] = ()

    @property
    def uses(self) -> list[ModelUse]:
        """Every model that is asked, each once."""
        uses: list[ModelUse] = []
        for panel in self.by_arm.values():
            for juror in panel.jurors:
                if juror.use is not None and juror.use not in uses:
                    uses.append(juror.use)
        return uses

    def seats(self, prompts: JudgePrompts) -> dict[str, list[JudgeIdentity]]:
        """Return who judges the dialogues of every arm, each once."""
        return {
            arm: list(dict.fromkeys(juror.seat(prompts) for juror in panel.jurors))
            for arm, panel in self.by_arm.items()
        }

    def judged_otherwise(self, store: RunStore, prompts: JudgePrompts) -> int:
        """Return how many dialogues of a run are judged again, since a judge was asked otherwise."""
        seats = self.seats(prompts).items()
        return store.judgements.judged_otherwise(
            (arm, seat.source, seat.judge, seat.config) for arm, of_arm in seats for seat in of_arm
        )

    @property
    def unpriced(self) -> list[str]:
        """The names of the models without a price, each once."""
        return sorted({use.spec.name for use in self.uses if use.price is None})


@dataclass(slots=True)
class ModelChoice:
    """Resolves settings of judges to models."""

    recipe: Recipe
    prices: PriceTable
    notes: list[str] = field(default_factory=list)

    def own(self, settings: ModelSettings) -> Juror:
        """Return a model as the self judge."""
        judge = JUDGES.get("self-dialogue" if self._whole else "self")
        use = self.use(settings, judge.parameters)
        return Juror(judge, use, use.spec.name)

    def external(self, settings: JudgeSettings) -> Juror:
        """Return an external judge, that of a plugin included."""
        style = self.recipe.verification.judge_style
        name = settings.judge
        if name == "external" and (style == "verify" or self._whole):
            name = "verifier" if style == "verify" else "external-dialogue"
        judge = JUDGES.find(name)
        if judge is None:
            raise UsageError(
                f"{settings.written!r} is neither provider/model nor an external judge",
                JUDGES.unknown(settings.judge).hint,
            )
        if judge.source != "external":
            raise UsageError(
                f"{name!r} judges as {judge.source}, not as an external judge",
                "name a model as provider/model, or a judge of a plugin with source='external'",
            )
        if settings.model is None and not judge.needs_model:
            return Juror(judge, None, settings.written)
        if settings.model is None and name not in JUDGES.shipped:
            raise UsageError(f"the judge {name!r} needs a model", f"write {name}=provider/model")
        use = self.use(settings, judge.parameters)
        shipped = settings.judge in JUDGES.shipped
        return Juror(judge, use, use.spec.name if shipped else f"{judge.name}={use.spec.name}")

    @property
    def _whole(self) -> bool:
        return self.recipe.verification.judge_calls == "dialogue"

    def use(self, settings: ModelSettings, parameters: Parameters) -> ModelUse:
        """Return a model as it judges: what is not said comes from the generator's endpoint."""
        if settings.model is None:
            raise UsageError("a judge has no model", "write it as provider/model")
        full = settings.over(self.recipe.models.role("responder"))
        own = {name: getattr(settings, name) for name in ("temperature", "top_p", "max_tokens")}
        own["max_tokens"] = own["max_tokens"] or self.recipe.verification.judge_max_tokens
        if settings.extra is None and full.extra is not None:
            own["extra"] = _sendable(settings.model, full.extra)
        provider = settings.model.partition("/")[0]
        entry = PROVIDERS.find(provider)
        if entry is not None and entry.needs_url and full.base_url is None:
            raise UsageError(
                f"{settings.model} needs to know where to send requests",
                "give --judge-base-url, or base_url under the judge in the recipe",
            )
        return resolve_model(settings.model, full.model_copy(update=own), self.prices, parameters)

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
            extra=_sendable(writer.name, writer.parameters.extra) or None,
        )


def _sendable(model: str, extra: Mapping[str, object]) -> dict[str, object]:
    """Return what a generator was sent besides, without what stored runs have and recipes cannot."""
    refused = refused_in_extra(model, extra, has_price=True)
    return {field: value for field, value in extra.items() if field not in refused}


def choose_panels(
    recipe: Recipe,
    settings: VerificationSettings,
    arms: Sequence[ArmState],
    spoken: Sequence[str] = (),
) -> Panels:
    """Return who judges each arm.

    Without any judge named, what ``offline/rules`` wrote is judged by ``offline/judge``, and
    anything else by its generator alone.

    Args:
        recipe: of the run, with prices and limits.
        settings: who is wished for.
        arms: whose dialogues are judged.
        spoken: languages of dialogues there are; none: those that the recipe has played.

    Raises:
        UsageError: an unknown model, the generator as its own external judge, or one model twice.
    """
    prices = PriceTable.load(recipe.prices, batch=recipe.limits.batch)
    choosing = ModelChoice(recipe, prices)
    written = {arm.id: arm.arm.writer for arm in arms}
    if settings.judge_style == "verify" and settings.judge_calls == "dialogue":
        raise UsageError(
            "--judge-calls dialogue cannot go with --judge-style verify: declared labels, and foils "
            "in their place, are shown utterance by utterance",
            "leave one of the two out",
        )
    judges = settings.judges
    if not judges and written and set(written.values()) == {RULES}:
        judges = (JudgeSettings(model=RULES_JUDGE),)
    external = tuple(map(choosing.external, judges))
    _refuse_repeats(external)
    if not settings.allow_same_judge:
        _refuse_generators(external, written.values())
    if not external:
        choosing.notes.append("no external judge: name one with --judge provider/model")
    panels = {arm.id: Panel(_own_judge(choosing, settings, arm), external) for arm in arms}
    choosing.notes += one_program_in_two_chairs(
        [name for name in written.values() if name],
        [panel.own.name for panel in panels.values() if panel.own is not None],
        [juror.name for juror in external if juror.use is not None],
    )
    jurors = [juror for panel in panels.values() for juror in panel.jurors]
    choosing.notes += _without_the_language(jurors, spoken or recipe.languages)
    return Panels(panels, tuple(dict.fromkeys(choosing.notes)))


def _without_the_language(jurors: Iterable[Juror], languages: Sequence[str]) -> list[str]:
    """Return a note for every judge that is known not to have a language of the run."""
    notes = []
    for juror in jurors:
        known = None if juror.use is None else PROVIDERS.get(juror.use.spec.provider).languages
        lacking = [one for one in languages if known and one.partition("-")[0] not in known]
        if lacking:
            notes.append(
                f"{juror.name} does not know the language of dialogues in {', '.join(lacking)}: what it "
                "says of them says nothing; name a model with --judge provider/model"
            )
    return notes


def _own_judge(
    choosing: ModelChoice, settings: VerificationSettings, arm: ArmState
) -> Juror | None:
    """Return who reads the words of an arm's generator again."""
    if not settings.self_judgement:
        return None
    if settings.self_judge is not None:
        return choosing.own(settings.self_judge)
    if arm.arm.writer == RULES:
        return choosing.own(ModelSettings(model=RULES_JUDGE))
    generator = choosing.generator(arm)
    if generator is None:
        choosing.notes.append(
            f"no self-judgement for arm {arm.id[:8]}: what wrote it is not known; "
            "name a model with --self-judge"
        )
        return None
    return choosing.own(generator)


def _refuse_repeats(external: Sequence[Juror]) -> None:
    names = [juror.name for juror in external]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise UsageError(
            f"{twice[0]} is on the panel twice", "name each judge once: a model has one vote"
        )


def _refuse_generators(external: Sequence[Juror], generators: Iterable[str | None]) -> None:
    """Refuse a judge that would mark its own work, whichever provider it is reached through."""
    wrote = {name.partition("/")[2].casefold(): name for name in generators if name}
    for juror in external:
        model = "" if juror.use is None else juror.use.spec.model
        generator = wrote.get(model.casefold())
        if generator is not None:
            raise UsageError(
                f"{juror.name} cannot be the external judge: {generator} wrote the dialogues",
                "name another model with --judge, or give --allow-same-judge",
            )


def seat_judges(
    panels: Panels, *, scheme: Scheme, prompts: JudgePrompts, pool: EndpointPool
) -> dict[str, tuple[Judge, ...]]:
    """Return the judges of every arm, ready to be asked; the pool has their models."""
    judges: dict[str, tuple[Judge, ...]] = {}
    for arm, panel in panels.by_arm.items():
        seats = [(juror, juror.seat(prompts)) for juror in panel.jurors]
        uses = {taken.role: juror.use for juror, taken in seats if juror.use is not None}
        client = pool.client(arm, uses)
        seated: list[Judge] = []
        for juror, taken in seats:
            with told_of_plugin(JUDGES, juror.extension.name):
                judge = juror.extension.build(scheme, prompts, client, taken)
                if not hasattr(judge, "judge"):
                    raise TypeError(f"it built {judge!r:.100}, expected an object with judge")
            shipped = juror.extension.name in JUDGES.shipped
            seated.append(judge if shipped else ForeignJudge(judge, scheme, taken))
        judges[arm] = tuple(seated)
    return judges


def judge_material(panels: Panels, prompts: JudgePrompts) -> list[MaterialItem]:
    """Return the templates of every judge that asks a model, by the hash of its configuration."""
    jurors = [juror for panel in panels.by_arm.values() for juror in panel.jurors]
    whole = {
        juror.seat(prompts): juror.extension.whole for juror in jurors if juror.use is not None
    }
    sources = {
        once: orjson.dumps(prompts.templates.sources(names)).decode()
        for once, names in (
            (False, JUDGE_TEMPLATES),
            (True, (*JUDGE_TEMPLATES, *WHOLE_TEMPLATES)),
        )
    }
    return [
        MaterialItem("judge_templates", seat.role, seat.config, sources[whole[seat]])
        for seat in sorted(whole, key=lambda seat: (seat.role, seat.config))
    ]
