"""What a recipe is made of: from files, or from the run that goes on with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeVar

from hipo.app.preparation.broken_packs import with_what_else_is_wrong
from pipeline.recipes.recipe import Recipe
from pipeline.recipes.source import TACTICS_NAMES, tactics_file
from pipeline.run_material import RunMaterial
from prompts.environment import Templates
from scenarios.catalogue import Catalogue, CatalogueEntry, select_facts
from scenarios.errors import InputError, Problem, UsageError
from scenarios.languages import check_languages
from scenarios.located import Located
from scenarios.pack import FAMILIES, PLUS_NAME
from scenarios.real_names import has_real_names, told
from scenarios.schemes.model import Scheme
from scenarios.schemes.registry import load_scheme, scheme_names
from scenarios.selection import names_fact, select_scenarios
from scenarios.spec import Fact, Scenario
from scenarios.validation import check_scenario
from scenarios.variation import Axis, choose_axes, load_axes
from scenarios.worded_catalogue import in_language
from scenarios.wordings import load_wordings

T = TypeVar("T")
PathField = Literal["scheme", "tactics", "variation", "prompt_dir"]


class Ingredients:
    """Finds the parts of a recipe; where a run goes on, what is stored in it comes before what ships.

    Files that the recipe names are another matter: the user asks for them, so they are read, and
    where they differ from what is stored the configurations differ, which is refused later. A file
    that is gone since the run was made is the stored one.
    """

    def __init__(self, recipe: Recipe, stored: RunMaterial | None = None) -> None:
        """Take the recipe, and the material of the run that goes on."""
        self._recipe = recipe
        self._stored = stored
        self.kept: list[str] = []
        """What is taken from the run although other things are installed now, in words."""
        self.new: list[str] = []
        """What would be selected now and was not there when the run was made, in words."""
        self.left_out = ""
        """Which facts are not played with real names, in one line; or nothing."""
        self.packs: Mapping[str, int] = {}
        """How many of the selected scenarios come from which pack, in words."""

    def scheme(self) -> Scheme:
        """Return the label scheme."""
        name = self._recipe.scheme
        stored = None if self._stored is None else self._stored.stored_scheme
        if stored is None or (name in scheme_names() and name != stored.id):
            return load_scheme(name)
        if name not in scheme_names():
            return self._given("scheme", lambda: load_scheme(name), stored)
        if load_scheme(name).fingerprint != stored.fingerprint:
            self.kept.append("the label scheme")
        return stored

    def templates(self) -> Templates:
        """Return the prompt templates."""
        directory = self._recipe.prompt_dir
        sources = None if self._stored is None else self._stored.template_sources
        if sources is None:
            return Templates(directory)
        if directory is not None:
            return self._given(
                "prompt_dir", lambda: Templates(directory), Templates(stored=sources)
            )
        installed = Templates()
        if installed.sources(sources) == sources:
            return installed if not self._has_own_templates() else Templates(stored=sources)
        self.kept.append("the templates")
        return Templates(stored=sources)

    def axes(self) -> dict[str, Axis]:
        """Return the axes to draw from."""
        path, names = self._recipe.variation, self._recipe.vary
        stored = {} if self._stored is None else dict(self._stored.axes)
        if path is not None:
            return choose_axes(names, self._given("variation", lambda: load_axes(path), stored))
        installed = load_axes()
        if any(installed.get(name) != stored[name] for name in names if name in stored):
            self.kept.append("the axes")
        return choose_axes(names, {**installed, **stored})

    def tactics(self) -> Located | None:
        """Return the content of the tactics file; None where the recipe names none."""
        name = self._recipe.tactics
        if name in TACTICS_NAMES:
            return None
        content = None if self._stored is None else self._stored.tactics
        if content is None:
            return tactics_file(Path(name))
        stored = Located(content, "the tactics stored in the run", {(): 1})
        return self._given("tactics", lambda: tactics_file(Path(name)), stored)

    def scenarios(self, scheme: Scheme) -> tuple[list[Scenario], frozenset[tuple[str, str]] | None]:
        """Return the selected scenarios, and the (scenario, fact) pairs if any are named.

        A selection the run was made with before stays what it was then, whatever has been added.
        """
        try:
            pool = _ScenarioPool(self._recipe, scheme, self._stored)
            chosen = pool.chosen()
        except InputError as error:
            dirs = self._recipe.scenario_dirs
            more = with_what_else_is_wrong(error, dirs, scheme, self._recipe.scheme)
            raise more from None
        if pool.kept:
            self.kept.append(f"{pool.kept} scenario{'s' if pool.kept > 1 else ''}")
        self.new += pool.new
        self.left_out = pool.remark_on_names
        pairs = None
        if self._recipe.facts is not None:
            found = select_facts(chosen, self._recipe.facts)
            pairs = frozenset((s.id, fact.id) for s, fact in found)
            with_facts = {scenario_id for scenario_id, _ in pairs}
            chosen = [s for s in chosen if s.id in with_facts]
        self.packs = pool.packs(chosen)
        return chosen, pairs

    def _given(self, field: PathField, load: Callable[[], T], stored: T) -> T:
        """Read a file that the recipe names, or take the stored one where the file is gone."""
        path = getattr(self._recipe, field)
        same = self._stored is not None and getattr(self._stored.recipe, field) == path
        if same and not Path(path).exists():
            self.kept.append(_WORDS[field])
            return stored
        return load()

    def _has_own_templates(self) -> bool:
        return self._stored is not None and bool(self._stored.own_templates)


_WORDS: dict[PathField, str] = {
    "scheme": "the label scheme", "tactics": "the tactics", "variation": "the axes", "prompt_dir": "the templates",
}  # fmt: skip


class _ScenarioPool:
    """The scenarios to choose from: stored ones, files the recipe names, and the library."""

    def __init__(self, recipe: Recipe, scheme: Scheme, stored: RunMaterial | None) -> None:
        self._recipe = recipe
        self._scheme = scheme
        self._stored = {} if stored is None else dict(stored.scenarios)
        self._listed = None if stored is None else _listed_before(recipe, stored)
        known_dirs = () if stored is None else stored.recipe.scenario_dirs
        self._known = () if stored is None else stored.recipe.wordings
        self._dirs = [d for d in recipe.scenario_dirs if d.exists() or d not in known_dirs]
        self._catalogue = self._load()
        self.kept = 0
        """How many are taken from the run although something else is installed, or nothing."""
        self.new: list[str] = []
        """Scenarios and facts that are installed by now, and not in the run."""
        self.left_out: dict[str, tuple[str, ...]] = {}
        """Facts that are not played because they would stand beside real names, by scenario."""
        self._templates: list[Scenario] = []

    def chosen(self) -> list[Scenario]:
        """Return what is selected, in the order of category and id."""
        scenarios = [self._of(name) for name in {**self._catalogue.entries, **self._stored}]
        scenarios.sort(key=lambda scenario: (scenario.category, scenario.id))
        if self._listed is not None:
            chosen = [s for s in scenarios if s.id in self._listed]
            self._check_complete(chosen)
            self.new = self._new_since(scenarios, chosen)
        elif self._recipe.scenarios is not None:
            chosen = self._named(scenarios, self._recipe.scenarios)
        else:
            chosen = [s for s in scenarios if s.scheme == self._scheme.id]
        chosen = self._without_invented_facts(chosen)
        self._check(chosen)
        installed = self._catalogue.scenarios
        self.kept = sum(installed.get(s.id) != s for s in chosen)
        return chosen

    def _way_to_some(self) -> str:
        """Say how there would be a scenario to play, where the folders have those of other schemes."""
        own = [e.scenario for e in self._catalogue.entries.values() if self._is_named(e)]
        if not own:
            return "name a folder of them with --scenario-dir"
        schemes = sorted({scenario.scheme for scenario in own})
        ships = [name for name in schemes if name in scheme_names()]
        given = "|".join(ships) if len(ships) == len(schemes) else "FILE"
        return (
            f"those of --scenario-dir are of the scheme {', '.join(schemes)}: give --scheme {given}"
        )

    def _named(self, scenarios: Sequence[Scenario], patterns: Sequence[str]) -> list[Scenario]:
        """Return what patterns name: of another scheme only where nothing of this one is meant."""
        own = [s for s in scenarios if s.scheme == self._scheme.id]
        named: set[str] = set()
        for pattern in patterns:
            try:
                found = select_scenarios(own, [pattern])
            except UsageError:
                found = select_scenarios(scenarios, [pattern])
            named |= {s.id for s in found}
        return [s for s in scenarios if s.id in named]

    def _without_invented_facts(self, chosen: list[Scenario]) -> list[Scenario]:
        """Return what is left to play with real names, and note what is left out."""
        entries = self._catalogue.entries
        known = {s.id: entries[s.id] for s in chosen if s.id in entries}
        self._templates = [entry.template for entry in known.values()]
        self.left_out = {name: entry.left_out for name, entry in known.items() if entry.left_out}
        playable = [s for s in chosen if self._is_playable(s)]
        if chosen and not playable:
            raise UsageError(
                "nothing is left to play with real names: they stand beside documented facts only, "
                f"and {' and '.join(known)[:200]} {'have' if len(known) > 1 else 'has'} none",
                "leave --real-names out, or choose other scenarios",
            )
        return playable

    @property
    def remark_on_names(self) -> str:
        """What to say of real names: which facts they leave out, or that nobody has one."""
        if not self._recipe.real_names or not self._templates:
            return ""
        if not any(map(has_real_names, self._templates)):
            return "real names change nothing: no scenario that is played has any"
        return told(self.left_out)

    def _is_playable(self, scenario: Scenario) -> bool:
        """Return whether names leave a scenario a fact; what is stored in a run was played."""
        entry = self._catalogue.entries.get(scenario.id)
        return entry is None or entry.is_playable

    def _new_since(self, scenarios: Sequence[Scenario], chosen: Sequence[Scenario]) -> list[str]:
        """Return in words what the same selection would add to the run today."""
        today = self._named(scenarios, self._recipe.scenarios or ("*",))
        known = {scenario.id for scenario in chosen}
        installed = self._catalogue.scenarios
        added = [
            s.id
            for s in today
            if s.scheme == self._scheme.id and s.id not in known and self._is_playable(s)
            if self._has_meant(s, s.facts)
        ]
        facts = [
            f"{scenario.id}.{fact.id}"
            for scenario in chosen
            if scenario.id in installed
            for fact in installed[scenario.id].facts
            if fact.id not in {known_fact.id for known_fact in scenario.facts}
            if self._has_meant(scenario, [fact])
        ]
        return [f"scenario {name}" for name in added] + [f"fact {name}" for name in facts]

    def _has_meant(self, scenario: Scenario, facts: Iterable[Fact]) -> bool:
        """Return whether the recipe names one of the facts, or none at all."""
        named = self._recipe.facts
        return not named or any(names_fact(one, scenario, fact) for one in named for fact in facts)

    def _check_complete(self, chosen: Sequence[Scenario]) -> None:
        """Refuse to shrink the plan of a run whose scenarios are neither stored nor installed."""
        lost = sorted((self._listed or frozenset()) - {scenario.id for scenario in chosen})
        if lost:
            raise UsageError(
                f"the run planned scenarios that cannot be found: {', '.join(lost)}",
                "put them back where they were, or name their folder with --scenario-dir",
            )

    def _load(self) -> Catalogue:
        if self._recipe.only_scenario_dirs and self._recipe.scenario_dirs and not self._dirs:
            return Catalogue({})  # the folders are gone since: the run has what was in them
        try:
            real_names = self._recipe.real_names
            if self._recipe.only_scenario_dirs:
                loaded = Catalogue.own(self._dirs, real_names=real_names)
            else:
                loaded = Catalogue.load([FAMILIES, *self._dirs], real_names=real_names)
        except InputError:
            if self._dirs or self._listed is None:
                raise
            return Catalogue({})  # the run has all it needs
        return self._worded(loaded)

    def _worded(self, catalogue: Catalogue) -> Catalogue:
        """Return the scenarios in the language of the dialogues, as far as wordings are named."""
        recipe = self._recipe
        paths = [path for path in recipe.wordings if path.exists() or path not in self._known]
        if not paths:
            return catalogue
        if len(recipe.languages) > 1:
            raise UsageError(
                f"wordings put scenarios into one language, not {', '.join(recipe.languages)}",
                "make a run for each language",
            )
        language, wordings = recipe.languages[0], load_wordings(paths)
        found = sorted({known for _, known in wordings})
        if "languages" not in recipe.model_fields_set and language not in found:
            raise UsageError(
                f"the wordings are in {', '.join(found)}, and the dialogues are to be in {language}",
                f"give --language {found[0]}, or leave --wordings out",
            )
        return in_language(
            catalogue, language, wordings,
            unreviewed=recipe.unreviewed, real_names=recipe.real_names,
        )  # fmt: skip

    def packs(self, chosen: Iterable[Scenario]) -> dict[str, int]:
        """Return how many of the scenarios come from which pack, what a run holds last."""
        entries = self._catalogue.entries
        return Counter(
            sorted(entries[s.id].pack if s.id in entries else "the run itself" for s in chosen)
        )

    def _of(self, name: str) -> Scenario:
        """Return a scenario: as the recipe's folders have it, else as stored, else as installed."""
        entry = self._catalogue.entries.get(name)
        if entry is not None and (name not in self._stored or self._is_named(entry)):
            return entry.scenario
        return self._stored[name]

    def _is_named(self, entry: CatalogueEntry) -> bool:
        """Return whether a scenario comes out of a folder that the recipe names."""
        file = Path(entry.located.file).resolve()
        return any(file.is_relative_to(folder.resolve()) for folder in self._dirs)

    def _check(self, chosen: Sequence[Scenario]) -> None:
        """Refuse selected scenarios that do not fit the scheme, all problems at once."""
        if not chosen:
            raise UsageError(
                f"there is no scenario of the scheme {self._scheme.id!r}", self._way_to_some()
            )
        for scenario in chosen:
            if scenario.scheme != self._scheme.id:
                raise UsageError(
                    f"scenario {scenario.id!r} is of the scheme {scenario.scheme!r}, "
                    f"not {self._scheme.id!r}",
                    f"give --scheme {scenario.scheme}, or leave the scenario out",
                )
        entries = self._catalogue.entries
        _refuse_examples([entries[s.id] for s in chosen if s.id in entries])
        files = {s.id: entries[s.id].located for s in chosen if s.id in entries}
        check_languages(chosen, self._recipe.languages, files)
        problems: list[Problem] = []
        for entry in self._unproven(chosen):
            found = check_scenario(entry.template, self._scheme, entry.located)
            problems += [problem for problem in found if problem.severity == "error"]
        if problems:
            raise InputError(problems)

    def _unproven(self, chosen: Iterable[Scenario]) -> Iterable[CatalogueEntry]:
        """Yield what was never checked: what ships was, and what is stored in a run."""
        shipped_scheme = self._recipe.scheme in scheme_names()
        for scenario in chosen:
            entry = self._catalogue.entries.get(scenario.id)
            stored = self._stored.get(scenario.id) == scenario
            if entry is not None and not stored and not (shipped_scheme and entry.shipped):
                yield entry


