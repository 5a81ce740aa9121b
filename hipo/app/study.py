"""Let several models and strategies play the same cases, judge them, and compare."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import orjson

from hipo.app.estimates.budget_coverage import expected_spending
from hipo.app.generation.generate import generate_prepared
from hipo.app.generation.plan_estimates import PlanEstimate, estimate_plan
from hipo.app.generation.verified import VerifiedPlay
from hipo.app.models.resolution import ModelUse
from hipo.app.options.recipe import OPTION_OF, RecipeChanges, overridden
from hipo.app.options.unused import check_used_in_plan
from hipo.app.options.values import several
from hipo.app.options.verification import VerificationOverrides
from hipo.app.preparation.prepared import Prepared
from hipo.app.running.waiting import waited_for
from hipo.app.running.watching import Silent, Watcher
from hipo.app.runs.folders import RUNS, is_run
from hipo.app.runs.resumption import prepare_for
from outputs.export.facts import code_version
from outputs.study.page import study_files, study_page
from outputs.study.study import StudyResult, read_study, study_as_json
from pipeline.playing.runner import RunOutcome
from pipeline.recipes.recipe import Recipe
from pipeline.recipes.source import load_recipe
from pipeline.spending.budget import rounded_up
from pipeline.stopping.stop import BUDGET
from pipeline.store.run_store import RunStore
from pipeline.strategies.registry import ANY_SCENARIO
from scenarios.atomic_files import write_text
from scenarios.errors import UsageError
from scenarios.fingerprint import content_id

PAGE, DATA = "study.html", "study.json"


@dataclass(frozen=True, slots=True)
class StudyLeg:
    """The part of a study that one model plays: a run of its own."""

    model: str
    prepared: Prepared
    folder: Path


@dataclass(frozen=True, slots=True)
class StudyPlan:
    """A study whose every part has been found and checked; nothing has been sent."""

    folder: Path
    legs: tuple[StudyLeg, ...]
    play: VerifiedPlay

    def estimates(self) -> list[PlanEstimate]:
        """Return what playing and judging every leg would take, and what of the budget is left for it."""
        found: list[PlanEstimate] = []
        usd, tokens = 0.0, 0
        for leg in self.legs:
            prepared = replace(leg.prepared, spent_elsewhere=_spent_by_others(leg, self.legs))
            one = estimate_plan(prepared, leg.folder, play=self.play, before=(usd, tokens))
            found.append(one)
            more_usd, more_tokens = expected_spending(one.generation, one.judging)
            usd, tokens = usd + (more_usd or 0.0), tokens + more_tokens
        return found


@dataclass(frozen=True, slots=True)
class StudyOutcome:
    """A study that was played, as far as it got."""

    folder: Path
    result: StudyResult
    calls: int
    """Requests that were sent now."""
    unjudged: Counter[str]
    """Dialogues that could not be judged now, by reason code."""
    stopped: str | None
    """Why it ended early, if it did; the same call goes on."""
    stop_code: str = ""
    """The same in a word, one of ``pipeline.stopping.stop``; empty if it was not stopped."""
    advice: str = ""
    """What the user can do, where that is more than what always holds for ``stop_code``."""

    @property
    def page(self) -> Path:
        """The page for people."""
        return self.folder / PAGE

    @property
    def data(self) -> Path:
        """The same as JSON."""
        return self.folder / DATA


def study(
    recipe: Recipe | str | Path,
    *,
    models: Sequence[str] = (),
    strategies: Sequence[str] = (),
    output: str | Path | None = None,
    overrides: VerificationOverrides | None = None,
    watcher: Watcher | None = None,
) -> StudyOutcome:
    """Play the same cases with several models and all strategies, judge them, and compare.

    Each model has a run of its own in the folder; what is there already is not paid again. A budget
    holds for the whole study. Writes a page, its data and the plots.

    Example::

        outcome = study("hipo-paper", models=["openai/gpt-4o-mini", "openai/gpt-4.1-mini"])
        print(outcome.page, outcome.calls)

    Args:
        recipe: a recipe, its file, or the name of a shipped one.
        models: as ``provider/name``; none: the recipe's.
        strategies: every model plays all of them; none: those of a recipe that names several,
            else all that play any scenario.
        output: the folder; None is ``./runs/<name of the recipe>-study``.
        overrides: who judges; None leaves the recipe as it is.
        watcher: is told of every dialogue as soon as it is durable.

    Raises:
        UsageError: something does not exist or does not fit together; nothing was sent.
        RunError: it could not go on; what was finished is kept.
    """
    given = {"strategies": list(several(strategies))}
    plan = plan_study(
        recipe, models=several(models), output=output, overrides=overrides, given=given
    )
    return waited_for(play_study(plan, watcher=watcher))


def plan_study(
    recipe: Recipe | str | Path,
    *,
    models: Sequence[str] = (),
    output: str | Path | None = None,
    overrides: VerificationOverrides | None = None,
    given: RecipeChanges | None = None,
) -> StudyPlan:
    """Check every leg of a study before anything is sent.

    Args:
        recipe: see :func:`study`, as for those that follow.
        models: to compare.
        output: the folder.
        overrides: who judges.
        given: changes to lay over the recipe; what they say of models holds beside each of
            ``models``. Without strategies among them, those of the recipe play, or all of them
            where it names one alone.

    Raises:
        UsageError: something does not exist or does not fit together.
    """
    loaded = recipe if isinstance(recipe, Recipe) else load_recipe(recipe)
    changes = dict(given or {})
    chosen = loaded.strategies if len(loaded.strategies) > 1 else ANY_SCENARIO
    changes["strategies"] = changes.get("strategies") or list(chosen)
    if models and changes.get("models.default.model") is not None:
        raise UsageError("--model and --models both say who plays", "give one of them")
    of_models = {f: v for f, v in changes.items() if models and f.startswith("models.")}
    resolved = overridden(loaded, {f: v for f, v in changes.items() if f not in of_models})
    folder = Path(output) if output is not None else RUNS / f"{resolved.name}-study"
    if is_run(folder):
        raise UsageError(
            f"{folder} is a run, not a study", "choose another folder with -o for the study"
        )
    play = VerifiedPlay(overrides or VerificationOverrides())
    legs: list[StudyLeg] = []
    uses: list[ModelUse] = []
    for model, own in _recipes(resolved, of_models, models).items():
        own_folder = folder / _slug(model, list(models) or [model])
        prepared = prepare_for(own_folder, own)
        uses += [*prepared.uses.values(), *play.check(prepared).uses]
        legs.append(StudyLeg(model, prepared, own_folder))
    check_used_in_plan(changes, OPTION_OF, legs[0].prepared.scenarios.values(), uses)
    return StudyPlan(folder, tuple(legs), play)


async def play_study(
    plan: StudyPlan, *, watcher: Watcher | None = None, signals: bool = False
) -> StudyOutcome:
    """Generate and verify every leg, one after the other, then compare and write the page.

    Args:
        plan: see :func:`plan_study`.
        watcher: is told of every dialogue as soon as it is durable.
        signals: whether the first SIGINT, SIGTERM or SIGHUP stops after the calls in flight.
    """
    watching: Watcher = watcher or Silent()
    calls, unjudged, outcome = 0, Counter[str](), RunOutcome()
    for leg in plan.legs:
        prepared = replace(leg.prepared, spent_elsewhere=_spent_by_others(leg, plan.legs))
        if not is_run(leg.folder) and (spent := _spent_up(prepared)) is not None:
            outcome = spent
            break
        watching.note(f"{leg.model}: {', '.join(prepared.recipe.strategies)} ...")
        run = await generate_prepared(
            prepared, leg.folder, watcher=watching, signals=signals, play=plan.play
        )
        calls += run.calls
        outcome = run.outcome
        unjudged += outcome.unjudged
        if outcome.stopped is not None:
            break
    result = read_study([leg.folder for leg in plan.legs if is_run(leg.folder)])
    _write(result, plan.folder)
    return StudyOutcome(
        plan.folder, result, calls, unjudged, outcome.stopped, outcome.stop_code, outcome.advice
    )


def _recipes(recipe: Recipe, given: RecipeChanges, models: Sequence[str]) -> dict[str, Recipe]:
    """Return the recipe of each model, with what is given of models laid over it."""
    if not models:
        model = recipe.models.role("responder").model
        if model is None:
            raise UsageError(
                "no model is named", "give --models provider/name,provider/name; see: hipo models"
            )
        return {model: recipe}
    return {name: overridden(recipe, {**given, "models.default.model": name}) for name in models}


def _slug(model: str, models: Sequence[str]) -> str:
    """Return a folder name for a model, with a hash where two would have the same."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", model)
    same = {m for m in models if re.sub(r"[^A-Za-z0-9._-]+", "_", m).lower() == plain.lower()}
    return plain if len(same) == 1 else f"{plain}-{content_id(model)[:6]}"


