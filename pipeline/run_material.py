"""What the dialogues of a run are made of, stored in the run and read from nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import orjson
from pydantic import ValidationError

from pipeline.recipes.recipe import Recipe
from pipeline.store.config_epochs import ConfigEpoch
from pipeline.store.materials import MaterialItem, MaterialKind
from pipeline.store.run_store import RunStore
from pipeline.store.sqlite import DATABASE, damaged, parsing
from prompts.actors import ActorPrompts
from prompts.environment import Templates
from scenarios.case import Case, PlayedCase
from scenarios.dialogue import Dialogue, TacticLabel
from scenarios.errors import UsageError
from scenarios.fingerprint import fingerprint
from scenarios.plugins import note_stored_plugins
from scenarios.run_configuration import RunConfiguration, RunIdentity
from scenarios.schemes.model import Scheme
from scenarios.schemes.registry import as_shipped
from scenarios.spec import Scenario
from scenarios.terms import LabelValue
from scenarios.variation import Axis, as_told

T = TypeVar("T")

HOW_TO_ADOPT = (
    "put the file back where it was when the run was made, or a scenario into the folder scenarios "
    "of the run, and open the run again"
)


@dataclass(frozen=True)
class RunMaterial:
    """Everything a later room needs to read a run's dialogues in their context."""

    folder: Path
    configs: tuple[RunConfiguration, ...]
    """What the run was begun and continued with, oldest first."""
    items: dict[tuple[MaterialKind, str, str], str] = field(repr=False)
    """Content by kind, name and hash, oldest first."""
    by_epoch: Mapping[int, RunConfiguration] = field(default_factory=dict, repr=False)
    """The same configurations by their numbers, which dialogues carry."""
    _scenarios: dict[tuple[str, str], Scenario] = field(default_factory=dict, repr=False)
    _admitted: set[tuple[str, LabelValue]] = field(default_factory=set, repr=False)
    """Labels that the scheme has, by dimension, as far as they were met."""

    @cached_property
    def recipe(self) -> Recipe:
        """The newest recipe.

        Raises:
            UsageError: it was written by another version of hipo.
        """
        try:
            # Runs made before there was a choice open by goal.
            return Recipe.model_validate({"openings": "by-goal", **self.configs[-1].recipe})
        except ValidationError as error:
            raise UsageError(
                f"the recipe of {self.folder} cannot be read: {error.errors()[0]['msg']}",
                "it was written by another version of hipo",
            ) from None

    @property
    def identity(self) -> RunIdentity | None:
        """What decides the dialogues; None where a run was put together by hand."""
        return self.configs[-1].identity

    @property
    def canary(self) -> str | None:
        """The string that marks lines for measuring alone; None: the run holds no such lines."""
        return None if self.identity is None else self.identity.canary

    @cached_property
    def scheme(self) -> Scheme:
        """The scheme of the labels.

        Raises:
            UsageError: the run was made by an older hipo, and its scheme was not found.
        """
        scheme = self.stored_scheme
        if scheme is None:
            raise self._lost(f"the scheme {self.recipe.scheme!r}")
        return scheme

    @cached_property
    def stored_scheme(self) -> Scheme | None:
        """The scheme of the labels; None where it is not stored."""
        wanted = None if self.identity is None else self.identity.scheme_fingerprint
        content = self._content("scheme", None, wanted)
        stored = self._parsed("scheme", Scheme.model_validate_json, content)
        return None if stored is None else as_shipped(stored)

    @cached_property
    def scenarios(self) -> Mapping[str, Scenario]:
        """The scenarios by id, the newest version of each, in the order of category and id."""
        newest = {name: hash_ for kind, name, hash_ in self.items if kind == "scenario"}
        if self.identity is not None:
            newest |= {
                name: hash_
                for name, hash_ in self.identity.scenarios.items()
                if ("scenario", name, hash_) in self.items
            }
        found = [self._scenario(name, hash_) for name, hash_ in newest.items()]
        return {s.id: s for s in sorted(found, key=lambda s: (s.category, s.id))}

    @cached_property
    def outdated(self) -> Mapping[str, str]:
        """The ids of scenarios whose text was changed while the run was made, by each earlier hash."""
        named = [
            config.identity.scenarios for config in self.configs if config.identity is not None
        ]
        newest = {name: hash_ for scenarios in named for name, hash_ in scenarios.items()}
        return {
            hash_: name
            for scenarios in named
            for name, hash_ in scenarios.items()
            if newest[name] != hash_
        }

    @property
    def scenario_names(self) -> frozenset[str]:
        """The ids of the scenarios that are stored."""
        return frozenset(name for kind, name, _ in self.items if kind == "scenario")

    def stored_scenario(self, case: Case) -> Scenario | None:
        """Return the scenario of a case as it was when the case was played; None if it is lost."""
        if ("scenario", case.scenario, case.scenario_fingerprint) not in self.items:
            return None
        return self._scenario(case.scenario, case.scenario_fingerprint)

    def scenario_of(self, case: Case) -> Scenario:
        """Return the scenario of a case as it was when the case was played.

        Raises:
            UsageError: the run was made by an older hipo, and the scenario was not found.
            StoreDamaged: the scenario has not the fact that the case is about.
        """
        scenario = self.stored_scenario(case)
        if scenario is None:
            raise self._lost(f"the scenario {case.scenario!r}")
        if case.fact and all(fact.id != case.fact for fact in scenario.facts):
            what = f"the fact {case.fact!r} of the case {case.id}"
            raise damaged(self.folder / DATABASE, f"{what} is none of {case.scenario!r}")
        return scenario

    def scenario_as_told(self, played: PlayedCase) -> Scenario:
        """Return the scenario of a dialogue with what everybody in it was told; see :func:`as_told`.

        Raises:
            UsageError, StoreDamaged: see :meth:`scenario_of`.
        """
        case = played.case
        return as_told(self.scenario_of(case), self.axes_of(played), case.variation)

    def refuse_odd(self, dialogue: Dialogue, scenario: Scenario) -> None:
        """Do nothing where those speak who are in the scene, and declare labels of the scheme.

        Raises:
            StoreDamaged: a turn is of another role, or has another label.
        """
        for turn in dialogue.turns:
            odd = "" if turn.role in scenario.roles else f"is by {turn.role!r}"
            for label in turn.tactic:
                if (label.dimension, label.value) not in self._admitted:
                    odd = odd or self._learn(label)
            if odd:
                where = f"turn {turn.index} of {dialogue.case.id}/{dialogue.arm}"
                raise damaged(self.folder / DATABASE, f"{where} {odd}")

    def _learn(self, label: TacticLabel) -> str:
        """Return what is odd about a label that was not met before; nothing where it is sound."""
        for dimension in self.scheme.dimensions:
            if dimension.id == label.dimension and dimension.admits(label.value):
                self._admitted.add((label.dimension, label.value))
                return ""
        return f"has {label.value!r} as its {label.dimension}"

    @cached_property
    def templates(self) -> Templates:
        """The actors' prompt templates.

        Raises:
            UsageError: the run was made by an older hipo, and its templates were not found.
        """
        sources = self.template_sources
        if sources is None:
            raise self._lost("its prompt templates")
        return Templates(stored=sources)

    @property
    def template_sources(self) -> Mapping[str, str] | None:
        """The sources of the actors' templates by name; None where they are not stored."""
        wanted = None if self.identity is None else self.identity.templates
        content = self._content("templates", "", wanted)
        return self._parsed("templates", orjson.loads, content)

    @property
    def own_templates(self) -> Mapping[str, str]:
        """The templates the user put in place of shipped ones, judges' and evaluators' included."""
        content = self._content("own_templates", "", None)
        return self._parsed("own templates", orjson.loads, content) or {}

    @cached_property
    def axes(self) -> Mapping[str, Axis]:
        """The variation axes by name, as far as they are stored."""
        return self._axes_in(self.configs[-1])

    def _axes_in(self, config: RunConfiguration) -> Mapping[str, Axis]:
        """Return the variation axes of one configuration by name, as far as they are stored."""
        drawn = {} if config.identity is None else config.identity.axes
        stored = {name: self._content("axis", name, hash_) for name, hash_ in drawn.items()}
        axes = {n: self._parsed(f"axis {n}", _axis, c) for n, c in stored.items()}
        return {name: axis for name, axis in axes.items() if axis is not None}

    def axes_of(self, played: PlayedCase) -> Mapping[str, Axis]:
        """Return the axes with what was drawn for a case, as they were when it was played.

        A run may go on with other axes than those that its first cases were drawn from. Where those of
        the time are not known, the newest version counts that has what was drawn. What has no texts, as
        opening wordings, is not among them.
        """
        if not self._axes_ever:
            return {}
        drawn = dict(played.case.variation)
        then = self._axes_by_epoch.get(played.config_epoch, {})
        found: dict[str, Axis] = {}
        for name, axis in (*then.items(), *self._axes_ever):
            values = {drawn[key] for key in axis.keys(name) if key in drawn}
            if values and values <= {value.id for value in axis.values}:
                found.setdefault(name, axis)
        ordered = dict.fromkeys([*self.axes, *found])
        return {name: found[name] for name in ordered if name in found}

    @cached_property
    def _axes_by_epoch(self) -> Mapping[int, Mapping[str, Axis]]:
        """The axes of every configuration, by its number."""
        return {epoch: self._axes_in(config) for epoch, config in self.by_epoch.items()}

    @cached_property
    def _axes_ever(self) -> tuple[tuple[str, Axis], ...]:
        """All versions of the axes that are stored, the newest first."""
        stored = [(name, text) for (kind, name, _), text in self.items.items() if kind == "axis"]
        axes = [(name, self._parsed(f"axis {name}", _axis, text)) for name, text in stored[::-1]]
        return tuple((name, axis) for name, axis in axes if axis is not None)

    @property
    def tactics(self) -> Mapping[str, object] | None:
        """The content of the tactics file; None where there was none, or it is not stored."""
        wanted = "" if self.identity is None else self.identity.tactics
        content = self._content("tactics", "", wanted)
        return self._parsed("tactics", orjson.loads, content)

    def policy(self, name: str) -> Mapping[str, object] | None:
        """Return the newest policy of a name and the thresholds of the gates beside it.

        Returns:
            ``policy`` and ``gates`` as plain data; None where an older hipo verified the run.
        """
        return self._parsed(f"policy {name}", orjson.loads, self._content("policy", name, None))

    @cached_property
    def juror_schemes(self) -> Mapping[str, tuple[Scheme, ...]]:
        """The schemes that jurors labelled by, other than the run's own: states of each id, newest last."""
        found: dict[str, tuple[Scheme, ...]] = {}
        for (kind, name, _), text in self.items.items():
            if kind == "juror_scheme":
                scheme = self._parsed(f"scheme {name}", Scheme.model_validate_json, text)
                others = (one for one in found.get(name, ()) if one != scheme)
                found[name] = (*others, *(() if scheme is None else (scheme,)))
        return found

    def _scenario(self, name: str, hash_: str) -> Scenario:
        key = (name, hash_)
        if key not in self._scenarios:
            content = self.items["scenario", name, hash_]
            with parsing(self.folder / DATABASE, f"the stored scenario {name}"):
                self._scenarios[key] = Scenario.model_validate_json(content)
        return self._scenarios[key]

    def _content(self, kind: MaterialKind, name: str | None, hash_: str | None) -> str | None:
        """Return the newest content that fits; None stands for any name or hash."""
        for (one_kind, one_name, one_hash), content in reversed(self.items.items()):
            fits = (name is None or name == one_name) and (hash_ is None or hash_ == one_hash)
            if kind == one_kind and fits:
                return content
        return None

    def _parsed(self, what: str, parse: Callable[[str], T], content: str | None) -> T | None:
        """Parse what is stored, if it is.

        Raises:
            StoreUnusable: it is not what hipo stores.
        """
        with parsing(self.folder / DATABASE, f"the stored {what}"):
            return None if content is None else parse(content)

    def _lost(self, what: str) -> UsageError:
        return UsageError(f"{self.folder} does not hold {what} it was made with", HOW_TO_ADOPT)


