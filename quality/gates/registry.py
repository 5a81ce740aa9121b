"""The gates that ship, in the order in which they are asked, and those of plugins."""

from __future__ import annotations

from typing import Any, Final

from quality.gates.protocol import GateExtension
from scenarios.extensions import ExtensionPoint

GATES: Final[ExtensionPoint[GateExtension[Any]]] = ExtensionPoint(
    "gate",
    GateExtension,
    {
        "goal_stated": "quality.gates.goal_stated:GATE",
        "goal_mismatch": "quality.gates.goal_mismatch:GATE",
        "fact_leaked": "quality.gates.fact_leaked:GATE",
        "confession": "quality.gates.confession:GATE",
        "label_contradiction": "quality.gates.label_contradiction:GATE",
        "unmet_requirement": "quality.gates.unmet_requirement:GATE",
        "wanted_not_obtained": "quality.gates.wanted_tactic:GATE",
        "too_many_sentences": "quality.gates.sentence_count:GATE",
        "word_count": "quality.gates.word_count:GATE",
        "dodge_remarks": "quality.gates.dodge_remarks:GATE",
        "refusal": "quality.gates.refusal:GATE",
        "truncated": "quality.gates.truncated:GATE",
        "wrong_language": "quality.gates.language:GATE",
        "repeated_turn": "quality.gates.repeated_turn:GATE",
        "rationale_copied": "quality.gates.rationale_copied:GATE",
        "empty_utterance": "quality.gates.empty_utterance:GATE",
        "near_duplicate": "quality.gates.near_duplicates:GATE",
    },
)
"""Every gate by its name, which is the code of its flags."""
