"""Verify a run: for the command line and for Python."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import orjson

from hipo.app.estimates.judging_estimate import anew_in_words
from hipo.app.judging.foils import try_foils
from hipo.app.judging.judges import Panels, choose_panels, judge_material, seat_judges
from hipo.app.judging.tools import JudgingReady, equipped
from hipo.app.models.batching import batching
from hipo.app.models.endpoints import EndpointPool, local_run
from hipo.app.models.resolution import check_budget
from hipo.app.options.values import several
from hipo.app.options.verification import OPTION_OF, VerificationOverrides
from hipo.app.preparation.executors import executor_for
from hipo.app.running.interrupts import interruptible, left_when_stopped
from hipo.app.running.ledgers import run_ledger
from hipo.app.running.unstored import tell_unstored
from hipo.app.running.waiting import waited_for
from hipo.app.running.watching import Silent, Watcher, spent_on_judging, watched
from hipo.app.runs.old_runs import bring_up_to_date
from hipo.app.runs.run import RunLike, folder_of
from pipeline.playing.runner import Progress, RunOutcome
from pipeline.recipes.recipe import Recipe
from pipeline.run_material import load_material
from pipeline.stopping.stop import Stop
from pipeline.store.materials import MaterialItem
from pipeline.store.queries.status import ArmState, RunState
from pipeline.store.run_store import RunStore
from pipeline.voting import Encoder
from prompts.environment import Templates
from prompts.judges import JudgePrompts
from prompts.tasks.items import asks_and_answers
from quality.gates.registry import GATES
from quality.gates.runner import GateChecks
from quality.gates.settings import GateSettings, gate_settings
from quality.judges.registry import JUDGES
from quality.verification.flags import judge_codes
from quality.verification.policy import Policy, load_policy, policy_names
from quality.verification.unverified import VerificationSetup
from quality.verification.verify import Verification
from scenarios.errors import UsageError
from scenarios.fingerprint import fingerprint
from scenarios.schemes.model import Scheme
from scenarios.spec import Scenario
from scenarios.variation import Axis, told_axes


@dataclass(frozen=True, slots=True)
class Verified:
    """What verifying a run has just done."""

    folder: Path
    outcome: RunOutcome
    calls: int
    """Requests that were sent."""
    state: RunState
    """The run afterwards."""
    notes: tuple[str, ...] = field(default=())


def make_ready(store: RunStore, overrides: VerificationOverrides) -> JudgingReady:
    """Find and check what verifying a run takes.

    Raises:
        UsageError: something does not exist or does not fit together.
        InputError: a file is not valid.
    """
    material = load_material(store)
    recipe = overrides.over(material.recipe)
    arms, spoken = store.state().arms, store.languages_used()
    policy, gates, panels = check_settings(recipe, material.scheme, arms, spoken)
    check_asked(overrides, panels)
    scenarios = material.scenarios.values()
    prompts = judge_prompts(
        material.scheme, scenarios, material.axes, overrides.prompt_dir, material.own_templates
    )
    return JudgingReady(recipe, material, panels, prompts, policy, gates)


def judge_prompts(
    scheme: Scheme,
    scenarios: Collection[Scenario],
    axes: Mapping[str, Axis],
    prompt_dir: Path | None,
    own_templates: Mapping[str, str],
) -> JudgePrompts:
    """Return what judges are asked with: a folder of templates, or what the run was made with."""
    templates = Templates(stored=own_templates) if prompt_dir is None else Templates(prompt_dir)
    listed = scheme.is_for_any_people or not all(map(asks_and_answers, scenarios))
    return JudgePrompts(templates, scheme, listed=listed, told=told_axes(axes, scenarios))


def check_settings(
    recipe: Recipe, scheme: Scheme, arms: Sequence[ArmState], spoken: Sequence[str] = ()
) -> tuple[Policy, GateSettings, Panels]:
    """Return policy, thresholds and judges of a recipe.

    Args:
        recipe: that names them.
        scheme: the labels.
        arms: whose dialogues are judged.
        spoken: languages of dialogues there are; none: those that the recipe has played.

    Raises:
        UsageError: something does not exist or does not fit together.
        InputError: a file is not valid.
    """
    settings = recipe.verification
    gates = gate_settings(settings.gates)
    policy = load_policy(settings.policy)
    if settings.policy not in policy_names():  # those that ship speak of what not every scheme has
        policy.check_codes({*judge_codes(scheme), *GATES.shipped, *gates.plugin_gates})
    panels = choose_panels(recipe, settings, arms, spoken)
    check_budget(recipe.budget_usd, panels.unpriced)
    return policy, gates, panels


def check_asked(overrides: VerificationOverrides, panels: Panels) -> None:
    """Do nothing unless an option says how judges are asked of whom none is on a panel.

    Raises:
        UsageError: one does.
    """
    jurors = [juror for panel in panels.by_arm.values() for juror in panel.jurors]
    shipped = [juror for juror in jurors if juror.extension.name in JUDGES.shipped]
    asked = {
        "judge_style": any(juror.extension.source == "external" for juror in shipped),
        "judge_calls": bool(shipped),
        "judge_max_tokens": any(juror.use is not None for juror in jurors),
    }
    for name, of_use in asked.items():
        if getattr(overrides, name) is not None and not of_use:
            option = OPTION_OF[f"verification.{name}"]
            raise UsageError(
                f"{option} says how judges are asked, and of those it is for none is on the panel",
                f"name a model with --judge provider/model, or leave {option} out",
            )


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
        judges=several(judges) or base.judges,
        policy=policy or base.policy,
        budget_usd=base.budget_usd if budget_usd is None else budget_usd,
    )
    return waited_for(
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
        ledger = run_ledger(ready.recipe, store)
        stop = Stop()
        limits = ready.recipe.limits
        async with (
            equipped(ready, limits, watching.note) as tools,
            batching(limits, store.calls, ledger, stop, watching) as sender,
        ):
            link = local_run(limits, store.calls, ledger, stop, watching.warn)
            pool = EndpointPool(limits, tools.providers, link, watching.note, sender=sender)
            verification = verification_of(
                ready, store, pool, stop, encoder=tools.encoder, notice=watching.note,
                on_progress=watching.see, retry_unreadable=retry_unreadable,
            )  # fmt: skip
            spending = spent_on_judging(ledger, link, priced=not ready.panels.unpriced)

            executor = executor_for(limits, link)
            with (
                interruptible(stop, watching.warn, enabled=signals),
                watched(watching, before.generated, spending),
                left_when_stopped(stop),
            ):
                await verification.run(store.dialogues(traces=False), executor)
                await try_foils(ready, store, pool, executor, stop)
        outcome = verification.outcome
        tell_unstored(store.calls, outcome)
        state = store.state()
    return Verified(folder, outcome, state.calls - before.calls, state, ready.panels.notes)


async def check_judging(folder: Path, overrides: VerificationOverrides) -> None:
    """Raise what keeps a run from being verified, before anything is made or sent.

    Raises:
        UsageError: the run, a judge or the policy is not fit.
    """
    bring_up_to_date(folder)
    with RunStore.open(folder, readonly=True) as store:
        ready = make_ready(store, overrides)
    async with equipped(ready, ready.recipe.limits, lambda _: None):
        pass


def verification_of(
    ready: JudgingReady,
    store: RunStore,
    pool: EndpointPool,
    stop: Stop,
    *,
    encoder: Encoder | None,
    notice: Callable[[str], None],
    on_progress: Callable[[Progress], None] = lambda _: None,
    retry_unreadable: bool = False,
) -> Verification:
    """Put a verification together; the pool has the models of its judges.

    ``notice`` is told of dialogues that were judged in another way and are judged again.
    """
    scheme = ready.material.scheme
    if anew := ready.panels.judged_otherwise(store, ready.prompts):
        notice(anew_in_words(anew))
    store.add_materials(judge_material(ready.panels, ready.prompts))
    store.add_materials([policy_material(ready.policy, ready.gates)])
    judges = seat_judges(ready.panels, scheme=scheme, prompts=ready.prompts, pool=pool)
    setup = VerificationSetup(
        store.judgements,
        scheme=scheme,
        scenario_of=ready.material.scenario_as_told,
        judges=judges,
        checks=GateChecks.of(ready.gates, scheme, encoder),
        policy=ready.policy,
        scenarios=len(ready.material.scenario_names),
        retry_unreadable=retry_unreadable,
        gathers=pool.gathers,
    )
    return Verification(setup, stop, on_progress)


def policy_material(policy: Policy, gates: GateSettings) -> MaterialItem:
    """Return what decides in the form it is stored in, so that a report can say it."""
    content = {"policy": policy.model_dump(mode="json"), "gates": gates.model_dump(mode="json")}
    return MaterialItem("policy", policy.name, fingerprint(content), orjson.dumps(content).decode())
