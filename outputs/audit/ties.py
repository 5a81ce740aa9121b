"""Labels that a scheme ties to the goal by its own rules: no shortcut, and no secret either.

A rule such as *Quality never occurs under truthful non-disclosure* makes the goal readable from a
label in every set that keeps to it, however well it was made. So what the tied labels tell is
measured and told by name, and the gated probe of labels leaves out every answer with a tied label:
were only the label's own column left out, its absence would tell the same. An answer is left out
whole, so that nothing about how often that happens is left to read either.

So is all that comes after it: whoever listens takes up what was said, and whoever has lied goes on
otherwise than one who has not. What is left of one goal are then other places than of the other (a
deception that begins with a lie has none but the first question), so that only what stands at the
same place of dialogues of one length is compared.

A requirement (*some turn of a deception is one of these*) ties the labels that it does not name:
whoever plans a dialogue keeps them off the turn that has to satisfy it. Where the labels that it names
occur under no other goal (*some turn is Quality*), they are what is tied, and nothing is to be read off
the others: a turn that has one of them is none that has to satisfy it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from outputs.audit.corpus import AuditCorpus, AuditedAnswer, AuditedDialogue
from scenarios.schemes.model import Scheme

Shows = Literal["answers before", "answers up to it", "all answers"]
"""The answers of a dialogue that show in what is looked at, by what they bring about or themselves."""


@dataclass(frozen=True, slots=True)
class LabelTie:
    """Labels of an answer that a rule of the scheme connects with the goal."""

    labels: tuple[tuple[str, tuple[str, ...]], ...]
    """(dimension, labels): an answer is tied that has one of these in each."""
    reason: str
    """Of the rule."""
    required: bool = False
    """Whether a requirement is behind it: some turn has to be another."""

    @property
    def dimensions(self) -> frozenset[str]:
        """The dimensions of the labels."""
        return frozenset(dimension for dimension, _ in self.labels)

    def holds(self, labels: Mapping[str, str]) -> bool:
        """Return whether an answer with these labels is tied."""
        return all(labels.get(dimension) in tied for dimension, tied in self.labels)

    @property
    def name(self) -> str:
        """The labels in words, e.g. ``veracity Quality``."""
        return " with ".join(f"{d} {' or '.join(tied)}" for d, tied in self.labels)


@dataclass(frozen=True, slots=True)
class TieShare:
    """How often answers are tied, under each goal."""

    name: str
    reason: str
    shares: Mapping[str, float]
    """By goal: the share of answers."""


def ties_of(scheme: Scheme | None) -> tuple[LabelTie, ...]:
    """Return what the rules of a scheme tie to its assigned dimension."""
    if scheme is None:
        return ()
    found = []
    for rule in scheme.contradictions:
        others = tuple((d, tied) for d, tied in rule.labels.items() if d != scheme.assigned)
        if scheme.assigned in rule.labels and others:
            found.append(LabelTie(others, rule.reason))
    for requirement in scheme.requirements:
        if scheme.assigned in requirement.when:
            for dimension, wanted in requirement.some_turn.items():
                known = LabelTie(((dimension, wanted),), "")
                alone = next((tie for tie in found if tie.labels == known.labels), None)
                if alone is not None:
                    found.remove(alone)
                    why = f"{alone.reason} {requirement.reason}"
                    found.append(LabelTie(alone.labels, why, required=True))
                    continue
                rest = tuple(v for v in scheme.dimension(dimension).values if v not in wanted)
                if rest:
                    found.append(LabelTie(((dimension, rest),), requirement.reason, required=True))
    return tuple(found)


def nothing_tied(
    ties: Sequence[LabelTie], shows: Shows, dialogue: AuditedDialogue, answer: AuditedAnswer | None
) -> bool:
    """Return whether no answer that shows is tied; one whose labels are not known may be.

    Args:
        ties: of the scheme.
        shows: which answers.
        dialogue: the whole.
        answer: the item; None where it is the dialogue.
    """
    last = None if answer is None or shows == "all answers" else answer.turn
    return not any(
        labels is None or any(tie.holds(labels) for tie in ties)
        for turn, labels in dialogue.said.items()
        if last is None or turn < last or (turn == last and shows == "answers up to it")
    )


def tie_shares(corpus: AuditCorpus, ties: Sequence[LabelTie]) -> tuple[TieShare, ...]:
    """Return how often each tie occurs under each goal."""
    answers = Counter(d.goal for d in corpus.dialogues for _ in d.answers)
    found = []
    for tie in ties:
        tied = Counter(d.goal for d in corpus.dialogues for a in d.answers if tie.holds(a.labels))
        shares = {goal: tied[goal] / count for goal, count in sorted(answers.items())}
        found.append(TieShare(tie.name, tie.reason, shares))
    return tuple(found)
