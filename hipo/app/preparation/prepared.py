"""The one place that puts objects together: from a recipe to players that can be run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Any

from hipo.app.models.resolution import ModelUse, check_budget, resolve_model
from hipo.app.preparation.ingredients import Ingredients
from pipeline.critics.registry import CRITICS
from pipeline.planning.plan import Plan
from pipeline.planning.shard import Shard
from pipeline.providers.prices import PriceTable
from pipeline.providers.registry import PROVIDERS
from pipeline.recipes.recipe import Recipe
from pipeline.run_identity import describe
from pipeline.run_material import RunMaterial, material_items
from pipeline.store.materials import MaterialItem
from pipeline.strategies.registry import STRATEGIES, StrategyExtension
from pipeline.tactics.tactics import TacticDesign
from pipeline.verifiers.registry import VERIFIERS
from prompts.actors import ActorPrompts
from prompts.environment import Templates
from scenarios.arms import Arm, Parameters
from scenarios.errors import UsageError
from scenarios.extensions import ExtensionPoint, told_of_plugin
from scenarios.fingerprint import fingerprint
from scenarios.located import Located
from scenarios.margins import Margin
from scenarios.plugins import load_plugins
from scenarios.plural import enumerated, first_of
from scenarios.run_configuration import RunIdentity
from scenarios.schemes.model import Scheme
from scenarios.schemes.vocabulary import resolve_label
from scenarios.spec import Scenario
from scenarios.spelling import suggestion
from scenarios.variation import Axis, with_roles_there

MOST_NAMED = 5
"""Scenarios and facts that are named in one line."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A recipe whose every part has been found, read and checked; nothing is open or written."""

    recipe: Recipe
    scheme: Scheme
    scenarios: Mapping[str, Scenario]
    """The selected ones by id."""
    axes: Mapping[str, Axis]
    prompts: ActorPrompts
    plan: Plan
    design: TacticDesign | None
    arms: tuple[Arm, ...]
    uses: Mapping[tuple[str, str], ModelUse]
    """By arm id and role."""
    config: RunIdentity
    """What the run's configuration is compared by."""
    material: tuple[MaterialItem, ...]
    """What the dialogues will be made of, as it is stored in the run."""
    kept: tuple[str, ...] = ()
    """What is taken from the run although other things are installed now, in words."""
    new: tuple[str, ...] = ()
    """What is installed by now and would be selected, and is not in the run, in words."""
    redrawn: str = ""
    """Whether other labels are wanted than in the dialogues of the run, in one line; or nothing."""
    left_out: str = ""
    """Which facts are not played because names are real, in one line; or nothing."""
    packs: Mapping[str, int] = field(default_factory=dict)
    """How many of the scenarios come from which pack, in words."""
    spent_elsewhere: tuple[float, int] = (0.0, 0)
    """US dollars and tokens that the budget holds for besides this run: other parts of a study."""
    drawn: int | None = None
    """Cases that a quota will probably draw, which the plan stands for; None: the plan is played."""

    @property
    def going_on(self) -> str:
        """What the run goes on with that is no longer what is installed, in one line; or nothing."""
        parts = []
        if self.kept:
            parts.append(f"going on with {enumerated(self.kept)} stored in the run")
        if self.new:
            listed = first_of(self.new, MOST_NAMED)
            parts.append(f"not in this run, which was made before: {listed}")
        return "; ".join(parts)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What there is to say before anything is played, a line each."""
        lines = (self.going_on, self.redrawn, self.left_out, self._part)
        return tuple(line for line in lines if line)

    @property
    def _part(self) -> str:
        """Which shard is played, in one line; or nothing."""
        if self.plan.shard is None:
            return ""
        whole = len(replace(self.plan, shard=None))
        return (
            f"shard {self.plan.shard}: {len(self.plan):,} of the {whole:,} cases of the plan; what is "
            "counted, estimated and budgeted is this shard's alone"
        )

    @property
    def dialogues(self) -> int:
        """How many dialogues are planned: every case by every arm."""
        return len(self.plan) * len(self.arms)

    @property
    def unmet(self) -> tuple[Margin, ...]:
        """Wanted shares of tactics that the rules put out of reach."""
        return () if self.design is None else self.design.unmet

    def of_size(self, n: int) -> Prepared:
        """Return the same with a plan of ``n`` cases; everything else does not depend on it."""
        return replace(
            self, recipe=self.recipe.with_changes({"n": n}), plan=replace(self.plan, n=n)
        )

    @property
    def unpriced(self) -> list[str]:
        """The names of the models without a price, each once."""
        return sorted({use.spec.name for use in self.uses.values() if use.price is None})


def prepare(recipe: Recipe, stored: RunMaterial | None = None) -> Prepared:
    """Find, read and check everything a recipe names.

    Args:
        recipe: what is to be generated.
        stored: of the run that goes on with it, see :class:`hipo.app.preparation.ingredients.Ingredients`.

    Raises:
        UsageError: something in it does not exist or does not fit together.
        InputError: a file it names is not valid.
    """
    load_plugins(recipe.plugins)
    recipe = _as_begun(recipe, stored).with_all_settings()
    ingredients = Ingredients(recipe, stored)
    scheme = ingredients.scheme()
    plan = _plan(recipe, ingredients, scheme)
    scenarios, axes = plan.scenarios, plan.axes
    prompts = actor_prompts(recipe, ingredients.templates(), scheme, scenarios)
    tactics = ingredients.tactics()
    arms, uses = _arms(recipe)
    _check_languages(recipe, uses)
    config = describe(
        scheme=scheme,
        templates=prompts.fingerprint,
        arms=arms,
        scenarios=scenarios,
        tactics=recipe.tactics if tactics is None else fingerprint(tactics.data),
        openings=recipe.openings,
        variation={name: axis.fingerprint for name, axis in axes.items()},
        seed=recipe.seed,
        real_names=recipe.real_names,
        plugins=used_plugins(recipe, uses.values(), scenarios),
    )
    prepared = Prepared(
        recipe=recipe,
        scheme=scheme,
        scenarios={scenario.id: scenario for scenario in scenarios},
        axes=axes,
        prompts=prompts,
        plan=plan,
        design=fitted_design(recipe, tactics, scheme, plan),
        arms=arms,
        uses=uses,
        config=config,
        material=(
            *material_items(
                scheme=scheme, scenarios=scenarios, axes=axes, prompts=prompts,
                tactics=None if tactics is None else tactics.data,
            ),
        ),
        kept=tuple(ingredients.kept),
        new=tuple(ingredients.new),
        left_out=ingredients.left_out,
        packs=ingredients.packs,
    )  # fmt: skip
    check_budget(prepared.recipe.budget_usd, prepared.unpriced)
    return prepared


def actor_prompts(
    recipe: Recipe, templates: Templates, scheme: Scheme, scenarios: Collection[Scenario]
) -> ActorPrompts:
    """Return the prompts of all that the strategies ask for.

    Raises:
        UsageError: a strategy or its critic cannot play one of the scenarios.
    """
    strategies = [STRATEGIES.get(name) for name in recipe.strategies]
    critics = [CRITICS.get(name) for name in _critics(recipe)]
    for point, asked in ((STRATEGIES, strategies), (CRITICS, critics)):
        for one in asked:
            with told_of_plugin(point, one.name):
                for scenario in scenarios:
                    one.check(scenario)
    return ActorPrompts(
        templates,
        scheme,
        recipe.answer_order,
        flow=any(scenario.flow for scenario in scenarios),
        script=any(strategy.knows_all for strategy in strategies),
        claims=any(critic.name == "verifier" for critic in critics),
    )


def _as_begun(recipe: Recipe, stored: RunMaterial | None) -> Recipe:
    """Return the recipe with what settings of its strategies were before there were such settings.

    A run stores all settings of its strategies: one that is missing there is younger than the run.
    """
    if stored is None or not stored.configs:
        return recipe
    written = recipe.model_dump(mode="json", exclude_unset=True)
    changes: dict[str, dict[str, object]] = {}
    for name in recipe.strategies:
        before, given = stored.configs[-1].recipe.get(name), written.get(name) or {}
        if isinstance(before, Mapping):
            unsaid = STRATEGIES.get(name).unsaid.items()
            changes[name] = {k: v for k, v in unsaid if before.get(k, v) == v and k not in given}
    return recipe.with_changes({name: values for name, values in changes.items() if values})


def plan_of(recipe: Recipe, stored: RunMaterial) -> Plan:
    """Return the plan of a run that is there; its models and prices need not be.

    Raises:
        UsageError: something that the plan is made of is not to be had any more.
    """
    ingredients = Ingredients(recipe, stored)
    return _plan(recipe, ingredients, ingredients.scheme())


def _plan(recipe: Recipe, ingredients: Ingredients, scheme: Scheme) -> Plan:
    """Return the plan over the scenarios, facts and axes that the recipe selects."""
    scenarios, facts = ingredients.scenarios(scheme)
    return Plan(
        scheme=scheme,
        scenarios=scenarios,
        turns=recipe.turns,
        languages=recipe.languages,
        goals=_goals(recipe, scheme),
        facts=facts,
        axes=with_roles_there(ingredients.axes(), scenarios),
        openings=recipe.openings,
        repetitions=recipe.repetitions,
        n=recipe.n,
        seed=recipe.seed,
        shard=None if recipe.shard is None else Shard.parse(recipe.shard),
    )


def _goals(recipe: Recipe, scheme: Scheme) -> tuple[str, ...] | None:
    """Return the goal labels as the scheme spells them."""
    if recipe.goals is None:
        return None
    if not scheme.assigned:
        raise UsageError(
            f"scheme {scheme.id!r} assigns no goals", "leave goals out: its dialogues have none"
        )
    labels: list[str] = []
    for goal in recipe.goals:
        resolved = resolve_label(scheme.goal, goal)
        if resolved is None:
            raise UsageError(
                f"unknown goal {goal!r}",
                suggestion(goal, scheme.goal.values, listing=f"labels of {scheme.assigned}"),
            )
        labels.append(str(resolved[0]))
    return tuple(dict.fromkeys(labels))


def _arms(recipe: Recipe) -> tuple[tuple[Arm, ...], Mapping[tuple[str, str], ModelUse]]:
    """Return one arm per strategy, and the model behind every role of each.

    Raises:
        UsageError: there is no such strategy, a setting of it is not allowed, or a role of the
            recipe is none that its strategies ask.
    """
    table = PriceTable.load(recipe.prices, batch=recipe.limits.batch)
    arms: list[Arm] = []
    uses: dict[tuple[str, str], ModelUse] = {}
    for name in recipe.strategies:
        strategy, settings = STRATEGIES.get(name), recipe.strategy_settings(name)
        sampling = {
            **strategy.sampling(settings),
            "max_tokens": _longest_answer(recipe, strategy),
        }
        models = {
            role: _use(recipe, role, table, sampling if role == "responder" else {})
            for role in strategy.roles(settings)
        }
        encoder = {"encoder": recipe.embedding.model} if strategy.embeds else {}
        arm = Arm(
            name,
            {role: use.spec for role, use in models.items()},
            {**strategy.arm_settings(settings), **encoder},
        )
        arms.append(arm)
        uses |= {(arm.id, role): use for role, use in models.items()}
    _with_roles_there(recipe, {role for _, role in uses})
    return tuple(arms), uses


def _longest_answer(recipe: Recipe, strategy: StrategyExtension[Any]) -> int | None:
    """Return the length that a strategy needs for an answer; None where the recipe has its say."""
    said = (recipe.models.default, recipe.models.responder)
    given = any(settings.max_tokens is not None for settings in said)
    return None if given else strategy.longest_answer


def _with_roles_there(recipe: Recipe, asked: Set[str]) -> None:
    """Refuse a model for a role that nobody asks; ``reflector`` may stand in any recipe."""
    roles = ("default", *sorted(asked | {"initiator", "responder", "reflector"}))
    for role in recipe.models.by_role:
        if role not in roles:
            raise UsageError(
                f"models.{role}: no strategy of the recipe asks this role",
                suggestion(role, roles, listing="roles"),
            )


def _use(
    recipe: Recipe, role: str, table: PriceTable, sampling: Mapping[str, float | int | None]
) -> ModelUse:
    """Resolve the settings of one role; what a strategy says goes before the recipe's."""
    settings = recipe.models.role(role)
    if settings.model is None:
        raise UsageError(
            f"no model is given for the {role}",
            "give --model provider/name, e.g. --model offline/rules; see: hipo models",
        )
    settings = settings.model_copy(update={k: v for k, v in sampling.items() if v is not None})
    return resolve_model(str(settings.model), settings, table, Parameters())


