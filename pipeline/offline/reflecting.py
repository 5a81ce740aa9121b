"""Reflect on a draft: whether each label comes through and the line can be said, and why."""

from __future__ import annotations

from pipeline.offline.authored import has_unsaid, within_reach
from pipeline.offline.dice import Dice, hash_texts
from pipeline.offline.grammar import Slots, listed, realise
from pipeline.offline.phrases import tidy
from pipeline.offline.rationales import quoted
from pipeline.offline.reading import ActorRequest, AnswerKey, PromptNotUnderstood
from pipeline.offline.responding import names_any
from pipeline.offline.staging import Cast, cast_of
from pipeline.offline.tactics import VERACITY
from pipeline.offline.wording import sentence

_REASON, _CARRIED = "_reason", "_carried"
_LONGEST = 45
"""Words of a line."""
_WITH_ISSUE = ("None", "Manner")
"""Treatments of the fact for which the grammar can name what the question is about."""


def reflect(asked: ActorRequest, dice: Dice) -> dict[str, object]:
    """Return a reason and a verdict per dimension, and whether the line fits.

    A label other than the one wanted is never carried. A line does not fit that was said before or
    is longer than people talk, or that anybody could say where there is better: it is the grammar's
    where an authored one could be said, or it refuses or is vague without naming what the question
    is about. Of lines in a scene that nobody wrote lines for about one in six misses one label, a
    vague one (Manner) twice as often. Both follow from the draft's words alone, so that the same
    draft is judged the same way every time.

    Raises:
        PromptNotUnderstood: there is no draft to judge.
    """
    draft = asked.draft
    if not draft:
        raise PromptNotUnderstood("line 'Utterance: ...' under '# The draft'")
    cast = cast_of(asked, asked.line("Your goal", "Goal"))
    asked = within_reach(asked, cast)
    declared = asked.declared
    dimensions = [f.name.removesuffix(_CARRIED) for f in asked.fields if f.name.endswith(_CARRIED)]
    wanted = {**{k: v for k, v in declared.items() if k == VERACITY}, **asked.wanted}
    authored = cast is not None and cast.line_of(draft) is not None
    fixed = Dice(hash_texts((draft, *sorted(declared.values()))))
    weak = cast is None and fixed.chance(30 if declared.get(VERACITY) == "Manner" else 15)
    missed = {fixed.pick(dimensions)} if weak else set()
    missed |= {d for d in dimensions if asked.wanted.get(d, declared.get(d)) != declared.get(d)}
    answered = {field.name: _value(field, asked, missed, dice) for field in asked.fields}
    if "fit" in answered:
        kind = "fits"
        if len(draft.split()) > _LONGEST or draft in {text for _, text in asked.spoken}:
            kind = "unfit"
        elif cast is not None and not authored:
            better = has_unsaid(asked, cast, wanted) or _names_nothing(asked, cast)
            kind = "unlike" if better else kind
        reason = _said(kind, {"words": (quoted(draft),)}, dice)
        answered |= {"fit": kind == "fits", "fit_reason": reason}
    return answered


def _names_nothing(asked: ActorRequest, cast: Cast) -> bool:
    """Whether a draft refuses or is vague without naming what the question is about."""
    issues = cast.at_issue(asked.last("INITIATOR"))
    plain = asked.declared.get(VERACITY) in _WITH_ISSUE
    return bool(issues) and plain and not names_any(issues, asked.draft)


def _said(kind: str, slots: Slots, dice: Dice) -> str:
    return sentence(realise(listed("asides", "critiques", kind), slots, dice))


def _value(field: AnswerKey, asked: ActorRequest, missed: set[str], dice: Dice) -> object:
    if field.name.endswith(_CARRIED):
        return field.name.removesuffix(_CARRIED) not in missed
    dimension = field.name.removesuffix(_REASON)
    label = tidy(asked.declared.get(dimension, "")) or dimension
    slots = {"label": (label,), "words": (quoted(asked.draft, label),)}
    return _said("missed" if dimension in missed else "carried", slots, dice)
