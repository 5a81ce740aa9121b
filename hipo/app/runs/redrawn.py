"""Whether other labels are wanted of the cases of a run than when its dialogues were made."""

from __future__ import annotations

from hipo.app.preparation.prepared import Prepared
from pipeline.aims import Aim
from pipeline.store.run_store import RunStore
from pipeline.tactics.tactics import TacticDesign
from scenarios.dialogue import Dialogue
from scenarios.errors import UsageError
from scenarios.spec import Scenario

LOOKED_AT = 8
"""Dialogues that are compared, the last ones: what was told once is not told again."""


def redrawn_in_words(prepared: Prepared, store: RunStore) -> str:
    """Return one line where a run goes on with another design of wanted labels; or nothing.

    What is wanted is drawn anew for every case that is played. Another selection draws otherwise, and
    so may another version of hipo: the goals of a pair, one played before and one now, then differ in
    what is wanted of them.
    """
    if prepared.design is None:
        return ""
    last = max(0, store.reader.newest - LOOKED_AT)
    for dialogue in store.reader.dialogues(traces=False, after=last):
        scenario = prepared.scenarios.get(dialogue.case.scenario)
        if scenario is not None and _is_redrawn(prepared.design, dialogue, scenario):
            return (
                "going on with other wanted labels than the dialogues that are there had: scenarios, "
                "goals or turns are selected otherwise, or another version of hipo draws them"
            )
    return ""


def _is_redrawn(design: TacticDesign, dialogue: Dialogue, scenario: Scenario) -> bool:
    case = dialogue.case
    if case.scenario_fingerprint != scenario.fingerprint:  # its text has changed, which is told
        return False
    if Aim.of(case) is not None:  # a quota asked for it
        return False
    try:
        return any(
            turn.wanted != design.wanted(case, scenario, place, turn.role)
            for place, turn in enumerate(dialogue.answers())
        )
    except UsageError:  # its goal or its length is selected no more
        return False
