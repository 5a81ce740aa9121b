"""Whose lines the two models of actors write, by the names that scenarios give their roles."""

from __future__ import annotations

from collections.abc import Iterable

from scenarios.spec import Scenario

_MOST = 4
"""Roles that are named one by one."""


def speakers(scenarios: Iterable[Scenario]) -> dict[str, str]:
    """Return who speaks by the model of ``responder`` and who by that of ``initiator``.

    The one plays the roles whose words are labelled, the other all others. Without a flow both are
    called like their model.
    """
    found: dict[str, dict[str, None]] = {"responder": {}, "initiator": {}}
    for scenario in scenarios:
        for key, role in scenario.roles.items():
            if role.speaks:
                found["responder" if key in scenario.labelled_roles else "initiator"][key] = None
    many = {"responder": "labelled roles", "initiator": "other roles"}
    return {
        model: ", ".join(roles) if len(roles) <= _MOST else many[model]
        for model, roles in found.items()
        if roles
    }


def turn_unit(scenarios: Iterable[Scenario]) -> str:
    """Return what the length of a dialogue counts: with a flow its labelled turns."""
    return "labelled turn" if any(one.flow for one in scenarios) else "improvised exchange"
