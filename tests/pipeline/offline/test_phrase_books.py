"""What stands in the phrase books goes with its labels, and with whatever fills its slots."""

from __future__ import annotations

import re

from pipeline.offline.grammar import listed
from pipeline.offline.lexicon import words
from pipeline.offline.tactics import ACT, REPERTOIRE, VERACITY

TIMES = {"today", "tomorrow", "tonight", "week", "month", "morning", "evening"}


def test_a_line_that_only_informs_strengthens_nothing() -> None:
    """The steps make what says "never" or "really" convince."""
    for veracity in REPERTOIRE[VERACITY]:
        for act in REPERTOIRE[ACT]:
            for line in listed("cores", veracity, act):
                mark, _, text = line.rpartition("| ")
                plain = "c" not in mark and "m" not in mark
                assert not plain or not words("strong") & set(text.lower().split()), line


def test_what_is_said_of_a_topic_names_no_time() -> None:
    """A topic may name one itself: "I'll make time for the taxi for tomorrow this week"."""
    for book in ("cores", "feelings"):
        for act in REPERTOIRE[ACT]:
            for line in listed(book, "Relevance", act):
                said = set(re.findall(r"\w+", line.lower()))
                assert "topic" not in said or not said & TIMES, line
