"""Cases and dialogues for the tests of the store: everything a turn can hold is in them."""

from __future__ import annotations

from pathlib import Path

from pipeline.store.call_rows import RequestRow
from pipeline.store.run_store import RunStore
from scenarios.case import Case
from scenarios.dialogue import Attempt, Critique, Dialogue, Draft, TacticLabel, Trace
from scenarios.run_configuration import RunConfiguration
from tests.factories import ARM, make_case, make_dialogue, make_request_row

CONFIG = RunConfiguration({"scenarios": ["used_car"], "seed": 7}, cases=2)


def begun(folder: Path, *arms: str) -> RunStore:
    """Return a new run with the given arms."""
    store = RunStore.create(folder, CONFIG)
    for arm in arms or (ARM,):
        store.add_arm(arm, {"strategy": "direct"})
    return store


def case(repetition: int = 0) -> Case:
    """Return one of many cases, with drawn values."""
    drawn = {"style": "curt", "persona": "doctor"}
    return make_case(turns=2, variation=drawn, repetition=repetition)


def dialogue(repetition: int = 0, arm: str = ARM, said: str = "It ran like a clock.") -> Dialogue:
    """Return a dialogue with an opening and one revised answer."""
    tactic = (
        TacticLabel("intention", "Convince", "so that they buy", raw="convincing"),
        TacticLabel("veracity", "Quality"),
    )
    draft = Draft(said, "deception", tactic)
    trace = Trace(
        "reflective",
        attempts=(Attempt(draft, (Critique("veracity", True, "it is false"),)), Attempt(draft)),
        chosen=1,
    )
    return make_dialogue(
        "And the engine?", said, case=case(repetition), arm=arm, tactics=[tactic],
        opening=("Was it ever repaired?", "Never."), wanted=(("intention", "Convince"),),
        trace=trace,
    )  # fmt: skip


def request(**changes: object) -> RequestRow:
    """Return a request for the first of the cases, changed where named."""
    return make_request_row(**({"case": case().id} | changes))
