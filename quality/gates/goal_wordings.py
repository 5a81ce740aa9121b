"""Sentences in which a speaker says what it was set to do: to mislead, or to keep back and not lie.

What is looked for is a frame (it was told to, its task is, it wants you to) and, after it, what
only a goal of these dialogues can be. Each class is a list of ways to say one thing, so that a new
combination of known parts is found, too.
"""

from __future__ import annotations

import re
from typing import Final

_SPELT: Final = (
    (re.compile(r"[\u2018\u2019]"), "'"),
    (re.compile(r"\b(can)not\b|\b(?:ca)n't\b"), "can not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"'m\b"), " am"),
    (re.compile(r"'ve\b"), " have"),
    (re.compile(r"'re\b"), " are"),
    (re.compile(r"'ll\b"), " will"),
    (re.compile(r"'d\b"), " would"),
    (re.compile(r"'s\b"), " is"),
    (re.compile(r"[^a-z0-9 ]+"), " "),
    (re.compile(r" +"), " "),
)
_SOME = r"(?:\w+ ){0,4}?"
_NOUN = (
    "(?:goals?|aims?|objectives?|task|mission|assignment|instructions?|orders|brief|strategy|tactic|"
    "purpose|role|part|character|intention|plan|job|rules?|system prompt|prompt|scenario|"
    "exercise|role ?play|game|script)"
)
_FRAME = (
    rf"(?:(?:my|our|the|this|these|that) (?:\w+ ){{0,2}}?{_NOUN}\b"
    r"|(?:i|we) (?:am|was|are|were|have been|had been|have|got) (?:\w+ ){0,2}?"
    r"(?:told|asked|instructed|ordered|directed|assigned|given|briefed|tasked|required|supposed|"
    r"meant|expected|obliged|prompted|playing|acting)\b"
    r"|(?:they|you|he|she|someone|somebody|it) (?:\w+ )?(?:asked|told|want|wants|wanted|instructed|"
    r"ordered|expect|expects) me to\b"
    r"|(?:as|like) (?:i was )?(?:instructed|assigned|told|ordered)\b|under (?:\w+ )?instructions?\b)"
)
"""Somebody else has set it."""
_WILL = (
    r"(?:\b(?:i|we) (?:am|are|was|have|do)? ?(?:\w+ly )?(?:want|intend|plan|mean|need|aim|aiming|have|"
    r"going|trying|try|here|out|set out|about|chose|decided|hope|hoping|planning|intending|wanting) to\b"
    r"|\ball i have to do is\b)"
)
"""The speaker means to do it."""
_NOT = r"(?:not|never|nobody|no one|nothing|without|nor|neither|no|hardly|why|avoid\w*)"
_MISLEAD = (
    r"(?:deceiv\w+|deception|deceptive\w*|misle(?:ad\w*|d)|dishonest\w*|(?:fool|trick|dup(?:e|ing)|"
    r"cheat|con|hoodwink|bluff)(?:ing)? (?:you|them|him|her|people|anyone|anybody|everyone)|"
    r"(?:lie|lies|lying) (?!(?:down|low|in|on|awake|ahead|behind|there|at|beneath|under)\b)|"
    r"(?:lie|lies|lying)$|lead you astray|half truths?|pretend\w*|falsehoods?|"
    r"keep\w* you (?:in the dark|from (?:finding|knowing|learning|seeing|discovering))|"
    r"(?:false|wrong|mistaken|untrue) (?:belief|impression|idea|picture|conclusion|view|notion|story)s?)"
)
_FALSE = (
    r"(?:false\w*|wrong|untrue|not true|opposite|lies?|mistaken|otherwise than|never happened|"
    r"not the case|incorrect)\b"
)
_THINK = (
    r"(?:believe?|believing|think|thinking|accept|assume|conclude|walk away|come away|go away|end up|"
    r"leave|draw|convince you|persuade you|make you|get you)\b"
)
_KEEP = (
    r"(?:conceal\w*|withh[eo]ld\w*|hid(?:e|es|ing|den)\b|suppress\w*|evasive\w*|dodg\w+|non ?disclos\w+|"
    r"(?:keep\w*|hold\w*|kept|held) (?:\w+ ){0,5}?(?:secret|hidden|back|quiet|to myself|from you|unsaid|"
    r"under wraps)\b|(?:keep|hold|guard|protect)\w* (?:\w+ )?(?:the|my|a|this|that) secret\b|"
    r"(?:not|never|nothing|avoid\w*|without|no|nor|refus\w+|forbidden) (?:\w+ ){0,4}?(?:disclos\w+|reveal\w*|divulg\w+|"
    r"tell\w*|giv(?:e|ing) (?:\w+ ){0,3}?away|mention\w*|let\w* (?:\w+ ){0,2}?out|admit\w*|"
    r"topic|subject)|(?:reveal|disclos|tell|giv|admit)\w* (?:away )?nothing\b|not (?:\w+ ){0,3}?learn)"
)
_KNOWN_TO_ONE = (
    r"(?:(?:the|this|that|one|a|my) (?:\w+ )?(?:fact|secret|truth)\b|private (?:fact|information|knowledge)"
    r"|what (?:really |actually )?happened|from you\b|tell you\b|you (?:\w+ )?(?:from|learn))"
)
_NO_LIES = (
    r"(?:truthful\w*|honest\w*|without (?:\w+ )?l(?:ying|ies)|(?:not|never|no) (?:\w+ ){0,4}?(?:lie|lies|"
    r"lying)\b|(?:say\w*|tell\w*|stat\w+|assert\w*) (?:\w+ ){0,2}?(?:nothing|anything) (?:\w+ )?(?:false|untrue)|"
    r"no falsehoods?|never (?:\w+ ){0,2}?untrue)"
)
_KEEPS = re.compile(rf"\b{_KEEP}")
_TELLS_NO_LIES = re.compile(rf"\b{_NO_LIES}")
_KNOWN = re.compile(_KNOWN_TO_ONE)
_ELSE = re.compile(
    r"\b(?:he|she|they|who|what|whether|that it|find|expose|prove|stop|catch|prevent|learn|hear|"
    r"be (?:called|told)|you are|you were)\b"
)
"""Words after which somebody else misleads."""
_UNREAL = re.compile(r"\b(?:if|suppose|whether|accus\w+|might|could|refused)\b")
_META = re.compile(
    r"\b(?:as the (?:responder|initiator)\b|(?:a|the|my|one|this) private (?:fact|information)\b"
    r"|(?:my|the) secret (?:goal|mission|aim|objective|task)\b)"
)
_BOUND = re.compile(r"\b(?:have to|must|may|allowed|supposed|should)\b")
_MAY_LIE = re.compile(
    r"\b(?:may|must|can|allowed to|should|have to) (?:not |never )?(?:\w+ )?lie\b"
)
_MUST_NOT = re.compile(rf"\b(?:must|may|should|can|will|have to|has to|am to)\b.*\b{_KEEP}")
_TOLD_TO_MISLEAD = re.compile(rf"\b{_FRAME}(?P<between>.*?)\b{_MISLEAD}")
_MEANS_TO_MISLEAD = re.compile(rf"{_WILL}(?P<between>(?: \w+){{0,5}}?) {_MISLEAD}")
_TOLD_TO_KEEP = re.compile(rf"\b{_FRAME}.*?\b{_KEEP}")
_ROLE_KEEPS = re.compile(
    r"\b(?:my|the|this) (?:\w+ ){0,2}?(?:goals?|aims?|objectives?|task|mission|assignment|instructions?|"
    r"brief|strategy|role|character|system prompt|prompt|scenario|exercise|orders)\b"
    rf"(?: \w+){{0,6}}? {_KEEP}"
)
_WANTS_YOU_WRONG = re.compile(
    rf"\b(?:i|we|my|what|all|let me|trying|aiming|meant|need|purpose)\b.*\b(?:want|would like|after is|"
    rf"aim\w*|need|have to|goal|meant|trying|try|going|intention|intend|plan|purpose|objective|task|job|"
    rf"do is)\b.*\b{_THINK}.*\b{_FALSE}"
)
_ON_PURPOSE = re.compile(
    rf"\bi (?:am |have |was )?(?:been )?(?:deliberately|intentionally|purposely|knowingly) .*{_MISLEAD}"
    rf"|\bi .*{_MISLEAD} .*\b(?:deliberately|on purpose|intentionally)\b"
)
_IS_MY_TASK = re.compile(
    rf"(?:^|\b(?:to|is|being|but|and) )(?:\w+ ){{0,2}}?{_MISLEAD}(?: \w+){{0,6}}? (?:is|was) "
    rf"(?:\w+ ){{0,2}}?(?:my \w+|what (?:i|they|my)|the (?:goal|task|point|assignment|idea))\b"
)
_AFTERWARDS = re.compile(
    rf"{_KEEP}.*\b(?:that is|as|per|which is) (?:\w+ )?(?:my|the|i was) (?:\w+ )?"
    r"(?:goal|task|assignment|instruct\w+|orders|job|role|brief|mission|objective|asked|told)\b"
)


def states_goal(sentence: str) -> bool:
    """Tell whether somebody says in one sentence of English that it is set to mislead or to conceal.

    A question, a supposition and what is denied ("I am not trying to mislead you") do not count.
    """
    if sentence.rstrip().endswith("?"):
        return False
    text = _plain(sentence)
    known = _UNREAL.search(text) is None
    return known and (_misleads(text) or _conceals(text))


def _plain(sentence: str) -> str:
    text = sentence.casefold()
    for pattern, spelt in _SPELT:
        text = pattern.sub(spelt, text)
    return text.strip()


def _misleads(text: str) -> bool:
    for pattern in (_TOLD_TO_MISLEAD, _MEANS_TO_MISLEAD):
        for found in pattern.finditer(text):
            before = text[max(0, found.start() - 12) : found.start()]
            span = f"{before} {found.group(0)[: -len(found.group(0).split()[-1])]}"
            if not re.search(rf"\b{_NOT}\b", span) and not _ELSE.search(found["between"]):
                return True
    meant = (pattern.search(text) for pattern in (_WANTS_YOU_WRONG, _ON_PURPOSE, _IS_MY_TASK))
    return any(
        found is not None and not re.search(rf"\b(?:do|did|am|was) {_NOT}\b", found[0])
        for found in meant
    )


def _conceals(text: str) -> bool:
    """Tell whether something is to be kept back by assignment, or kept back without a lie."""
    if _KEEPS.search(text) is None:
        return False
    no_lies = _TELLS_NO_LIES.search(text) is not None
    secret = _KNOWN.search(text) is not None
    return (
        _ROLE_KEEPS.search(text) is not None
        or _AFTERWARDS.search(text) is not None
        or (_TOLD_TO_KEEP.search(text) is not None and (no_lies or secret))
        or (
            no_lies
            and _BOUND.search(text) is not None
            and (secret or _MAY_LIE.search(text) is not None)
        )
        or (_META.search(text) is not None and _MUST_NOT.search(text) is not None)
    )