def load_material(store: RunStore) -> RunMaterial:
    """Read what the dialogues of a run are made of, as text; it is parsed when it is needed.

    Raises:
        UsageError: the recipe was written by another version of hipo.
    """
    items = {(item.kind, item.name, item.hash): item.content for item in store.materials()}
    by_epoch = {epoch.epoch: epoch.config for epoch in store.configs()}
    material = RunMaterial(store.folder, tuple(by_epoch.values()), items, by_epoch)
    note_stored_plugins(material.recipe.plugins)
    return material


def material_items(
    *,
    scheme: Scheme,
    scenarios: Iterable[Scenario],
    axes: Mapping[str, Axis] | None = None,
    tactics: object = None,
    prompts: ActorPrompts | None = None,
) -> list[MaterialItem]:
    """Return what a run is made of in the form it is stored in.

    Args:
        scheme: the labels.
        scenarios: with their placeholders filled.
        axes: the variation axes that are drawn from.
        tactics: the content of the tactics file as plain data; None without one.
        prompts: of the actors.
    """
    items = [MaterialItem("scheme", scheme.id, scheme.fingerprint, _json(_plain(scheme)))]
    items += [MaterialItem("scenario", s.id, s.fingerprint, _json(_plain(s))) for s in scenarios]
    for name, axis in (axes or {}).items():
        content = axis.model_dump(mode="json", by_alias=True)
        items.append(MaterialItem("axis", name, axis.fingerprint, _json(content)))
    if tactics is not None:
        items.append(MaterialItem("tactics", "", fingerprint(tactics), _json(tactics)))
    if prompts is not None:
        sources = prompts.templates.sources(prompts.names)
        items.append(MaterialItem("templates", "", prompts.fingerprint, _json(sources)))
        own = prompts.templates.own
        if own is not None:
            items.append(MaterialItem("own_templates", "", fingerprint(own), _json(own)))
    return items


