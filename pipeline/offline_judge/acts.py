"""Tell the illocutionary act of an utterance from the form of its head sentence.

Source: HIPO, section 3 (Searle 1976: representatives, directives, commissives, expressives,
declarations), and the steps of scheme ``hipo`` version 2.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from pipeline.offline_judge.cues import any_of, phrases, plain
from pipeline.offline_judge.refusals import refusal

REPRESENTATIVES: Final = "Representatives"
DIRECTIVES: Final = "Directives"
COMMISSIVES: Final = "Commissives"
EXPRESSIVES: Final = "Expressives"
DECLARATIONS: Final = "Declarations"
ACTS: Final = (REPRESENTATIVES, DIRECTIVES, COMMISSIVES, EXPRESSIVES, DECLARATIONS)

Act = tuple[str, str]
"""An act, and the words that mark it; no words where nothing marks another act."""
UNMARKED: Final = (REPRESENTATIVES, "")

_SOFT = r"(?: \w+ly| do| also| just| really| so| now| simply| most| even| still| only)*"
_WE = rf"\b(?:i|we){_SOFT}"
_BEFORE = re.compile(
    r"^(?:(?:in that case|of course|first|\w+ly),? |(?:if|when|before|after|since|as|while|now that|"
    r"once|to come|with|on|about|regarding|when it comes) [^,]{1,60}, )"
)
"""A clause that only leads up to the main one."""
_AFTER = re.compile(
    r",? (?:because|since|so that|so(?! far)|even though|although|though|whatever|as long as)\b|, (?:for|as|and|if|when)\b"
)
"""Where a clause begins that hangs on the one before."""
_SORRY_BUT = re.compile(r"^(?:i am (?:\w+ )?(?:sorry|afraid)|sorry|forgive me|my apologies),? but ")
_NO_REFUSAL = re.compile(
    r"^(?:please|do not|never|thank|let us|let me keep|could you|ask me|leave|put|allow|i am (?:\w+ )?sorry|"
    r"i (?:regret|hate|feel|am ashamed|hereby)|my apologies|forgive|would you|may i|do you|is it|you (?:look|are|have)|"
    r"it (?:is a pity|hurts|must)|be\b)\b"
)
_REPORTED = re.compile(
    r"\b(?:have|has) (?:not |always )?(?:talked|told|said|kept|stayed|left|been|given)\b|\bthan i am telling\b|"
    r"\b(?:is not done|one does not)\b|\beverybody's ears\b"
)
"""That something was kept back is a report, and so is what people do not do; a refusal is of now and later."""
_SORRY = re.compile(r"^(?:i am (?:\w+ )?(?:sorry|afraid)|sorry), ")
_TAG = re.compile(
    r",? (?:is|are|was|were|do|does|did|have|has|can|will|would|should|shall)(?: not)? (?:it|you|they|he|she|i|we)\?$"
)


@lru_cache(maxsize=1)
def _rules() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return (act, pattern) in the order in which the steps of the scheme ask about acts."""
    states, things = any_of("acts", "declared_states"), any_of("acts", "declared_things")
    adjectives, emotive = (
        any_of("acts", "expressive_adjectives"),
        any_of("acts", "expressive_verbs"),
    )
    declare, commit = any_of("acts", "declaration_verbs"), any_of("acts", "commitment_verbs")
    no_promise = phrases("acts", "no_promise").pattern
    table = (
        (DECLARATIONS, phrases("acts", "declared_now").pattern),
        (DECLARATIONS, rf"^{_WE} (?:{declare})\b"),
        (DECLARATIONS, rf"^you are(?: \w+ly)? (?:{states})\b"),
        (DECLARATIONS, rf"\b(?:the|this|our|my|your) (?:\w+ )?(?:{things}) (?:is|are)(?: now)? (?:{states})\b"),
        (DIRECTIVES, rf"^(?:please |do not |never |always |just |kindly |do )+(?:{any_of('acts', 'imperative_verbs')})\b"),
        (REPRESENTATIVES, rf"^{_WE} (?:{commit}) you(?:,| that\b)"),
        (COMMISSIVES, rf"^{_WE} (?:{commit})\b"),
        (COMMISSIVES, rf"^{_WE} (?:will|shall)(?: (?:not|never|\w+ly))* (?!(?:not\b|{no_promise}))\w+"),
        (COMMISSIVES, rf"^{_WE} (?:am|are)(?: not)? going to (?!{no_promise})\w+"),
        (COMMISSIVES, r"^let me (?!be\b|say\b|tell\b|explain\b|put it\b|add\b|keep\b|get\b|have\b|see\b)\w+"),
        (COMMISSIVES, rf"^{phrases('acts', 'promises').pattern}"),
        (REPRESENTATIVES, r"^(?:you (?:have (?:got|been|every|such)|look|sound)|it must)\b"),
        (DIRECTIVES, rf"^(?:{any_of('acts', 'imperative_verbs')})\b(?! (?:is|are|was|were|of|i|we|and me)\b)(?!,)"),
        (DIRECTIVES, r"\bplease\b(?! me\b)"),
        (DIRECTIVES, rf"^{_WE}(?: must| would| do)? (?:{any_of('acts', 'request_verbs')}) (?:you|that you)\b"),
        (DIRECTIVES, rf"^{phrases('acts', 'requests').pattern}"),
        (EXPRESSIVES, rf"^{phrases('acts', 'expressive_openings').pattern}"),
        (EXPRESSIVES, rf"^{_WE} (?:am|are|was|feel|felt|would be)(?: \w+ly| so| very| too| quite| a little| a bit| rather| more than| deeply| only)* (?:{adjectives})\b"),
        (EXPRESSIVES, rf"^{_WE} (?:{emotive})\b"),
        (EXPRESSIVES, rf"^{phrases('acts', 'feeling_impersonal').pattern}"),
    )  # fmt: skip
    return tuple((act, re.compile(pattern)) for act, pattern in table)


