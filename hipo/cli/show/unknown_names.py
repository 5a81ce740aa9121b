"""Tell a filter of ``hipo show`` that lets nothing through from one that names what there is not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pipeline.run_material import RunMaterial, load_material
from pipeline.store.queries.listing import DialogueListing, ListingFilter
from pipeline.store.run_store import RunStore
from quality.gates.registry import GATES
from quality.verification.flags import judge_codes
from scenarios.arms import Arm
from scenarios.errors import UsageError
from scenarios.spelling import suggestion

_OPTIONS = {
    "scenarios": "--scenario", "facts": "--fact", "goals": "--goal", "strategies": "--strategy",
    "flags": "--flag", "labels": "--label",
}  # fmt: skip
"""Options that take names, by the field of the filter."""


def refuse_unknown(
    folder: Path, wanted: ListingFilter, arms: Mapping[str, Arm], listing: DialogueListing
) -> None:
    """Do nothing if a run knows every name that a filter holds; capitals do not matter.

    Args:
        folder: the run.
        wanted: the filter.
        arms: the arms of the run by id.
        listing: of the dialogues of the run.

    Raises:
        UsageError: one of the names is none of this run's.
    """
    played = {arm.strategy for arm in arms.values()}
    _refuse("--strategy", wanted.strategies, played, "strategies of this run")
    for beginning in wanted.arms or ():
        if not any(arm.startswith(beginning) for arm in arms):
            raise _unknown("--arm", beginning, arms, "arms of this run")
    with RunStore.open(folder, readonly=True) as store:
        material = load_material(store)
    scenarios = material.scenario_names
    _refuse("--scenario", wanted.scenarios, scenarios, "scenarios of this run")
    if wanted.facts:
        facts = (fact.id for one in material.scenarios.values() for fact in one.facts)
        _refuse("--fact", wanted.facts, facts, "facts of this run")
    _refuse_labels(wanted, material)
    if wanted.flags and material.stored_scheme is not None:
        _refuse("--flag", wanted.flags, _codes(material, listing), "flags of this run")


def without_dialogue(wanted: ListingFilter, listing: DialogueListing) -> Iterator[str]:
    """Say of every name of a filter that no dialogue of the run has which ones there are."""
    for field, option in _OPTIONS.items():
        asked = getattr(wanted, field) or ()
        held = listing.held(field) if asked else []
        known = {name.casefold() for name in held}
        for one in asked:
            name = one if isinstance(one, str) else "=".join(part for part in one if part)
            if field == "labels" and "=" not in name:
                there = any(label.partition("=")[2] == name.casefold() for label in known)
            else:
                there = name.casefold() in known
            if not there:
                hint = suggestion(name, held, listing="there are") or "there are none"
                yield f"{option} {name}: no dialogue of the run has it; {hint}"


def _codes(material: RunMaterial, listing: DialogueListing) -> list[str]:
    """Return the codes of flags that the run has, and those that its gates and judges can raise.

    That includes gates of plugins that its recipe or one of its policies names, and what judges of
    plugins asked, whether anything was flagged or not.
    """
    policies = [material.policy(name) or {} for kind, name, _ in material.items if kind == "policy"]
    asked = [material.recipe.verification.gates, *(one.get("gates") for one in policies)]
    gates = [
        name
        for settings in asked
        if isinstance(settings, Mapping)
        for name, own in settings.items()
        if isinstance(own, Mapping)  # else it is a threshold
    ]
    forms = ("external_{}", "self_{}", "{}_external", "{}_self")
    judged = [form.format(name) for name in listing.held("dimensions") for form in forms]
    raised = judge_codes(material.scheme)
    return list(dict.fromkeys([*listing.held("flags"), *gates, *GATES.shipped, *raised, *judged]))


def _refuse_labels(wanted: ListingFilter, material: RunMaterial) -> None:
    scheme = material.stored_scheme
    if scheme is None:
        return
    if scheme.assigned:
        _refuse("--goal", wanted.goals, scheme.goal.values, f"labels of {scheme.assigned}")
    said = {dimension.id: dimension for dimension in scheme.utterance_dimensions}
    for name, label in wanted.labels or ():
        if name is not None:
            _refuse("--label", [name], said, "dimensions of utterances")
        of = [d for d in said.values() if name is None or d.id.casefold() == name.casefold()]
        if all(dimension.labels for dimension in of):
            labels = dict.fromkeys(value for dimension in of for value in dimension.values)
            listing = f"labels of {of[0].id}" if len(of) == 1 else "labels of utterances"
            _refuse("--label", [label], labels, listing)


def _refuse(option: str, names: Iterable[str] | None, known: Iterable[str], listing: str) -> None:
    there = sorted(known) if isinstance(known, set | frozenset) else list(known)
    folded = {name.casefold() for name in there}
    for name in names or ():
        if name.casefold() not in folded:
            raise _unknown(option, name, there, listing)


def _unknown(option: str, name: str, known: Iterable[str], listing: str) -> UsageError:
    return UsageError(
        f"{option}: found {name!r}, which is none of this run's",
        suggestion(name, known, listing=listing) or f"{listing}: none",
    )