def juror_scheme_item(scheme: Scheme) -> MaterialItem:
    """Return a scheme that jurors label by in the form it is stored in."""
    plain = _plain(scheme)
    return MaterialItem("juror_scheme", scheme.id, fingerprint(plain), _json(plain))


def named_items(
    epochs: Iterable[ConfigEpoch], cases: Iterable[tuple[str, str]]
) -> set[tuple[MaterialKind, str, str]]:
    """Return kind, name and hash of everything that configurations and cases refer to.

    Args:
        epochs: the configurations of a run.
        cases: id and fingerprint of every scenario that cases were made from.
    """
    named: set[tuple[MaterialKind, str, str]] = {("scenario", *case) for case in cases}
    for epoch in epochs:
        identity = epoch.config.identity
        if identity is None:
            continue
        named.add(("scheme", identity.scheme, identity.scheme_fingerprint))
        named |= {("scenario", *scenario) for scenario in identity.scenarios.items()}
        named |= {("axis", *axis) for axis in identity.axes.items()}
        # Imported dialogues of hipo 0.1 name no templates: any will do to render their prompts.
        named.add(("templates", "", identity.templates))
        if len(identity.tactics) == HASH_DIGITS:
            named.add(("tactics", "", identity.tactics))
    return named


HASH_DIGITS = 64
"""Of the fingerprint of a tactics file; ``free``, ``balanced`` and ``imported`` are shorter."""


def _axis(content: str) -> Axis:
    return Axis.model_validate_json(content)


def _plain(model: Scheme | Scenario) -> object:
    return model.model_dump(mode="json", by_alias=True)


def _json(content: object) -> str:
    return orjson.dumps(content).decode()
