"""Tell what an utterance is after: knowledge, belief, action or feeling.

Source: HIPO, section 3 (communicative intention).
"""

from __future__ import annotations

import re
from typing import Final

from pipeline.offline_judge.acts import COMMISSIVES, DECLARATIONS, DIRECTIVES, EXPRESSIVES, act_of
from pipeline.offline_judge.cues import listed, phrases, plain
from scenarios.wording import words

INFORM: Final = "Inform"
CONVINCE: Final = "Convince"
MOTIVATE: Final = "Motivate"
AFFECT: Final = "Affect"
AIMS: Final = (INFORM, CONVINCE, MOTIVATE, AFFECT)

_MENTAL = re.compile(
    r"\b(?:tell|say|think|consider|believe|know|explain|remember|imagine|ask|listen|trust|doubt|"
    r"look at it|feel|understand|forgive)\b"
)
_BENEFIT = re.compile(
    r"\bif you (?!ask|mean|think|want to know|see what)\w+|\bif i were you\b|\bin your (?:own )?interest\b"
    r"|\bbefore it is too late\b|\byou (?:could|would|will) (?:save|gain|get|be able)\b|\bworth your\b"
    r"|\bit is (?:\w+ )?time (?:for you )?to\b|\byou (?:would|will|could) (?:not )?regret\b"
)
_BASE = {INFORM: 1.0, CONVINCE: 0.3, MOTIVATE: 0.0, AFFECT: 0.0}


def aim_of(text: str) -> tuple[str, str]:
    """Return the intention with the most signs, and the signs; without any, it informs."""
    flat = plain(text)
    said = words(flat)
    score = dict(_BASE)
    signs: dict[str, list[str]] = {aim: [] for aim in AIMS}
    for aim, key, weight in (
        (CONVINCE, "convince", 0.5), (MOTIVATE, "motivate", 0.35), (AFFECT, "affect", 0.7),
    ):  # fmt: skip
        found = [word for word in dict.fromkeys(said) if word in listed("aims", key)]
        score[aim] += weight * len(found)
        signs[aim] += found
    _from_act(flat, act_of(text)[0], score, signs)
    if match := _BENEFIT.search(flat):
        score[MOTIVATE] += 0.8
        signs[MOTIVATE].append(match[0])
    for key, weight in (("denial", 0.9), ("assurance", 0.6), ("vague", 0.8)):
        if match := phrases("truth", key).search(flat):
            score[CONVINCE] += weight
            signs[CONVINCE].append(match[0])
    if phrases("truth", "withholding").search(flat):
        score[INFORM] += 0.6
    best = max(AIMS, key=lambda aim: score[aim])
    shown = ", ".join(f'"{sign}"' for sign in dict.fromkeys(signs[best]))
    return best, shown or "nothing points elsewhere"


def _from_act(flat: str, act: str, score: dict[str, float], signs: dict[str, list[str]]) -> None:
    """Let the act speak: a request for action motivates, a show of feeling affects."""
    if act == EXPRESSIVES:
        score[AFFECT] += 1.0
        signs[AFFECT].append("a feeling is shown")
    elif act == DIRECTIVES and not flat.endswith("?"):
        to_do = not _MENTAL.search(flat)
        score[MOTIVATE if to_do else CONVINCE] += 1.1 if to_do else 0.5
        signs[MOTIVATE].append("the hearer is to do something")
    elif act in (COMMISSIVES, DECLARATIONS):
        score[INFORM] += 0.2
