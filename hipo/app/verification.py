"""Verify a run: for the command line and for Python."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson

from hipo.app.batching import batching
from hipo.app.endpoints import EndpointPool, local_run, providers_for
from hipo.app.executors import executor_for
from hipo.app.foils import try_foils
from hipo.app.interrupts import interruptible, left_when_stopped
from hipo.app.judges import Panels, choose_panels, judge_material, seat_judges
from hipo.app.old_runs import bring_up_to_date
from hipo.app.resumption import ledger_of
from hipo.app.run import RunLike, folder_of
from hipo.app.unstored import tell_unstored
from hipo.app.watching import Silent, Watcher, spent_on_judging
from pipeline.embeddings import Note, installed_encoder, sentence_encoder
from pipeline.model_settings import ModelSettings
from pipeline.recipe import JudgeSettings, Recipe, VerificationSettings
from pipeline.recipe_source import changed
from pipeline.run_material import RunMaterial, load_material
from pipeline.runner import Executor, Progress, RunOutcome
from pipeline.stop import Stop
from pipeline.store.materials import MaterialItem
from pipeline.store.queries.status import ArmState
from pipeline.store.run_store import RunStore
from pipeline.voting import Encoder
from prompts.environment import Templates
from prompts.judges import JudgePrompts
from prompts.tasks.items import asks_and_answers
from quality.flags import judge_codes
from quality.gates.registry import GATES
from quality.gates.runner import GateChecks
from quality.gates.settings import GateSettings, gate_settings
from quality.policy import Policy, load_policy
from quality.unverified import VerificationSetup
from quality.verify import Verification
from scenarios.errors import UsageError
from scenarios.fingerprint import fingerprint
from scenarios.plugins import load_plugins
from scenarios.schemes.model import Scheme
from scenarios.spec import Scenario

OPTION_OF: Mapping[str, str] = {
    "verification.judges": "--judge",
    "verification.judge_style": "--judge-style",
    "verification.judge_calls": "--judge-calls",
    "verification.foils": "--foils",
    "verification.self_judge": "--self-judge",
    "verification.policy": "--policy",
    "limits.max_concurrency": "--max-concurrency",
    "limits.timeout_s": "--timeout",
    "limits.wait_for_endpoint": "--wait-for-endpoint",
    "budget_usd": "--budget-usd",
    "budget_tokens": "--budget-tokens",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationOverrides:
    """What the command line says about verification; None leaves the recipe as it is."""

    judges: Sequence[str] = ()
    judge_style: str | None = None
    """``commit`` or ``verify``."""
    judge_calls: str | None = None
    """``turn`` or ``dialogue``."""
    foils: int | None = None
    """Of how many answers judges are also shown wrong labels, with ``verify``."""
    self_judge: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    self_judgement: bool | None = None
    allow_same_judge: bool | None = None
    policy: str | None = None
    embeddings: bool | None = None
    gates: Sequence[str] = ()
    """Gates of plugins that are asked beside those that ship."""
    budget_usd: float | None = None
    budget_tokens: int | None = None
    max_concurrency: int | str | None = None
    timeout_s: float | None = None
    wait_for_endpoint: str | None = None
    """A time such as ``30m``."""
    batch: bool = False
    """Whether judges are asked in batches."""
    prices: Path | None = None
    plugins: Sequence[Path] = ()
    """Files of extensions, loaded beside those of the recipe."""
    prompt_dir: Path | None = None
    """Templates of judges; None takes those the run was made with in place of shipped ones."""

    def over(self, recipe: Recipe) -> Recipe:
        """Return the recipe with these overrides laid over it; a budget is only what is wished.

        Raises:
            UsageError: a value is not allowed; names the option.
        """
        load_plugins(self.plugins)
        settings: dict[str, Any] = {}
        if self.judges:
            settings["judges"] = self._judges(recipe.verification.judges)
        if self.self_judge is not None:
            settings["self_judge"] = self._model(self.self_judge, recipe.verification.self_judge)
        for name in (
            "self_judgement",
            "allow_same_judge",
            "policy",
            "judge_style",
            "judge_calls",
            "foils",
            "embeddings",
        ):
            if getattr(self, name) is not None:
                settings[name] = getattr(self, name)
        if self.gates:
            settings["gates"] = {name: {} for name in self.gates}
        changes: dict[str, object] = {
            "verification": settings,
            "budget_usd": self.budget_usd,
            "budget_tokens": self.budget_tokens,
        }
        limits = {
            name: getattr(self, name)
            for name in ("max_concurrency", "timeout_s", "wait_for_endpoint")
            if getattr(self, name) is not None
        }
        changes["limits"] = {**limits, "batch": self.batch}
        if self.prices is not None:
            changes["prices"] = str(self.prices)
        return changed(recipe, changes, OPTION_OF)

    def _judges(self, known: Sequence[JudgeSettings]) -> list[dict[str, object]]:
        """Return the judges by name, with what the recipe says about those that are the same."""
        by_name = {judge.written: judge for judge in known}
        judges = VerificationSettings.model_validate({"judges": list(self.judges)}).judges
        return [
            self._reached(by_name.get(name, judge))
            for name, judge in zip(self.judges, judges, strict=True)
        ]

    def _model(self, name: str, known: ModelSettings | None) -> dict[str, object]:
        """Return a judge by name, with what the recipe says about it if it is the same."""
        base = known if known is not None and known.model == name else ModelSettings(model=name)
        return self._reached(base)

    def _reached(self, settings: ModelSettings) -> dict[str, object]:
        own = settings.model_dump(mode="json", exclude_none=True)
        if self.base_url is not None:
            own["base_url"] = self.base_url
        if self.api_key_env is not None:
            own["api_key_env"] = self.api_key_env
        return own


@dataclass(frozen=True, slots=True)
class JudgingReady:
    """Everything verification takes, found and checked; nothing is connected or sent."""

    recipe: Recipe
    material: RunMaterial
    panels: Panels
    prompts: JudgePrompts
    policy: Policy
    gates: GateSettings


@dataclass(frozen=True, slots=True)
class Verified:
    """What verifying a run has just done."""

    folder: Path
    outcome: RunOutcome
    calls: int
    """Requests that were sent."""
    notes: tuple[str, ...] = field(default=())


def make_ready(store: RunStore, overrides: VerificationOverrides) -> JudgingReady:
    """Find and check what verifying a run takes.

    Raises:
        UsageError: something does not exist or does not fit together.
        InputError: a file is not valid.
    """
    material = load_material(store)
    recipe = overrides.over(material.recipe)
    policy, gates, panels = check_settings(recipe, material.scheme, store.state().arms)
    scenarios = material.scenarios.values()
    prompts = judge_prompts(
        material.scheme, scenarios, overrides.prompt_dir, material.own_templates
    )
    return JudgingReady(recipe, material, panels, prompts, policy, gates)


def judge_prompts(
    scheme: Scheme,
    scenarios: Iterable[Scenario],
    prompt_dir: Path | None,
    own_templates: Mapping[str, str],
) -> JudgePrompts:
    """Return what judges are asked with: a folder of templates, or what the run was made with."""
    templates = Templates(stored=own_templates) if prompt_dir is None else Templates(prompt_dir)
    listed = scheme.is_for_any_people or not all(map(asks_and_answers, scenarios))
    return JudgePrompts(templates, scheme, listed=listed)


def check_settings(
    recipe: Recipe, scheme: Scheme, arms: Sequence[ArmState]
) -> tuple[Policy, GateSettings, Panels]:
    """Return policy, thresholds and judges of a recipe.

    Raises:
        UsageError: something does not exist or does not fit together.
        InputError: a file is not valid.
    """
    settings = recipe.verification
    gates = gate_settings(settings.gates)
    policy = load_policy(settings.policy)
    policy.check_codes({*judge_codes(scheme), *GATES.shipped, *gates.plugin_gates})
    panels = choose_panels(recipe, settings, arms)
    if recipe.budget_usd is not None and panels.unpriced:
        raise UsageError(
            f"--budget-usd needs a price for {', '.join(panels.unpriced)}, and none is known",
            "add it to a price table (--prices FILE), to the recipe, or use --budget-tokens",
        )
    return policy, gates, panels


def verify(
    run: RunLike,
    *,
    judges: Sequence[str] = (),
    policy: str | None = None,
    budget_usd: float | None = None,
    overrides: VerificationOverrides | None = None,
    retry_unreadable: bool = False,
    watcher: Watcher | None = None,
) -> Verified:
    """Judge, flag and decide on the dialogues of a run; what was done before is not paid again.

    Example::

        done = verify("runs/trial", judges=["openai/o4-mini"], budget_usd=10)
        print(done.outcome.done, done.outcome.stopped)

    Args:
        run: what :func:`hipo.generate` returned, a folder, or a name under ``./runs``.
        judges: external judges as ``provider/model``; none: as the recipe says.
        policy: ``review``, ``auto``, ``gates`` or a file; None: as the recipe says.
        budget_usd: verification stops before the run, over its life, costs more.
        overrides: everything else that is laid over the recipe.
        retry_unreadable: whether judges whose answer could not be read are asked again.
        watcher: is told of every dialogue as soon as its verdict is durable.

    Raises:
        UsageError: the run, a judge or the policy is not fit.
        RunError: it could not go on; what was finished is kept.
    """
    base = overrides or VerificationOverrides()
    together = replace(
        base,
        judges=judges or base.judges,
        policy=policy or base.policy,
        budget_usd=base.budget_usd if budget_usd is None else budget_usd,
    )
    return asyncio.run(
        verify_async(folder_of(run), together, watcher=watcher, retry_unreadable=retry_unreadable)
    )


async def verify_async(
    folder: Path,
    overrides: VerificationOverrides,
    *,
    watcher: Watcher | None = None,
    retry_unreadable: bool = False,
    signals: bool = False,
) -> Verified:
    """Do what :func:`verify` does, inside a running event loop.

    Args:
        folder: the run.
        overrides: what is laid over its recipe.
        watcher: is told of every dialogue as soon as its verdict is durable.
        retry_unreadable: whether judges whose answer could not be read are asked again.
        signals: whether the first SIGINT, SIGTERM or SIGHUP finishes the calls in flight and stops, and
            the next one leaves at once.
    """
    watching: Watcher = watcher or Silent()
    if RunStore.exists(folder):
        bring_up_to_date(folder)
    with RunStore.open(folder) as store:
        ready = make_ready(store, overrides)
        before = store.state()
        ledger = ledger_of(ready.recipe, store)
        stop = Stop()
        limits = ready.recipe.limits
        async with (
            providers_for(ready.panels.uses, limits) as providers,
            comparing(ready, watching.note) as encoder,
            batching(limits, store.calls, ledger, stop, watching.note) as sender,
        ):
            link = local_run(limits, store.calls, ledger, stop, watching.note)
            pool = EndpointPool(limits, providers, link, watching.note, sender=sender)
            verification = verification_of(
                ready, store, pool, stop, encoder=encoder, on_progress=watching.see,
                retry_unreadable=retry_unreadable,
            )  # fmt: skip
            spending = spent_on_judging(ledger, link, priced=not ready.panels.unpriced)

            with interruptible(stop, watching.note, enabled=signals):
                watching.begin(before.generated, spending)
                with left_when_stopped(stop):
                    try:
                        executor = executor_for(limits, link)
                        await run_all(verification, store, executor)
                        if not stop.requested:
                            await try_foils(
                                ready.panels, ready.recipe, ready.material, ready.prompts,
                                store=store, pool=pool, executor=executor, stop=stop,
                            )  # fmt: skip
                    finally:
                        watching.end()
        outcome = verification.outcome
        tell_unstored(store.calls, outcome)
        calls = store.state().calls - before.calls
    return Verified(folder, outcome, calls, ready.panels.notes)


def verification_of(
    ready: JudgingReady,
    store: RunStore,
    pool: EndpointPool,
    stop: Stop,
    *,
    encoder: Encoder | None,
    on_progress: Callable[[Progress], None] = lambda _: None,
    retry_unreadable: bool = False,
) -> Verification:
    """Put a verification together; the pool has the models of its judges."""
    scheme = ready.material.scheme
    store.add_materials(judge_material(ready.panels, ready.prompts))
    store.add_materials([policy_material(ready.policy, ready.gates)])
    setup = VerificationSetup(
        store.judgements,
        scheme=scheme,
        scenario_of=ready.material.scenario_of,
        judges=seat_judges(ready.panels, scheme=scheme, prompts=ready.prompts, pool=pool),
        checks=GateChecks.of(ready.gates, scheme, encoder),
        policy=ready.policy,
        scenarios=len(ready.material.scenario_names),
        retry_unreadable=retry_unreadable,
    )
    return Verification(setup, stop, on_progress)


def policy_material(policy: Policy, gates: GateSettings) -> MaterialItem:
    """Return what decides in the form it is stored in, so that a report can say it."""
    content = {"policy": policy.model_dump(mode="json"), "gates": gates.model_dump(mode="json")}
    return MaterialItem("policy", policy.name, fingerprint(content), orjson.dumps(content).decode())


async def run_all(verification: Verification, store: RunStore, executor: Executor) -> None:
    """Verify whatever of a run is not verified yet."""
    await verification.run(store.dialogues(traces=False), executor)


@asynccontextmanager
async def comparing(ready: JudgingReady, note: Note) -> AsyncIterator[Encoder | None]:
    """Give what dialogues are embedded with, and close it unless the user leaves at once.

    None where nobody wants embeddings, or where the encoder's packages are not installed. Nothing
    is loaded before the first text is encoded; ``note`` is told then.
    """
    encoder = None
    if ready.gates.embeds and ready.recipe.verification.embeddings:
        named, device = ready.recipe.embedding.model, ready.recipe.embedding.device
        encoder = (
            installed_encoder(None, device, note, apart=True)
            if named is None
            else sentence_encoder(named, device, note, apart=True)
        )
    yield encoder
    if encoder is not None:
        await encoder.close()