def _check_languages(recipe: Recipe, uses: Mapping[tuple[str, str], ModelUse]) -> None:
    """Refuse a language that a model is known not to have."""
    for use in uses.values():
        languages = PROVIDERS.get(use.spec.provider).languages
        for language in recipe.languages:
            if languages is not None and language not in languages:
                raise UsageError(
                    f"{use.spec.name} has no language {language!r}",
                    f"it has: {', '.join(sorted(languages))}; another model may have it (--model)",
                )


def _critics(recipe: Recipe) -> list[str]:
    """Return the names of the critics that the strategies of a recipe use."""
    return [
        critic
        for name in recipe.strategies
        for critic in STRATEGIES.get(name).criticised_by(recipe.strategy_settings(name))
    ]


def used_plugins(
    recipe: Recipe, uses: Iterable[ModelUse], scenarios: Iterable[Scenario]
) -> dict[str, dict[str, str]]:
    """Return origin and fingerprint of the plugins whose extensions the run uses."""
    critics = _critics(recipe)
    keys = {key for scenario in scenarios for key in scenario.data} if critics else set()
    used: list[tuple[ExtensionPoint[Any], Iterable[str]]] = [
        (PROVIDERS, [use.spec.provider for use in uses]),
        (STRATEGIES, recipe.strategies),
        (CRITICS, critics),
        (VERIFIERS, sorted(key for key in keys if VERIFIERS.find(key) is not None)),
    ]
    return {
        f"{point.name} {name}": identity
        for point, names in used
        for name, identity in point.identity(names).items()
    }


def fitted_design(
    recipe: Recipe, content: Located | None, scheme: Scheme, plan: Plan
) -> TacticDesign | None:
    """Fit the wanted tactics to the plan; None leaves the responder free."""
    if content is not None:
        return TacticDesign.from_file(content, scheme, plan.contexts())
    if recipe.tactics == "balanced":
        return TacticDesign.balanced(scheme, plan.contexts())
    return None
