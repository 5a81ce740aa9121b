"""What a gate returns, looked at before it is stored: a gate may be a plugin's."""

from __future__ import annotations

from collections.abc import Iterable

from scenarios.dialogue import Dialogue
from scenarios.foreign_records import checked_records
from scenarios.verdicts import Flag


def checked_flags(returned: object, gate: str, dialogue: Dialogue) -> tuple[Flag, ...]:
    """Return the flags that a gate raised on a dialogue.

    Raises:
        TypeError: they are none, or a field is of another type.
        ValueError: one is on another dialogue or no turn of it, or has another code than the gate.
    """
    who = f"the gate {gate!r}"
    if isinstance(returned, Iterable) and not isinstance(returned, str):
        returned = list(returned)
    flags = checked_records(Flag, returned, who)
    for flag in flags:
        if (flag.case, flag.arm) != dialogue.key:
            raise ValueError(f"{who} flagged the dialogue {flag.case}/{flag.arm}, not this one")
        if flag.code != gate:
            raise ValueError(f"{who} returned a flag {flag.code!r}: the code is the gate's name")
        if flag.turn is not None and flag.turn not in {turn.index for turn in dialogue.turns}:
            raise ValueError(f"{who} flagged turn {flag.turn}, which is not there")
    return flags
