"""Tell a label by likeness to the stage lines, where no step of the scheme decides.

Each word, pair of words and cue of a line speaks for the labels whose stage lines have it
(multinomial naive Bayes over what occurs).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from pipeline.offline_judge.cues import plain
from pipeline.offline_judge.memory import Remembered, remembered
from scenarios.lines.model import ANY_GOAL
from scenarios.negation import is_negated
from scenarios.wording import content_stems, numbers, words

SMOOTHING = 0.3
"""Added to every count."""

MARGIN = 4.0
"""By how much, in log odds, a label has to be likelier than the usual one."""

Tokens = frozenset[str]


@dataclass(frozen=True)
class Likeness:
    """How often each token occurs in the lines of each label."""

    lines: Mapping[str, int]
    counts: Mapping[str, Counter[str]]
    known: int
    """How many different tokens there are."""

    @classmethod
    def of(cls, labelled: Iterable[tuple[Tokens, str]]) -> Likeness:
        """Count the tokens of labelled lines."""
        lines: Counter[str] = Counter()
        counts: dict[str, Counter[str]] = {}
        for tokens, label in labelled:
            lines[label] += 1
            counts.setdefault(label, Counter()).update(tokens)
        return cls(lines, counts, len(set().union(*counts.values())) if counts else 0)

    def best(
        self, tokens: Tokens, labels: Sequence[str], usual: str = ""
    ) -> tuple[str, tuple[str, ...]] | None:
        """Return the likeliest of the labels, and the tokens that speak most for it.

        Args:
            tokens: what a line shows.
            labels: those on offer.
            usual: the label that stands unless another one is likelier by ``MARGIN``.

        Returns:
            None where none of the labels was ever seen, or none beats the usual one.
        """
        seen = [label for label in labels if self.lines.get(label)]
        if not seen:
            return None
        weights = {label: self._weights(tokens, label) for label in seen}
        total = {
            label: math.log(self.lines[label]) + sum(weights[label].values()) for label in seen
        }
        best = max(seen, key=total.__getitem__)
        if best == usual or total[best] < total.get(usual, -math.inf) + MARGIN:
            return None
        others = [label for label in seen if label != best]
        gain = {
            token: weight - max((weights[other][token] for other in others), default=0.0)
            for token, weight in weights[best].items()
        }
        strongest = sorted(gain, key=lambda token: (-gain[token], token))
        return best, tuple(token for token in strongest[:3] if gain[token] > 0)

    def _weights(self, tokens: Tokens, label: str) -> dict[str, float]:
        counts = self.counts[label]
        whole = sum(counts.values()) + SMOOTHING * self.known
        return {
            token: math.log((counts[token] + SMOOTHING) / whole)
            for token in tokens
            if any(count[token] for count in self.counts.values())
        }


def tokens_of(text: str, question: str, fact: str, claims: Iterable[str]) -> Tokens:
    """Return what a line shows: its words, pairs of words, and how they stand to the rest."""
    flat = plain(text)
    spoken = words(flat)
    found = {*spoken, *(" ".join(pair) for pair in pairwise(spoken))}
    stems = content_stems(text)
    cues = {
        "a question": text.rstrip().endswith("?"),
        "a negation": is_negated(flat),
        "a number": bool(numbers(text)),
        "words of the question": bool(stems & content_stems(question)),
        "words of the fact": len(stems & content_stems(fact)) > 1,
        "words of a false sentence": any(len(stems & content_stems(one)) > 1 for one in claims),
        "few words": len(spoken) < 12,
        "an exclamation": "!" in text,
    }
    starts = f"begins with {' '.join(spoken[:2])}"
    return frozenset({*found, *(cue for cue, holds in cues.items() if holds), starts})


@cache
def stage_likeness(dimension: str) -> Likeness:
    """Return the likeness on one dimension to the stage lines that were written for a question and a goal."""
    return Likeness.of(
        (_tokens(line), line.labels[dimension])
        for _, line in remembered()
        if dimension in line.labels and line.goal != ANY_GOAL
    )


@cache
def _tokens(line: Remembered) -> Tokens:
    question = line.questions[0] if line.questions else ""
    return tokens_of(line.text, question, line.fact, line.false_claims)
