"""Reflect on a draft: for each dimension, whether its label comes through, and why."""

from __future__ import annotations

from pipeline.offline.dice import Dice, hash_texts
from pipeline.offline.grammar import listed, realise
from pipeline.offline.phrases import tidy
from pipeline.offline.reading import ActorRequest, AnswerKey, PromptNotUnderstood
from pipeline.offline.wording import sentence

_REASON, _CARRIED = "_reason", "_carried"
_LONGEST = 45
"""Words of a line."""


def reflect(asked: ActorRequest, dice: Dice) -> dict[str, object]:
    """Return a reason and a verdict per dimension.

    About one draft in six misses one label, a vague one (Manner) twice as often; which, follows
    from the draft's words alone, so that the same draft is judged the same way every time.
    A label other than the one wanted is never carried. A line does not fit that was said before or
    is longer than people talk.

    Raises:
        PromptNotUnderstood: there is no draft to judge.
    """
    draft = asked.draft
    if not draft:
        raise PromptNotUnderstood("line 'Utterance: ...' under '# The draft'")
    declared = asked.declared
    dimensions = [f.name.removesuffix(_CARRIED) for f in asked.fields if f.name.endswith(_CARRIED)]
    fixed = Dice(hash_texts((draft, *sorted(declared.values()))))
    vague = declared.get("veracity") == "Manner"
    missed = {fixed.pick(dimensions)} if fixed.chance(30 if vague else 15) else set()
    missed |= {d for d in dimensions if asked.wanted.get(d, declared.get(d)) != declared.get(d)}
    answered = {field.name: _value(field, declared, missed, dice) for field in asked.fields}
    if "fit" in answered:
        fits = len(draft.split()) <= _LONGEST and draft not in {text for _, text in asked.spoken}
        kind = "fits" if fits else "unfit"
        reason = sentence(realise(listed("asides", "critiques", kind), {}, dice))
        answered |= {"fit": fits, "fit_reason": reason}
    return answered


def _value(field: AnswerKey, declared: dict[str, str], missed: set[str], dice: Dice) -> object:
    if field.name.endswith(_CARRIED):
        return field.name.removesuffix(_CARRIED) not in missed
    dimension = field.name.removesuffix(_REASON)
    label = tidy(declared.get(dimension, "")) or dimension
    kind = "missed" if dimension in missed else "carried"
    return sentence(realise(listed("asides", "critiques", kind), {"label": (label,)}, dice))
