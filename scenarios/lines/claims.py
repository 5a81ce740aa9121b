"""Which claims a line makes, as far as that is written down: fixed lines and stage lines."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache

from scenarios.lines.library import spoken_stage_lines
from scenarios.pack import LIBRARY, read_scenario, scenario_files
from scenarios.spec import Scenario

Claims = tuple[str, ...]


def claims_made(scenario: Scenario, text: str) -> Claims | None:
    """Return the ids of the claims that whoever says ``text`` makes; None where nobody has said.

    Known are the fixed lines of the scenario, and the lines written for it that ship.

    Args:
        scenario: with its placeholders filled.
        text: what was said, word for word; letter case and white space do not matter.
    """
    plain = _plain(text)
    for said, claims in _fixed_lines(scenario):
        if _plain(said) == plain:
            return claims
    claims_of_line = _stage_claims(scenario.id).get(plain)
    known = {claim.id for claim in scenario.claims}
    return (
        None if claims_of_line is None or not known.issuperset(claims_of_line) else claims_of_line
    )


def _fixed_lines(scenario: Scenario) -> list[tuple[str, Claims]]:
    opening = scenario.opening
    exchanges = opening.shared.exchanges if opening.shared else ()
    return [
        *((exchange.answer, exchange.claims) for exchange in exchanges),
        *((statement.text, statement.claims) for _, statement in opening.statements),
    ]


@cache
def _stage_claims(scenario_id: str) -> Mapping[str, Claims]:
    """Return the claims of the stage lines of a scenario that ships, by the plain text."""
    for path in scenario_files(LIBRARY):
        if path.stem == scenario_id:
            lines = spoken_stage_lines(read_scenario(path, LIBRARY)[0])
            return {_plain(line.text): line.claims for line in lines.responder} if lines else {}
    return {}


@lru_cache(maxsize=4096)
def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
