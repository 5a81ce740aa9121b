"""A dialogue as plain data, for programs."""

from __future__ import annotations

from collections.abc import Mapping

from hipo.cli.terminal.console import plain
from scenarios.dialogue import Dialogue, Trace, Turn


def dialogue_as_json(
    dialogue: Dialogue, arm: Mapping[str, object], *, trace: bool
) -> dict[str, object]:
    """Return what ``hipo show RUN ID --format json`` prints.

    ``id``; ``case``: an object with ``id``, ``scheme``, ``scenario``, ``fact``, ``goal``, ``turns``,
    ``language``, ``variation``, ``repetition``, ``seed``; ``arm``: an object with ``id``,
    ``strategy``, ``models``, ``settings``; ``turns``: a list of objects with ``index``, ``role``,
    ``kind``, ``text``, ``wanted``, ``declared_goal``, ``tactic`` (objects with ``dimension``,
    ``value``, ``rationale``, ``raw``), ``labelled`` in dialogues of a flow (whether what the role
    says is labelled) and, with ``trace``, ``trace`` (None, or an object with
    ``strategy``, ``chosen``, ``candidates``, ``attempts``, ``notes``).
    """
    case = dialogue.case
    fields = "id scheme scenario fact goal turns language variation repetition seed"
    return {
        "id": f"{case.id}/{dialogue.arm}",
        "case": plain(case, fields, variation=dict(case.variation)),
        "arm": {"id": dialogue.arm, **arm},
        "turns": [_turn(turn, trace=trace) for turn in dialogue.turns],
    }


def _turn(turn: Turn, *, trace: bool) -> dict[str, object]:
    fields = plain(
        turn, "index role kind text wanted declared_goal tactic", wanted=dict(turn.wanted)
    )
    if turn.labelled is not None:
        fields["labelled"] = turn.labelled
    if not trace:
        return fields
    return {**fields, "trace": None if turn.trace is None else _trace(turn.trace)}


def _trace(trace: Trace) -> dict[str, object]:
    candidates = [plain(candidate, "sample score error draft") for candidate in trace.candidates]
    return plain(trace, "strategy chosen candidates attempts notes", candidates=candidates)