def act_of(sentence: str) -> Act:
    """Return the act of one sentence by its main clause, and the words that mark it."""
    whole = plain(sentence)
    if words := _declared(whole):
        return words
    flat = main_clause(whole)
    if phrases("acts", "report_prefix").match(flat):
        return UNMARKED
    if (held := refusal(flat)) and not _NO_REFUSAL.search(flat):
        return (REPRESENTATIVES if _REPORTED.search(flat) else COMMISSIVES), held
    for act, pattern in _rules():
        if match := pattern.search(flat):
            return act, match[0].strip()
    if whole.endswith("?") and not _TAG.search(whole):
        return DIRECTIVES, "a question"
    return UNMARKED


def _declared(whole: str) -> Act | None:
    """Return the act of words like "hereby": certifying that something is so does not make it so."""
    for act, key in ((REPRESENTATIVES, "certified"), (DECLARATIONS, "declaration_marks")):
        if match := phrases("acts", key).search(whole):
            return act, match[0]
    return None


@lru_cache(maxsize=1)
def _calls() -> re.Pattern[str]:
    called = phrases("acts", "attention").pattern
    return re.compile(rf"^{called}[,.:;!]+ |^(?:and|but|so|now|then) ")


def main_clause(flat: str) -> str:
    """Return the main clause of a plain sentence: no calls for attention, nothing subordinate."""
    before = None
    while before != flat:
        before = flat
        flat = _calls().sub("", flat)
        flat = _BEFORE.sub("", flat)
    sorry = _SORRY.match(flat)
    if sorry and refusal(flat[sorry.end() :].partition(",")[0]):
        flat = flat[sorry.end() :]
    flat = _SORRY_BUT.sub("", flat)
    cut = _AFTER.search(flat, 8)
    return flat[: cut.start()] if cut else flat
