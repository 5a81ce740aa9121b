"""Set up a review: the run, its scheme and scenarios, a study, and its access rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hipo.app.review.attention import attention_mixing
from pipeline.run_material import RunMaterial, load_material
from pipeline.store.reviews import ReviewStore
from pipeline.store.run_store import RunStore
from quality.review.consent import load_consent
from quality.review.forms import quiz_hides
from quality.review.queueing import QueueSelection, fill
from quality.review.service import ReviewService
from quality.review.translations import Translations
from quality.web.access import Access
from scenarios.arms import IMPORTED
from scenarios.case import PlayedCase
from scenarios.errors import UsageError
from scenarios.log import logger
from scenarios.reviews import Mode, ReviewStudy
from scenarios.schemes.model import Scheme
from scenarios.spec import Scenario
from scenarios.spelling import suggestion
from scenarios.text_file import typed_path

_log = logger("review")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewOptions:
    """What the command line says about a study."""

    mode: Mode = "review"
    name: str | None = None
    """Defaults to the mode."""
    per_item: int = 3
    seed: int = 42
    everything: bool = False
    most: int | None = None
    categories: Sequence[str] = ()
    reasons: Sequence[str] = ()
    balance: str | None = None
    """The dimension over whose labels ``most`` dialogues of a quiz are drawn evenly; None: over
    those of all dimensions of utterances."""
    hidden: Sequence[str] = ()
    """``dimension=label`` each, beside what the mode leaves out."""
    consent: Path | None = None
    translations: Sequence[Path] = ()
    lease_minutes: float = 20.0
    attention: int = 0
    """How many lines with known labels are mixed among the items of each annotator of a quiz."""


def run_material(folder: Path) -> RunMaterial:
    """Return what the dialogues of a run were made of; its reviews have to be open already."""
    with RunStore.open(folder, readonly=True) as store:
        return load_material(store)


def _is_imported(folder: Path) -> bool:
    """Return whether all dialogues of a run were brought in from files."""
    with RunStore.open(folder, readonly=True) as store:
        return all(state.arm.strategy == IMPORTED for state in store.state().arms)


def open_review(
    folder: Path,
    options: ReviewOptions,
    access_of: Callable[[int], Access],
    announce: Callable[[str, str], None],
) -> ReviewService:
    """Open a study of a run, fill it, and return the service it is reviewed with.

    Args:
        folder: the run.
        options: the study.
        access_of: from the number of accounts to how people get in.
        announce: called with (role, token) for every new link.

    Raises:
        UsageError: there is no run, or nothing to review in it; a scenario has changed.
    """
    store = ReviewStore.open(folder)
    try:
        # What may be refused comes first: a study that is begun keeps the options it began with.
        consent = load_consent(options.consent, imported=_is_imported(folder))
        translations = Translations.load(options.translations)
        access = access_of(store.people.accounts())
        material = run_material(folder)
        study = open_study(store, material, options)
        service = ReviewService(
            store=store,
            study=study,
            scheme=material.scheme,
            selection=_selection(store, options),
            scenario_of=scenario_finder(material, study),
            consent=consent,
            translations=translations,
            access=access,
            lease_s=options.lease_minutes * 60,
            announce=announce,
            mixing=attention_mixing(store, study, material, options.attention),
        )
    except BaseException:
        store.close()
        raise
    return service


def open_study(store: ReviewStore, material: RunMaterial, options: ReviewOptions) -> ReviewStudy:
    """Begin a study or go on with it, and take in what has become reviewable.

    Raises:
        UsageError: there is nothing in it, or it was begun otherwise; gold lines are reviewed in
            another mode than ``gold``, or other dialogues in this one.
    """
    _check_mode(store.folder, material, options)
    _check_dimension(material.scheme, options)
    name = options.name or options.mode
    if "/" in name and all(name != begun.id for begun in store.studies.all()):
        raise UsageError(
            f"{name!r} cannot be the name of a study", "files are named after it: leave / out"
        )
    study = store.studies.begin(
        name,
        options.mode,
        per_item=options.per_item,
        seed=options.seed,
        hidden=_hidden(material.scheme, options),
    )
    try:
        fill(store, study, _selection(store, options), scenario_finder(material, study))
    except BaseException:
        store.studies.drop_empty(study)  # the next command would take it for all there is to review
        raise
    _check_filled(store, study, options)
    return study


def scenario_finder(
    material: RunMaterial, study: ReviewStudy
) -> Callable[[PlayedCase], Scenario | None]:
    """Return what finds the scenario of a dialogue; the quiz can do without those that changed."""
    warned: set[str] = set()

    def scenario_of(played: PlayedCase) -> Scenario | None:
        try:
            return material.scenario_as_told(played)
        except UsageError as error:
            if study.shows_fact:
                raise  # veracity has no meaning without the fact
            if played.case.scenario not in warned:
                warned.add(played.case.scenario)
                _log.warning("%s; its dialogues are shown without background", error.message)
            return None

    return scenario_of


def study_of(store: ReviewStore, name: str | None) -> ReviewStudy:
    """Return a study by name, or the only one there is.

    Raises:
        UsageError: there is none of this name, or several to choose from.
    """
    if name is not None:
        return store.studies.get(name)
    studies = store.studies.all()
    if not studies:
        raise UsageError(
            f"nobody has reviewed {store.folder} yet",
            f"hipo review serve {typed_path(store.folder)} begins a study",
        )
    if len(studies) > 1:
        listed = ", ".join(study.id for study in studies)
        raise UsageError(f"this run has several studies: {listed}", "choose one with --study NAME")
    return studies[0]


def _check_mode(folder: Path, material: RunMaterial, options: ReviewOptions) -> None:
    """Keep the labels of gold lines from whoever reads them, and the mode gold for these lines."""
    if options.mode == "gold" and material.canary is None:
        raise UsageError(
            f"{folder} holds other dialogues than the gold lines",
            "name a folder that does not exist yet: a run of the gold lines is made there",
        )
    if options.mode != "gold" and material.canary is not None:
        raise UsageError(
            f"{folder} holds the gold lines, whose labels must not be seen by people who read them",
            "add --mode gold",
        )


def _check_dimension(scheme: Scheme, options: ReviewOptions) -> None:
    """Refuse to draw over a dimension that utterances do not have, or in another mode."""
    if options.balance is None:
        return
    if options.mode != "quiz":
        raise UsageError(
            "--balance draws the dialogues of a quiz", "add --mode quiz, or leave it out"
        )
    if options.most is None:
        raise UsageError("--balance says how -n dialogues are drawn", "give -n, too")
    known = [d.id for d in scheme.utterance_dimensions if d.measurement in ("nominal", "ordinal")]
    if options.balance not in known:
        raise UsageError(
            f"--balance {options.balance!r} is no dimension of utterances with labels",
            suggestion(options.balance, known),
        )


def _hidden(scheme: Scheme, options: ReviewOptions) -> Mapping[str, tuple[str, ...]]:
    hidden = dict(quiz_hides(scheme)) if options.mode == "quiz" else {}
    dimensions = {d.id: d for d in scheme.declared}
    for wish in options.hidden:
        name, _, label = wish.partition("=")
        if name not in dimensions or label not in dimensions[name].values:
            known = [f"{d.id}={value}" for d in scheme.declared for value in d.values]
            raise UsageError(f"--hide {wish!r} names no label", suggestion(wish, known))
        hidden[name] = tuple(dict.fromkeys((*hidden.get(name, ()), label)))
    return hidden


def _selection(store: ReviewStore, options: ReviewOptions) -> QueueSelection:
    if options.everything or options.mode == "gold":
        which = "all"
    elif options.mode == "review":
        which = "pending"
    else:
        which = "accepted" if store.judgements.counts().verdicts else "all"
    return QueueSelection(
        which,  # type: ignore[arg-type] # one of the three, see above
        categories=tuple(options.categories),
        reasons=tuple(options.reasons),
        most=options.most,
        balance=options.balance,
    )


def _check_filled(store: ReviewStore, study: ReviewStudy, options: ReviewOptions) -> None:
    if store.sheets.items(study):
        return
    store.studies.drop_empty(study)
    folder = store.folder
    if options.categories or options.reasons:
        raise UsageError(
            f"nothing in {folder} fits the categories and reasons", "leave some of them out"
        )
    if options.mode == "review" and not options.everything:
        raise UsageError(
            f"nothing in {folder} waits for review",
            f"hipo verify {typed_path(folder)} flags what is doubtful; --all reviews every dialogue",
        )
    if store.judgements.counts().verdicts:
        raise UsageError(
            f"no dialogue in {folder} is accepted, and a quiz asks about those",
            "--all asks about every dialogue",
        )
    raise UsageError(f"there is no dialogue in {folder} to ask about", "generate some first")
