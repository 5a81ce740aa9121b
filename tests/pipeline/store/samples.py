"""Small cases, dialogues and request rows for the tests of the store."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pipeline.store.calls import ChoiceRow, RequestRow
from pipeline.store.run_store import RunStore
from scenarios.case import Case, make_case
from scenarios.dialogue import Attempt, Critique, Dialogue, Draft, TacticLabel, Trace, Turn
from scenarios.run_configuration import RunConfiguration

ARM = "arm-a"
CONFIG = RunConfiguration({"scenarios": ["used_car"], "seed": 7}, cases=2)


def begun(folder: Path, *arms: str) -> RunStore:
    """Return a new run with the given arms."""
    store = RunStore.create(folder, CONFIG)
    for arm in arms or (ARM,):
        store.add_arm(arm, {"strategy": "direct"})
    return store


def case(repetition: int = 0) -> Case:
    """Return one of many cases."""
    return make_case(
        scheme="hipo",
        scenario="used_car",
        scenario_fingerprint="f" * 64,
        fact="odometer",
        goal="deception",
        turns=2,
        language="en",
        variation={"style": "curt", "persona": "doctor"},
        repetition=repetition,
        seed=7,
    )


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
    turns = (
        Turn(0, "initiator", "Was it ever repaired?", "opening"),
        Turn(1, "responder", "Never.", "opening"),
        Turn(2, "initiator", "And the engine?", "improvised"),
        Turn(3, "responder", said, "improvised", (("intention", "Convince"),), "deception", tactic,
             trace),
    )  # fmt: skip
    return Dialogue(case(repetition), arm, turns)


def request(**changes: object) -> RequestRow:
    """Return a request that went well, changed where named."""
    row = RequestRow(
        epoch=0,
        role="responder",
        arm=ARM,
        case=case().id,
        turn=3,
        purpose="responder",
        model="compatible/m",
        sent_at=1_700_000_000.0,
        latency_s=0.5,
        code="ok",
        status=None,
        message="",
        request_id="r-1",
        structured="native",
        omitted=(),
        n_asked=1,
        n_got=1,
        prompt_tokens=100,
        completion_tokens=20,
        cached_tokens=64,
        reasoning_tokens=4,
        cost_usd=0.001,
        charged_usd=0.001,
        charged_tokens=120,
    )
    return replace(row, **changes)  # type: ignore[arg-type]


def choice(sample: int = 0, epoch: int = 0, status: str = "ok", text: str = "{}") -> ChoiceRow:
    """Return a choice."""
    return ChoiceRow(sample, epoch, status, "stop", text)
