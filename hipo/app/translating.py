"""Put scenarios into another language with a model: for the command line and for Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

from hipo.app.estimates.playing import BYTES_PER_TOKEN
from hipo.app.models.endpoints import EndpointPool, local_run, providers_for
from hipo.app.models.resolution import ModelUse, check_budget, resolve_model
from hipo.app.preparation.executors import executor_for
from hipo.app.running.interrupts import interruptible, left_when_stopped
from hipo.app.running.ledgers import evaluation_ledger
from hipo.app.running.unstored import tell_unstored
from hipo.app.running.watching import Silent, Watcher, spent, watched
from hipo.app.runs.folders import is_evaluation, is_run
from pipeline.calls.client import REPAIRS
from pipeline.playing.runner import RunOutcome
from pipeline.providers.prices import PriceTable
from pipeline.providers.protocol import Usage
from pipeline.recipes.model_settings import ModelSettings
from pipeline.recipes.recipe import Recipe
from pipeline.stopping.stop import Stop
from pipeline.store.answers import EvaluationSeat
from pipeline.store.evaluation_store import TranslationStore
from pipeline.store.queries.charges import Charges
from pipeline.store.queries.status import RUNNING, ended
from pipeline.translating import TRANSLATOR, Translating, TranslationJob
from prompts.environment import Templates
from prompts.question import LONGEST_ECHO
from prompts.wording_prompt import wording_fingerprint, wording_question
from scenarios.arms import Parameters
from scenarios.atomic_files import new_file
from scenarios.catalogue import Catalogue
from scenarios.errors import UsageError
from scenarios.fingerprint import fingerprint
from scenarios.language_code import check_code, spelled_code
from scenarios.languages import is_written_in
from scenarios.nested_texts import spaced
from scenarios.pack import FAMILIES
from scenarios.schemes.registry import load_scheme
from scenarios.selection import select_scenarios
from scenarios.spec import Scenario, WordingOrigin
from scenarios.text_file import real_path
from scenarios.wordings import ScenarioWording, WordedText, read_wording, texts_of, written

MAX_TOKENS: Final = 8192
"""Of an answer: all texts of a scenario take about 2,000 tokens in English, others up to thrice."""
GROWTH: Final = 1.5
"""Tokens of a translation to those of its original, which is English; an estimate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TranslationSettings:
    """What is to be put into which language, by which model."""

    model: str
    """``provider/name``."""
    language: str
    """BCP 47."""
    scenarios: Sequence[str] = ()
    """Ids, categories, globs or ``tag:...``; none: all of ``scenario_dirs``."""
    scheme: str | None = None
    """Only those of this label scheme, an id or a file; None: of any."""
    recipe: Recipe = field(default_factory=Recipe)
    """Folders of scenarios, the address of the model, limits, budget and prices."""
    retry_failed: bool = False


@dataclass(frozen=True, slots=True)
class ReadyTranslation:
    """Everything a translation takes, found and checked."""

    settings: TranslationSettings
    folder: Path
    jobs: tuple[TranslationJob, ...]
    present: tuple[str, ...]
    """Ids of the scenarios that have a file already, which is left as it is."""
    use: ModelUse
    prompt: str
    """Hash of what is asked."""
    notes: tuple[str, ...] = ()

    @property
    def seat(self) -> EvaluationSeat:
        """Names the model and what else decides the answers, in the store."""
        decides = fingerprint([self.prompt, self.use.spec.fields()])
        return EvaluationSeat(
            "translate", self.settings.language, 0, 0, self.use.spec.name, decides
        )


@dataclass(frozen=True, slots=True)
class TranslationEstimate:
    """What a translation takes."""

    scenarios: int
    """Still to be translated; one call each."""
    present: int
    texts: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None
    """None: no price is known."""
    repaired_usd: float | None
    """The same where every answer has to be asked for again as often as that is tried."""


@dataclass(frozen=True, slots=True)
class Translated:
    """What was done."""

    folder: Path
    outcome: RunOutcome
    present: int
    files: tuple[Path, ...]
    """Written just now."""
    calls: int
    charges: Charges
    """What all calls took, over the life of the folder."""
    reasons: tuple[str, ...]
    """Why scenarios failed."""


