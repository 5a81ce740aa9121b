"""Let jurors label the dialogues of a run by a scheme of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import orjson

from hipo.app.estimates.judging import ANSWER_TOKENS, mean_tokens
from hipo.app.estimates.judging_estimate import (
    SAMPLE,
    JudgeEstimate,
    JudgingEstimate,
    anew_in_words,
)
from hipo.app.judging.judges import ModelChoice
from hipo.app.models.batching import batching
from hipo.app.models.endpoints import EndpointPool, local_run, providers_for
from hipo.app.models.resolution import ModelUse, check_budget
from hipo.app.options.verification import VerificationOverrides
from hipo.app.preparation.executors import executor_for
from hipo.app.running.interrupts import interruptible, left_when_stopped
from hipo.app.running.ledgers import run_ledger
from hipo.app.running.unstored import tell_unstored
from hipo.app.running.watching import Silent, Watcher, spent_on_judging, watched
from hipo.app.runs.old_runs import bring_up_to_date
from hipo.app.verification.jury_request import JuryRequest
from hipo.app.verification.verify import Verified
from pipeline.providers.prices import PriceTable
from pipeline.providers.protocol import Usage
from pipeline.recipes.model_settings import ModelSettings
from pipeline.recipes.recipe import Recipe
from pipeline.run_material import RunMaterial, juror_scheme_item, load_material
from pipeline.stopping.stop import Stop
from pipeline.store.materials import MaterialItem
from pipeline.store.queries.annotations import open_annotations
from pipeline.store.run_store import RunStore
from prompts.environment import Templates
from prompts.tasks.prompts import TaskPrompts
from prompts.tasks.registry import load_task
from quality.judges.juror import (
    JUROR_PARAMETERS,
    SchemeJuror,
    juror_dimension,
    juror_item,
    juror_seat,
)
from quality.judges.protocol import JudgeIdentity
from quality.verification.jury import JuryHearing, left_to_hear
from scenarios.errors import UsageError
from scenarios.schemes.model import Scheme
from scenarios.schemes.registry import load_scheme
from scenarios.variation import told_axes


@dataclass(frozen=True, slots=True)
class Jury:
    """Jurors found and checked; nothing is connected or sent."""

    recipe: Recipe
    material: RunMaterial
    scheme: Scheme
    templates: Templates
    prompts: TaskPrompts
    uses: dict[JudgeIdentity, ModelUse]

    @property
    def seats(self) -> list[JudgeIdentity]:
        """Who is asked, in the order named."""
        return list(self.uses)

    def labelled_otherwise(self, store: RunStore) -> int:
        """Return how many dialogues are labelled again, since a juror was asked otherwise."""
        return store.judgements.judged_otherwise(
            (arm.id, seat.source, seat.judge, seat.config)
            for arm in store.state().arms
            for seat in self.seats
        )

    @property
    def priced(self) -> bool:
        """Whether every juror has a price."""
        return all(use.price is not None for use in self.uses.values())


def make_jury(store: RunStore, request: JuryRequest, overrides: VerificationOverrides) -> Jury:
    """Find and check what hearing a run takes.

    Args:
        store: the run.
        request: who is asked, and what.
        overrides: address, key, limits, budget and prices of the models.

    Raises:
        UsageError: something does not exist or does not fit together.
        InputError: a file is not valid.
    """
    material = load_material(store)
    recipe = replace(overrides, judges=()).over(material.recipe)
    scheme = load_scheme(request.scheme)
    task = load_task(request.task, scheme)
    if task.subject != "utterance" or task.shows_fact or task.sees.goal:
        raise UsageError(
            f"jurors cannot be asked the task {task.id}",
            "they label single answers, and see neither facts nor goals",
        )
    templates = (
        Templates(overrides.prompt_dir)
        if overrides.prompt_dir is not None
        else Templates(stored=material.own_templates)
    )
    prompts = TaskPrompts(templates, scheme, task, mode=request.mode)
    prices = PriceTable.load(recipe.prices, batch=recipe.limits.batch)
    choice = ModelChoice(recipe, prices)
    told = told_axes(material.axes, material.scenarios.values())
    uses: dict[JudgeIdentity, ModelUse] = {}
    for model in request.models:
        address = overrides.address_of(model, request.models)
        settings = ModelSettings.model_validate({"model": model, **address})
        use = choice.use(settings, JUROR_PARAMETERS)
        identity = use.spec.fields() | ({"told": told} if told else {})
        uses[juror_seat(request.name(use.spec.name, prompts), prompts, identity)] = use
    unpriced = sorted({use.spec.name for use in uses.values() if use.price is None})
    check_budget(recipe.budget_usd, unpriced)
    jury = Jury(recipe, material, scheme, templates, prompts, uses)
    _refuse_mixing(store, jury)
    return jury


def _refuse_mixing(store: RunStore, jury: Jury) -> None:
    """Do nothing where all labels of the run under the id of the jurors' scheme are of one state of it.

    Raises:
        UsageError: some were given by another state of it, or of a scheme of that name.
    """
    scheme, own = jury.scheme, jury.material.scheme
    if scheme.name == own.name:
        is_other = scheme != own
        whose = "the run itself is labelled"
    else:
        stored = jury.material.juror_schemes.get(scheme.id, ())[-1:]
        is_other = stored not in ((), (scheme,))
        names = [juror_dimension(scheme, d.id, own) for one in stored for d in one.dimensions]
        with open_annotations(store.folder) as reader:
            is_other = is_other and reader.knows(names)
        whose = "jurors of this run have labelled"
    if is_other:
        raise UsageError(
            f"{whose} by the scheme {scheme.name!r} as it was before something in it changed, if only a"
            " word of a definition: labels of both would be taken for the same",
            "go on with the file as it was then; or ask by what you have changed under another id"
            f" (id: {scheme.id}_2 in its file), which labels anew and keeps the labels of then",
        )


async def hear_jurors(
    folder: Path,
    request: JuryRequest,
    overrides: VerificationOverrides,
    *,
    retry_unreadable: bool = False,
    watcher: Watcher | None = None,
) -> Verified:
    """Let models label every answer of a run as jurors do; what was done is not paid again.

    The first SIGINT, SIGTERM or SIGHUP finishes the calls in flight and stops. Where
    a juror is asked otherwise than before, it labels again, and the watcher is told.

    Args:
        folder: the run.
        request: who is asked, and what.
        overrides: what is laid over its recipe.
        retry_unreadable: whether jurors whose answer could not be read are asked again.
        watcher: is told of every dialogue as soon as a juror's labels of it are durable.

    Raises:
        UsageError: the run or a juror is not fit.
        RunError: it could not go on; what was finished is kept.
    """
    watching: Watcher = watcher or Silent()
    bring_up_to_date(folder)
    with RunStore.open(folder) as store:
        jury = make_jury(store, request, overrides)
        before = store.state()
        if anew := jury.labelled_otherwise(store):
            watching.note(anew_in_words(anew, by_jurors=True))
        store.add_materials(_material(jury))
        jobs = list(
            left_to_hear(
                store.judgements, store.dialogues(traces=False), jury.seats, retry=retry_unreadable
            )
        )
        ledger, stop, limits = run_ledger(jury.recipe, store), Stop(), jury.recipe.limits
        async with (
            providers_for(jury.uses.values(), limits) as providers,
            batching(limits, store.calls, ledger, stop, watching) as sender,
        ):
            link = local_run(limits, store.calls, ledger, stop, watching.warn)
            pool = EndpointPool(limits, providers, link, watching.note, sender=sender)
            seated = _seated(jury, pool, {job.dialogue.arm for job in jobs})
            hearing = _hearing(store, jury, seated, stop, watching)
            spending = spent_on_judging(ledger, link, priced=jury.priced)
            with (
                interruptible(stop, watching.warn, enabled=True),
                watched(watching, len(jobs), spending),
                left_when_stopped(stop),
            ):
                await hearing.run(jobs, executor_for(limits, link))
        tell_unstored(store.calls, hearing.outcome)
        state = store.state()
    return Verified(folder, hearing.outcome, state.calls - before.calls, state)


def _hearing(
    store: RunStore,
    jury: Jury,
    seated: Mapping[tuple[str, JudgeIdentity], SchemeJuror],
    stop: Stop,
    watching: Watcher,
) -> JuryHearing:
    return JuryHearing(
        store.judgements,
        jurors=seated,
        scenario_of=jury.material.scenario_as_told,
        stop=stop,
        scenarios=len(jury.material.scenario_names),
        on_progress=watching.see,
    )


def _seated(
    jury: Jury, pool: EndpointPool, arms: set[str]
) -> dict[tuple[str, JudgeIdentity], SchemeJuror]:
    """Return the jurors of every arm, ready to be asked."""
    own = jury.material.scheme
    models = {seat.role: use for seat, use in jury.uses.items()}
    clients = {arm: pool.client(arm, models) for arm in arms}
    return {
        (arm, seat): SchemeJuror(jury.scheme, own, jury.prompts, client, seat)
        for arm, client in clients.items()
        for seat in jury.seats
    }


def _material(jury: Jury) -> list[MaterialItem]:
    """Return the templates that jurors are asked with, by the hash of their configuration.

    A scheme of theirs that is not the run's is stored, too: it says what their labels are.
    """
    stem = jury.prompts.task.stem
    names = [f"{stem}_system.j2", f"{stem}_user.j2"]
    sources = orjson.dumps(jury.templates.sources(names)).decode()
    items = [
        MaterialItem("judge_templates", seat.role, seat.config, sources) for seat in jury.seats
    ]
    if jury.scheme.name == jury.material.scheme.name:
        return items
    return [*items, juror_scheme_item(jury.scheme)]


def estimate_jury(
    store: RunStore,
    request: JuryRequest,
    overrides: VerificationOverrides,
    *,
    retry_unreadable: bool = False,
) -> JudgingEstimate:
    """Count what jurors have yet to be asked, and estimate what that costs."""
    jury = make_jury(store, request, overrides)
    asked = [
        jury.prompts.questions(
            juror_item(dialogue, jury.material.scenario_as_told(dialogue), turn),
            explained=["" for _ in jury.prompts.parts] if jury.prompts.mode == "two-phase" else (),
        )
        for dialogue in islice(store.dialogues(traces=False), SAMPLE)
        for turn in dialogue.answers()[:1]
    ]
    sizes = [part.question.size for parts in asked for part in parts]
    mean, each = mean_tokens(sizes), len(sizes) / max(1, len(asked))
    steps = 2 if jury.prompts.mode == "two-phase" else 1
    left = list(
        left_to_hear(
            store.judgements, store.dialogues(traces=False), jury.seats, retry=retry_unreadable
        )
    )
    estimates = []
    for seat, use in jury.uses.items():
        own = [job.dialogue for job in left if job.seat == seat]
        calls = round(steps * each * sum(len(dialogue.answers()) for dialogue in own))
        usage = Usage(prompt=round(calls * mean), completion=calls * ANSWER_TOKENS["juror"][0])
        cost = None if use.price is None else use.price.cost_of_alike(usage, calls)
        estimates.append(JudgeEstimate(seat, len(own), calls, usage.prompt, usage.completion, cost))
    anew = jury.labelled_otherwise(store)
    generated, rounds = store.state().generated, steps if left else 0
    return JudgingEstimate(generated, tuple(estimates), labelled_anew=anew, rounds=rounds)
