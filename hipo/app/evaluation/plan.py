"""Find and check what an evaluation takes: items, prompts, models; nothing is made or sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, cast, get_args

from hipo.app.evaluation.chosen_items import chosen_items
from hipo.app.evaluation.settings import DEFAULT_MAX_TOKENS, REPEATED, EvaluationSettings
from hipo.app.evaluation.source import load_items
from hipo.app.models.resolution import ModelUse, check_budget, resolve_model
from hipo.app.options.model_changes import told_address
from hipo.app.options.unused import check_some_batch
from pipeline.providers.prices import PriceTable
from pipeline.recipes.model_settings import ModelSettings
from prompts.environment import Templates
from prompts.tasks.example_file import read_examples
from prompts.tasks.examples import ExamplePool
from prompts.tasks.model import Task
from prompts.tasks.modes import Mode
from prompts.tasks.prompts import TaskPrompts
from prompts.tasks.registry import load_task, shipped_tasks
from quality.evaluation.draw import EvenDraw, draw_evenly
from quality.evaluation.evaluation_record import DrawnEvenly
from quality.evaluation.item import EvaluationItem
from quality.evaluation.item_set import ItemSet
from quality.evaluation.plan import EvaluationPlan, TaskPlan
from scenarios.arms import Parameters
from scenarios.errors import UsageError
from scenarios.plugins import load_plugins
from scenarios.schemes.model import Scheme

ICL: Final = "icl"


@dataclass(frozen=True, slots=True)
class ReadyEvaluation:
    """Everything an evaluation takes, found and checked."""

    settings: EvaluationSettings
    items: ItemSet
    plan: EvaluationPlan
    uses: Mapping[str, ModelUse]
    """By ``provider/name``."""
    drawn: DrawnEvenly | None
    """How the items were drawn; None: all are asked about."""

    @property
    def unpriced(self) -> list[str]:
        """The models without a price."""
        return sorted(name for name, use in self.uses.items() if use.price is None)


def plan_evaluation(settings: EvaluationSettings) -> ReadyEvaluation:
    """Find and check what an evaluation takes.

    Raises:
        UsageError: something does not exist or does not fit together.
        InputError: a file is not valid.
    """
    load_plugins(settings.plugins)
    _check(settings)
    uses = _uses(settings)
    if settings.limits.batch:
        check_some_batch(uses.values())
    items = load_items(settings.source, scheme=settings.scheme, any_verdict=settings.any_verdict)
    if not settings.tasks:
        fitting = ", ".join(shipped_tasks(items.scheme)) or "none that ships"
        raise UsageError(
            "no task is named",
            f"give --task NAME or FILE; tasks for the scheme {items.scheme.name}: {fitting}",
        )
    if settings.only is not None:
        items = chosen_items(items, settings.only)
    prompts = _prompts(settings, items.scheme)
    pools = [items.for_task(one.task) for one in prompts]
    _check_labels(items, prompts, pools)
    drawn: DrawnEvenly | None = None
    if settings.n is not None:
        dimension = _drawn_over(settings, items.scheme, prompts, pools)
        whole, pools = pools, [_labelled_items(pool, dimension) for pool in pools]
        items = replace(items, notes=(*items.notes, *_left_out(dimension, whole, pools)))
        draws = [_drawn(pool, settings.n, dimension, settings.seed) for pool in pools]
        pools = [pool for pool, _ in draws]
        drawn = DrawnEvenly(
            n=settings.n,
            dimension=dimension,
            seed=settings.seed,
            shares=draws[0][1].shares,
            by_task={
                one.task.id: draw.shares for one, (_, draw) in zip(prompts, draws, strict=True)
            },
        )
    plan = EvaluationPlan(
        items.fingerprint,
        tuple(_task_plan(one, pool, settings) for one, pool in zip(prompts, pools, strict=True)),
        {name: use.spec.fields() for name, use in uses.items()},
        settings.seed,
    )
    ready = ReadyEvaluation(settings, items, plan, uses, drawn)
    check_budget(settings.budget_usd, ready.unpriced, has_recipe=False)
    _render_once(plan)
    return ready


def _check(settings: EvaluationSettings) -> None:
    """Refuse settings that mean nothing."""
    if not settings.models:
        raise UsageError("no model is named", "give --model provider/name; see: hipo models")
    for what, names in (("--task", settings.tasks), ("--model", settings.models)):
        twice = [name for name, n in Counter(names).items() if n > 1]
        if twice:
            raise UsageError(f"{what} {twice[0]} stands there twice", "name each once")
    twice = [mode for mode, n in Counter(settings.modes).items() if n > 1]
    if twice:
        raise UsageError(f"--mode {twice[0]} stands there twice", "name each once")
    unknown = [mode for mode in settings.modes if mode not in get_args(Mode)]
    if unknown:
        raise UsageError(
            f"there is no mode {unknown[0]!r}", f"choose of: {', '.join(get_args(Mode))}"
        )
    if settings.examples is not None and ICL not in settings.modes:
        raise UsageError("--examples are shown in the mode icl alone", "add --mode icl")
    if settings.balance is not None and settings.n is None:
        raise UsageError("--balance says how -n items are drawn", "give -n, too")
    if settings.n is not None and settings.n < 1:
        raise UsageError(f"-n: found {settings.n}, expected at least 1")
    if settings.repeat < 1:
        raise UsageError(f"--repeat: found {settings.repeat}, expected at least 1")


def _uses(settings: EvaluationSettings) -> dict[str, ModelUse]:
    """Return the models by name, as they are asked.

    An address or a key given on the command line is for some of them, see
    :func:`hipo.app.options.model_changes.told_address`.
    """
    prices = PriceTable.load(settings.prices, batch=settings.limits.batch)
    addressed = told_address(settings.models)
    uses: dict[str, ModelUse] = {}
    for model in settings.models:
        own = ModelSettings.model_validate(
            {
                "model": model,
                "temperature": settings.temperature,
                "max_tokens": settings.max_tokens,
                "structured": settings.structured,
                "base_url": settings.base_url if model in addressed else None,
                "api_key_env": settings.api_key_env if model in addressed else None,
            }
        )
        defaults = Parameters(temperature=0.0, max_tokens=DEFAULT_MAX_TOKENS)
        uses[model] = resolve_model(model, own, prices, defaults)
    return uses


def _prompts(settings: EvaluationSettings, scheme: Scheme) -> list[TaskPrompts]:
    """Return the prompts of every task in every mode."""
    templates = Templates(settings.prompt_dir)
    examples: ExamplePool | None = None
    if settings.examples is not None:
        examples = read_examples(settings.examples, scheme)
    modes = cast("Sequence[Mode]", settings.modes)
    tasks = [load_task(name, scheme) for name in settings.tasks]
    twice = [name for name, n in Counter(task.id for task in tasks).items() if n > 1]
    if twice:
        raise UsageError(
            f"two tasks have the id {twice[0]!r}, so that nobody could tell their results apart",
            "give your own task another id",
        )
    return [
        TaskPrompts(
            templates, scheme, task,
            mode=mode, examples=examples if mode == ICL else None, seed=settings.seed,
        )
        for task in tasks
        for mode in modes or (task.modes[0],)
    ]  # fmt: skip


def _check_labels(
    items: ItemSet,
    prompts: Sequence[TaskPrompts],
    pools: Sequence[tuple[EvaluationItem, ...]],
) -> None:
    """Refuse to pay for answers of which none could be scored."""
    for one, pool in zip(prompts, pools, strict=True):
        asked = [dimension.id for dimension in one.dimensions]
        if not any(item.label(name) for item in pool for name in asked):
            raise UsageError(
                f"{items.name} has no label of what the task {one.task.id} asks about"
                f" ({', '.join(asked)}), so that nothing could be scored",
                "take another task, or a set that holds labels",
            )


def _task_plan(
    prompts: TaskPrompts, items: tuple[EvaluationItem, ...], settings: EvaluationSettings
) -> TaskPlan:
    """Return a task with its items, and those of them that are asked about several times."""
    repeated: tuple[EvaluationItem, ...] = ()
    if settings.repeat > 1:
        classes = {item.id: "" for item in items}
        chosen = set(draw_evenly(classes, REPEATED, dimension="", seed=settings.seed).items)
        repeated = tuple(item for item in items if item.id in chosen)
    return TaskPlan(prompts, items, repeated, settings.repeat)


def _drawn_over(
    settings: EvaluationSettings,
    scheme: Scheme,
    prompts: Sequence[TaskPrompts],
    pools: Sequence[tuple[EvaluationItem, ...]],
) -> str:
    """Return the dimension over whose classes items are drawn: items of every task have a label of it.

    Where none is named, that is the first of which most items have one.
    """
    if settings.balance is not None:
        dimension = settings.balance
        for one, pool in zip(prompts, pools, strict=True):
            if dimension not in _labelled(scheme, [pool]):
                raise UsageError(
                    f"--balance {dimension}: no item of the task {one.task.id} has one label of it",
                    f"balance by one of: {', '.join(_labelled(scheme, [pool])) or 'nothing'};"
                    " or evaluate this task apart",
                )
        return dimension
    labelled = _labelled(scheme, pools)
    if not labelled:
        raise UsageError(
            "there is no dimension of which items of every task have one label, so -n cannot draw evenly",
            "leave -n out, or evaluate one task at a time",
        )
    return max(labelled, key=lambda name: labelled[name])


def _labelled(scheme: Scheme, pools: Sequence[tuple[EvaluationItem, ...]]) -> dict[str, int]:
    """Return the dimensions of which items of every task have one label, and how many; the goal first."""
    goal = [scheme.assigned] if scheme.assigned else []
    names = dict.fromkeys([*goal, *(d.id for d in scheme.dimensions if d.measurement != "multi")])
    counts = {name: [len(_labelled_items(pool, name)) for pool in pools] for name in names}
    return {name: sum(found) for name, found in counts.items() if all(found)}


def _labelled_items(pool: tuple[EvaluationItem, ...], dimension: str) -> tuple[EvaluationItem, ...]:
    return tuple(item for item in pool if item.label(dimension))


def _left_out(
    dimension: str,
    whole: Sequence[tuple[EvaluationItem, ...]],
    drawn_from: Sequence[tuple[EvaluationItem, ...]],
) -> Iterator[str]:
    """Say how many items are in no draw, since nobody knows their class."""
    everything, kept = sum(map(len, whole)), sum(map(len, drawn_from))
    if kept < everything:
        yield (
            f"drawn evenly over {dimension}, of which {everything - kept:,} of {everything:,} items"
            " have no label: they are left out, and reweighted figures are of the others"
        )


def _drawn(
    pool: tuple[EvaluationItem, ...], n: int, dimension: str, seed: int
) -> tuple[tuple[EvaluationItem, ...], EvenDraw]:
    """Draw items of one task; other tasks draw the same utterances."""
    keys = {item.id: f"{item.case}/{item.arm}/{item.turn}" for item in pool}
    if len(set(keys.values())) < len(pool):
        keys = {item.id: item.id for item in pool}
    classes = {keys[item.id]: str(item.label(dimension)) for item in pool}
    draw = draw_evenly(classes, n, dimension=dimension, seed=seed)
    chosen = set(draw.items)
    return tuple(item for item in pool if keys[item.id] in chosen), draw


def _render_once(plan: EvaluationPlan) -> None:
    """Render the prompts of the first item of each task, so that mistakes show before anything is paid."""
    for task in plan.tasks:
        for item in task.items[:1]:
            explained = [""] * len(task.prompts.explain(item.asked))
            for draw in range(task.prompts.draws):
                task.prompts.questions(item.asked, draw=draw, explained=explained)


def history_in_words(task: Task) -> str:
    """Return what a task shows of what was said before."""
    if task.subject == "dialogue":
        return "the whole conversation"
    history = task.sees.history
    if isinstance(history, int):
        return f"the last {history} lines"
    if history == "none":
        return "the question it answers" if task.sees.standing_question else "nothing"
    return "everything said before"
