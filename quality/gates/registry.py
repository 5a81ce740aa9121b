"""Which gates there are, made from their settings."""

from __future__ import annotations

from collections.abc import Sequence

from quality.gates.empty_utterance import EmptyUtterance
from quality.gates.fact_leaked import FactLeaked
from quality.gates.goal_mismatch import GoalMismatch
from quality.gates.goal_stated import GoalStated
from quality.gates.label_contradiction import LabelContradiction
from quality.gates.language import WrongLanguage
from quality.gates.near_duplicates import NearDuplicates
from quality.gates.protocol import Gate, GatedDialogue
from quality.gates.refusal import Refusal
from quality.gates.repeated_turn import RepeatedTurn
from quality.gates.sentence_count import SentenceCount
from quality.gates.settings import GateSettings
from quality.gates.truncated import Truncated
from quality.gates.unmet_requirement import UnmetRequirement
from quality.gates.wanted_tactic import WantedTactic
from scenarios.verdicts import Flag


def build_gates(settings: GateSettings) -> tuple[Gate, ...]:
    """Return the gates that look at one dialogue at a time, without those turned off."""
    gates: tuple[Gate, ...] = (
        GoalStated(),
        GoalMismatch(),
        FactLeaked(settings.leak_share, settings.leak_words, settings.leak_run),
        LabelContradiction(),
        UnmetRequirement(),
        WantedTactic(),
        SentenceCount(settings.max_sentences),
        Refusal(settings.refusal_phrases),
        Truncated(),
        WrongLanguage(settings.language_words, settings.language_doubt),
        RepeatedTurn(settings.repeat_share),
        EmptyUtterance(),
    )
    return tuple(gate for gate in gates if gate.code not in settings.off)


def build_near_duplicates(settings: GateSettings) -> NearDuplicates | None:
    """Return the gate that looks at the whole run, or None where it is turned off."""
    if NearDuplicates.code in settings.off:
        return None
    return NearDuplicates(
        share=settings.duplicate_share,
        cosine=settings.duplicate_cosine,
        window=settings.duplicate_window,
    )


def check_all(gates: Sequence[Gate], subject: GatedDialogue) -> list[Flag]:
    """Return the flags of all gates, those of a turn in the order of the turns, then the rest."""
    flags = [flag for gate in gates for flag in gate.check(subject)]
    return sorted(flags, key=_place)


def _place(flag: Flag) -> tuple[bool, int]:
    return (flag.turn is None, flag.turn or 0)