def plan_translation(settings: TranslationSettings, folder: Path) -> ReadyTranslation:
    """Find and check what a translation takes; nothing is made or sent.

    Raises:
        UsageError: a scenario or the model does not exist, the folder holds something else, or a
            budget in dollars has no price to count with.
        InputError: a file is not valid.
    """
    if is_run(folder) or is_evaluation(folder):
        raise UsageError(f"{folder} holds a run or an evaluation", "choose another folder with -o")
    check_code(settings.language)
    settings = replace(settings, language=spelled_code(settings.language))
    recipe, language = settings.recipe, settings.language
    templates = Templates(recipe.prompt_dir)
    jobs, present, notes = [], [], []
    for scenario in _chosen(settings):
        path = _file(folder, language, scenario)
        if path.exists():
            present.append(scenario.id)
            if _is_stale(path, scenario):
                notes.append(
                    f"{path} is of an earlier state of the scenario; delete it to renew it"
                )
        elif is_written_in(scenario, language):
            notes.append(f"{scenario.id} is written in {language} already")
        else:
            question = wording_question(templates, texts_of(scenario), language)
            jobs.append(TranslationJob(scenario, question))
    use = _use(settings)
    if use.spec.provider == "offline":
        raise UsageError(
            f"{use.spec.name} cannot translate: it is rules, no language model",
            "name a model that can, such as --model openai/gpt-4o-mini; --dry-run says what it takes",
        )
    unpriced = [use.spec.name] if use.price is None else []
    check_budget(recipe.budget_usd, unpriced, has_recipe=False)
    prompt = wording_fingerprint(templates, language)
    return ReadyTranslation(
        settings, folder, tuple(jobs), tuple(present), use, prompt, tuple(notes)
    )


def estimate_translation(ready: ReadyTranslation) -> TranslationEstimate:
    """Count what is left to be asked, and estimate what that costs."""
    asked = [_expected(job) for job in ready.jobs]
    again = [usage for job in asked for usage in _repairs(job)]

    def cost(requests: Sequence[Usage]) -> float | None:
        price = ready.use.price
        return None if price is None else sum(price.cost_of_alike(one, 1) for one in requests)

    return TranslationEstimate(
        len(ready.jobs),
        len(ready.present),
        sum(len(texts_of(job.scenario)) for job in ready.jobs),
        sum(usage.prompt for usage in asked),
        sum(usage.completion for usage in asked),
        cost(asked),
        cost([*asked, *again]),
    )


def _expected(job: TranslationJob) -> Usage:
    """Return what translating one scenario takes where nothing has to be repaired."""
    texts = texts_of(job.scenario).values()
    said = sum(map(len, texts)) / BYTES_PER_TOKEN * GROWTH + 4 * len(texts)
    return Usage(prompt=round(job.question.size / BYTES_PER_TOKEN), completion=round(said))