def _spent_by_others(leg: StudyLeg, legs: Sequence[StudyLeg]) -> tuple[float, int]:
    """Return (US dollars, tokens) of the study's budget that its other legs have used up."""
    usd, tokens = 0.0, 0
    for other in legs:
        if other is not leg and is_run(other.folder):
            with RunStore.open(other.folder, readonly=True) as store:
                spent = store.spent()
            usd, tokens = usd + spent[0], tokens + spent[1]
    return usd, tokens


def _spent_up(prepared: Prepared) -> RunOutcome | None:
    """Return how a study ends at a leg for which nothing is left of its budget, if that is so."""
    recipe, (usd, tokens) = prepared.recipe, prepared.spent_elsewhere
    for budget, spent, advice in (
        (recipe.budget_usd, usd, f"raise --budget-usd above ${rounded_up(usd)}"),
        (recipe.budget_tokens, tokens, f"raise --budget-tokens above {tokens}"),
    ):
        if budget is not None and spent >= budget:
            return RunOutcome(
                stopped="the budget is spent before every model has played",
                stop_code=BUDGET,
                advice=advice,
            )
    return None


def _write(result: StudyResult, folder: Path) -> None:
    """Write the page, the data and the plots of a study into its folder."""
    title = f"{folder.resolve().name}: strategies and models"
    write_text(folder / PAGE, study_page(result, title=title, version=code_version()))
    data = orjson.dumps(study_as_json(result), option=orjson.OPT_INDENT_2).decode()
    write_text(folder / DATA, data + "\n")
    for name, svg in study_files(result).items():
        write_text(folder / name, svg)
