"""What decides the dialogues of a run, put together from a recipe, and how two such differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from scenarios.arms import Arm
from scenarios.located import shortened
from scenarios.run_configuration import RunIdentity
from scenarios.schemes.model import Scheme
from scenarios.spec import Scenario

DIALOGUE_VERSION = 2
"""Raised whenever the code would ask models otherwise for the same configuration.

How answers that cannot be used are asked for again is no part of it: a run that was begun before
such a change goes on after it.
"""


def describe(
    *,
    scheme: Scheme,
    templates: str,
    arms: Sequence[Arm],
    scenarios: Iterable[Scenario],
    tactics: str,
    openings: str,
    variation: Mapping[str, str],
    seed: int,
    real_names: bool,
    plugins: Mapping[str, Mapping[str, str]],
) -> RunIdentity:
    """Return everything that decides what the dialogues of a run are.

    Args:
        scheme: the labels.
        templates: fingerprint of the prompt templates.
        arms: strategy, models and parameters.
        scenarios: the scenarios that are selected.
        tactics: ``free``, ``balanced``, or the fingerprint of a tactics file.
        openings: ``shared`` or ``by-goal``.
        variation: the axes that are drawn from, each with the fingerprint of its values.
        seed: the seed of the run.
        real_names: whether placeholders are filled with real names.
        plugins: origin and fingerprint of those that are used, by point and name.
    """
    return RunIdentity(
        dialogue_version=DIALOGUE_VERSION,
        scheme=scheme.id,
        scheme_fingerprint=scheme.fingerprint,
        templates=templates,
        tactics=tactics,
        openings=openings,
        axes=dict(variation),
        seed=seed,
        real_names=real_names,
        arms={arm.id: arm for arm in arms},
        scenarios={scenario.id: scenario.fingerprint for scenario in scenarios},
        plugins=dict(plugins),
    )


def joined(epochs: Sequence[RunIdentity]) -> RunIdentity:
    """Return the last of at least one, with the arms and scenarios of all of them."""
    arms: dict[str, Arm] = {}
    scenarios: dict[str, str] = {}
    plugins: dict[str, Mapping[str, str]] = {}
    for identity in epochs:
        arms |= identity.arms
        scenarios |= identity.scenarios
        plugins |= identity.plugins
    return replace(epochs[-1], arms=arms, scenarios=scenarios, plugins=plugins)


def differences(before: RunIdentity, now: RunIdentity) -> list[str]:
    """List what would make other dialogues than before, one ``field: old → new`` each.

    Arms and scenarios that only ``before`` has are no difference, nor are scenarios that only
    ``now`` has: they are a matter of selection.
    """
    found = [
        _change(key, getattr(before, key), getattr(now, key))
        for key in ("dialogue_version", "tactics", "openings", "seed", "real_names")
        if getattr(before, key) != getattr(now, key)
    ]
    if before.scheme != now.scheme:
        found.append(_change("scheme", before.scheme, now.scheme))
    elif before.scheme_fingerprint != now.scheme_fingerprint:
        found.append(f"scheme {now.scheme}: its content has changed")
    # Templates are known by what they make of the scheme: with another one they always differ.
    elif before.templates != now.templates:
        found.append(_change("prompt templates", before.templates[:12], now.templates[:12]))
    if sorted(before.axes) != sorted(now.axes):
        found.append(_change("vary", sorted(before.axes), sorted(now.axes)))
    else:
        changed = [axis for axis in now.axes if before.axes[axis] != now.axes[axis]]
        found += [f"variation axis {axis}: its values have changed" for axis in changed]
    for extension, plugin in now.plugins.items():
        stored = before.plugins.get(extension, plugin)
        if stored["fingerprint"] != plugin["fingerprint"]:
            origins = dict.fromkeys((stored["origin"], plugin["origin"]))
            found.append(f"{extension}: its plugin has changed ({' → '.join(origins)})")
    found += _changed_scenarios(before.scenarios, now.scenarios)
    return found + _changed_arms(before.arms, now.arms)


def _changed_scenarios(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    changed = [name for name in now if name in before and before[name] != now[name]]
    return [f"scenario {name}: its content has changed" for name in changed]


def _changed_arms(before: Mapping[str, Arm], now: Mapping[str, Arm]) -> list[str]:
    """Compare every new arm with the one of the same strategy, field by field."""
    found: list[str] = []
    for arm_id, arm in now.items():
        if arm_id in before:
            continue
        relatives = [other for other in before.values() if other.strategy == arm.strategy]
        if not relatives:
            known = sorted({other.strategy for other in before.values()})
            found.append(_change("strategy", ", ".join(known), arm.strategy))
            continue
        old, new = _flat(relatives[-1]), _flat(arm)
        found += [
            _change(f"{field} ({arm.strategy})", old.get(field), new.get(field))
            for field in dict.fromkeys([*old, *new])
            if old.get(field) != new.get(field)
        ]
    return list(dict.fromkeys(found))


def _flat(arm: Arm) -> dict[str, object]:
    """Return the fields of an arm under the names people know them by."""
    fields = dict(arm.settings)
    for role, model in arm.models.items():
        parameters = model.fields().items()
        fields |= {f"{role} {k}": v for k, v in parameters if k not in ("provider", "model")}
        fields[f"{role} model"] = model.name
    return fields


def _change(field: str, old: object, new: object) -> str:
    return f"{field}: {_shown(old)} → {_shown(new)}"


def _shown(value: object) -> str:
    return value if isinstance(value, str) else shortened(value)