def _repairs(asked: Usage) -> list[Usage]:
    """Return what asking again takes, each time with all answers so far in the prompt."""
    answer = min(asked.completion, LONGEST_ECHO // BYTES_PER_TOKEN)
    return [replace(asked, prompt=asked.prompt + time * answer) for time in range(1, REPAIRS + 1)]


async def translate_async(ready: ReadyTranslation, *, watcher: Watcher | None = None) -> Translated:
    """Translate what is left, one file a scenario; what is there is left as it is.

    The first SIGINT, SIGTERM or SIGHUP finishes the calls in flight and stops.

    Args:
        ready: what is to be done.
        watcher: is told of every scenario as soon as its file is there.
    """
    watching: Watcher = watcher or Silent()
    for note in ready.notes:
        watching.note(note)
    limits = ready.settings.recipe.limits
    async with providers_for([ready.use], limits) as providers:
        with TranslationStore.begin(ready.folder) as store:
            store.answers.add_seats([ready.seat])
            store.set_state(RUNNING, planned=len(ready.jobs))
            before = store.charges().calls
            stop, recipe = Stop(), ready.settings.recipe
            ledger = evaluation_ledger(store, recipe.budget_usd, recipe.budget_tokens)
            link = local_run(limits, store.calls, ledger, stop, watching.warn)
            client = EndpointPool(limits, providers, link, watching.note).client(
                ready.use.spec.name, {TRANSLATOR: ready.use}
            )
            files: list[Path] = []
            stage = Translating(
                ready.jobs,
                ready.seat,
                store.answers,
                client,
                stop,
                keep=lambda scenario, texts: files.append(_keep(ready, scenario, texts)),
                on_progress=watching.see,
                retry_failed=ready.settings.retry_failed,
            )

            priced = ready.use.price is not None
            spending = partial(spent, ledger, link, priced=priced, doing="translating")
            with (
                watched(watching, len(ready.jobs), spending),
                interruptible(stop, watching.warn, enabled=True),
                left_when_stopped(stop),
            ):
                await stage.run(executor_for(limits, link))
            outcome = stage.outcome
            tell_unstored(store.calls, outcome)
            state = ended(failures=bool(outcome.failed))
            store.set_state(state if outcome.stopped is None else f"stopped:{outcome.stop_code}")
            charges = store.charges()
    return Translated(
        ready.folder, outcome, len(ready.present), tuple(files), charges.calls - before,
        charges, tuple(stage.reasons),
    )  # fmt: skip


def _chosen(settings: TranslationSettings) -> list[Scenario]:
    """Return the scenarios that are meant, as they are written."""
    dirs = list(settings.recipe.scenario_dirs)
    wanted = None if settings.scheme is None else load_scheme(settings.scheme).id
    everything = Catalogue.load([FAMILIES, *dirs]).entries
    entries = {
        name: entry for name, entry in everything.items() if wanted in (None, entry.scenario.scheme)
    }
    if settings.scenarios:
        there = [entry.scenario for entry in entries.values()]
        try:
            found = select_scenarios(there, settings.scenarios)
        except UsageError:
            named = select_scenarios([e.scenario for e in everything.values()], settings.scenarios)
            other = next(scenario for scenario in named if scenario.scheme != wanted)
            raise UsageError(
                f"scenario {other.id!r} is of the scheme {other.scheme!r}, not {wanted!r}",
                f"give --scheme {other.scheme}, or leave --scheme out",
            ) from None
        return [entries[scenario.id].template for scenario in found]
    inside = [real_path(folder) for folder in dirs]
    own = [
        entry.template
        for entry in entries.values()
        if any(Path(entry.located.file).resolve().is_relative_to(folder) for folder in inside)
    ]
    if not own and inside and wanted is not None:
        raise UsageError(
            f"no scenario of --scenario-dir is of the scheme {wanted!r}",
            "leave --scheme out, or name another folder",
        )
    if not own:
        raise UsageError(
            "nothing says which scenarios are meant",
            "name some: ids, categories or globs ('*' is all), or a folder with --scenario-dir",
        )
    return own


def _use(settings: TranslationSettings) -> ModelUse:
    default = settings.recipe.models.default
    own = ModelSettings.model_validate({**default.model_dump(), "model": settings.model})
    defaults = Parameters(temperature=0.0, max_tokens=MAX_TOKENS)
    return resolve_model(settings.model, own, PriceTable.load(settings.recipe.prices), defaults)


def _file(folder: Path, language: str, scenario: Scenario) -> Path:
    return folder / language / f"{scenario.id}.yaml"


def _is_stale(path: Path, scenario: Scenario) -> bool:
    texts = read_wording(path).wording.texts
    return {place: worded.original for place, worded in texts.items()} != {
        place: spaced(text) for place, text in texts_of(scenario).items()
    }


def _keep(ready: ReadyTranslation, scenario: Scenario, texts: Mapping[str, str]) -> Path:
    """Write the file of a scenario that has none yet."""
    today = datetime.now(UTC).date().isoformat()
    originals = texts_of(scenario)
    wording = ScenarioWording(
        scenario=scenario.id,
        language=ready.settings.language,
        origin=WordingOrigin(model=ready.use.spec.name, date=today, prompt=ready.prompt),
        texts={
            place: WordedText(original=originals[place], text=text) for place, text in texts.items()
        },
    )
    path = _file(ready.folder, ready.settings.language, scenario)
    with new_file(path) as file:
        file.write(written(wording).encode())
    return path