def _refuse_examples(chosen: Iterable[CatalogueEntry]) -> None:
    """Refuse scenarios that examples are written for: who has seen those may have to read these."""
    names = sorted(entry.scenario.id for entry in chosen if entry.for_examples)
    if names:
        raise UsageError(
            f"scenarios of {PLUS_NAME} are never played, since examples are written for them: "
            + ", ".join(names),
            f"choose others with --scenarios, or leave {PLUS_NAME} out of the folders of scenarios; "
            "a copy in a folder of your own is played",
        )


_SELECTING = ("scheme", "scenarios", "facts", "real_names", "only_scenario_dirs")
"""What of a recipe decides which scenarios are selected, but for their folders."""


def _listed_before(recipe: Recipe, stored: RunMaterial) -> frozenset[str] | None:
    """Return the scenarios the run planned for the same selection; None if it is a new one."""
    wish = recipe.model_dump(mode="json")
    for config in reversed(stored.configs):
        identity = config.identity
        if identity is None or not identity.scenarios:
            continue
        before = Recipe.model_validate(config.recipe).model_dump(mode="json")
        same = all(wish[name] == before[name] for name in _SELECTING)
        if same and set(wish["scenario_dirs"]) <= set(before["scenario_dirs"]):
            return frozenset(identity.scenarios)
    return None
