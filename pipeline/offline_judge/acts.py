"""Tell the illocutionary act and the intention of an utterance from its surface form.

Source: HIPO, section 3 (Searle 1976: representatives, directives, commissives, expressives,
declarations).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from pipeline.offline_judge.cues import any_of, listed, phrases, plain
from scenarios.wording import sentences, words

Found = tuple[str, float, str]
"""An act, how clearly it is marked, and by what."""

REPRESENTATIVES: Final = "Representatives"
DIRECTIVES: Final = "Directives"
COMMISSIVES: Final = "Commissives"
EXPRESSIVES: Final = "Expressives"
DECLARATIONS: Final = "Declarations"
ACTS: Final = (REPRESENTATIVES, DIRECTIVES, COMMISSIVES, EXPRESSIVES, DECLARATIONS)

_WE = r"(?:i|we)"
_SOFT = (
    r"(?: \w+ly| do| also| just| really| so| now| simply| truly| gladly| only| most| even| still)*"
)
_LEAD = (
    r"^(?:(?:and|but|so|well|now|then|yes|no|okay|ok|oh|right|honestly|actually|first|\w+ly|in that case|"
    r"all right|of course),? |(?:if|when|before|after|since|as|while|now that|once|to|with|on|about) "
    r"[^,]{1,60}, )*"
)
_ATTENTION = re.compile(
    r"^(?:(?:look|listen|see)(?: here)?|mind you|believe me|believe it or not|you know|you see|say),? "
)
"""What only calls for attention is no request."""


@lru_cache(maxsize=1)
def _rules() -> tuple[tuple[str, float, re.Pattern[str]], ...]:
    """Return (act, clearness, pattern); patterns are tried on one sentence at a time."""
    declare = any_of("acts", "declaration_verbs")
    marks = any_of("acts", "declaration_marks")
    states, things = any_of("acts", "declared_states"), any_of("acts", "declared_things")
    commit, report = any_of("acts", "commitment_verbs"), any_of("acts", "plain_report_after_will")
    adjectives = any_of("acts", "expressive_adjectives")
    emotive = any_of("acts", "expressive_verbs")
    request = any_of("acts", "request_verbs")
    imperative = any_of("acts", "imperative_verbs")
    table = (
        (DECLARATIONS, 3.0, rf"\b(?:{marks})\b"),
        (DECLARATIONS, 2.6, rf"{_LEAD}{_WE}{_SOFT} (?:{declare})\b"),
        (DECLARATIONS, 2.6, rf"\byou are(?: \w+ly)? (?:{states})\b"),
        (DECLARATIONS, 2.4, rf"\b(?:the|this|our|my|your) (?:{things}) (?:is|are)(?: now)? (?:{states})\b"),
        (DECLARATIONS, 2.4, r"\b(?:consider|regard) (?:it|that|this|yourself|the \w+) (?:as )?\w+(?:ed|en|off|over)\b"),
        (EXPRESSIVES, 2.2, rf"{_LEAD}{phrases('acts', 'expressive_openings').pattern}"),
        (EXPRESSIVES, 2.1, rf"\b{_WE} (?:am|are|was|were|feel|felt)(?: \w+ly| so| very| too| quite| a little| a bit| rather| more than| deeply)* (?:{adjectives})\b"),
        (EXPRESSIVES, 2.1, rf"{_LEAD}{_WE}{_SOFT} (?:{emotive})\b"),
        (EXPRESSIVES, 2.0, rf"{_LEAD}{phrases('acts', 'feeling_impersonal').pattern}"),
        (EXPRESSIVES, 1.9, rf"\bit is (?:\w+ )?(?:{adjectives}|insulting|hurtful|sad|lovely|wonderful|awful)\b"),
        (EXPRESSIVES, 1.9, r"^(?:what a|how) [^?]*!$"),
        (EXPRESSIVES, 1.8, rf"\b{_WE} (?:would|could) (?:be|not be|not)(?: \w+)? (?:{adjectives}|bear|{emotive})\b"),
        (DIRECTIVES, 2.3, r"\bplease\b"),
        (DIRECTIVES, 2.2, rf"{_LEAD}(?:do not |never |always |just |kindly |please )*(?:{imperative})\b(?! (?:is|are|was|were|of))"),
        (DIRECTIVES, 2.0, rf"{_LEAD}{_WE}(?: \w+)? (?:{request})\b|\b{_WE} (?:want|need|expect|would like) you to\b"),
        (DIRECTIVES, 1.9, r"\byou (?:should|must|ought to|have to|need to|had better|may want to|might want to|would do well to)\b"),
        (DIRECTIVES, 2.0, r"\b(?:would|could|can|will|may) (?:you|i|we|anyone|somebody)\b[^.!]*\?$|^(?:let us|shall we|why not|how about|what about)\b"),
        (DIRECTIVES, 1.7, r"\?$"),
        (COMMISSIVES, 2.3, rf"{_LEAD}{_WE}{_SOFT} (?:{commit})\b|\byou have (?:my|our) (?:word|promise)\b|\bcount on (?:me|us)\b"),
        (COMMISSIVES, 2.0, rf"\b{_WE} (?:will|shall)(?: (?:not|never|\w+ly))* (?!(?:not|{report})\b)\w+"),
        (COMMISSIVES, 2.0, rf"\b{_WE} (?:am|are)(?: not)? going to (?!(?:{report})\b)\w+"),
        (COMMISSIVES, 1.9, rf"{_LEAD}(?:let me (?!be\b|say\b|tell\b|explain\b|put\b|add\b)\w+|{_WE} can (?:give|send|show|bring|get|offer|arrange|start|lend|meet|come)\b|{_WE} would be (?:happy|willing|ready) to)"),
    )  # fmt: skip
    return tuple((act, weight, re.compile(pattern)) for act, weight, pattern in table)


def act_of(text: str) -> Found:
    """Return the act that is marked most clearly; an unmarked utterance states something.

    Of two acts marked alike, the one that comes later is what the utterance is for. What stands
    before "but" only prepares the ground.
    """
    best: Found = (REPRESENTATIVES, 1.0, "nothing marks another act")
    for sentence in sentences(text):
        flat = _ATTENTION.sub("", plain(sentence))
        main = re.split(r",? but ", flat, maxsplit=1)
        act = _sentence_act(main[-1] if len(main) > 1 else flat)
        if act[1] >= best[1] and act[0] != REPRESENTATIVES:
            best = act
    return best


def _sentence_act(flat: str) -> Found:
    best: Found = (REPRESENTATIVES, 1.0, "nothing marks another act")
    for act, weight, pattern in _rules():
        match = pattern.search(flat)
        if match and weight > best[1]:
            best = (act, weight, f'"{match[0].strip()}"')
    return best


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
_PERSUADERS = re.compile(
    r"\b(?:never|not once|really|truly|honestly|of course|certainly|absolutely|definitely|obviously|"
    r"at all|nothing|nobody|because|since|trust|believe|swear|promise you|word for it|to your face|"
    r"no idea|plain truth|proof|proves?|evidence|reason to|hard to believe)\b"
)


def aim_by_steps(text: str) -> tuple[str, str]:
    """Return the intention by the procedure: action, then feeling, then doubt, else information."""
    flat = plain(text)
    aim, signs = aim_of(text)
    if aim in (MOTIVATE, AFFECT):
        return aim, signs
    if match := _PERSUADERS.search(flat):
        return CONVINCE, f'it works against doubt: "{match[0]}"'
    return INFORM, "nothing works against doubt"


_BASE = {INFORM: 1.0, CONVINCE: 0.3, MOTIVATE: 0.0, AFFECT: 0.0}


def aim_of(text: str) -> tuple[str, str]:
    """Return the intention with the most signs, and the signs; without any, it informs."""
    flat = plain(text)
    spoken = words(flat)
    score = dict(_BASE)
    signs: dict[str, list[str]] = {aim: [] for aim in AIMS}
    for aim, key, weight in (
        (CONVINCE, "convince", 0.5), (MOTIVATE, "motivate", 0.35), (AFFECT, "affect", 0.7),
    ):  # fmt: skip
        cues = [word for word in dict.fromkeys(spoken) if word in listed("aims", key)]
        score[aim] += weight * len(cues)
        signs[aim] += cues
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
